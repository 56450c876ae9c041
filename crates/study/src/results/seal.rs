//! A checksum at the end of a stored JSON object. It is over the bytes before it, so that a single
//! digit that has changed, in storage or by hand, is noticed; the file is still JSON.

use crate::results::key::sha256;

const BEFORE: &str = ",\n  \"checksum\": \"";
const AFTER: &str = "\"\n}\n";

/// The text of a JSON object, with its checksum as the last member.
pub fn seal(object: &str) -> String {
    let text = object.trim_end();
    let open = text.strip_suffix('}').unwrap_or(text).trim_end();
    format!("{open}{BEFORE}{}{AFTER}", sha256(open.as_bytes()))
}

/// Whether a text is as it was sealed.
pub fn is_intact(text: &str) -> bool {
    let Some((open, checksum)) = text.rsplit_once(BEFORE) else {
        return false;
    };
    checksum.strip_suffix(AFTER) == Some(&sha256(open.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn every_changed_byte_is_noticed() {
        let object = json!({"cycles": 1234, "list": [1.5, {"a": "}"}]});
        for text in [format!("{object:#}\n"), object.to_string()] {
            let sealed = seal(&text);
            assert!(is_intact(&sealed));
            let value: Value = serde_json::from_str(&sealed).expect("still JSON");
            assert_eq!(value["cycles"], 1234);
            for at in 0..sealed.len() {
                let mut bytes = sealed.clone().into_bytes();
                bytes[at] ^= 1;
                let changed = String::from_utf8(bytes).expect("one bit of ASCII");
                assert!(!is_intact(&changed), "{changed}");
            }
            assert!(!is_intact(&text), "not sealed");
            assert!(!is_intact(&sealed[..sealed.len() - 1]));
        }
    }
}
