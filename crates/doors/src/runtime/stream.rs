//! Streams, functions of the program in them, and capture into graphs.

use super::{Handle, Pointer, give, handle, number as of, offer};
use crate::client::{Result, ask, number};
use crate::wire::{Request, status};
use std::ffi::{c_int, c_void};

/// Creates one.
///
/// # Safety
/// `stream` is null or can be written.
unsafe fn create(stream: *mut Handle, flags: u32, priority: c_int) -> Result<()> {
    if flags > 1 || stream.is_null() {
        return Err(status::INVALID_VALUE);
    }
    // SAFETY: as the caller says.
    unsafe {
        give(
            stream,
            handle(number(&Request::CreateStream { flags, priority }, &[])?),
        )
    }
}

/// Flags, priority and number.
fn info(stream: Handle) -> Result<[u64; 3]> {
    match ask(&Request::StreamInfo { stream: of(stream) }, &[])?.words[..] {
        [flags, priority, id] => Ok([flags, priority, id]),
        _ => Err(status::UNKNOWN),
    }
}

/// Status, number and graph of a capture, and the nodes on which the next one depends.
fn capture(stream: Handle) -> Result<Vec<u64>> {
    let words = ask(&Request::CaptureInfo { stream: of(stream) }, &[])?.words;
    if words.len() < 3 {
        Err(status::UNKNOWN)
    } else {
        Ok(words)
    }
}

thread_local! {
    /// The nodes that `cudaStreamGetCaptureInfo` named last, which the caller looks at.
    static NODES: std::cell::RefCell<Vec<u64>> = const { std::cell::RefCell::new(Vec::new()) };
}

/// # Safety
/// All of them are null or can be written.
unsafe fn describe(
    stream: Handle,
    state: *mut c_int,
    id: *mut u64,
    graph: *mut Handle,
    nodes: *mut *const Handle,
    count: *mut usize,
) -> Result<()> {
    let words = capture(stream)?;
    // SAFETY: as the caller says.
    unsafe {
        give(state, words[0] as c_int)?;
        offer(id, words[1]);
        offer(graph, handle(words[2]));
        offer(count, words.len() - 3);
        NODES.with_borrow_mut(|kept| {
            *kept = words[3..].to_vec();
            offer(nodes, kept.as_ptr().cast());
        });
    }
    Ok(())
}

api! {
    fn cudaStreamCreate(stream: *mut Handle) {
        create(stream, 0, 0)
    }

    fn cudaStreamCreateWithFlags(stream: *mut Handle, flags: u32) {
        create(stream, flags, 0)
    }

    fn cudaStreamCreateWithPriority(stream: *mut Handle, flags: u32, priority: c_int) {
        create(stream, flags, priority)
    }

    fn cudaStreamDestroy(stream: Handle) {
        ask(&Request::DestroyStream { stream: of(stream) }, &[]).map(drop)
    }

    fn cudaStreamSynchronize(stream: Handle) {
        ask(&Request::SynchronizeStream { stream: of(stream) }, &[]).map(drop)
    }

    /// All that was asked of it is done.
    fn cudaStreamQuery(stream: Handle) {
        ask(&Request::SynchronizeStream { stream: of(stream) }, &[]).map(drop)
    }

    fn cudaStreamWaitEvent(stream: Handle, event: Handle, _flags: u32) {
        ask(&Request::WaitEvent { stream: of(stream), event: of(event) }, &[]).map(drop)
    }

    fn cudaStreamGetFlags(stream: Handle, flags: *mut u32) {
        give(flags, info(stream)?[0] as u32)
    }

    fn cudaStreamGetPriority(stream: Handle, priority: *mut c_int) {
        give(priority, info(stream)?[1] as u32 as c_int)
    }

    fn cudaStreamGetId(stream: Handle, id: *mut u64) {
        give(id, info(stream)?[2])
    }

    fn cudaStreamGetDevice(stream: Handle, device: *mut c_int) {
        info(stream)?;
        give(device, 0)
    }

    fn cudaStreamAttachMemAsync(stream: Handle, _pointer: Pointer, _bytes: usize, _flags: u32) {
        info(stream).map(drop)
    }

    fn cudaLaunchHostFunc(stream: Handle, function: *const c_void, data: Pointer) {
        let request = Request::HostFunction { stream: of(stream), function: function as u64, data: data as u64, kind: 0 };
        ask(&request, &[]).map(drop)
    }

    fn cudaLaunchHostFunc_v2(stream: Handle, function: *const c_void, data: Pointer, _mode: u32) {
        let request = Request::HostFunction { stream: of(stream), function: function as u64, data: data as u64, kind: 0 };
        ask(&request, &[]).map(drop)
    }

    fn cudaStreamAddCallback(stream: Handle, function: *const c_void, data: Pointer, _flags: u32) {
        let request = Request::HostFunction { stream: of(stream), function: function as u64, data: data as u64, kind: 1 };
        ask(&request, &[]).map(drop)
    }

    fn cudaStreamBeginCapture(stream: Handle, mode: u32) {
        ask(&Request::BeginCapture { stream: of(stream), mode, graph: 0 }, &[]).map(drop)
    }

    fn cudaStreamBeginCaptureToGraph(stream: Handle, graph: Handle, _nodes: *const Handle, _data: *const c_void, _count: usize, mode: u32) {
        ask(&Request::BeginCapture { stream: of(stream), mode, graph: of(graph) }, &[]).map(drop)
    }

    fn cudaStreamEndCapture(stream: Handle, graph: *mut Handle) {
        let captured = number(&Request::EndCapture { stream: of(stream) }, &[]);
        if captured.is_err() {
            offer(graph, std::ptr::null_mut());
        }
        give(graph, handle(captured?))
    }

    fn cudaStreamIsCapturing(stream: Handle, state: *mut c_int) {
        give(state, capture(stream)?[0] as c_int)
    }

    /// Of 11: state and number. From 12 on programs call `_v2` by this name; of 13: with the data of edges, of which there are none.
    fn cudaStreamGetCaptureInfo(stream: Handle, state: *mut c_int, id: *mut u64, graph: *mut Handle, nodes: *mut *const Handle, edges: *mut *const c_void, count: *mut usize) {
        let null: *mut u8 = std::ptr::null_mut();
        match super::major() {
            13 => {
                offer(edges, std::ptr::null());
                describe(stream, state, id, graph, nodes, count)
            }
            _ => describe(stream, state, id, null.cast(), null.cast(), null.cast()),
        }
    }

    fn cudaStreamGetCaptureInfo_v2(stream: Handle, state: *mut c_int, id: *mut u64, graph: *mut Handle, nodes: *mut *const Handle, count: *mut usize) {
        describe(stream, state, id, graph, nodes, count)
    }

    fn cudaStreamGetCaptureInfo_v3(stream: Handle, state: *mut c_int, id: *mut u64, graph: *mut Handle, nodes: *mut *const Handle, edges: *mut *const c_void, count: *mut usize) {
        offer(edges, std::ptr::null());
        describe(stream, state, id, graph, nodes, count)
    }

    fn cudaThreadExchangeStreamCaptureMode(mode: *mut u32) {
        // Nothing here depends on it: what may not be done during a capture is refused in every mode.
        let asked = super::take(mode)?;
        give(mode, MODE.replace(asked))
    }
}

thread_local! {
    static MODE: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}
