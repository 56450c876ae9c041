//! Overrides from the command line: `sm.schedulers=4`.

use std::ops::Range;
use warpsim_present::{Node, Source, SourceError, Value};

/// A parsed override.
#[derive(Clone, Debug)]
pub struct Override {
    /// The option's text, for messages.
    pub source: Source,
    /// Dotted key.
    pub key: String,
    /// Where the key stands.
    pub key_span: Range<usize>,
    /// The value as TOML reads it; what TOML does not read is a string, so that
    /// `scheduler=lrr` needs no quotes.
    pub node: Node,
    /// The value as written.
    pub raw: String,
}

impl Override {
    /// The value as a string, whatever else it could be read as.
    pub fn as_string(&self) -> Node {
        let mut node = self.node.clone();
        if !matches!(node.value, Value::String(_)) {
            node.value = Value::String(self.raw.clone());
        }
        node
    }
}

/// Reads `key=value`.
pub fn parse(text: &str) -> Result<Override, SourceError> {
    let source = Source::new("--set", text);
    let Some(equals) = text.find('=') else {
        return Err(source
            .error(0..text.len(), "an override is written KEY=VALUE")
            .with_help("for example `--set sm.schedulers=4`"));
    };
    let key = text[..equals].trim();
    let raw = text[equals + 1..].trim();
    if key.is_empty() || raw.is_empty() {
        return Err(source
            .error(
                0..text.len(),
                "an override needs a key before the `=` and a value behind",
            )
            .with_help("for example `--set sm.schedulers=4`"));
    }
    let start = equals + 1 + text[equals + 1..].find(raw).unwrap_or(0);
    // One line, one key: anything else (a newline, a comment) is taken as a plain string.
    let value = Node::parse(&Source::new("--set", &format!("v = {raw}")))
        .ok()
        .filter(|root| root.entries().is_some_and(|e| e.len() == 1))
        .and_then(|root| root.get("v").map(|n| n.value.clone()))
        .unwrap_or_else(|| Value::String(raw.to_string()));
    Ok(Override {
        key: key.to_string(),
        key_span: 0..equals,
        node: Node {
            span: start..start + raw.len(),
            value,
        },
        raw: raw.to_string(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_toml_or_plain_words() {
        let value = |t: &str| parse(t).unwrap().node.value;
        assert_eq!(value("a.b=4"), Value::Integer(4));
        assert_eq!(value("a.b = true"), Value::Boolean(true));
        assert_eq!(value("a=lrr"), Value::String("lrr".into()));
        assert_eq!(value("a=\"x y\""), Value::String("x y".into()));
        assert_eq!(value("a=gtx480.toml"), Value::String("gtx480.toml".into()));
        assert!(matches!(value("a=[1, 2]"), Value::Array(_)));
    }

    #[test]
    fn an_override_without_key_or_value_is_an_error() {
        for text in ["sm.schedulers", "=4", "a=", ""] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
