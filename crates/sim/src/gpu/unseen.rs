//! Which launches cannot tell when stores become visible.
//!
//! A kernel that reads no array that it writes sees nothing of what other SMs store, so that stores need not be shown before the launch is
//! over. That lets SMs run by themselves for long, and it is decided by the kernel and its arguments alone: stores of such a launch are shown
//! less often, on any number of threads. Should it read them after all, through a pointer to something else, it finds what any other
//! run does.

use crate::exec::memory::image::GlobalMemory;
use std::collections::BTreeSet;
use warpsim_ptx::analysis::{Array, Arrays, Touched};

/// Periods after which stores are shown that no SM looks for.
pub(super) const PERIODS_UNSEEN: u64 = 64;

/// Whether a kernel that does this with global memory reads nothing that it writes, launched with these parameters in a module whose variables have these addresses.
/// Atomics are seen when they are performed.
pub(super) fn reads_no_stores(
    arrays: &Arrays,
    params: &[u8],
    symbols: &[u64],
    image: &GlobalMemory,
) -> bool {
    let places = |touched: &Touched| {
        let address = |array: &Array| match *array {
            Array::Parameter(at) => {
                let bytes = params.get(at as usize..)?.first_chunk()?;
                Some(u64::from_le_bytes(*bytes))
            }
            Array::Symbol(index) => symbols.get(index as usize).copied(),
        };
        // What is no address is a number that others are computed with.
        let places = touched.arrays.iter().filter_map(address);
        let places = places.filter_map(|address| image.find(address, 1, usize::MAX));
        let places: BTreeSet<usize> = places.collect();
        let is_known = !touched.others && (touched.is_empty() || !places.is_empty());
        is_known.then_some(places)
    };
    if !arrays.updated.is_empty() {
        return false;
    }
    if arrays.written.is_empty() || arrays.read.is_empty() {
        return true;
    }
    match (places(&arrays.read), places(&arrays.written)) {
        (Some(read), Some(written)) => read.is_disjoint(&written),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory with three arrays, and parameters that point to the first, into the second, to the first again and, as a number, nowhere.
    fn memory() -> (GlobalMemory, Vec<u8>, [u64; 1]) {
        let mut image = GlobalMemory::new();
        let [a, b, c] = ["a", "b", "c"].map(|label| image.alloc(64, 256, label).expect("room"));
        let params = [a, b + 8, a + 4, 3].map(u64::to_le_bytes).concat();
        (image, params, [c])
    }

    fn touched(arrays: &[Array]) -> Touched {
        Touched {
            arrays: arrays.iter().copied().collect(),
            others: false,
        }
    }

    fn reads_none(read: &[Array], written: &[Array]) -> bool {
        let (image, params, symbols) = memory();
        let arrays = Arrays {
            read: touched(read),
            written: touched(written),
            ..Arrays::default()
        };
        reads_no_stores(&arrays, &params, &symbols, &image)
    }

    const A: Array = Array::Parameter(0);
    const B: Array = Array::Parameter(8);
    const A_AGAIN: Array = Array::Parameter(16);
    const NUMBER: Array = Array::Parameter(24);
    const C: Array = Array::Symbol(0);

    #[test]
    fn pointers_to_different_arrays_are_different() {
        assert!(reads_none(&[A, C], &[B]));
        assert!(!reads_none(&[A, B], &[B, C]));
        assert!(!reads_none(&[C], &[A, C]));
    }

    #[test]
    fn two_pointers_to_one_array_are_the_same() {
        assert!(!reads_none(&[A], &[A_AGAIN]));
    }

    #[test]
    fn a_number_says_nothing_about_where_it_leads() {
        assert!(reads_none(&[A, NUMBER], &[B, NUMBER]));
        assert!(!reads_none(&[NUMBER], &[B]));
        assert!(!reads_none(&[A], &[NUMBER]));
        assert!(!reads_none(&[A], &[Array::Parameter(1000)]));
    }

    #[test]
    fn what_cannot_be_told_may_be_anything_and_atomics_are_seen() {
        let (image, params, symbols) = memory();
        let plain = Arrays {
            read: touched(&[A]),
            written: touched(&[B]),
            ..Arrays::default()
        };
        let holds = |arrays: &Arrays| reads_no_stores(arrays, &params, &symbols, &image);
        assert!(holds(&plain));
        let anywhere = Touched {
            others: true,
            ..touched(&[])
        };
        let with = |change: &dyn Fn(&mut Arrays)| {
            let mut arrays = plain.clone();
            change(&mut arrays);
            holds(&arrays)
        };
        assert!(!with(&|arrays| arrays.read = anywhere.clone()));
        assert!(!with(&|arrays| arrays.written = anywhere.clone()));
        assert!(!with(&|arrays| arrays.updated = touched(&[C])));
        assert!(with(&|arrays| arrays.written = Touched::default()));
        assert!(with(&|arrays| arrays.read = Touched::default()));
    }
}
