//! Events. Their times are the simulated machine's.

use super::{Handle, give, handle, number as of};
use crate::client::{Result, ask, number};
use crate::wire::{Request, status};

/// # Safety
/// `event` is null or can be written.
unsafe fn create(event: *mut Handle, flags: u32) -> Result<()> {
    if event.is_null() || flags & !7 != 0 {
        return Err(status::INVALID_VALUE);
    }
    // SAFETY: as the caller says.
    unsafe { give(event, handle(number(&Request::CreateEvent { flags }, &[])?)) }
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

fn record(event: Handle, stream: Handle) -> Result<()> {
    ask(
        &Request::RecordEvent {
            event: of(event),
            stream: of(stream),
        },
        &[],
    )
    .map(drop)
}

api! {
    fn cudaEventCreate(event: *mut Handle) {
        create(event, 0)
    }

    fn cudaEventCreateWithFlags(event: *mut Handle, flags: u32) {
        create(event, flags)
    }

    fn cudaEventDestroy(event: Handle) {
        ask(&Request::DestroyEvent { event: of(event) }, &[]).map(drop)
    }

    fn cudaEventRecord(event: Handle, stream: Handle) {
        record(event, stream)
    }

    fn cudaEventRecordWithFlags(event: Handle, stream: Handle, _flags: u32) {
        record(event, stream)
    }

    fn cudaEventSynchronize(event: Handle) {
        ask(&Request::QueryEvent { event: of(event) }, &[]).map(drop)
    }

    fn cudaEventQuery(event: Handle) {
        ask(&Request::QueryEvent { event: of(event) }, &[]).map(drop)
    }

    fn cudaEventElapsedTime(milliseconds: *mut f32, start: Handle, end: Handle) {
        elapsed(milliseconds, start, end)
    }

    fn cudaEventElapsedTime_v2(milliseconds: *mut f32, start: Handle, end: Handle) {
        elapsed(milliseconds, start, end)
    }
}
