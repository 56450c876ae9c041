//! What a GPU is made of besides its memory: built with it, and again after a launch that failed.

use super::run::{self, Board, Site};
use super::{Gpu, Options};
use crate::config::Machine;
use crate::memory::system::{MemorySystem, Replies};
use crate::sm::Sm;
use crate::sm::reference::Sm as ReferenceSm;
use std::sync::Arc;
use warpsim_engine::Engine;

/// SMs, memory system and what runs them.
pub(super) struct Parts {
    pub memory: MemorySystem,
    pub sms: Vec<Site>,
    pub board: Arc<Board>,
    pub engine: Engine,
    pub reference: Vec<ReferenceSm>,
    pub reference_replies: Vec<Replies>,
}

impl Parts {
    /// As the machine has them, with nothing in them.
    pub fn new(machine: &Arc<Machine>, options: &Options) -> Parts {
        let memory = MemorySystem::new(machine);
        let sms = machine.gpu.sms as usize;
        let (board, on) = (Arc::new(Board::new(sms)), run::others(machine));
        let site = |number| {
            let sm = Sm::new(machine, number as u16);
            Site::new(sm, number, memory.wires(), &board, on)
        };
        Parts {
            engine: run::engine(machine, options),
            sms: (0..sms).map(site).collect(),
            reference: (0..machine.gpu.sms)
                .filter(|_| options.reference && !options.functional)
                .map(|i| ReferenceSm::new(machine, i as u16))
                .collect(),
            reference_replies: (0..sms).map(|_| Replies::default()).collect(),
            memory,
            board,
        }
    }
}

impl Gpu {
    /// A GPU on which a launch has failed takes new ones again: what was left of that one is gone.
    pub fn recover(&mut self) {
        if !self.failed {
            return;
        }
        let parts = Parts::new(&self.machine, &self.options);
        self.memory = parts.memory;
        self.sms = parts.sms;
        self.board = parts.board;
        self.engine = parts.engine;
        self.reference = parts.reference;
        self.reference_replies = parts.reference_replies;
        self.failed = false;
    }
}
