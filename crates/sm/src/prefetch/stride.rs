//! Strides: a load instruction whose addresses have grown twice by the same number of bytes is taken to go on like
//! that (Baer and Chen, 1991). What each did last is in a table, at a place that follows from its number, or
//! from that and its warp's: warps that take turns at one instruction have no stride together if each goes its own way.

use super::{Access, Prefetcher, Registered};
use warpsim_machine::mechanism::{Info, Integer, OneOf};

const ENTRIES: Integer = Integer {
    name: "entries",
    low: 1,
    high: 4096,
    default: 64,
    unit: "entries",
    description: "size of the table",
};

const DEGREE: Integer = Integer {
    name: "degree",
    low: 1,
    high: 32,
    default: 1,
    unit: "lines",
    description: "addresses that are wanted at a time, a stride behind each other",
};

const DISTANCE: Integer = Integer {
    name: "distance",
    low: 1,
    high: 1024,
    default: 1,
    unit: "strides",
    description: "how far ahead of the load the first of them is",
};

const BY: OneOf<bool> = OneOf {
    name: "by",
    words: &["pc", "pc-and-warp"],
    meanings: &[false, true],
    description: "whose last address the table has: that of each load instruction, or of each and each warp",
};

/// What was seen of an instruction.
#[derive(Clone, Copy, Debug)]
struct Seen {
    pc: u32,
    warp: u16,
    last: u64,
    /// By how much its address grew last; 0 if it was seen once.
    stride: i64,
}

/// The prefetcher.
#[derive(Debug)]
struct Stride {
    table: Vec<Option<Seen>>,
    degree: i64,
    distance: i64,
    by_warp: bool,
}

impl Stride {
    /// The place of an instruction of a warp in the table.
    fn place(&self, pc: u32, warp: u16) -> usize {
        // Warps of an instruction spread over the table, and so do instructions of a warp.
        let number = u64::from(pc) + u64::from(warp) * 37;
        (number % self.table.len() as u64) as usize
    }
}

impl Prefetcher for Stride {
    fn looked_up(&mut self, access: &Access, wanted: &mut Vec<u64>) {
        let pc = access.pc;
        let warp = if self.by_warp { access.warp } else { 0 };
        let place = self.place(pc, warp);
        let entry = &mut self.table[place];
        let Some(seen) = entry.as_mut().filter(|s| (s.pc, s.warp) == (pc, warp)) else {
            *entry = Some(Seen {
                pc,
                warp,
                last: access.address,
                stride: 0,
            });
            return;
        };
        let stride = access.address.wrapping_sub(seen.last) as i64;
        if stride == 0 {
            return;
        }
        seen.last = access.address;
        if std::mem::replace(&mut seen.stride, stride) != stride {
            return;
        }
        let strides = self.distance..self.distance + self.degree;
        wanted.extend(strides.filter_map(|n| {
            let ahead = stride.checked_mul(n)?;
            access.address.checked_add_signed(ahead)
        }));
    }

    fn launch_begins(&mut self) {
        self.table.fill(None);
    }
}

/// As it is registered.
pub const PREFETCHER: Registered = Registered {
    info: Info {
        name: "stride",
        description: "the lines to which a load instruction goes on whose addresses grow by the same each time",
        parameters: &[&ENTRIES, &DEGREE, &DISTANCE, &BY],
    },
    make: |values| {
        Some(Box::new(Stride {
            table: vec![None; values.get(&ENTRIES) as usize],
            degree: values.get(&DEGREE).into(),
            distance: values.get(&DISTANCE).into(),
            by_warp: values.get(&BY),
        }))
    },
};

#[cfg(test)]
mod tests {
    use super::super::Found;
    use super::super::testing::{load, wants};
    use super::*;
    use warpsim_machine::mechanism::Values;

    fn made(set: &[(&str, toml::Value)]) -> Box<dyn Prefetcher> {
        let mut values = Values::default();
        for (name, value) in set {
            values.set(name, value.clone());
        }
        (PREFETCHER.make)(&values).expect("a prefetcher")
    }

    /// What is wanted after each of these loads of one instruction by a warp.
    fn all(
        prefetcher: &mut dyn Prefetcher,
        pc: u32,
        warp: u16,
        addresses: &[u64],
    ) -> Vec<Vec<u64>> {
        let each = addresses.iter();
        each.map(|&a| wants(prefetcher, &load(pc, warp, a, Found::Miss)))
            .collect()
    }

    #[test]
    fn a_stride_is_believed_when_it_was_seen_twice() {
        let none = Vec::new();
        let mut stride = made(&[]);
        let got = all(
            &mut *stride,
            3,
            0,
            &[1000, 1512, 2024, 2536, 2536, 100, 612],
        );
        let expected = [&none, &none, &vec![2536], &vec![3048], &none, &none, &none];
        assert_eq!(got.iter().collect::<Vec<_>>(), expected);
        // Down, too, and not below the first byte.
        let mut stride = made(&[("degree", 2.into())]);
        let got = all(&mut *stride, 3, 0, &[900, 600, 300]);
        assert_eq!(got[2], [0]);
    }

    #[test]
    fn distance_and_degree_say_how_far_ahead_and_how_many() {
        let mut stride = made(&[("degree", 3.into()), ("distance", 4.into())]);
        let got = all(&mut *stride, 3, 0, &[0, 128, 256]);
        assert_eq!(got[2], [256 + 4 * 128, 256 + 5 * 128, 256 + 6 * 128]);
    }

    #[test]
    fn instructions_that_share_a_place_push_each_other_out() {
        let turns = |entries: u32| {
            let mut stride = made(&[("entries", i64::from(entries).into())]);
            let mut wanted = 0;
            for n in 0..10 {
                for pc in [1, 2] {
                    let access = load(pc, 0, (u64::from(pc) << 20) | (n * 128), Found::Miss);
                    wanted += wants(&mut *stride, &access).len();
                }
            }
            wanted
        };
        assert_eq!((turns(1), turns(2)), (0, 16));
    }

    /// Two warps, each at every other line of its own half.
    #[test]
    fn warps_that_take_turns_have_strides_of_their_own() {
        for (by, expected) in [("pc", 0), ("pc-and-warp", 16)] {
            let mut stride = made(&[("by", by.into())]);
            let mut wanted = 0;
            for n in 0..10 {
                for warp in [0, 1] {
                    let access = load(5, warp, (u64::from(warp) << 20) | (n * 256), Found::Miss);
                    wanted += wants(&mut *stride, &access).len();
                }
            }
            assert_eq!(wanted, expected, "{by}");
        }
    }

    #[test]
    fn a_launch_begins_with_an_empty_table() {
        let mut stride = made(&[]);
        all(&mut *stride, 3, 0, &[0, 128, 256]);
        stride.launch_begins();
        assert!(all(&mut *stride, 3, 0, &[384, 512]).concat().is_empty());
    }
}
