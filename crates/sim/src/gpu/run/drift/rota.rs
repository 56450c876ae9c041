//! Which thread runs which SM while SMs drift apart.
//!
//! Each thread goes through a list of SMs of its own, again and again. One that finds nothing to do, because it is as far ahead of the slowest as it may be, helps these: it runs an SM that
//! another thread has not come to. If that one has many, it keeps the SM: one that moves from thread to thread has to be fetched from another core's caches every
//! time, and what is uneven today will be so tomorrow. The thread that runs memory
//! loses SMs while memory keeps it busy, and takes some over again when it has time, up to as many as are at home there.

use super::super::homes::Homes;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The lists of all threads.
#[derive(Debug)]
pub struct Rota {
    threads: Vec<Turns>,
    /// The thread that has other things to do, and how many SMs it may have at most.
    with_memory: usize,
    beside_memory: usize,
}

/// Who has so many SMs does not get those back that others have run.
const MANY: usize = 3;

/// The list of one thread.
#[derive(Debug)]
#[repr(align(128))]
struct Turns(Mutex<Turn>);

#[derive(Debug)]
struct Turn {
    sms: Vec<usize>,
    /// The SMs before this index have had their turn.
    next: usize,
}

impl Rota {
    /// SMs begin where they are at home.
    pub fn new(threads: usize, homes: &Homes) -> Rota {
        let turns = |thread| Turn {
            sms: homes.of(thread).collect(),
            next: 0,
        };
        Rota {
            threads: (0..threads).map(|t| Turns(Mutex::new(turns(t)))).collect(),
            with_memory: homes.with_partitions(),
            beside_memory: homes.of(homes.with_partitions()).len().max(1),
        }
    }

    /// The SM whose turn it is on a thread; none if all have had it, before the first has again.
    pub fn next(&self, thread: usize) -> Option<usize> {
        let mut turn = self.of(thread);
        let sm = turn.sms.get(turn.next).copied();
        turn.next = sm.map_or(0, |_| turn.next + 1);
        sm
    }

    /// Lets an idle thread try SMs that others have not come to, until `run` says that one did run. Returns whether one did.
    pub fn help(&self, thread: usize, run: impl Fn(usize) -> bool) -> bool {
        let mut others = (1..self.threads.len()).map(|i| (thread + i) % self.threads.len());
        others.any(|other| {
            let Some((sm, gets_back)) = self.take_last(other) else {
                return false;
            };
            let ran = run(sm);
            let keeps = ran && !gets_back && self.may_keep(thread);
            self.of(if keeps { thread } else { other }).sms.push(sm);
            ran
        })
    }

    /// Takes the last SM from a thread if it has not come to it. Returns whether it is to get it back, too.
    fn take_last(&self, thread: usize) -> Option<(usize, bool)> {
        let mut turn = self.of(thread);
        if turn.next >= turn.sms.len() {
            return None;
        }
        let gets_back = turn.sms.len() < MANY && thread != self.with_memory;
        turn.sms.pop().map(|sm| (sm, gets_back))
    }

    /// Whether a thread may keep an SM that it has taken.
    fn may_keep(&self, thread: usize) -> bool {
        thread != self.with_memory || self.of(thread).sms.len() < self.beside_memory
    }

    fn of(&self, thread: usize) -> MutexGuard<'_, Turn> {
        let turn = self.threads[thread].0.lock();
        turn.unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On four threads 0 to 3, 4 to 6 beside memory, 7 to 10, 11 to 14.
    fn rota() -> Rota {
        Rota::new(4, &Homes::new(4, 15, true))
    }

    fn turns(rota: &Rota, thread: usize) -> Vec<usize> {
        std::iter::from_fn(|| rota.next(thread)).collect()
    }

    #[test]
    fn each_has_its_turn_again_and_again() {
        let rota = rota();
        for _ in 0..2 {
            assert_eq!(turns(&rota, 0), [0, 1, 2, 3]);
            assert_eq!(turns(&rota, 1), [4, 5, 6]);
        }
    }

    #[test]
    fn a_helper_keeps_what_it_ran() {
        let rota = rota();
        assert!(rota.help(0, |sm| sm == 10));
        assert_eq!(turns(&rota, 0), [0, 1, 2, 3, 10]);
        assert_eq!(turns(&rota, 2), [7, 8, 9]);
        assert_eq!(turns(&rota, 1), [4, 5, 6], "it did not run and went back");
        assert!(!rota.help(0, |_| false));
        assert_eq!(turns(&rota, 3), [11, 12, 13, 14]);
    }

    #[test]
    fn an_sm_that_has_had_its_turn_is_left_alone() {
        let rota = rota();
        let all = (0..4).map(|_| rota.next(3)).collect::<Vec<_>>();
        assert_eq!(all, [11, 12, 13, 14].map(Some));
        assert!(!rota.help(0, |sm| sm >= 11));
    }

    #[test]
    fn few_come_back_but_those_of_who_runs_memory() {
        let four = rota();
        assert!(four.help(1, |sm| sm == 14));
        assert_eq!(turns(&four, 1), [4, 5, 6], "it has enough to do");
        assert!(four.help(0, |sm| sm == 6) && four.help(2, |sm| sm == 5));
        assert_eq!(turns(&four, 1), [4]);
        assert!(four.help(1, |sm| sm == 5) && four.help(1, |sm| sm == 14));
        assert!(four.help(1, |sm| sm == 10));
        assert_eq!(turns(&four, 1), [4, 5, 14], "it may have three again");
        let rota = Rota::new(8, &Homes::new(8, 15, true)); // 0 and 1, 2, 3 and 4, ..
        assert!(rota.help(0, |sm| sm == 4));
        assert_eq!(turns(&rota, 2), [3, 4]);
        assert!(rota.help(0, |sm| sm == 2));
        assert_eq!((turns(&rota, 0), turns(&rota, 1)), (vec![0, 1, 2], vec![]));
        assert!(rota.help(1, |sm| sm == 2));
        assert_eq!(turns(&rota, 1), [2], "it may have one");
    }
}
