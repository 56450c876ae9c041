//! Graphs: what the runtime's functions do, which take the same.

use crate::client::{Result, ask};
use crate::runtime::graph as runtime;
use crate::runtime::{Handle, Pointer, handle, number as of, offer};
use crate::wire::{Request, status};
use std::ffi::c_int;

/// What a function of the runtime has answered.
fn answered(code: u32) -> Result<()> {
    match code {
        status::SUCCESS => Ok(()),
        code => Err(code),
    }
}

/// What an update came to; the node and the one that it was held against are not told.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Updated {
    result: c_int,
    node: Handle,
    from: Handle,
}

driver! {
    fn cuGraphCreate(graph: *mut Handle, flags: u32) {
        answered(runtime::cudaGraphCreate(graph, flags))
    }

    fn cuGraphDestroy(graph: Handle) {
        answered(runtime::cudaGraphDestroy(graph))
    }

    fn cuGraphClone(to: *mut Handle, graph: Handle) {
        answered(runtime::cudaGraphClone(to, graph))
    }

    /// The structure begins as the runtime's.
    fn cuGraphAddKernelNode_v2(node: *mut Handle, graph: Handle, before: *const Handle, count: usize, how: *const runtime::KernelNode) {
        answered(runtime::cudaGraphAddKernelNode(node, graph, before, count, how))
    }

    fn cuGraphAddKernelNode(node: *mut Handle, graph: Handle, before: *const Handle, count: usize, how: *const runtime::KernelNode) {
        answered(runtime::cudaGraphAddKernelNode(node, graph, before, count, how))
    }

    fn cuGraphKernelNodeSetParams_v2(node: Handle, how: *const runtime::KernelNode) {
        answered(runtime::cudaGraphKernelNodeSetParams(node, how))
    }

    fn cuGraphExecKernelNodeSetParams_v2(executable: Handle, node: Handle, how: *const runtime::KernelNode) {
        answered(runtime::cudaGraphExecKernelNodeSetParams(executable, node, how))
    }

    fn cuGraphAddHostNode(node: *mut Handle, graph: Handle, before: *const Handle, count: usize, how: *const runtime::HostNode) {
        answered(runtime::cudaGraphAddHostNode(node, graph, before, count, how))
    }

    fn cuGraphAddEmptyNode(node: *mut Handle, graph: Handle, before: *const Handle, count: usize) {
        answered(runtime::cudaGraphAddEmptyNode(node, graph, before, count))
    }

    fn cuGraphAddChildGraphNode(node: *mut Handle, graph: Handle, before: *const Handle, count: usize, child: Handle) {
        answered(runtime::cudaGraphAddChildGraphNode(node, graph, before, count, child))
    }

    fn cuGraphGetNodes(graph: Handle, to: *mut Handle, count: *mut usize) {
        answered(runtime::cudaGraphGetNodes(graph, to, count))
    }

    fn cuGraphGetRootNodes(graph: Handle, to: *mut Handle, count: *mut usize) {
        answered(runtime::cudaGraphGetRootNodes(graph, to, count))
    }

    fn cuGraphNodeGetType(node: Handle, kind: *mut u32) {
        answered(runtime::cudaGraphNodeGetType(node, kind))
    }

    fn cuGraphDestroyNode(node: Handle) {
        answered(runtime::cudaGraphDestroyNode(node))
    }

    fn cuGraphInstantiateWithFlags(executable: *mut Handle, graph: Handle, flags: u64) {
        answered(runtime::cudaGraphInstantiateWithFlags(executable, graph, flags))
    }

    fn cuGraphInstantiateWithParams(executable: *mut Handle, graph: Handle, how: Pointer) {
        answered(runtime::cudaGraphInstantiateWithParams(executable, graph, how))
    }

    fn cuGraphExecDestroy(executable: Handle) {
        answered(runtime::cudaGraphExecDestroy(executable))
    }

    fn cuGraphLaunch(executable: Handle, stream: Handle) {
        answered(runtime::cudaGraphLaunch(executable, stream))
    }

    fn cuGraphUpload(executable: Handle, stream: Handle) {
        answered(runtime::cudaGraphUpload(executable, stream))
    }

    fn cuGraphExecUpdate_v2(executable: Handle, graph: Handle, updated: *mut Updated) {
        let request = Request::UpdateExecutable { executable: of(executable), graph: of(graph) };
        let result = ask(&request, &[])?.words.first().copied().unwrap_or_default() as c_int;
        offer(updated, Updated { result, node: handle(0), from: handle(0) });
        match result {
            0 => Ok(()),
            _ => Err(status::UPDATE_FAILURE),
        }
    }
}
