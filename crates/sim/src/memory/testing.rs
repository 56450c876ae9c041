//! What the tests of this module share.

use super::packet::{Request, RequestKind, Traffic};
use crate::config::{Machine, ReadMachine};

/// The GTX 480 preset.
pub fn gtx480() -> Machine {
    Machine::preset("gtx480").expect("the preset is well formed")
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
