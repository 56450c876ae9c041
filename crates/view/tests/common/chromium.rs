//! A real browser, without a window.

use std::path::Path;
use std::process::Command;

/// The browser's command, if there is one. Under `CI=true` one must be there.
pub fn browser() -> Option<&'static str> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let found = names.into_iter().find(|name| {
        let version = Command::new(name).arg("--version").output();
        version.is_ok_and(|o| o.status.success())
    });
    if found.is_none() {
        let ci = std::env::var("CI").is_ok_and(|v| v == "true");
        assert!(!ci, "under CI=true a Chromium must be installed");
        eprintln!("skipped: no Chromium here");
    }
    found
}

/// What a page has become when its scripts have run. Whatever they complain of is an error, and so is whatever they fetch.
pub fn dump(browser: &str, folder: &Path, page: &Path) -> String {
    let profile = format!("--user-data-dir={}", folder.join("profile").display());
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", &profile])
        .args(["--disable-dev-shm-usage", "--window-size=1300,900"])
        .args([
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--enable-logging=stderr",
        ])
        .arg("--dump-dom")
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("the browser runs");
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{log}");
    let complaints: Vec<&str> = log.lines().filter(|l| l.contains("CONSOLE")).collect();
    assert!(complaints.is_empty(), "{complaints:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Opens a page with a script at its end, which returns something: that, as JSON.
pub fn visit(browser: &str, folder: &Path, page: &str, script: &str) -> serde_json::Value {
    let visitor = format!(
        "<pre id=\"visited\"></pre><script>\
         document.getElementById('visited').textContent = encodeURIComponent(JSON.stringify((() => {{{script}}})()));\
         </script></body>"
    );
    let file = folder.join("visited.html");
    let text = page.replacen("</body>", &visitor, 1);
    std::fs::write(&file, text).expect("written");
    let shown = dump(browser, folder, &file);
    let start = "<pre id=\"visited\">";
    let at = shown.find(start).expect("the script ran") + start.len();
    let said = shown[at..].split('<').next().unwrap_or_default();
    serde_json::from_str(&decoded(said)).expect("JSON")
}

/// Undoes `encodeURIComponent`.
fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((&first, behind)) = rest.split_first() {
        let code = behind.get(..2).filter(|_| first == b'%');
        let code = code.and_then(|hex| std::str::from_utf8(hex).ok());
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => (bytes.push(byte), rest = &behind[2..]),
            None => (bytes.push(first), rest = behind),
        };
    }
    String::from_utf8(bytes).expect("UTF-8")
}
