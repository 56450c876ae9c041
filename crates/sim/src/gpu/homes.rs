//! Which host thread an SM runs on.
//!
//! An SM that ran on another thread in the round before has to be fetched from that one's caches,
//! which takes about as long as running it. So SMs have homes, by their numbers and whoever else
//! sleeps, and run elsewhere only where a thread has several left that it has not begun
//! ([`Crew`](warpsim_crew::Crew)).

/// What runs beside the SMs in a round.
#[derive(Clone, Copy, Debug)]
pub struct Beside {
    /// The partitions, on the first thread.
    pub partitions: bool,
    /// The far sides of memory channels, on the second, which is helped with its SMs then.
    pub far_sides: bool,
}

/// The homes of all SMs: neighbours live together.
#[derive(Debug)]
pub struct Homes {
    /// Of each thread: the number of the first SM that lives neither there nor on a thread before it.
    ends: Vec<usize>,
}

impl Homes {
    /// Homes for `sms` SMs on so many threads. Where memory runs beside them, it does on the first
    /// thread, which has one SM less for that.
    pub fn new(threads: usize, sms: usize, memory_beside: bool) -> Homes {
        let memory = usize::from(memory_beside);
        let end =
            |thread: usize| ((thread + 1) * (sms + memory) / threads.max(1)).saturating_sub(memory);
        Homes {
            ends: (0..threads).map(end).collect(),
        }
    }

    /// How many of these SMs, which are in order, live on the first thread.
    pub fn on_first(&self, awake: &[usize]) -> usize {
        let end = self.ends.first().copied().unwrap_or(0);
        awake.iter().take_while(|&&sm| sm < end).count()
    }

    /// What each thread's share ends with in a list of what runs `beside` and these SMs, which are in order: the partitions, the
    /// SMs of the first thread, the far sides, the other SMs.
    pub fn shares(&self, beside: Beside, awake: &[usize], shares: &mut Vec<usize>) {
        shares.clear();
        let (mut sms, mut others) = (0, usize::from(beside.partitions));
        for (thread, &end) in self.ends.iter().enumerate() {
            others += usize::from(beside.far_sides && thread == 1);
            sms += awake[sms..].iter().take_while(|&&sm| sm < end).count();
            shares.push(others + sms);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Beside, Homes};

    fn shares(homes: &Homes, awake: &[usize]) -> Vec<usize> {
        let mut shares = Vec::new();
        let beside = Beside {
            partitions: true,
            far_sides: false,
        };
        homes.shares(beside, awake, &mut shares);
        shares
    }

    #[test]
    fn every_sm_has_a_home_and_memory_counts_as_one() {
        for (threads, sms) in [
            (1, 1),
            (2, 1),
            (2, 15),
            (4, 15),
            (8, 15),
            (16, 15),
            (16, 132),
        ] {
            let all: Vec<usize> = (0..sms).collect();
            let shares = shares(&Homes::new(threads, sms, true), &all);
            assert_eq!(
                shares.last(),
                Some(&(sms + 1)),
                "{threads} threads, {sms} SMs"
            );
            let mut before = 0;
            for end in shares {
                let jobs = end - before;
                let even = (sms + 1) / threads..=(sms + 1).div_ceil(threads);
                assert!(
                    even.contains(&jobs),
                    "{jobs} of {threads} threads, {sms} SMs"
                );
                before = end;
            }
        }
        assert_eq!(Homes::new(2, 4, false).ends, [2, 4]);
    }

    #[test]
    fn an_sm_stays_where_it_is_while_others_sleep() {
        let homes = Homes::new(4, 15, true); // 0-2, 3-6, 7-10, 11-14
        assert_eq!(shares(&homes, &[1, 4, 5, 14]), [2, 4, 4, 5]);
        assert_eq!(shares(&homes, &[4, 14]), [1, 2, 2, 3]);
        assert_eq!(shares(&homes, &[]), [1; 4]);
    }
    #[test]
    fn far_sides_come_first_on_the_second_thread() {
        let homes = Homes::new(4, 15, true);
        let beside = Beside {
            partitions: true,
            far_sides: true,
        };
        let mut shares = Vec::new();
        homes.shares(beside, &[1, 4, 5, 14], &mut shares);
        assert_eq!(shares, [2, 5, 5, 6]);
        assert_eq!((homes.on_first(&[1, 4]), homes.on_first(&[3])), (1, 0));
    }
}
