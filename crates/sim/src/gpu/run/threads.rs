//! The host's threads that a simulation runs on.

use super::drift::{Lane, Rota};
use super::homes::Homes;
use crate::config::Machine;
use crate::gpu::Options;
use crate::memory::system::{AheadOfSms, lookahead};
use warpsim_crew::{Crew, Errand};

/// The threads, and what they do.
pub struct Threads {
    pub crew: Crew,
    /// Which SM runs where, and each thread's share of the round under way.
    pub homes: Homes,
    pub shares: Vec<usize>,
    /// Which SM runs where while they drift apart.
    pub rota: Rota,
    /// What SMs that do so and others tell each other: kept, because it takes time to make.
    pub lanes: Vec<Lane>,
    /// Partitions that one of them runs beside the SMs.
    pub errand: Option<Errand<AheadOfSms>>,
}

impl Threads {
    /// For SMs, and memory where it can run beside them: no more threads than there is for them to do, none if one is enough.
    pub fn new(machine: &Machine, options: &Options) -> Option<Threads> {
        let (sms, memory_beside) = (machine.gpu.sms as usize, lookahead(machine) > 0);
        let threads = options.threads.min(sms + usize::from(memory_beside));
        if threads <= 1 || options.functional {
            return None;
        }
        let crew = match options.all_threads {
            true => Crew::new(threads - 1),
            false => Crew::giving_way(threads - 1),
        };
        let homes = Homes::new(crew.size(), sms, memory_beside);
        Some(Threads {
            rota: Rota::new(crew.size(), &homes),
            lanes: (0..sms).map(|_| Lane::default()).collect(),
            homes,
            crew,
            shares: Vec::new(),
            errand: None,
        })
    }
}
