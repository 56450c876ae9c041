//! Phases: what is folded is decided at the start of each, for the whole SM.

use super::Side;
use super::folding::{CutoffOf, Folding};
use crate::time::Cycle;

/// What the warps of the active sets have in their buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buffered {
    /// Warps whose next instruction is for the integer, or the floating-point, pipelines.
    pub sides: [u32; 2],
    /// Of those, the ones with all lanes active, and the others.
    pub full: u32,
    #[allow(missing_docs)]
    pub partial: u32,
}

/// What has been issued since the launch began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IssuedSoFar {
    /// By all schedulers, of all types.
    pub all: u64,
    /// To the pipelines of each type.
    pub sides: [u64; 2],
    /// Cycles for which entries of these pipelines were taken, second halves included.
    pub slots: u64,
}

/// The phases of an SM.
#[derive(Clone, Debug)]
pub struct Phases {
    folding: Folding,
    /// What could be issued per cycle, as in [`IssuedSoFar`].
    most: IssuedSoFar,
    began: Cycle,
    /// Until when each type is folded in this phase.
    folds_until: [Cycle; 2],
    before: IssuedSoFar,
}

impl Phases {
    /// For an SM that can issue so much per cycle.
    pub fn new(folding: Folding, most: IssuedSoFar) -> Phases {
        Phases {
            folding,
            most,
            began: Cycle::ZERO,
            folds_until: [Cycle::ZERO; 2],
            before: IssuedSoFar::default(),
        }
    }

    /// The first phase of a launch begins.
    pub fn begin(&mut self, now: Cycle) {
        self.before = IssuedSoFar::default();
        self.start(now, IssuedSoFar::default(), Buffered::default());
    }

    /// When the phase under way ends.
    pub fn ends(&self) -> Cycle {
        self.began + self.folding.phase
    }

    /// Whether a type is folded in cycle `now` of this phase.
    pub fn folds(&self, side: Side, now: Cycle) -> bool {
        now < self.folds_until[side as usize]
    }

    /// The cycles of this phase, before `to`, in which a type is folded.
    pub fn folding_cycles(&self, side: Side, to: Cycle) -> u64 {
        self.folds_until[side as usize].min(to).since(self.began)
    }

    /// When upper lanes of a type are switched off as soon as they are idle.
    pub fn eager(&self, side: Side) -> Option<(Cycle, Cycle)> {
        let until = self.folds_until[side as usize];
        (self.folding.eager && until > self.began).then_some((self.began, until))
    }

    /// A phase starts in cycle `now`.
    pub fn start(&mut self, now: Cycle, issued: IssuedSoFar, buffered: Buffered) {
        let Folding {
            phase,
            minority,
            majority,
            cutoff,
            cutoff_of,
            ..
        } = self.folding;
        let could = |most: u64| most * phase;
        let busy = |done: u64, most: u64| done * 100 >= could(most) * cutoff;
        let [int, fp] = buffered.sides;
        for side in Side::ALL {
            let s = side as usize;
            let high = match cutoff_of {
                CutoffOf::Issue => busy(issued.all - self.before.all, self.most.all),
                CutoffOf::Type => busy(issued.sides[s] - self.before.sides[s], self.most.sides[s]),
                CutoffOf::Slots => busy(issued.slots - self.before.slots, self.most.slots),
            };
            let (mine, other) = if s == 0 { (int, fp) } else { (fp, int) };
            let share = if mine < other { minority } else { majority };
            let length = if high { 0 } else { share * phase / 100 };
            self.folds_until[s] = now + length;
        }
        self.began = now;
        self.before = issued;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::Values;
    use crate::power::FOLDING;

    fn phases(set: &[(&str, toml::Value)]) -> Phases {
        let mut values = Values::defaults(&FOLDING[1].info);
        set.iter().for_each(|(k, v)| values.set(k, v.clone()));
        let folding = (FOLDING[1].make)(&values).expect("it folds");
        let most = IssuedSoFar {
            all: 2,
            sides: [2, 2],
            slots: 2,
        };
        let mut phases = Phases::new(folding, most);
        phases.begin(Cycle::new(1000));
        phases
    }

    fn buffered(int: u32, fp: u32) -> Buffered {
        Buffered {
            sides: [int, fp],
            ..Buffered::default()
        }
    }

    fn length(phases: &Phases) -> [u64; 2] {
        Side::ALL.map(|side| phases.folding_cycles(side, Cycle::NEVER))
    }

    #[test]
    fn the_minority_is_folded_longer() {
        let mut p = phases(&[]);
        assert_eq!(p.ends(), Cycle::new(1300));
        assert_eq!(length(&p), [120, 120], "nothing is buffered at the start");
        let start = |p: &mut Phases, int, fp| {
            let now = p.ends();
            p.start(now, IssuedSoFar::default(), buffered(int, fp));
            length(p)
        };
        assert_eq!(start(&mut p, 5, 3), [120, 210]);
        assert_eq!(start(&mut p, 2, 3), [210, 120]);
        assert_eq!(start(&mut p, 4, 4), [120, 120], "on a tie both are careful");
        let now = p.ends();
        p.start(now, IssuedSoFar::default(), buffered(1, 0));
        let at = |n: u64| Cycle::new(now.get() + n);
        assert!(p.folds(Side::Int, at(119)) && !p.folds(Side::Int, at(120)));
        assert!(p.folds(Side::Fp, at(209)) && !p.folds(Side::Fp, at(210)));
        assert_eq!(p.eager(Side::Fp), Some((at(0), at(210))));
    }

    #[test]
    fn a_phase_that_issued_ninety_percent_is_followed_by_one_without_folding() {
        let issued = |all, int, fp| IssuedSoFar {
            all,
            sides: [int, fp],
            slots: 0,
        };
        let mut p = phases(&[]);
        p.start(Cycle::new(1300), issued(540, 500, 0), buffered(1, 0));
        assert_eq!(length(&p), [0, 0]);
        assert_eq!(p.eager(Side::Int), None);
        p.start(Cycle::new(1600), issued(540 + 539, 900, 0), buffered(1, 0));
        assert_eq!(length(&p), [120, 210]);
        let mut p = phases(&[("cutoff_of", "type".into())]);
        p.start(Cycle::new(1300), issued(600, 540, 60), buffered(1, 0));
        assert_eq!(length(&p), [0, 210], "each type by its own slots");
        for (slots, folds) in [(539, [120, 210]), (540, [0, 0])] {
            let mut p = phases(&[("cutoff_of", "slots".into())]);
            let issued = IssuedSoFar {
                slots,
                ..issued(300, 240, 60)
            };
            p.start(Cycle::new(1300), issued, buffered(1, 0));
            assert_eq!(length(&p), folds, "{slots} of 600 slots taken");
        }
    }
}
