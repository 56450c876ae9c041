//! Whether the 32 threads of a warp execute each instruction together, as far as branches have not parted them: what
//! programs count on that were written for such warps and do not say so with barriers.

use super::Machine;
use crate::divergence;

/// Why the threads of a warp are not in step on a machine, and what keeps them in step: `None` where they are.
pub fn why_not(machine: &Machine) -> Option<(String, String)> {
    let width = machine.sm.warp_width;
    if width < 32 {
        let gangs = match machine.scheduler.name == "gangs" {
            true => ", which go in gangs until their ways part",
            false => "",
        };
        return Some((
            format!("warps are {width} threads wide (`sm.warp_width`){gangs}"),
            "warps of 32 threads, --warps ws32 or --set sm.warp_width=32".to_string(),
        ));
    }
    if !divergence::keeps_threads(machine) {
        return Some((
            format!(
                "`divergence = \"{}\"` puts threads into other warps than they came with",
                machine.divergence.name
            ),
            "a divergence model that leaves them there, --divergence pdom or pdom-lcp".to_string(),
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ReadMachine;

    #[test]
    fn narrow_warps_and_models_that_move_threads_part_them() {
        for (preset, set, reason) in [
            ("vws", "warps=ws32", None),
            ("vws", "warps=ws4", Some("4 threads wide")),
            ("vws", "warps=i-vws-8", Some("in gangs")),
            ("fx5800", "divergence=pdom", None),
            ("fx5800", "divergence=tbc", Some("`divergence = \"tbc\"`")),
            ("fx5800", "divergence=dwf-wb", Some("other warps")),
        ] {
            let machine = Machine::resolve(preset, &[set.to_string()]).expect("a machine");
            let why = why_not(&machine).map(|(why, _)| why);
            let says = |words| why.as_ref().is_some_and(|why| why.contains(words));
            assert_eq!(why.is_some(), reason.is_some(), "{preset} {set}");
            assert!(reason.is_none_or(says), "{preset} {set}: {why:?}");
        }
    }
}
