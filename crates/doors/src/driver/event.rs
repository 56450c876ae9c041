//! Events. Their times are the simulated machine's.

use super::context::current;
use crate::client::{Result, ask, number};
use crate::runtime::{Handle, give, handle, number as of};
use crate::wire::{Request, status};

fn record(event: Handle, stream: Handle) -> Result<()> {
    let request = Request::RecordEvent {
        event: of(event),
        stream: of(stream),
    };
    ask(&request, &[]).map(drop)
}

/// # Safety
/// `milliseconds` is null or can be written.
unsafe fn elapsed(milliseconds: *mut f32, start: Handle, end: Handle) -> Result<()> {
    let request = Request::Elapsed {
        start: of(start),
        end: of(end),
    };
    let bits = number(&request, &[])? as u32;
    // SAFETY: as the caller says.
    unsafe { give(milliseconds, f32::from_bits(bits)) }
}

fn query(event: Handle) -> Result<()> {
    ask(&Request::QueryEvent { event: of(event) }, &[]).map(drop)
}

fn destroy(event: Handle) -> Result<()> {
    ask(&Request::DestroyEvent { event: of(event) }, &[]).map(drop)
}

driver! {
    fn cuEventCreate(event: *mut Handle, flags: u32) {
        current()?;
        if event.is_null() || flags & !7 != 0 {
            return Err(status::INVALID_VALUE);
        }
        give(event, handle(number(&Request::CreateEvent { flags }, &[])?))
    }

    fn cuEventDestroy_v2(event: Handle) {
        destroy(event)
    }

    fn cuEventDestroy(event: Handle) {
        destroy(event)
    }

    fn cuEventRecord(event: Handle, stream: Handle) {
        record(event, stream)
    }

    fn cuEventRecordWithFlags(event: Handle, stream: Handle, _flags: u32) {
        record(event, stream)
    }

    fn cuEventSynchronize(event: Handle) {
        query(event)
    }

    fn cuEventQuery(event: Handle) {
        query(event)
    }

    fn cuEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle) {
        elapsed(milliseconds, start, end)
    }

    fn cuEventElapsedTime_v2(milliseconds: *mut f32, start: Handle, end: Handle) {
        elapsed(milliseconds, start, end)
    }
}
