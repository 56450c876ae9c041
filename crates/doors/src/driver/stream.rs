//! Streams, functions of the program in them, and capture into graphs.

use super::context::{current, primary};
use crate::client::{Result, ask, number};
use crate::runtime::stream as runtime;
use crate::runtime::{Handle, Pointer, give, handle, number as of, offer};
use crate::wire::{Request, status};
use std::ffi::{c_int, c_void};

/// Creates one.
///
/// # Safety
/// `stream` is null or can be written.
unsafe fn create(stream: *mut Handle, flags: u32, priority: c_int) -> Result<()> {
    current()?;
    if flags > 1 || stream.is_null() {
        return Err(status::INVALID_VALUE);
    }
    let made = number(&Request::CreateStream { flags, priority }, &[])?;
    // SAFETY: as the caller says.
    unsafe { give(stream, handle(made)) }
}

/// Flags, priority and number.
fn info(stream: Handle) -> Result<[u64; 3]> {
    match ask(&Request::StreamInfo { stream: of(stream) }, &[])?.words[..] {
        [flags, priority, id] => Ok([flags, priority, id]),
        _ => Err(status::UNKNOWN),
    }
}

/// All that was asked of a stream is done when it is asked.
fn wait(stream: Handle) -> Result<()> {
    ask(&Request::SynchronizeStream { stream: of(stream) }, &[]).map(drop)
}

fn destroy(stream: Handle) -> Result<()> {
    ask(&Request::DestroyStream { stream: of(stream) }, &[]).map(drop)
}

fn begin(stream: Handle, mode: u32, graph: Handle) -> Result<()> {
    let request = Request::BeginCapture {
        stream: of(stream),
        mode,
        graph: of(graph),
    };
    ask(&request, &[]).map(drop)
}

fn host(stream: Handle, function: *const c_void, data: Pointer, kind: u32) -> Result<()> {
    let request = Request::HostFunction {
        stream: of(stream),
        function: function as u64,
        data: data as u64,
        kind,
    };
    ask(&request, &[]).map(drop)
}

/// What a function of the runtime has answered.
fn answered(code: u32) -> Result<()> {
    match code {
        status::SUCCESS => Ok(()),
        code => Err(code),
    }
}

driver! {
    fn cuStreamCreate(stream: *mut Handle, flags: u32) {
        create(stream, flags, 0)
    }

    fn cuStreamCreateWithPriority(stream: *mut Handle, flags: u32, priority: c_int) {
        create(stream, flags, priority)
    }

    fn cuStreamDestroy_v2(stream: Handle) {
        destroy(stream)
    }

    fn cuStreamDestroy(stream: Handle) {
        destroy(stream)
    }

    fn cuStreamSynchronize(stream: Handle) {
        wait(stream)
    }

    fn cuStreamQuery(stream: Handle) {
        wait(stream)
    }

    fn cuStreamWaitEvent(stream: Handle, event: Handle, _flags: u32) {
        ask(&Request::WaitEvent { stream: of(stream), event: of(event) }, &[]).map(drop)
    }

    fn cuStreamGetFlags(stream: Handle, flags: *mut u32) {
        give(flags, info(stream)?[0] as u32)
    }

    fn cuStreamGetPriority(stream: Handle, priority: *mut c_int) {
        give(priority, info(stream)?[1] as u32 as c_int)
    }

    fn cuStreamGetId(stream: Handle, id: *mut u64) {
        give(id, info(stream)?[2])
    }

    fn cuStreamGetCtx(stream: Handle, context: *mut Handle) {
        info(stream)?;
        give(context, primary())
    }

    fn cuStreamGetCtx_v2(stream: Handle, context: *mut Handle, green: *mut Handle) {
        info(stream)?;
        offer(green, std::ptr::null_mut());
        give(context, primary())
    }

    fn cuStreamGetDevice(stream: Handle, device: *mut c_int) {
        info(stream)?;
        give(device, 0)
    }

    fn cuStreamAttachMemAsync(stream: Handle, _address: u64, _bytes: usize, _flags: u32) {
        info(stream).map(drop)
    }

    fn cuLaunchHostFunc(stream: Handle, function: *const c_void, data: Pointer) {
        host(stream, function, data, 0)
    }

    fn cuLaunchHostFunc_v2(stream: Handle, function: *const c_void, data: Pointer, _mode: u32) {
        host(stream, function, data, 0)
    }

    fn cuStreamAddCallback(stream: Handle, function: *const c_void, data: Pointer, _flags: u32) {
        host(stream, function, data, 1)
    }

    fn cuStreamBeginCapture_v2(stream: Handle, mode: u32) {
        begin(stream, mode, std::ptr::null_mut())
    }

    fn cuStreamBeginCaptureToGraph(stream: Handle, graph: Handle, _nodes: *const Handle, _data: *const c_void, _count: usize, mode: u32) {
        begin(stream, mode, graph)
    }

    fn cuStreamEndCapture(stream: Handle, graph: *mut Handle) {
        answered(runtime::cudaStreamEndCapture(stream, graph))
    }

    fn cuStreamIsCapturing(stream: Handle, state: *mut c_int) {
        answered(runtime::cudaStreamIsCapturing(stream, state))
    }

    fn cuStreamGetCaptureInfo_v2(stream: Handle, state: *mut c_int, id: *mut u64, graph: *mut Handle, nodes: *mut *const Handle, count: *mut usize) {
        answered(runtime::cudaStreamGetCaptureInfo_v2(stream, state, id, graph, nodes, count))
    }

    fn cuStreamGetCaptureInfo_v3(stream: Handle, state: *mut c_int, id: *mut u64, graph: *mut Handle, nodes: *mut *const Handle, edges: *mut *const c_void, count: *mut usize) {
        answered(runtime::cudaStreamGetCaptureInfo_v3(stream, state, id, graph, nodes, edges, count))
    }

    fn cuThreadExchangeStreamCaptureMode(mode: *mut u32) {
        answered(runtime::cudaThreadExchangeStreamCaptureMode(mode))
    }
}
