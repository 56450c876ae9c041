//! Which host thread an SM runs on.
//!
//! An SM that ran on another thread in the round before has to be fetched from that one's caches,
//! which takes about as long as running it. So SMs have homes, by their numbers and by which others
//! sleep, and run elsewhere only where a thread has several left that it has not begun
//! ([`Crew`](warpsim_crew::Crew)).

use std::ops::Range;

/// The homes of all SMs: neighbours live together.
#[derive(Debug)]
pub struct Homes {
    /// Of each thread: the number of the first SM that lives neither there nor on a thread before it.
    ends: Vec<usize>,
}

/// The thread that runs memory partitions beside the SMs; a crew lets it help when it is through with them.
const WITH_PARTITIONS: usize = 1;

impl Homes {
    /// Homes for `sms` SMs on so many threads. Where memory runs beside them, it does on the second thread, which has one SM less
    /// for that.
    pub fn new(threads: usize, sms: usize, memory_beside: bool) -> Homes {
        let memory = usize::from(memory_beside);
        let end = |thread: usize| {
            let items = (thread + 1) * (sms + memory) / threads.max(1);
            let memory = if thread < WITH_PARTITIONS { 0 } else { memory };
            items.saturating_sub(memory).min(sms)
        };
        Homes {
            ends: (0..threads).map(end).collect(),
        }
    }

    /// The thread that runs memory partitions beside the SMs.
    pub fn with_partitions(&self) -> usize {
        WITH_PARTITIONS.min(self.ends.len() - 1)
    }

    /// The SMs that live on a thread.
    pub fn of(&self, thread: usize) -> Range<usize> {
        let before = thread.checked_sub(1).map_or(0, |before| self.ends[before]);
        before..self.ends[thread]
    }

    /// The thread that runs the far sides of memory channels before its SMs, with which it is helped then.
    fn with_far_sides(&self) -> usize {
        match self.ends.len() {
            ..=2 => 0,
            _ => WITH_PARTITIONS + 1,
        }
    }

    /// How many of these SMs, which are in order, live on threads before the one that runs the far sides.
    pub fn before_far_sides(&self, awake: &[usize]) -> usize {
        let before = self.with_far_sides().checked_sub(1);
        let end = before.map_or(0, |thread| self.ends[thread]);
        awake.iter().take_while(|&&sm| sm < end).count()
    }

    /// What each thread's share ends with in a list of these SMs, which are in order, and the far sides, if they run, before
    /// the SMs of their thread.
    pub fn shares(&self, far_sides: bool, awake: &[usize], shares: &mut Vec<usize>) {
        shares.clear();
        let mut sms = 0;
        for (thread, &end) in self.ends.iter().enumerate() {
            let others = usize::from(far_sides && thread >= self.with_far_sides());
            sms += awake[sms..].iter().take_while(|&&sm| sm < end).count();
            shares.push(others + sms);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Homes;

    fn shares(homes: &Homes, far_sides: bool, awake: &[usize]) -> Vec<usize> {
        let mut shares = Vec::new();
        homes.shares(far_sides, awake, &mut shares);
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
            (15, 15),
            (16, 15),
            (16, 132),
        ] {
            let all: Vec<usize> = (0..sms).collect();
            let shares = shares(&Homes::new(threads, sms, threads > 1), false, &all);
            assert_eq!(shares.last(), Some(&sms), "{threads} threads, {sms} SMs");
            let mut before = 0;
            for (thread, end) in shares.into_iter().enumerate() {
                let jobs = end - before + usize::from(thread == 1);
                let items = sms + usize::from(threads > 1);
                let even = items / threads..=items.div_ceil(threads);
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
        let homes = Homes::new(4, 15, true); // 0-3, 4-6, 7-10, 11-14
        assert_eq!(shares(&homes, false, &[1, 4, 5, 14]), [1, 3, 3, 4]);
        assert_eq!(shares(&homes, false, &[4, 14]), [0, 1, 1, 2]);
        assert_eq!(shares(&homes, false, &[]), [0; 4]);
    }

    #[test]
    fn far_sides_come_before_the_sms_of_a_thread_that_is_there() {
        let homes = Homes::new(4, 15, true);
        assert_eq!(shares(&homes, true, &[1, 4, 5, 8, 14]), [1, 3, 5, 6]);
        assert_eq!(homes.before_far_sides(&[1, 4, 5, 8]), 3);
        let homes = Homes::new(2, 15, true); // 0-7, 8-14
        assert_eq!(shares(&homes, true, &[1, 4, 9]), [3, 4]);
        assert_eq!(homes.before_far_sides(&[1, 4, 9]), 0);
    }
}
