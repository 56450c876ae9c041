//! Memory of the program that it has registered.

use super::Pointer;
use crate::client::Result;
use crate::wire::status;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

static REGISTERED: Mutex<BTreeMap<usize, usize>> = Mutex::new(BTreeMap::new());

/// Registers a range; none of it may be registered already.
pub fn register(pointer: Pointer, bytes: usize) -> Result<()> {
    let start = pointer as usize;
    let end = start
        .checked_add(bytes)
        .filter(|_| start != 0 && bytes != 0);
    let end = end.ok_or(status::INVALID_VALUE)?;
    let mut all = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    let before = all.range(..end).next_back();
    if before.is_some_and(|(at, bytes)| at + bytes > start) {
        return Err(status::ALREADY_REGISTERED);
    }
    all.insert(start, bytes);
    Ok(())
}

/// Takes a registration back.
pub fn unregister(pointer: Pointer) -> Result<()> {
    let mut all = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    all.remove(&(pointer as usize))
        .map(drop)
        .ok_or(status::NOT_REGISTERED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_registered_once() {
        let at = |n: usize| (0x10_0000 + n) as Pointer;
        register(at(100), 50).expect("free");
        assert_eq!(register(at(149), 8), Err(status::ALREADY_REGISTERED));
        assert_eq!(register(at(60), 41), Err(status::ALREADY_REGISTERED));
        register(at(150), 8).expect("behind it");
        register(at(60), 40).expect("before it");
        unregister(at(100)).expect("registered");
        assert_eq!(unregister(at(100)), Err(status::NOT_REGISTERED));
        assert_eq!(
            register(std::ptr::null_mut(), 8),
            Err(status::INVALID_VALUE)
        );
    }
}
