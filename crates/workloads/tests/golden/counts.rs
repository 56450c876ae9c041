//! What fingerprints were made of, so that one that changes says what has moved: `counts.txt` has the counts of all
//! launches of a run, found by the hash of its statistics. A run that is observed or stepped has those of the plain one.
//! Numbers are in base 36, and `.5` stands for five zeros.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Those that have moved most are named.
const NAMED: usize = 10;

/// Counts by name.
pub type Counts = Vec<(String, u64)>;

/// The counts of runs by the hash of their statistics.
pub type ByHash = BTreeMap<String, Counts>;

/// The counts among statistics; those in a table have its name before their own.
pub fn counts(statistics: &Value) -> Counts {
    let mut all = Counts::new();
    for (name, value) in statistics.as_object().into_iter().flatten() {
        if let Some(count) = value.as_u64() {
            all.push((name.clone(), count));
        }
        // Energies follow from the other counts.
        if name != "energy" {
            let inner = counts(value).into_iter();
            all.extend(inner.map(|(its, count)| (format!("{name}.{its}"), count)));
        }
    }
    all
}

/// The counts that have moved most, each in a line.
pub fn moved(old: &Counts, new: &Counts) -> String {
    let old: BTreeMap<&String, u64> = old.iter().map(|(name, count)| (name, *count)).collect();
    let mut moves: Vec<(f64, &String, u64, u64)> = new
        .iter()
        .map(|(name, now)| {
            let before = old.get(name).copied().unwrap_or(0);
            let most = before.max(*now).max(1) as f64;
            (before.abs_diff(*now) as f64 / most, name, before, *now)
        })
        .filter(|(share, ..)| *share > 0.0)
        .collect();
    moves.sort_by(|a, b| b.0.total_cmp(&a.0));
    moves.truncate(NAMED);
    moves
        .iter()
        .fold(String::new(), |mut text, (_, name, before, now)| {
            let change = (*now as f64 / *before as f64 - 1.0) * 100.0;
            write!(text, "\n    {name}: {before} -> {now} ({change:+.2}%)")
                .expect("strings take everything");
            text
        })
}

/// As it is kept: a line of names, then a line for each hash.
pub fn write(all: &ByHash) -> String {
    let names: Vec<&str> = all
        .values()
        .next()
        .into_iter()
        .flatten()
        .map(|(name, _)| &**name)
        .collect();
    let mut text = names.join(" ") + "\n";
    for (hash, counts) in all {
        assert!(
            counts
                .iter()
                .map(|(name, _)| &**name)
                .eq(names.iter().copied()),
            "all runs have the same counts"
        );
        text += hash;
        let mut left = &counts[..];
        while let [(_, first), rest @ ..] = left {
            let zeros = left.iter().take_while(|(_, count)| *count == 0).count();
            match zeros {
                0 => write!(text, " {}", base36(*first)),
                _ => write!(text, " .{zeros}"),
            }
            .expect("strings take everything");
            left = if zeros == 0 { rest } else { &left[zeros..] };
        }
        text.push('\n');
    }
    text
}

/// As it was kept.
pub fn read(text: &str) -> Result<ByHash, String> {
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap_or("").split(' ').collect();
    let line = |line: &str| {
        let (hash, words) = line.split_once(' ').unwrap_or((line, ""));
        let mut counts = Vec::new();
        for word in words.split_whitespace() {
            let wrong = |_| format!("`{word}` is no number");
            match word.strip_prefix('.') {
                Some(zeros) => {
                    counts.resize(counts.len() + zeros.parse::<usize>().map_err(wrong)?, 0)
                }
                None => counts.push(u64::from_str_radix(word, 36).map_err(wrong)?),
            }
        }
        if counts.len() != names.len() {
            return Err(format!(
                "{hash} has {} counts, not {}",
                counts.len(),
                names.len()
            ));
        }
        let named = names.iter().map(|name| name.to_string()).zip(counts);
        Ok((hash.to_string(), named.collect()))
    };
    lines.map(line).collect()
}

fn base36(mut number: u64) -> String {
    let mut digits = Vec::new();
    while number > 0 || digits.is_empty() {
        digits.extend(char::from_digit((number % 36) as u32, 36));
        number /= 36;
    }
    digits.iter().rev().collect()
}

#[test]
fn what_is_written_is_read_and_what_moved_most_is_named_first() {
    let runs = |counts: [u64; 4]| -> Counts {
        let names = ["cycles", "idle", "states.ready", "hits"].map(String::from);
        names.into_iter().zip(counts).collect()
    };
    let old = runs([1_000_000_007, 0, 0, 35]);
    let all = ByHash::from([
        ("ab".to_string(), old.clone()),
        ("cd".to_string(), runs([36, 1, 2, 0])),
    ]);
    assert_eq!(
        write(&all),
        "cycles idle states.ready hits\nab gjdgxz .2 z\ncd 10 1 2 .1\n"
    );
    assert_eq!(read(&write(&all)), Ok(all));
    assert_eq!(
        moved(&old, &runs([1_000_000_008, 0, 7, 70])),
        "\n    states.ready: 0 -> 7 (+inf%)\n    hits: 35 -> 70 (+100.00%)\n    cycles: 1000000007 -> 1000000008 (+0.00%)"
    );
    assert!(read("cycles idle\nab 1").is_err() && read("cycles\nab !").is_err());
}
