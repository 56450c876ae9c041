//! The thread compactor: one priority encoder for each lane. In each cycle every encoder takes
//! the lowest thread that is left in its lane, and what they took is a warp. A thread keeps its
//! lane, so there are as many warps as the fullest lane has threads.

use crate::exec::state::{LANES, Lanes};
use std::collections::VecDeque;
use std::ops::Range;

/// A warp as the encoders give it out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formed {
    /// Which of the block's warps it becomes.
    pub row: u16,
    /// Its lanes.
    pub mask: u32,
    /// Who is on them.
    pub lanes: Lanes,
}

/// Groups `threads` (lanes by static warp; `homes` are the warps) into as few warps as their
/// lanes allow.
pub fn compact(
    threads: &[u32],
    homes: Range<u16>,
    left: &mut Vec<u32>,
    out: &mut VecDeque<Formed>,
) {
    left.clear();
    left.extend_from_slice(threads);
    for row in 0.. {
        let (mut mask, mut members, mut only) = (0u32, [homes.start; LANES], None);
        for (home, rest) in homes.clone().zip(left.iter_mut()) {
            let mut new = *rest & !mask;
            if new == 0 {
                continue;
            }
            only = if mask == 0 { Some(home) } else { None };
            *rest &= !new;
            mask |= new;
            while new != 0 {
                members[new.trailing_zeros() as usize] = home;
                new &= new - 1;
            }
        }
        if mask == 0 {
            return;
        }
        let lanes = match only {
            Some(home) => Lanes::Static(home),
            None => Lanes::Gathered(Box::new(members)),
        };
        out.push_back(Formed { row, mask, lanes });
    }
}

/// Forms warps with the encoders switched off: threads stay in their static warps.
pub fn keep(threads: &[u32], homes: Range<u16>, out: &mut VecDeque<Formed>) {
    for (row, (home, mask)) in homes.zip(threads).enumerate() {
        if *mask != 0 {
            out.push_back(Formed {
                row: row as u16,
                mask: *mask,
                lanes: Lanes::Static(home),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn formed(threads: &[u32]) -> Vec<Formed> {
        let mut out = VecDeque::new();
        let homes = 5..5 + threads.len() as u16;
        compact(threads, homes, &mut Vec::new(), &mut out);
        out.into()
    }

    #[test]
    fn full_warps_come_out_as_they_were() {
        let all = formed(&[!0, !0, 0x3f]);
        let lanes: Vec<_> = all.iter().map(|f| (f.mask, f.lanes.clone())).collect();
        assert_eq!(
            lanes,
            [
                (!0, Lanes::Static(5)),
                (!0, Lanes::Static(6)),
                (0x3f, Lanes::Static(7))
            ]
        );
    }

    proptest! {
        #[test]
        fn every_thread_comes_out_once_in_its_lane_in_as_few_warps_as_there_can_be(
            threads in prop::collection::vec(any::<u32>(), 1..32),
        ) {
            let all = formed(&threads);
            let fullest = (0..LANES).map(|lane| threads.iter().filter(|m| *m >> lane & 1 != 0).count());
            prop_assert_eq!(all.len(), fullest.max().unwrap_or(0));
            let mut seen = vec![0u32; threads.len()];
            for (k, warp) in all.iter().enumerate() {
                prop_assert_eq!(warp.row as usize, k);
                for lane in (0..LANES).filter(|l| warp.mask >> l & 1 != 0) {
                    let home = warp.lanes.home(lane) as usize - 5;
                    prop_assert_eq!(seen[home] >> lane & 1, 0, "twice");
                    // The lowest thread of a lane comes first.
                    let lower = (0..home).filter(|h| threads[*h] >> lane & 1 != 0);
                    prop_assert_eq!(lower.count(), k);
                    seen[home] |= 1 << lane;
                }
            }
            prop_assert_eq!(seen, threads);
        }
    }
}
