//! Random: any line goes. The numbers follow from a seed and from how many lines have come, so that every run has the
//! same.

use super::{Policy, Replacement, Ways};
use warpsim_machine::mechanism::{Info, Integer};

const SEED: Integer = Integer {
    name: "seed",
    low: 0,
    high: u32::MAX,
    default: 1,
    unit: "",
    description: "another one chooses other lines",
};

/// The policy: the number that chooses next.
#[derive(Debug)]
struct Random {
    seed: u64,
    came: u64,
}

impl Random {
    /// A number for the next line that needs room (SplitMix64's mixing of a counter).
    fn number(&self) -> u64 {
        let step = self
            .came
            .wrapping_add(1)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (self.seed << 32).wrapping_add(step);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl Replacement for Random {
    fn reserved(&mut self, _: usize, _: usize) {
        self.came += 1;
    }

    fn hit(&mut self, _: usize, _: usize) {}

    fn victim(&self, _: usize, among: &Ways) -> usize {
        let chosen = self.number() % (among.len() as u64).max(1);
        among.iter().nth(chosen as usize).unwrap_or(0)
    }
}

/// As it is registered.
pub const POLICY: Policy = Policy {
    info: Info {
        name: "random",
        description: "any line makes room; the same ones in every run",
        parameters: &[&SEED],
    },
    make: |values, _, _| {
        Box::new(Random {
            seed: values.get(&SEED).into(),
            came: 0,
        })
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use warpsim_machine::mechanism::Values;

    fn victims(seed: u32, among: &Ways) -> Vec<usize> {
        let mut values = Values::default();
        values.set("seed", i64::from(seed).into());
        let mut random = (POLICY.make)(&values, 1, 4);
        let next = |_| {
            let way = random.victim(0, among);
            assert_eq!(random.victim(0, among), way, "asking changes nothing");
            random.reserved(0, way);
            way
        };
        (0..4000).map(next).collect()
    }

    #[test]
    fn every_way_goes_as_often_and_a_seed_says_when() {
        let all = Ways::that(4, |_| true);
        let chosen = victims(1, &all);
        for way in 0..4 {
            let times = chosen.iter().filter(|&&c| c == way).count();
            assert!((900..1100).contains(&times), "{way}: {times}");
        }
        assert_eq!(chosen, victims(1, &all));
        assert_ne!(chosen, victims(2, &all));
        let some = Ways::that(4, |way| way != 2);
        assert!(!victims(1, &some).contains(&2));
    }
}
