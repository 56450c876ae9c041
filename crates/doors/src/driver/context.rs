//! Contexts: numbers that threads have current. They share one address space, and what one of them does all of them see.

use super::device::initialised;
use crate::client::process::runtime_used;
use crate::client::{Result, ask, number};
use crate::runtime::device::check;
use crate::runtime::{Handle, Pointer, give, handle, number as of, offer};
use crate::wire::{Request, status};
use std::cell::RefCell;
use std::ffi::c_int;
use std::sync::{Mutex, PoisonError};

/// The primary context's number. It is no address of anything.
const PRIMARY: u64 = 0x100;

/// What is known of contexts.
struct Contexts {
    /// How often the primary one was retained and not released.
    retained: u32,
    flags: u32,
    /// Those that were made and not destroyed, by their flags.
    made: Vec<(u64, u32)>,
    next: u64,
}

static CONTEXTS: Mutex<Contexts> = Mutex::new(Contexts {
    retained: 0,
    flags: 0,
    made: Vec::new(),
    next: PRIMARY + 1,
});

thread_local! {
    /// The current one last.
    static STACK: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

fn with<T>(body: impl FnOnce(&mut Contexts) -> T) -> T {
    body(&mut CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner))
}

fn known(context: u64) -> bool {
    context == PRIMARY || with(|c| c.made.iter().any(|(number, _)| *number == context))
}

fn top() -> u64 {
    STACK.with_borrow(|stack| stack.last().copied().unwrap_or(0))
}

/// The current context; work needs one. Where the runtime is used, too, a thread without has the primary one, as the runtime does.
pub fn current() -> Result<u64> {
    initialised()?;
    match top() {
        0 if runtime_used() => Ok(PRIMARY),
        0 => Err(status::INVALID_CONTEXT),
        context if known(context) => Ok(context),
        _ => Err(status::INVALID_CONTEXT),
    }
}

/// The primary context as a handle.
pub fn primary() -> Handle {
    handle(PRIMARY)
}

fn push(context: u64) -> Result<()> {
    match known(context) {
        true => {
            STACK.with_borrow_mut(|stack| stack.push(context));
            Ok(())
        }
        false => Err(status::INVALID_CONTEXT),
    }
}

/// # Safety
/// `context` is null or can be written.
unsafe fn pop(context: *mut Handle) -> Result<()> {
    initialised()?;
    let popped = STACK.with_borrow_mut(Vec::pop);
    let popped = popped.ok_or(status::INVALID_CONTEXT)?;
    // SAFETY: as the caller says.
    unsafe { offer(context, handle(popped)) };
    Ok(())
}

/// # Safety
/// `context` is null or can be written.
unsafe fn create(context: *mut Handle, flags: u32, device: c_int) -> Result<()> {
    initialised()?;
    check(device)?;
    let made = with(|c| {
        let number = c.next;
        c.next += 1;
        c.made.push((number, flags));
        number
    });
    // SAFETY: as the caller says.
    unsafe { give(context, handle(made))? };
    push(made)
}

fn release() -> Result<()> {
    initialised()?;
    with(|c| match c.retained {
        0 => Err(status::INVALID_CONTEXT),
        _ => {
            c.retained -= 1;
            Ok(())
        }
    })
}

fn flags_of(context: u64) -> u32 {
    with(|c| {
        let made = c.made.iter().find(|(number, _)| *number == context);
        made.map_or(c.flags, |(_, flags)| *flags)
    })
}

driver! {
    fn cuDevicePrimaryCtxRetain(context: *mut Handle, device: c_int) {
        initialised()?;
        check(device)?;
        with(|c| c.retained += 1);
        give(context, primary())
    }

    fn cuDevicePrimaryCtxRelease(device: c_int) {
        check(device)?;
        release()
    }

    fn cuDevicePrimaryCtxRelease_v2(device: c_int) {
        check(device)?;
        release()
    }

    fn cuDevicePrimaryCtxReset(device: c_int) {
        check(device)?;
        ask(&Request::Reset {}, &[]).map(drop)
    }

    fn cuDevicePrimaryCtxReset_v2(device: c_int) {
        check(device)?;
        ask(&Request::Reset {}, &[]).map(drop)
    }

    fn cuDevicePrimaryCtxGetState(device: c_int, flags: *mut u32, active: *mut c_int) {
        check(device)?;
        let (set, retained) = with(|c| (c.flags, c.retained));
        offer(flags, set);
        offer(active, c_int::from(retained > 0));
        Ok(())
    }

    fn cuDevicePrimaryCtxSetFlags(device: c_int, flags: u32) {
        check(device)?;
        with(|c| c.flags = flags);
        Ok(())
    }

    fn cuDevicePrimaryCtxSetFlags_v2(device: c_int, flags: u32) {
        check(device)?;
        with(|c| c.flags = flags);
        Ok(())
    }

    fn cuCtxCreate(context: *mut Handle, flags: u32, device: c_int) {
        create(context, flags, device)
    }

    fn cuCtxCreate_v2(context: *mut Handle, flags: u32, device: c_int) {
        create(context, flags, device)
    }

    fn cuCtxCreate_v3(context: *mut Handle, _affinities: Pointer, _count: c_int, flags: u32, device: c_int) {
        create(context, flags, device)
    }

    fn cuCtxCreate_v4(context: *mut Handle, _parameters: Pointer, flags: u32, device: c_int) {
        create(context, flags, device)
    }

    fn cuCtxDestroy(context: Handle) {
        destroy(context)
    }

    fn cuCtxDestroy_v2(context: Handle) {
        destroy(context)
    }

    fn cuCtxGetCurrent(context: *mut Handle) {
        initialised()?;
        give(context, handle(current().unwrap_or(0)))
    }

    fn cuCtxSetCurrent(context: Handle) {
        initialised()?;
        STACK.with_borrow_mut(Vec::pop);
        match of(context) {
            0 => Ok(()),
            context => push(context),
        }
    }

    fn cuCtxPushCurrent_v2(context: Handle) {
        initialised()?;
        push(of(context))
    }

    fn cuCtxPushCurrent(context: Handle) {
        initialised()?;
        push(of(context))
    }

    fn cuCtxPopCurrent_v2(context: *mut Handle) {
        pop(context)
    }

    fn cuCtxPopCurrent(context: *mut Handle) {
        pop(context)
    }

    fn cuCtxGetDevice(device: *mut c_int) {
        current()?;
        give(device, 0)
    }

    fn cuCtxGetDevice_v2(device: *mut c_int, _context: Handle) {
        initialised()?;
        give(device, 0)
    }

    fn cuCtxGetId(context: Handle, id: *mut u64) {
        let context = if context.is_null() { current()? } else { of(context) };
        give(id, context)
    }

    fn cuCtxGetFlags(flags: *mut u32) {
        give(flags, flags_of(current()?))
    }

    fn cuCtxSetFlags(_flags: u32) {
        current().map(drop)
    }

    fn cuCtxGetApiVersion(_context: Handle, version: *mut u32) {
        initialised()?;
        give(version, super::device::VERSION as u32)
    }

    fn cuCtxSynchronize() {
        current()?;
        ask(&Request::Synchronize {}, &[]).map(drop)
    }

    fn cuCtxSynchronize_v2(_context: Handle) {
        initialised()?;
        ask(&Request::Synchronize {}, &[]).map(drop)
    }

    fn cuCtxGetLimit(value: *mut usize, limit: u32) {
        current()?;
        give(value, number(&Request::Limit { limit }, &[])? as usize)
    }

    fn cuCtxSetLimit(limit: u32, value: usize) {
        current()?;
        ask(&Request::SetLimit { limit, value: value as u64 }, &[]).map(drop)
    }

    fn cuCtxGetCacheConfig(config: *mut u32) {
        current()?;
        give(config, 0)
    }

    fn cuCtxSetCacheConfig(_config: u32) {
        current().map(drop)
    }

    fn cuCtxGetSharedMemConfig(config: *mut u32) {
        current()?;
        give(config, 1)
    }

    fn cuCtxSetSharedMemConfig(_config: u32) {
        current().map(drop)
    }

    /// Priorities are all the same.
    fn cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) {
        current()?;
        offer(least, 0);
        offer(greatest, 0);
        Ok(())
    }

    fn cuCtxResetPersistingL2Cache() {
        Ok(())
    }

    fn cuCtxEnablePeerAccess(_peer: Handle, _flags: u32) {
        Err(status::PEER_UNSUPPORTED)
    }

    fn cuCtxDisablePeerAccess(_peer: Handle) {
        Err(status::PEER_NOT_ENABLED)
    }
}

fn destroy(context: Handle) -> Result<()> {
    let context = of(context);
    let was_there = with(|c| {
        let before = c.made.len();
        c.made.retain(|(number, _)| *number != context);
        c.made.len() < before
    });
    if !was_there {
        return Err(status::INVALID_CONTEXT);
    }
    STACK.with_borrow_mut(|stack| {
        if stack.last() == Some(&context) {
            stack.pop();
        }
    });
    Ok(())
}
