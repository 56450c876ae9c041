//! The presets as they were read when warpsim was built (`build.rs`).

use warpsim_present::{Entry, Node, Value};

include!(concat!(env!("OUT_DIR"), "/presets.rs"));

/// A key with its value, as [`Entry`].
struct Leaf {
    key: &'static str,
    key_span: (usize, usize),
    node: Twig,
}

/// A value with its place, as [`Node`].
struct Twig {
    span: (usize, usize),
    value: Known,
}

/// A value, as [`Value`].
#[allow(dead_code, reason = "presets do not have all that TOML has")]
enum Known {
    String(&'static str),
    Integer(i64),
    /// Its bits.
    Float(u64),
    Boolean(bool),
    Date(&'static str),
    Array(&'static [Twig]),
    Table(&'static [Leaf]),
}

/// What a preset's text says, if it is TOML.
pub(super) fn tree(name: &str) -> Option<Node> {
    let (_, leaves) = TREES.iter().find(|(known, _)| *known == name)?;
    Some(Node {
        span: 0..0,
        value: Value::Table(entries(leaves)),
    })
}

fn entries(leaves: &[Leaf]) -> Vec<Entry> {
    let entry = |leaf: &Leaf| Entry {
        key: leaf.key.to_string(),
        key_span: leaf.key_span.0..leaf.key_span.1,
        node: node(&leaf.node),
    };
    leaves.iter().map(entry).collect()
}

fn node(twig: &Twig) -> Node {
    Node {
        span: twig.span.0..twig.span.1,
        value: match twig.value {
            Known::String(text) => Value::String(text.to_string()),
            Known::Integer(number) => Value::Integer(number),
            Known::Float(bits) => Value::Float(f64::from_bits(bits)),
            Known::Boolean(truth) => Value::Boolean(truth),
            Known::Date(text) => Value::Date(text.to_string()),
            Known::Array(list) => Value::Array(list.iter().map(node).collect()),
            Known::Table(leaves) => Value::Table(entries(leaves)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::presets::PRESETS;
    use super::*;
    use warpsim_present::Source;

    #[test]
    fn trees_say_what_the_texts_say_and_where() {
        for (name, text) in PRESETS {
            let read = Node::parse(&Source::new(name, text)).expect("a preset is TOML");
            assert_eq!(tree(name), Some(read), "{name}");
        }
    }
}
