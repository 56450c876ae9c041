//! Names of the special registers.

use crate::isa::Special;

/// The special register that `name` stands for, if any.
pub(in crate::lower) fn special(name: &str) -> Option<Special> {
    use Special::*;
    if name == "WARP_SZ" {
        return Some(WarpSize);
    }
    let name = name.strip_prefix('%')?;
    if let Some((base, component)) = name.split_once('.') {
        let component = match component {
            "x" => 0,
            "y" => 1,
            "z" => 2,
            _ => return None,
        };
        return match base {
            "tid" => Some(Tid(component)),
            "ntid" => Some(Ntid(component)),
            "ctaid" => Some(Ctaid(component)),
            "nctaid" => Some(Nctaid(component)),
            _ => None,
        };
    }
    let numbered = |prefix: &str, count: u8| {
        let number = name.strip_prefix(prefix)?.parse().ok()?;
        (number < count).then_some(number)
    };
    Some(match name {
        "laneid" => Laneid,
        "warpid" => Warpid,
        "nwarpid" => Nwarpid,
        "smid" => Smid,
        "nsmid" => Nsmid,
        "gridid" => Gridid,
        "lanemask_eq" => LanemaskEq,
        "lanemask_le" => LanemaskLe,
        "lanemask_lt" => LanemaskLt,
        "lanemask_ge" => LanemaskGe,
        "lanemask_gt" => LanemaskGt,
        "clock" => Clock,
        "clock_hi" => ClockHi,
        "clock64" => Clock64,
        "globaltimer" => Globaltimer,
        "globaltimer_lo" => GlobaltimerLo,
        "globaltimer_hi" => GlobaltimerHi,
        "dynamic_smem_size" => DynamicSmemSize,
        "total_smem_size" => TotalSmemSize,
        _ => match (numbered("envreg", 32), numbered("pm", 8)) {
            (Some(n), _) => Envreg(n),
            (_, Some(n)) => Pm(n),
            _ => return None,
        },
    })
}

/// Bytes that a special register has when read. `%gridid` is 32 or 64 bits as asked.
pub(in crate::lower) fn special_bytes(special: Special) -> u32 {
    match special {
        Special::Clock64 | Special::Globaltimer | Special::Gridid => 8,
        _ => 4,
    }
}

/// Spellings to suggest when a name is not known.
pub(in crate::lower) const NAMES: &[&str] = &[
    "%tid.x",
    "%tid.y",
    "%tid.z",
    "%ntid.x",
    "%ntid.y",
    "%ntid.z",
    "%ctaid.x",
    "%ctaid.y",
    "%ctaid.z",
    "%nctaid.x",
    "%nctaid.y",
    "%nctaid.z",
    "%laneid",
    "%warpid",
    "%nwarpid",
    "%smid",
    "%nsmid",
    "%gridid",
    "%lanemask_eq",
    "%lanemask_le",
    "%lanemask_lt",
    "%lanemask_ge",
    "%lanemask_gt",
    "%clock",
    "%clock64",
    "%globaltimer",
    "WARP_SZ",
];
