//! `warpsim list combinations`: what goes together and what does not, with the reason.

use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use warpsim_present::listed;
use warpsim_sim::config::check::combination::{RULES, Why};
use warpsim_sim::config::check::matrix::{Axis, Refusal, alone, axes, pair};

/// Two axes by their positions, and the names of a pair of choices that is refused.
type Refused = (usize, usize, String, String, Refusal);

/// How many pairs of two axes go together, of how many.
type Counts = BTreeMap<(usize, usize), [usize; 2]>;

// Writing to a String cannot fail, hence the ignored results below.

/// The list.
pub fn text() -> String {
    let axes = axes();
    let (counts, refused) = ask(&axes);
    let mut out = String::from("What can be chosen:\n");
    let width = axes.iter().map(|a| a.name.len()).max().unwrap_or(0);
    for axis in &axes {
        let names: Vec<&str> = axis.choices.iter().map(|c| c.name.as_str()).collect();
        let _ = writeln!(out, "  {:width$}  {}", axis.name, names.join(" "));
    }
    let all: usize = counts.values().map(|[_, all]| all).sum();
    let works: usize = counts.values().map(|[works, _]| works).sum();
    let _ = writeln!(out, "\n{works} of {all} pairs go together:");
    out += &table(&axes, &counts);
    out += "A pair goes together if it does on some machine; with a machine, on that.\n";
    for (why, title) in [
        (
            Why::NoSense,
            "These make no sense, and are refused before anything runs:",
        ),
        (
            Why::NotBuilt,
            "These are not built yet, and are refused, too:",
        ),
    ] {
        let _ = writeln!(out, "\n{title}");
        for about in rules(&refused, why) {
            out += &rule(about, &axes, &refused);
        }
    }
    out
}

/// What can be chosen, and every pair that is refused, as data.
pub fn data() -> Value {
    let axes = axes();
    let (_, refused) = ask(&axes);
    let names = |axis: &Axis| axis.choices.iter().map(|c| c.name.clone()).collect();
    let choices: Map<String, Value> = (axes.iter())
        .map(|axis| (axis.name.to_string(), names(axis)))
        .collect();
    let pairs = refused.iter().map(|(i, j, a, b, refusal)| {
        json!({
            (axes[*i].name): a,
            (axes[*j].name): b,
            "rule": refusal.about,
            "built": refusal.why != Why::NotBuilt,
            "sentence": refusal.sentence,
        })
    });
    json!({ "choices": choices, "refused": pairs.collect::<Vec<_>>() })
}

/// Asks for every pair: how many go together of how many, by axes, and those that do not.
fn ask(axes: &[Axis]) -> (Counts, Vec<Refused>) {
    let alone = |axis: &Axis| axis.choices.iter().map(alone).collect::<Vec<_>>();
    let on: Vec<Vec<Vec<&str>>> = axes.iter().map(alone).collect();
    let mut counts = BTreeMap::new();
    let mut refused = Vec::new();
    for (j, second) in axes.iter().enumerate() {
        for (i, first) in axes[..j].iter().enumerate() {
            let count = counts.entry((j, i)).or_insert([0, 0]);
            for (a, on_a) in first.choices.iter().zip(&on[i]) {
                for (b, on_b) in second.choices.iter().zip(&on[j]) {
                    count[1] += 1;
                    match pair([a, b], [on_a, on_b]) {
                        Ok(()) => count[0] += 1,
                        Err(refusal) => {
                            refused.push((i, j, a.name.clone(), b.name.clone(), refusal));
                        }
                    }
                }
            }
        }
    }
    (counts, refused)
}

/// How many pairs of two axes go together.
fn table(axes: &[Axis], counts: &Counts) -> String {
    let width = axes.iter().map(|a| a.name.len()).max().unwrap_or(0);
    let mut out = format!("  {:width$}", "");
    for axis in &axes[..axes.len() - 1] {
        let _ = write!(out, "  {:>width$}", axis.name);
    }
    out.push('\n');
    for (j, axis) in axes.iter().enumerate().skip(1) {
        let _ = write!(out, "  {:width$}", axis.name);
        for i in 0..j {
            let [works, all] = counts.get(&(j, i)).copied().unwrap_or_default();
            let shown = match works == all {
                true => format!("all {all}"),
                false => format!("{works} of {all}"),
            };
            let _ = write!(out, "  {shown:>width$}");
        }
        out.push('\n');
    }
    out
}

/// The rules of a kind that refuse something: those between mechanisms in their order, then others.
fn rules(refused: &[Refused], why: Why) -> Vec<&'static str> {
    let refuses = |about: &str| {
        let mut those = refused.iter().map(|r| &r.4);
        those.any(|r| r.about == about && r.why == why)
    };
    let mut all: Vec<&str> = RULES.iter().map(|r| r.about).collect();
    for (.., refusal) in refused {
        if !all.contains(&refusal.about) {
            all.push(refusal.about);
        }
    }
    all.retain(|about| refuses(about));
    all
}

/// What a rule refuses, and what it says to the first.
fn rule(about: &str, axes: &[Axis], refused: &[Refused]) -> String {
    let mut out = format!("- {about}\n");
    let those: Vec<&Refused> = refused.iter().filter(|r| r.4.about == about).collect();
    // Choices of one axis that are refused with the same choices of another are one line.
    let mut lines: Vec<(usize, usize, Vec<&str>, Vec<&str>)> = Vec::new();
    for (i, j, a, b, _) in &those {
        match lines
            .iter_mut()
            .find(|l| (l.0, l.1) == (*i, *j) && l.2 == [a.as_str()])
        {
            Some(line) => line.3.push(b),
            None => lines.push((*i, *j, vec![a], vec![b])),
        }
    }
    let mut merged: Vec<(usize, usize, Vec<&str>, Vec<&str>)> = Vec::new();
    for line in lines {
        match merged
            .iter_mut()
            .find(|m| (m.0, m.1) == (line.0, line.1) && m.3 == line.3)
        {
            Some(same) => same.2.extend(line.2),
            None => merged.push(line),
        }
    }
    for (i, j, a, b) in merged {
        let (first, second) = (axes[i].name, axes[j].name);
        let (a, b) = (names(&axes[i], &a), names(&axes[j], &b));
        let _ = writeln!(out, "    {first} {a} with {second} {b}");
    }
    if let Some((.., refusal)) = those.first() {
        let _ = writeln!(out, "    \"{}\"", refusal.sentence);
    }
    out
}

/// Names of choices; where it is most of them, those that are left.
fn names(axis: &Axis, those: &[&str]) -> String {
    let all = axis.choices.iter().map(|c| c.name.as_str());
    let others: Vec<&str> = all.filter(|name| !those.contains(name)).collect();
    match others.is_empty() || others.len() * 2 > those.len() {
        true => listed(those),
        false => format!("all but {}", listed(&others)),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_refusal_is_shown_with_its_sentence() {
        let text = super::text();
        for part in [
            "pairs go together:",
            "- orders of a pool without a pool\n    issue policy majority with divergence all but dwf and dwf-wb\n",
            "- dynamic warp formation and virtual warps\n    issue policy majority with virtual blocks hardware\n    divergence dwf and dwf-wb with virtual blocks hardware\n",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        let not_built = text.split("not built yet").nth(1).expect("a list");
        assert!(not_built.matches("\n- ").count() <= 4, "kept short: {text}");
    }
}
