//! Caches.

use super::whole;

/// Keys of a cache with their values.
type CacheSettings = Vec<(&'static str, String)>;

/// Bytes of the longest line that a cache of ours may have, by its section.
pub fn longest_line(section: &str) -> u64 {
    if section == "l2" { 256 } else { 128 }
}

/// What a cache is, by our keys, and whether its lines are longer than `longest`: as many bytes in shorter lines then. Of one
/// that is `indexed` how its sets are found, too.
///
/// `N:SETS:LINE:WAYS,REPLACEMENT:WRITE:ALLOCATE:…:INDEX,MSHR:ENTRIES:MERGES,QUEUE…`. Files before release 4 have no `N`, those
/// before 3.1.1 have policies in the first part.
pub fn cache(value: &str, indexed: bool, longest: u64) -> Result<(CacheSettings, bool), String> {
    let parts: Vec<Vec<&str>> = value.split(',').map(|p| p.split(':').collect()).collect();
    let kind = parts[0].first().is_some_and(|first| whole(first).is_err());
    let shape = &parts[0][usize::from(kind)..];
    let [sets, line, ways, policies @ ..] = shape else {
        return Err("a cache begins with N:SETS:LINE:WAYS, or with SETS:LINE:WAYS".into());
    };
    let (mut sets, mut line) = (whole(sets)?, whole(line)?);
    let long = line > longest;
    while line > longest && line.is_multiple_of(2) {
        (sets, line) = (sets.saturating_mul(2), line / 2);
    }
    let mut found = vec![
        ("sets", sets.to_string()),
        ("line", line.to_string()),
        ("ways", whole(ways)?.to_string()),
    ];
    let behind = if policies.is_empty() { 1 } else { 0 };
    let index = parts.get(behind).filter(|_| policies.is_empty());
    if indexed {
        let hashed = index.and_then(|policies| policies.get(4)) == Some(&"H");
        found.push(("hashed_index", hashed.to_string()));
    }
    if let Some([_, entries, merges, ..]) = parts.get(behind + 1).map(Vec::as_slice) {
        found.push(("mshrs", whole(entries)?.to_string()));
        found.push(("merges", whole(merges)?.to_string()));
    }
    let queue = parts.get(behind + 2).and_then(|p| p.first());
    if let Some(queue) = queue.filter(|q| !q.is_empty()) {
        found.push(("miss_queue", whole(queue)?.to_string()));
    }
    Ok((found, long))
}

/// Bytes of a sector, and whether there are several in a line: `S` is a cache with sectors of 32 bytes.
pub fn sectors(value: &str) -> Result<(u64, bool), String> {
    let sectored = value.trim_start().starts_with("S:");
    let (line, _) = cache(value, false, longest_line("l2"))?;
    let line = line.iter().find(|(key, _)| *key == "line");
    let line = line.map_or(Ok(32), |(_, line)| whole(line))?;
    Ok((if sectored { 32 } else { line }, sectored))
}
