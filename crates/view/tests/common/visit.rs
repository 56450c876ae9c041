//! A page with a visitor: a script at its end.

use super::chromium::open;
use std::path::Path;

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
    let shown = open(
        browser,
        folder,
        &["--dump-dom", "--window-size=1300,900"],
        &file,
    );
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
