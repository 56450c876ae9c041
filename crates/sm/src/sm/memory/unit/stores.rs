//! Whom the acknowledgement of a store is for: it comes back with a token that names the warp, or
//! the warps that stored together. Where the network brings none, a store is acknowledged as it leaves the SM.

use super::*;
use crate::sm::memory::joint::Storers;

impl LoadStore {
    /// The token of a store that is about to go out.
    #[inline]
    pub(super) fn store_token(&mut self, op: u16, access: &Access) -> u32 {
        let record = self.ops.get(op);
        if let ([one], 1) = (&record.owners[..], record.warps) {
            return token(TokenKind::Store, u32::from(one.slot));
        }
        let mut storers = Storers::default();
        let owners = record.owners.iter();
        for owner in owners.filter(|o| o.lanes & access.lanes != 0) {
            record
                .slots(owner)
                .iter()
                .for_each(|slot| storers.push(slot));
        }
        if let [one] = storers[..] {
            return token(TokenKind::Store, u32::from(one));
        }
        let number = self.joint.open(storers, self.acknowledgements(access));
        token(TokenKind::JointStore, number)
    }

    /// A store with this token did not go out: it will be tried again.
    pub(super) fn take_back(&mut self, token: u32) {
        if let (TokenKind::JointStore, number) = untoken(token) {
            self.joint.take_back(number);
        }
    }

    /// Sends requests of the caches; returns those that found no room at the port.
    pub(super) fn send_requests(&mut self, now: Cycle, with: &mut Surroundings) -> u8 {
        let (refused, written) = self.caches.send_requests(now, with.port);
        if let Some(request) = written {
            self.has_left(&request, with);
        }
        refused
    }

    /// The network has taken a write.
    pub(super) fn has_left(&mut self, request: &Request, with: &mut Surroundings) {
        let (kind, _) = untoken(request.token);
        if self.acknowledged_by_l2 || kind == TokenKind::WriteBack {
            return;
        }
        for _ in 0..acknowledgements(request.addr, request.bytes, self.acknowledged_shift) {
            self.acknowledge(request.token, with);
        }
    }

    /// A sector of a store with this token was acknowledged.
    pub(super) fn acknowledge(&mut self, token: u32, with: &mut Surroundings) {
        let (kind, index) = untoken(token);
        if kind == TokenKind::Store {
            let slot = index as u16;
            with.events.push(MemoryEvent::Acknowledged { slot });
            return;
        }
        for &slot in self.joint.storers(index).iter() {
            with.events.push(MemoryEvent::Acknowledged { slot });
        }
        self.joint.acknowledged(index);
    }

    /// The warps that made a store together.
    pub fn storers(&self, number: u32) -> &[u16] {
        self.joint.storers(number)
    }

    /// An acknowledgement for them has come that no warp has to hear of.
    pub fn acknowledged_by_the_way(&mut self, number: u32) {
        self.joint.acknowledged(number);
    }
}
