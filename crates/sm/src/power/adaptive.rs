//! Idle-detect times that follow the program: longer after epochs with many critical wake-ups,
//! shorter after calm ones.

use super::Side;
use crate::time::Cycle;

/// How.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct AdaptiveRules {
    pub epoch: u64,
    pub critical: u32,
    pub calm: u32,
    pub low: u32,
    pub high: u32,
}

/// The idle-detect times of an SM.
#[derive(Clone, Debug)]
pub struct IdleDetect {
    rules: Option<AdaptiveRules>,
    first: u32,
    sides: [Adapting; 2],
    /// When the epoch under way ends.
    ends: Cycle,
}

#[derive(Clone, Copy, Debug, Default)]
struct Adapting {
    cycles: u32,
    /// Critical wake-ups of this epoch.
    critical: u32,
    /// Epochs in a row without too many.
    calm: u32,
}

impl IdleDetect {
    /// `first` cycles, and from there on by these rules.
    pub fn new(first: u32, rules: Option<AdaptiveRules>) -> IdleDetect {
        let mut new = IdleDetect {
            rules,
            first,
            sides: [Adapting::default(); 2],
            ends: Cycle::NEVER,
        };
        new.begin(Cycle::ZERO);
        new
    }

    /// A launch begins.
    pub fn begin(&mut self, now: Cycle) {
        let cycles = match self.rules {
            Some(rules) => self.first.clamp(rules.low, rules.high.max(rules.low)),
            None => self.first,
        };
        self.sides = [Adapting {
            cycles,
            ..Adapting::default()
        }; 2];
        self.ends = self.rules.map_or(Cycle::NEVER, |r| now + r.epoch);
    }

    /// When the epoch under way ends.
    pub fn ends(&self) -> Cycle {
        self.ends
    }

    /// Idle cycles before lanes of this side are switched off.
    pub fn cycles(&self, side: Side) -> u64 {
        self.sides[side as usize].cycles.into()
    }

    /// A request waited in the cycle in which a blackout ended.
    pub fn critical(&mut self, side: Side) {
        self.sides[side as usize].critical += 1;
    }

    /// The epoch is over.
    pub fn next_epoch(&mut self) {
        let Some(rules) = self.rules else { return };
        self.ends += rules.epoch;
        for side in &mut self.sides {
            if std::mem::take(&mut side.critical) > rules.critical {
                side.cycles = (side.cycles + 1).min(rules.high.max(rules.low));
                side.calm = 0;
                continue;
            }
            side.calm += 1;
            if side.calm == rules.calm {
                side.cycles = side.cycles.saturating_sub(1).max(rules.low);
                side.calm = 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: AdaptiveRules = AdaptiveRules {
        epoch: 1000,
        critical: 5,
        calm: 4,
        low: 5,
        high: 10,
    };

    fn epoch(detect: &mut IdleDetect, critical: u32) -> u64 {
        (0..critical).for_each(|_| detect.critical(Side::Int));
        detect.next_epoch();
        detect.cycles(Side::Int)
    }

    #[test]
    fn more_than_five_critical_wake_ups_lengthen_it_up_to_ten() {
        let mut detect = IdleDetect::new(5, Some(RULES));
        assert_eq!(epoch(&mut detect, 5), 5);
        assert_eq!(epoch(&mut detect, 6), 6);
        let all: Vec<u64> = (0..6).map(|_| epoch(&mut detect, 9)).collect();
        assert_eq!(all, [7, 8, 9, 10, 10, 10]);
        assert_eq!(detect.cycles(Side::Fp), 5, "by type");
    }

    #[test]
    fn four_calm_epochs_in_a_row_shorten_it_down_to_five() {
        let mut detect = IdleDetect::new(5, Some(RULES));
        for _ in 0..2 {
            epoch(&mut detect, 6);
        }
        let calm: Vec<u64> = (0..3).map(|_| epoch(&mut detect, 5)).collect();
        assert_eq!(calm, [7, 7, 7]);
        assert_eq!(epoch(&mut detect, 6), 8, "not in a row");
        let calm: Vec<u64> = (0..4).map(|_| epoch(&mut detect, 0)).collect();
        assert_eq!(calm, [8, 8, 8, 7]);
        for _ in 0..40 {
            epoch(&mut detect, 0);
        }
        assert_eq!(detect.cycles(Side::Int), 5);
    }

    #[test]
    fn epochs_end_every_thousand_cycles_of_the_launch() {
        let mut detect = IdleDetect::new(5, Some(RULES));
        detect.begin(Cycle::new(40));
        assert_eq!(detect.ends(), Cycle::new(1040));
        detect.next_epoch();
        assert_eq!(detect.ends(), Cycle::new(2040));
        assert_eq!(IdleDetect::new(5, None).ends(), Cycle::NEVER);
    }
}
