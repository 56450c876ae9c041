//! What the tests of this module share.

use crate::choices::MECHANISMS;
use crate::packet::{Reply, Request, RequestKind, Traffic};
use crate::system::{MemorySystem, Replies};
use crate::time::Cycle;
use std::ops::{Deref, DerefMut};
use warpsim_machine::Machine;
use warpsim_machine::read::load::{Origin, load};

/// The GTX 480 preset.
pub fn gtx480() -> Machine {
    gtx480_with(&[])
}

/// The same with other settings. Nothing but memory is looked at.
pub fn gtx480_with(set: &[String]) -> Machine {
    preset_with("gtx480", set)
}

/// A preset with other settings.
pub fn preset_with(name: &str, set: &[String]) -> Machine {
    let origin = Origin::Preset(name.to_string());
    load(&origin, set, &MECHANISMS).expect("a valid machine")
}

#[test]
fn what_memory_does_not_know_is_taken_as_it_is_and_what_it_knows_is_checked() {
    let read = |set: &[&str]| {
        let set: Vec<String> = set.iter().map(|s| s.to_string()).collect();
        let origin = Origin::Preset("gtx480".to_string());
        load(&origin, &set, &MECHANISMS).map_err(|e| e.to_string())
    };
    let machine = read(&["scheduler=unheard-of"]).expect("no scheduler is known here");
    assert_eq!(machine.scheduler.name, "unheard-of");
    let wrong = read(&["l2.replacement=lrru"]).expect_err("no such policy");
    assert!(wrong.contains("did you mean `lru`?"), "{wrong}");
    let large = read(&["l2.sets=65536", "l2.ways=64", "dram.channels=32"])
        .expect_err("too large for a host");
    assert!(large.contains("MiB"), "{large}");
}

/// A global request of SM 0 that writes all of its bytes if it writes.
pub fn request(kind: RequestKind, addr: u64, bytes: u16, token: u32) -> Request {
    let mask = u128::MAX >> (128 - u32::from(bytes));
    Request {
        sm: 0,
        kind,
        traffic: Traffic::Global,
        addr,
        bytes,
        byte_mask: mask << (addr % 128),
        token,
    }
}

/// A memory system with all parts in step, and the SMs' ends of its links: a traffic generator sends requests and takes replies.
pub struct Bench {
    memory: MemorySystem,
    /// By SM.
    replies: Vec<Replies>,
}

impl Bench {
    pub fn new(machine: &Machine) -> Bench {
        let sms = machine.gpu.sms as usize;
        Bench {
            memory: MemorySystem::new(machine),
            replies: (0..sms).map(|_| Replies::default()).collect(),
        }
    }

    pub fn sms(&self) -> usize {
        self.replies.len()
    }

    /// Simulates all core cycles before `until`. `perform_atomic(sm, token)` is called for every atomic that an L2 slice has served, in that order.
    pub fn advance(&mut self, until: Cycle, perform_atomic: &mut dyn FnMut(u16, u32)) {
        self.memory.advance(until);
        self.receive();
        for (_, sm, token) in self.memory.take_atomics(until) {
            perform_atomic(sm, token);
        }
    }

    /// SMs receive what has been delivered.
    pub fn receive(&mut self) {
        for (replies, wires) in self.replies.iter_mut().zip(&self.memory.wires().sms) {
            replies.receive(wires);
        }
    }

    /// Everything has drained and been taken.
    pub fn idle(&self) -> bool {
        self.memory.idle() && self.next_reply() == Cycle::NEVER
    }

    pub fn next_reply(&self) -> Cycle {
        let next = self.replies.iter().map(|replies| replies.inbox.next());
        next.fold(Cycle::NEVER, Cycle::min)
    }

    pub fn next_reply_for(&self, sm: usize) -> Cycle {
        self.replies[sm].inbox.next()
    }

    pub fn peek_reply(&self, sm: usize, now: Cycle) -> Option<Reply> {
        let front = self.replies[sm].inbox.front();
        front.filter(|&(at, _)| at <= now).map(|(_, reply)| reply)
    }

    pub fn pop_reply(&mut self, sm: usize, now: Cycle) -> Option<Reply> {
        let reply = self.replies[sm].take(now)?.1;
        self.replies[sm].publish(&self.memory.wires().sms[sm]);
        Some(reply)
    }

    pub fn injection_free(&self, sm: usize) -> u32 {
        self.memory.requests().free(sm)
    }

    pub fn flits(&self, request: &Request) -> u32 {
        self.memory.requests().flits(request)
    }
}

impl Deref for Bench {
    type Target = MemorySystem;

    fn deref(&self) -> &MemorySystem {
        &self.memory
    }
}

impl DerefMut for Bench {
    fn deref_mut(&mut self) -> &mut MemorySystem {
        &mut self.memory
    }
}
