//! What the two sides of the memory channels tell each other where different threads run them.
//!
//! Each side has letters of its own. It reads what has come before it runs through a period, and writes what the other has to know at the end. Between
//! two periods letters change hands, as a whole: the thread that does that looks at neither side, which are in the caches of other cores.

use crate::memory::dram::DramRequest;
use crate::memory::dram::far::Told;
use crate::memory::ring::Ring;
use crate::time::{Cycle, Tick};

/// Letters from both sides to the other.
#[derive(Clone)]
pub struct Letters {
    /// By channel, what the near sides have sent, and when the first of it reaches DRAM.
    sent: Vec<Ring<(Tick, DramRequest)>>,
    first: Tick,
    /// By channel, what happens on the far sides, and up to which cycle.
    told: Vec<Told>,
    ran: Cycle,
}

impl Letters {
    /// Empty ones for so many channels with so many slices.
    pub fn new(channels: usize, slices: usize) -> Letters {
        Letters {
            sent: vec![Ring::new(); channels],
            first: Tick::NEVER,
            told: vec![Told::new(slices); channels],
            ran: Cycle::ZERO,
        }
    }

    /// The near side of a channel has sent these.
    pub fn write_sent(&mut self, channel: usize, sent: &mut Ring<(Tick, DramRequest)>) {
        if let Some(&(ready, _)) = sent.front() {
            self.first = self.first.min(ready);
            self.sent[channel].append(sent);
        }
    }

    /// When the first request reaches DRAM that the far sides have not read of.
    pub fn first(&self) -> Tick {
        self.first
    }

    /// What the near sides have sent, by channel, to be taken out.
    pub fn take_sent(&mut self) -> impl Iterator<Item = &mut Ring<(Tick, DramRequest)>> {
        let any = std::mem::replace(&mut self.first, Tick::NEVER) != Tick::NEVER;
        self.sent.iter_mut().filter(move |_| any)
    }

    /// The far sides have been run up to cycle `ran`.
    pub fn write_told<'a>(&mut self, ran: Cycle, told: impl Iterator<Item = &'a mut Told>) {
        for (told, more) in self.told.iter_mut().zip(told) {
            told.append(more);
        }
        self.ran = ran;
    }

    /// What happens on the far sides before this cycle is here, or has been read.
    pub fn ran(&self) -> Cycle {
        self.ran
    }

    /// What happens there, by channel, to be taken out.
    pub fn take_told(&mut self) -> impl Iterator<Item = &mut Told> {
        self.told.iter_mut()
    }
}
