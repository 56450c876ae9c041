//! The unit's caches: L1 data, constants, textures.

use super::super::l1::L1;
use super::super::ops::Path;
use super::super::port::Port;
use crate::config::Machine;
use crate::memory::cache::mshr::Fetch;
use crate::memory::packet::{Request, RequestKind};
use crate::time::Cycle;

/// The caches, as bits of a mask.
pub(super) const TEXTURE: u8 = 1;
pub(super) const CONSTANT: u8 = 2;
pub(super) const DATA: u8 = 4;

/// The caches, and which of them have something to do: kept here, since the unit looks in every cycle.
#[derive(Debug)]
pub(super) struct Caches {
    pub data: L1,
    /// Loads go through the L1 data cache at all.
    pub data_enabled: bool,
    pub constant: L1,
    pub texture: L1,
    /// Caches with waiters whose line has come.
    pub ready: u8,
    /// Caches with requests that wait for the network. The function that makes a cache ask sets its bit.
    pub asking: u8,
}

impl Caches {
    pub fn new(machine: &Machine) -> Caches {
        Caches {
            data: L1::data(&machine.l1d),
            data_enabled: machine.l1d.cache.sets > 0,
            constant: L1::new(&machine.constant),
            texture: L1::new(&machine.texture),
            ready: 0,
            asking: 0,
        }
    }

    /// The cache of a bit.
    #[inline]
    fn of(&mut self, bit: u8) -> &mut L1 {
        match bit {
            TEXTURE => &mut self.texture,
            CONSTANT => &mut self.constant,
            _ => &mut self.data,
        }
    }

    /// The cache that a path looks up.
    #[inline]
    pub fn on(&self, path: Path) -> &L1 {
        match path {
            Path::Constant => &self.constant,
            Path::Texture => &self.texture,
            _ => &self.data,
        }
    }

    /// Sends one request from each cache that has one; returns the caches whose request found no
    /// room at the port, and the write that has left, if one has.
    #[inline(never)]
    pub fn send_requests(&mut self, now: Cycle, port: &mut Port) -> (u8, Option<Request>) {
        let (mut left, mut refused, mut written) = (self.asking, 0, None);
        while left != 0 && !port.is_full(now) {
            let bit = left & left.wrapping_neg();
            left &= !bit;
            let cache = self.of(bit);
            match cache.first_request() {
                Some(request) if !port.try_send(now, request) => refused |= bit,
                _ => {
                    let sent = cache.send();
                    written = written.or(sent.filter(|r| r.kind == RequestKind::Write));
                    if !cache.has_request() {
                        self.asking &= !bit;
                    }
                }
            }
        }
        if port.is_full(now) && self.asking != 0 {
            port.want_room(now);
            return (self.asking, written);
        }
        (refused, written)
    }

    /// A line has come, that of this fetch.
    pub fn fill(&mut self, bit: u8, addr: u64, fetch: u32) {
        let filled = self.of(bit);
        filled.fill(addr, Fetch(fetch));
        if filled.has_ready() {
            self.ready |= bit;
        }
    }

    /// The next waiter of a cache whose line has come.
    #[inline]
    pub fn next_ready(&mut self, bit: u8) -> Option<u32> {
        if self.ready & bit == 0 {
            return None;
        }
        let waiter = self.of(bit).next_ready();
        if !self.of(bit).has_ready() {
            self.ready &= !bit;
        }
        waiter
    }

    /// What is outstanding, for a deadlock report.
    pub fn describe(&self) -> String {
        format!(
            "{} L1 data, {} constant, {} texture fetches outstanding",
            self.data.outstanding(),
            self.constant.outstanding(),
            self.texture.outstanding()
        )
    }
}
