//! A real browser, without a window. The tests of several crates open their pages with it.

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

/// Opens a page; what the browser prints. Whatever scripts complain of is an error, and whatever a page fetches fails.
pub fn open(browser: &str, folder: &Path, arguments: &[&str], page: &Path) -> String {
    let profile = format!("--user-data-dir={}", folder.join("profile").display());
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", &profile])
        .args(["--disable-dev-shm-usage", "--enable-logging=stderr"])
        .arg("--host-resolver-rules=MAP * ~NOTFOUND")
        .args(arguments)
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("the browser runs");
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{log}");
    let complaints: Vec<&str> = log.lines().filter(|l| l.contains("CONSOLE")).collect();
    assert!(complaints.is_empty(), "{complaints:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}
