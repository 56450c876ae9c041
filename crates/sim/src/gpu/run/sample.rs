//! Power and counters over time: what an observer that wants it hears between quanta.

use crate::gpu::Gpu;
use crate::sm::Launched;
use crate::stats::{EnergyCounters, MemoryCounters, SmCounters, SmStats};
use crate::time::Cycle;

/// Samples of a launch.
pub(super) struct Sampler {
    every: u64,
    start: Cycle,
    /// What the memory system had counted before the launch.
    memory: MemoryCounters,
    /// When the sample under way began, and what the launch had spent and counted by then.
    from: Cycle,
    spent: EnergyCounters,
    counted: SmCounters,
    moved: MemoryCounters,
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
            counted: SmCounters::default(),
            moved: MemoryCounters::default(),
            memory: memory.clone(),
        })
    }

    /// Takes a sample before cycle `now` runs, if it is time.
    #[inline]
    pub(super) fn sample(&mut self, sampler: &mut Sampler, now: Cycle, launched: &Launched) {
        if now.since(sampler.from) >= sampler.every {
            let mut sm = SmStats::default();
            for site in &mut self.sms {
                sm.add(&site.sm.sampled(now, launched));
            }
            let memory = MemoryCounters::of(&self.memory.sampled());
            self.tell_sample(sampler, now, &sm, &memory);
        }
    }

    /// Tells the observer what was spent up to cycle `to`, given what SMs and memory had counted by then.
    pub(super) fn tell_sample(
        &mut self,
        sampler: &mut Sampler,
        to: Cycle,
        sm: &SmStats,
        memory: &MemoryCounters,
    ) {
        let memory = memory.since(&sampler.memory);
        let cycles = to.since(sampler.start);
        let spent = EnergyCounters::of(&self.machine, cycles, sm, &memory);
        let since = spent.since(&sampler.spent);
        if let Some(observer) = &mut self.options.observer
            && to > sampler.from
        {
            observer.sample(sampler.from, to, &since);
            let counted = sm.counters.since(&sampler.counted);
            let moved = memory.since(&sampler.moved);
            observer.counted(sampler.from, to, &counted, &moved);
        }
        (sampler.from, sampler.spent) = (to, spent);
        (sampler.counted, sampler.moved) = (sm.counters.clone(), memory);
    }
}
