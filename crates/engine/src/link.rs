//! What components tell each other.

use crate::sync::{AtomicBool, AtomicU64, Mutex, Ordering};
use std::sync::PoisonError;

/// Messages from one component to another, in the order in which they were sent. Messages carry their own times.
#[derive(Debug)]
pub struct Link<T> {
    messages: Mutex<Vec<T>>,
    /// Something may be there: a receiver need not lock to see that nothing is.
    any: AtomicBool,
}

impl<T> Default for Link<T> {
    fn default() -> Link<T> {
        Link {
            messages: Mutex::new(Vec::new()),
            any: AtomicBool::new(false),
        }
    }
}

impl<T> Link<T> {
    /// Sends all of these messages.
    #[inline]
    pub fn send(&self, messages: &mut Vec<T>) {
        if !messages.is_empty() {
            self.append(messages);
        }
    }

    #[inline(never)]
    fn append(&self, messages: &mut Vec<T>) {
        let mut queue = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        queue.append(messages);
        self.any.store(true, Ordering::Release);
    }

    /// Sends a message.
    pub fn send_one(&self, message: T) {
        let mut queue = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        queue.push(message);
        self.any.store(true, Ordering::Release);
    }

    /// Whether no message is there that was sent before the sender's clock was read.
    #[inline]
    pub fn is_empty(&self) -> bool {
        !self.any.load(Ordering::Acquire)
    }

    /// Receives every message that is there, behind those in `into`. Everything is there that was sent before the sender's clock was read.
    #[inline]
    pub fn receive(&self, into: &mut Vec<T>) {
        if !self.is_empty() {
            self.take(into);
        }
    }

    #[inline(never)]
    fn take(&self, into: &mut Vec<T>) {
        let mut queue = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        self.any.store(false, Ordering::Relaxed);
        match into.is_empty() {
            true => std::mem::swap(&mut *queue, into),
            false => into.append(&mut queue),
        }
    }
}

/// A number over time that one component publishes and others read. A reader that has to know it as of its own clock waits until the publisher has
/// come there; any other reader may find an older or a newer number, and must come to the same result with each.
#[derive(Debug, Default)]
pub struct Signal(AtomicU64);

impl Signal {
    /// It is this.
    #[cfg(not(feature = "loom"))]
    pub const fn new(value: u64) -> Signal {
        Signal(AtomicU64::new(value))
    }

    /// From now on it is this.
    #[inline]
    pub fn publish(&self, value: u64) {
        self.0.store(value, Ordering::Release);
    }

    /// What it is.
    #[inline]
    pub fn read(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}
