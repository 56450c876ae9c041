//! Steps with an index: `for = "k"` stands for its `steps` once for each value of `k`, which is a
//! parameter inside of them. They are written out before anything else reads the steps.

use super::fields::{Fields, scalar};
use super::variables::{Variables, replace, within};
use crate::host::element::Scalar;
use warpsim_present::{Node, Source, SourceError, Value};

/// Steps that all loops of a file are written out as.
const MOST: usize = 100_000;

/// Values in them: keys, numbers, names.
const MOST_VALUES: usize = 4_000_000;

/// What loops have been written out as so far.
#[derive(Default)]
struct Written {
    steps: usize,
    values: usize,
}

/// Values in a part of a file.
fn values(node: &Node) -> usize {
    1 + match &node.value {
        Value::Array(items) => items.iter().map(values).sum(),
        Value::Table(entries) => entries.iter().map(|e| values(&e.node)).sum::<usize>(),
        _ => 0,
    }
}

/// Replaces expressions in a list of steps by their values, and loops by what they stand for.
pub(super) fn write_out(
    source: &Source,
    node: &mut Node,
    known: &Variables,
) -> Result<(), SourceError> {
    steps(source, node, known, &mut Written::default())
}

fn steps(
    source: &Source,
    node: &mut Node,
    known: &Variables,
    written: &mut Written,
) -> Result<(), SourceError> {
    let Value::Array(items) = &mut node.value else {
        return Ok(());
    };
    let mut all = Vec::new();
    for mut item in std::mem::take(items) {
        if item.get("for").is_some() {
            looped(source, &item, known, written, &mut all)?;
            continue;
        }
        let Value::Table(entries) = &mut item.value else {
            all.push(item);
            continue;
        };
        for entry in entries.iter_mut().filter(|e| e.key == "steps") {
            steps(source, &mut entry.node, known, written)?;
        }
        within(source, &mut item, known, false)?;
        all.push(item);
    }
    *items = all;
    Ok(())
}

/// Appends the steps of a loop, once for each value of its index.
fn looped(
    source: &Source,
    node: &Node,
    known: &Variables,
    written: &mut Written,
    all: &mut Vec<Node>,
) -> Result<(), SourceError> {
    let keys = ["for", "from", "to", "step", "steps"];
    let fields = Fields::new(source, node, "a loop", &keys)?;
    let missing = |help| fields.missing("for", help);
    let name = fields
        .string("for")?
        .ok_or_else(|| missing("the name of its index"))?;
    let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let first = |c: char| c.is_ascii_alphabetic() || c == '_';
    if !name.value.starts_with(first) || !name.value.chars().all(letters) {
        let message = "an index is called by letters, digits and `_`";
        return Err(source.error(name.place, message));
    }
    if known.iter().any(|(n, _)| *n == name.value) {
        let message = format!("`{}` is a parameter or an index already", name.value);
        return Err(source.error(name.place, message));
    }
    let whole = |key: &str, default: Option<i128>| match (fields.node(key), default) {
        (None, Some(default)) => Ok(default),
        (None, None) => Err(fields.missing(
            key,
            "the values of the index go `from` the first `to` the last",
        )),
        (Some(node), _) => {
            let mut node = node.clone();
            replace(source, &mut node, known)?;
            match scalar(source, &node, key)?.value {
                Scalar::Integer(value) => Ok(value),
                Scalar::Float(_) => {
                    Err(source.error(node.span, format!("`{key}` takes a whole number")))
                }
            }
        }
    };
    let (from, to, step) = (
        whole("from", Some(0))?,
        whole("to", None)?,
        whole("step", Some(1))?,
    );
    if step == 0 {
        let place = fields
            .node("step")
            .map_or(node.span.clone(), |n| n.span.clone());
        return Err(source.error(place, "the index would never end: `step` is 0"));
    }
    let inner = fields
        .node("steps")
        .ok_or_else(|| fields.missing("steps", "what to repeat, as `[[steps.steps]]`"))?;
    let mut known = known.clone();
    known.push((name.value, Scalar::Integer(from)));
    let weight = values(inner);
    let mut index = from;
    while if step > 0 { index <= to } else { index >= to } {
        written.values += weight;
        if written.values > MOST_VALUES {
            let message = format!("loops stand for more than {MOST_VALUES} values");
            return Err(source.error(name.place, message));
        }
        if let Some(last) = known.last_mut() {
            last.1 = Scalar::Integer(index);
        }
        let mut body = inner.clone();
        steps(source, &mut body, &known, written)?;
        let Value::Array(body) = body.value else {
            return Err(source.error(inner.span.clone(), "`steps` takes a list of tables"));
        };
        // A pass without a step counts as one: loops end.
        written.steps += body.len().max(1);
        if written.steps > MOST {
            let message = format!("loops stand for more than {MOST} steps");
            return Err(source.error(name.place, message));
        }
        all.extend(body);
        index += step;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::launchfile::{LaunchStep, StepKind, parse};
    use warpsim_present::Source;

    const FILE: &str = "schema = 1\nptx = \"k.ptx\"\n[param]\nn = 8\n\
        [buffers.a]\ntype = \"u32\"\ncount = \"n\"\n\
        [[steps]]\nfor = \"s\"\nfrom = 1\nto = \"log2(n)\"\n\
        [[steps.steps]]\nfor = \"t\"\nfrom = \"s - 1\"\nto = 0\nstep = -1\n\
        [[steps.steps.steps]]\nlaunch = \"k\"\ngrid = \"s\"\nblock = 32\n\
        args = [{ buffer = \"a\", offset = \"t\" }, { u32 = \"pow(2, t)\" }, { u32 = \"pow(2, s)\" }]\n";

    fn said(old: &str, new: &str) -> String {
        let text = FILE.replacen(old, new, 1);
        assert_ne!(text, FILE, "{old}");
        parse(&Source::new("f.toml", &text))
            .expect_err(new)
            .to_string()
    }

    #[test]
    fn the_index_is_a_parameter_of_what_is_repeated() {
        let file = parse(&Source::new("f.toml", FILE)).expect("a launch file");
        let launches: Vec<&LaunchStep> = file
            .steps
            .iter()
            .map(|step| match &step.kind {
                StepKind::Launch(launch) => launch,
                other => panic!("{other:?}"),
            })
            .collect();
        // 1 pass of 2, 2 of 4, 3 of 8.
        let grids: Vec<u32> = launches.iter().map(|l| l.grid[0]).collect();
        assert_eq!(grids, [1, 2, 2, 3, 3, 3]);
        let text = format!("{:?}", launches[3].args.value);
        assert!(
            text.contains("Elements(2)") && text.contains("Integer(4)"),
            "{text}"
        );
        assert!(text.contains("Integer(8)"), "{text}");
    }

    #[test]
    fn a_loop_that_makes_no_sense_is_refused() {
        for (old, new, part) in [
            (
                "for = \"t\"",
                "for = \"s\"",
                "a parameter or an index already",
            ),
            (
                "for = \"t\"",
                "for = \"n\"",
                "a parameter or an index already",
            ),
            ("for = \"t\"", "for = \"t u\"", "letters, digits"),
            ("step = -1", "step = 0", "never end"),
            ("to = \"log2(n)\"", "to = 1e9", "takes a whole number"),
            ("to = \"log2(n)\"", "til = 3", "a loop has no key `til`"),
            ("to = \"log2(n)\"", "", "a loop needs `to`"),
            (
                "\"pow(2, t)\"",
                "\"pow(2, u)\"",
                "there is no parameter `u`",
            ),
        ] {
            let text = said(old, new);
            assert!(text.contains(part), "{new}: {text}");
        }
        let long = FILE
            .replace("pow(2, t)", "t")
            .replace("pow(2, s)", "s")
            .replace("to = \"log2(n)\"", "to = 1000000000");
        let error = parse(&Source::new("f.toml", &long)).expect_err("too many steps");
        assert!(error.message.contains("more than 100000"), "{error}");
    }

    #[test]
    fn a_loop_may_have_no_pass() {
        let text = FILE.replace("to = \"log2(n)\"", "to = 0");
        let file = parse(&Source::new("f.toml", &text)).expect("a launch file");
        assert!(file.steps.is_empty());
    }
}
