//! Whether helpers pay.
//!
//! On a host that has other things to do a helper may not run for milliseconds, while the caller waits for it. What a crew gets
//! done in a while says whether that is worth it: after a while of which the caller has waited for half, or more, it works alone for
//! another, and goes on in the way in which more got done. What has lost is tried again after a pause, which doubles each time it
//! loses again.

use std::time::{Duration, Instant};

/// A while.
const WHILE: Duration = Duration::from_millis(2);
/// The pause after which what has lost is tried again: at first, and at most.
const PAUSE: Duration = Duration::from_millis(4);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// What is known about it.
#[derive(Debug)]
pub struct Payoff {
    alone: bool,
    /// What the other way got done per second, if this one is on trial.
    tried_against: Option<f64>,
    /// What has lost is left alone until then, and for how long if it loses again.
    settled_until: Instant,
    pause: Duration,
    /// Up to when time has been counted; the time that the while under way has lasted, what was done in it, and for how long
    /// the caller waited.
    counted: Instant,
    lasted: Duration,
    done: u64,
    waited: Duration,
}

impl Payoff {
    /// Of a crew that works together, to begin with.
    pub fn new(now: Instant) -> Payoff {
        Payoff {
            alone: false,
            tried_against: None,
            settled_until: now,
            pause: PAUSE,
            counted: now,
            lasted: Duration::ZERO,
            done: 0,
            waited: Duration::ZERO,
        }
    }

    /// Whether the caller is to work alone.
    pub fn alone(&self) -> bool {
        self.alone
    }

    /// Time up to now was spent on something else.
    pub fn resume(&mut self, now: Instant) {
        self.counted = now;
    }

    /// The caller has waited for helpers.
    pub fn waited(&mut self, time: Duration) {
        self.waited += time;
    }

    /// So much has been done since the last time, however that is counted.
    pub fn passed(&mut self, now: Instant, done: u64) {
        self.lasted += now - std::mem::replace(&mut self.counted, now);
        self.done += done;
        if self.lasted >= WHILE {
            self.decide(now);
            (self.lasted, self.done, self.waited) = (Duration::ZERO, 0, Duration::ZERO);
        }
    }

    /// A while is over.
    fn decide(&mut self, now: Instant) {
        let rate = self.done as f64 / self.lasted.as_secs_f64();
        if let Some(other) = self.tried_against.take() {
            if rate > other {
                self.pause = PAUSE;
            } else {
                self.alone = !self.alone;
                self.pause = (self.pause * 2).min(LONGEST_PAUSE);
            }
            self.settled_until = now + self.pause;
        } else if now >= self.settled_until && (self.alone || is_much(self.waited, self.lasted)) {
            self.tried_against = Some(rate);
            self.alone = !self.alone;
        }
    }
}

/// Whether so much waiting says that helpers may not pay.
fn is_much(waited: Duration, of: Duration) -> bool {
    waited * 2 >= of
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A crew that gets so much done in a millisecond, together and alone, and waits for such a share of the time.
    struct Host {
        now: Instant,
        payoff: Payoff,
        rates: [u64; 2],
        waits: f64,
    }

    impl Host {
        fn new(rates: [u64; 2], waits: f64) -> Host {
            let now = Instant::now();
            Host {
                now,
                payoff: Payoff::new(now),
                rates,
                waits,
            }
        }

        /// Lets so many milliseconds pass; what got done, and for how many of them the caller was alone.
        fn run(&mut self, milliseconds: u64) -> (u64, u64) {
            let (mut done, mut alone) = (0, 0);
            for _ in 0..milliseconds {
                let rate = self.rates[usize::from(self.payoff.alone())];
                (done, alone) = (done + rate, alone + u64::from(self.payoff.alone()));
                self.now += Duration::from_millis(1);
                if !self.payoff.alone() {
                    let waited = Duration::from_millis(1).mul_f64(self.waits);
                    self.payoff.waited(waited);
                }
                self.payoff.passed(self.now, rate);
            }
            (done, alone)
        }
    }

    #[test]
    fn a_crew_that_hardly_waits_stays_together() {
        let mut host = Host::new([80, 10], 0.4);
        assert_eq!(host.run(5000), (5000 * 80, 0));
    }

    #[test]
    fn a_crew_that_waits_but_gets_more_done_stays_together_but_for_a_trial_now_and_then() {
        let mut host = Host::new([80, 10], 0.9);
        let (_, alone) = host.run(10_000);
        assert!((2..50).contains(&alone), "{alone} of 10,000");
    }

    #[test]
    fn helpers_that_only_cost_time_are_left_alone() {
        let mut host = Host::new([1, 50], 0.9);
        let (done, alone) = host.run(50);
        assert!(
            done * 2 >= 50 * 50,
            "{done}: half of what one thread does at least, soon"
        );
        assert!(alone < 50);
        let (done, alone) = host.run(10_000);
        assert!(done * 100 >= 98 * 50 * 10_000, "{done}, {alone}");
    }

    #[test]
    fn helpers_that_pay_again_are_found_within_a_second() {
        let mut host = Host::new([1, 50], 0.9);
        host.run(10_000);
        host.rates = [200, 50];
        host.waits = 0.1;
        host.run(1100);
        assert_eq!(host.run(5000), (5000 * 200, 0));
    }

    #[test]
    fn time_spent_on_something_else_counts_for_nothing() {
        let mut host = Host::new([80, 10], 0.9);
        while !host.payoff.alone() {
            host.run(1);
        }
        // Alone on trial for two milliseconds: a second between them makes it no worse.
        host.rates = [80, 100];
        host.run(1);
        host.now += Duration::from_secs(1);
        host.payoff.resume(host.now);
        host.run(1);
        assert!(host.payoff.alone());
    }
}
