//! DRAM timing.

use super::{Imported, whole};

/// What each number is called in files that name them, and here.
const NAMED: &[(&str, &str)] = &[
    ("nbk", "dram.banks"),
    ("nbkgrp", "dram.bank_groups"),
    ("CCD", "dram.timing.ccd"),
    ("CCDL", "dram.timing.ccdl"),
    ("RRD", "dram.timing.rrd"),
    ("RCD", "dram.timing.rcd"),
    ("RAS", "dram.timing.ras"),
    ("RP", "dram.timing.rp"),
    ("RC", "dram.timing.rc"),
    ("CL", "dram.timing.cl"),
    ("WL", "dram.timing.wl"),
    ("CDLR", "dram.timing.cdlr"),
    ("WR", "dram.timing.wr"),
    ("RTPL", "dram.timing.rtpl"),
];

/// The order of a bare list, which has ten numbers or eleven. There were no bank groups then.
const LISTED: [&str; 11] = [
    "nbk", "CCD", "RRD", "RCD", "RAS", "RP", "RC", "CL", "WL", "CDLR", "WR",
];

/// `nbk=16:CCD=2:RRD=6:…`, or the same as a bare list in files before release 3.1.1.
pub fn timing(value: &str, option: &str, out: &mut Imported) -> Result<bool, String> {
    let parts: Vec<&str> = value.split(':').map(str::trim).collect();
    let parts: Vec<&str> = parts.into_iter().filter(|p| !p.is_empty()).collect();
    let mut set = |key: &str, number: &str| -> Result<(), String> {
        let number = whole(number)?.to_string();
        out.settings
            .push((key.to_string(), number, option.to_string()));
        Ok(())
    };
    let key = |name: &str| NAMED.iter().find(|(known, _)| *known == name);
    if !value.contains('=') {
        if !(10..=LISTED.len()).contains(&parts.len()) {
            return Err(format!(
                "ten or eleven numbers are expected: {}",
                LISTED.join(":")
            ));
        }
        for (name, number) in LISTED.iter().zip(&parts) {
            if let Some((_, key)) = key(name) {
                set(key, number)?;
            }
        }
        set("dram.bank_groups", "1")?;
        return Ok(true);
    }
    for part in parts {
        let (name, number) = part
            .split_once('=')
            .ok_or(format!("`{part}` is no NAME=NUMBER"))?;
        match key(name.trim()) {
            Some((_, key)) => set(key, number)?,
            None => out
                .notes
                .push(format!("DRAM timing {part} has no counterpart")),
        }
    }
    Ok(true)
}
