//! Whom the acknowledgement of a store is for: it comes back with a token that names the warp, or the warps that have
//! stored together.

use super::{Event, Joint, LoadStore};
use crate::memory::packet::{Request, RequestKind};
use crate::sm::memory::{Access, TokenKind, token, untoken};

impl LoadStore {
    /// The network has taken a request. Where it brings no acknowledgements a store is acknowledged as it leaves.
    pub(super) fn has_left(&mut self, request: &Request) {
        let writes = request.kind == RequestKind::Write;
        if writes && !self.acknowledged_by_l2 && untoken(request.token).0 != TokenKind::WriteBack {
            for _ in 0..self.acknowledgements(request.addr, request.bytes) {
                self.acknowledge(request.token);
            }
        }
    }

    /// Acknowledgements that come for a store.
    pub(super) fn acknowledgements(&self, addr: u64, bytes: u16) -> u32 {
        let last = addr + u64::from(bytes.max(1)) - 1;
        (last / self.acknowledged_bytes - addr / self.acknowledged_bytes + 1) as u32
    }

    /// A part of a store was acknowledged.
    pub(super) fn acknowledge(&mut self, token: u32) {
        let (kind, number) = untoken(token);
        if kind == TokenKind::Store {
            let slot = number as u16;
            return self.events.push(Event::Acknowledged { slot });
        }
        let joint = self.joint.get_mut(number);
        joint.left -= 1;
        let heard = joint.slots.iter().map(|&slot| Event::Acknowledged { slot });
        self.events.extend(heard);
        if joint.left == 0 {
            self.joint.remove(number);
        }
    }

    /// The token of a store that is about to go out: it names the warp, or the warps that store together.
    pub(super) fn store_token(&mut self, op: u32, access: &Access) -> u32 {
        let record = self.ops.get(op);
        let owners = record.owners.iter();
        let single = record.owners.len() == 1;
        let those = owners.filter(|owner| single || owner.lanes & access.lanes != 0);
        let slots: Vec<u16> = those.flat_map(|owner| record.slots(owner).iter()).collect();
        if let [slot] = slots[..] {
            return token(TokenKind::Store, slot.into());
        }
        let left = self.acknowledgements(access.addr, access.bytes);
        token(
            TokenKind::JointStore,
            self.joint.insert(Joint { slots, left }),
        )
    }

    /// A store did not go out: it is tried again.
    pub(super) fn take_token_back(&mut self, token: u32) {
        if let (TokenKind::JointStore, number) = untoken(token) {
            self.joint.remove(number);
        }
    }

    /// The warps that store wait for its acknowledgements from now on.
    pub(super) fn count_stores(&mut self, op: u32, access: &Access) {
        let count = self.acknowledgements(access.addr, access.bytes);
        let record = self.ops.get(op);
        let single = record.owners.len() == 1;
        for owner in record.owners.iter() {
            if single || owner.lanes & access.lanes != 0 {
                let sent = |slot| Event::StoresSent { slot, count };
                self.events.extend(record.slots(owner).iter().map(sent));
            }
        }
    }
}
