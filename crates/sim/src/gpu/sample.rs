//! Power over time: what an observer that wants it hears between quanta.

use super::Gpu;
use crate::sm::Launched;
use crate::stats::{EnergyCounters, MemoryCounters, SmStats};
use crate::time::Cycle;

/// Samples of a launch.
pub(super) struct Sampler {
    every: u64,
    start: Cycle,
    /// When the sample under way began, and what was spent before.
    from: Cycle,
    spent: EnergyCounters,
    memory: MemoryCounters,
}

impl Gpu {
    /// For a launch that begins in cycle `start`, if the observer wants samples.
    pub(super) fn sampler(&self, start: Cycle, memory: &MemoryCounters) -> Option<Sampler> {
        let every = self.options.observer.as_ref()?.samples_every()?;
        Some(Sampler {
            every,
            start,
            from: start,
            spent: EnergyCounters::default(),
            memory: memory.clone(),
        })
    }

    /// Takes a sample before cycle `now` runs, if it is time.
    #[inline]
    pub(super) fn sample(&mut self, sampler: &mut Sampler, now: Cycle, launched: &Launched) {
        if now.since(sampler.from) >= sampler.every {
            let mut sm = SmStats::default();
            for core in &mut self.sms {
                sm.add(&core.sampled(now, launched));
            }
            self.tell_sample(sampler, now, &sm);
        }
    }

    /// Tells the observer what was spent up to cycle `to`, given what was counted until then.
    pub(super) fn tell_sample(&mut self, sampler: &mut Sampler, to: Cycle, sm: &SmStats) {
        let memory = MemoryCounters::of(self.memory.stats()).since(&sampler.memory);
        let cycles = to.since(sampler.start);
        let spent = EnergyCounters::of(&self.machine, cycles, sm, &memory);
        let since = spent.since(&sampler.spent);
        if let Some(observer) = &mut self.options.observer
            && to > sampler.from
        {
            observer.sample(sampler.from, to, &since);
        }
        (sampler.from, sampler.spent) = (to, spent);
    }
}
