//! Graphs: built node by node, instantiated, launched.

use super::copy::Copy3D;
use super::{Dim3, Handle, Pointer, give, handle, launch, number as of, offer, registry, take};
use crate::client::{Result, ask, number};
use crate::wire::{Request, status};
use std::ffi::{c_int, c_void};

/// A kernel's node.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct KernelNode {
    function: *const c_void,
    grid: Dim3,
    block: Dim3,
    shared: u32,
    arguments: *const *const c_void,
    extra: *const *const c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct FillNode {
    to: Pointer,
    pitch: usize,
    value: u32,
    element: u32,
    width: usize,
    height: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct HostNode {
    function: *const c_void,
    data: Pointer,
}

/// Any node, as `cudaGraphAddNode` takes it: its kind, then what it is.
#[repr(C)]
pub struct AnyNode {
    kind: u32,
    _reserved: [u32; 3],
    what: [u64; 29],
    _more: u64,
}

const KERNEL: u32 = 0;
const COPY: u32 = 1;
const FILL: u32 = 2;
const HOST: u32 = 3;
const CHILD: u32 = 4;
const EMPTY: u32 = 5;
const WAIT: u32 = 6;
const RECORD: u32 = 7;

/// Whether an update of an executable could be done.
const UPDATED: c_int = 0;

impl KernelNode {
    /// The parameters of the launch.
    ///
    /// # Safety
    /// The arguments are a list of pointers, one to each.
    unsafe fn parameters(&self, function: &registry::Function) -> Result<Vec<u8>> {
        if !self.extra.is_null() {
            return Err(status::NOT_SUPPORTED);
        }
        // SAFETY: as the caller says.
        unsafe { launch::gather(function, self.arguments) }
    }

    /// # Safety
    /// As for `parameters`.
    unsafe fn add(&self, graph: u64) -> Result<u64> {
        let function = registry::function(self.function)?;
        let request = Request::AddKernel {
            graph,
            function: function.handle,
            grid: self.grid.all(),
            block: self.block.all(),
            shared: self.shared,
            flags: 0,
        };
        // SAFETY: as the caller says.
        number(&request, &unsafe { self.parameters(&function)? })
    }

    /// # Safety
    /// As for `parameters`.
    unsafe fn set(&self, executable: u64, node: u64) -> Result<()> {
        let function = registry::function(self.function)?;
        let request = Request::SetKernel {
            executable,
            node,
            function: function.handle,
            grid: self.grid.all(),
            block: self.block.all(),
            shared: self.shared,
        };
        // SAFETY: as the caller says.
        ask(&request, &unsafe { self.parameters(&function)? }).map(drop)
    }
}

impl FillNode {
    fn add(&self, graph: u64) -> Result<u64> {
        let request = Request::AddFill {
            graph,
            to: of(self.to),
            pitch: self.pitch as u64,
            element: self.element,
            value: self.value,
            width: self.width as u64,
            height: self.height as u64,
        };
        number(&request, &[])
    }
}

fn add_copy(graph: u64, copy: &Copy3D) -> Result<u64> {
    let (from, to, [width, height, depth]) = copy.read()?;
    let [width, height, depth] = [width, height, depth].map(|n| n as u64);
    number(
        &Request::AddTransfer {
            graph,
            from,
            to,
            width,
            height,
            depth,
        },
        &[],
    )
}

fn add_host(graph: u64, host: &HostNode) -> Result<u64> {
    let (function, data) = (host.function as u64, host.data as u64);
    number(
        &Request::AddHost {
            graph,
            function,
            data,
        },
        &[],
    )
}

/// Nodes that a new one depends on.
///
/// # Safety
/// `nodes` is a list of `count`.
unsafe fn listed(nodes: *const Handle, count: usize) -> Result<Vec<u64>> {
    // SAFETY: as the caller says.
    (0..count)
        .map(|n| unsafe { take(nodes.wrapping_add(n)).map(of) })
        .collect()
}

/// Hands a new node on, with what it depends on.
///
/// # Safety
/// `to` is null or can be written; `nodes` is a list of `count`.
unsafe fn added(
    to: *mut Handle,
    graph: Handle,
    nodes: *const Handle,
    count: usize,
    made: Result<u64>,
) -> Result<()> {
    // SAFETY: as the caller says.
    unsafe {
        let node = made?;
        let mut pairs = Vec::new();
        for before in listed(nodes, count)? {
            pairs.extend_from_slice(&before.to_le_bytes());
            pairs.extend_from_slice(&node.to_le_bytes());
        }
        if !pairs.is_empty() {
            ask(&Request::AddDependencies { graph: of(graph) }, &pairs)?;
        }
        give(to, handle(node))
    }
}

/// Writes a list as CUDA does: its length where there is no list, else as many as there is room for.
///
/// # Safety
/// `lists` are null or have room for `*count`, which can be written.
unsafe fn list<const N: usize>(
    lists: [*mut Handle; N],
    count: *mut usize,
    found: &[[u64; N]],
) -> Result<()> {
    // SAFETY: as the caller says.
    unsafe {
        let room = take(count)?;
        if lists[0].is_null() {
            return give(count, found.len());
        }
        for (index, entry) in found.iter().take(room).enumerate() {
            for (list, number) in lists.iter().zip(entry) {
                offer(list.wrapping_add(index), handle(*number));
            }
        }
        // Where there is more room than nodes, the rest is null.
        for index in found.len()..room {
            lists
                .iter()
                .for_each(|list| offer(list.wrapping_add(index), handle(0)));
        }
        give(count, found.len().min(room))
    }
}

fn edges(graph: u64) -> Result<Vec<[u64; 2]>> {
    let words = ask(&Request::GraphEdges { graph }, &[])?.words;
    Ok(words.chunks_exact(2).map(|p| [p[0], p[1]]).collect())
}

fn nodes(graph: u64) -> Result<Vec<u64>> {
    Ok(ask(&Request::GraphNodes { graph }, &[])?.words)
}

/// A graph's nodes at one end of the edges of another node.
fn beside(node: Handle, before: bool) -> Result<Vec<[u64; 1]>> {
    // The simulator finds a node's graph.
    let all = edges(of(node))?;
    let this = of(node);
    let found = all.into_iter().filter_map(|[from, to]| match before {
        true => (to == this).then_some([from]),
        false => (from == this).then_some([to]),
    });
    Ok(found.collect())
}

fn instantiate(graph: Handle) -> Result<Handle> {
    number(&Request::Instantiate { graph: of(graph) }, &[]).map(handle)
}

/// Adds any node.
///
/// # Safety
/// `node` is null or says one; lists are as they say.
unsafe fn add_any(
    to: *mut Handle,
    graph: Handle,
    before: *const Handle,
    count: usize,
    node: *const AnyNode,
) -> Result<()> {
    if node.is_null() {
        return Err(status::INVALID_VALUE);
    }
    // SAFETY: as the caller says; what it is follows from its kind.
    unsafe {
        let what = std::ptr::addr_of!((*node).what).cast::<c_void>();
        let on = of(graph);
        let made = match (*node).kind {
            KERNEL => take(what.cast::<KernelNode>())?.add(on),
            // Flags and the context of the copy come first.
            COPY => add_copy(on, &take(what.cast::<u64>().add(2).cast::<Copy3D>())?),
            FILL => take(what.cast::<FillNode>())?.add(on),
            HOST => add_host(on, &take(what.cast::<HostNode>())?),
            CHILD => number(
                &Request::AddChild {
                    graph: on,
                    child: take(what.cast::<u64>())?,
                },
                &[],
            ),
            EMPTY => number(&Request::AddEmpty { graph: on }, &[]),
            WAIT => number(
                &Request::AddWait {
                    graph: on,
                    event: take(what.cast::<u64>())?,
                },
                &[],
            ),
            RECORD => number(
                &Request::AddRecord {
                    graph: on,
                    event: take(what.cast::<u64>())?,
                },
                &[],
            ),
            _ => Err(status::NOT_SUPPORTED),
        };
        added(to, graph, before, count, made)
    }
}

/// Changes edges.
///
/// # Safety
/// Both are lists of `count`.
unsafe fn connect(
    graph: Handle,
    from: *const Handle,
    to: *const Handle,
    count: usize,
) -> Result<()> {
    // SAFETY: as the caller says.
    let (from, to) = unsafe { (listed(from, count)?, listed(to, count)?) };
    let pairs: Vec<u8> = from
        .iter()
        .zip(&to)
        .flat_map(|(a, b)| [a.to_le_bytes(), b.to_le_bytes()])
        .flatten()
        .collect();
    ask(&Request::AddDependencies { graph: of(graph) }, &pairs).map(drop)
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct UpdateResult {
    result: c_int,
    node: Handle,
    from: Handle,
}

api! {
    fn cudaGraphCreate(graph: *mut Handle, _flags: u32) {
        give(graph, handle(number(&Request::CreateGraph {}, &[])?))
    }

    fn cudaGraphDestroy(graph: Handle) {
        ask(&Request::DestroyGraph { graph: of(graph) }, &[]).map(drop)
    }

    fn cudaGraphClone(to: *mut Handle, graph: Handle) {
        give(to, handle(number(&Request::CloneGraph { graph: of(graph) }, &[])?))
    }

    fn cudaGraphAddKernelNode(node: *mut Handle, graph: Handle, before: *const Handle, count: usize, how: *const KernelNode) {
        added(node, graph, before, count, take(how)?.add(of(graph)))
    }

    fn cudaGraphAddMemcpyNode(node: *mut Handle, graph: Handle, before: *const Handle, count: usize, how: *const Copy3D) {
        added(node, graph, before, count, add_copy(of(graph), &take(how)?))
    }

    fn cudaGraphAddMemcpyNode1D(node: *mut Handle, graph: Handle, before: *const Handle, count: usize, to: Pointer, from: *const c_void, bytes: usize, direction: c_int) {
        added(node, graph, before, count, add_copy(of(graph), &Copy3D::plain(to, from, bytes, direction)))
    }

    fn cudaGraphAddMemsetNode(node: *mut Handle, graph: Handle, before: *const Handle, count: usize, how: *const FillNode) {
        added(node, graph, before, count, take(how)?.add(of(graph)))
    }

    fn cudaGraphAddHostNode(node: *mut Handle, graph: Handle, before: *const Handle, count: usize, how: *const HostNode) {
        added(node, graph, before, count, add_host(of(graph), &take(how)?))
    }

    fn cudaGraphAddEmptyNode(node: *mut Handle, graph: Handle, before: *const Handle, count: usize) {
        added(node, graph, before, count, number(&Request::AddEmpty { graph: of(graph) }, &[]))
    }

    fn cudaGraphAddChildGraphNode(node: *mut Handle, graph: Handle, before: *const Handle, count: usize, child: Handle) {
        added(node, graph, before, count, number(&Request::AddChild { graph: of(graph), child: of(child) }, &[]))
    }

    fn cudaGraphAddEventRecordNode(node: *mut Handle, graph: Handle, before: *const Handle, count: usize, event: Handle) {
        added(node, graph, before, count, number(&Request::AddRecord { graph: of(graph), event: of(event) }, &[]))
    }

    fn cudaGraphAddEventWaitNode(node: *mut Handle, graph: Handle, before: *const Handle, count: usize, event: Handle) {
        added(node, graph, before, count, number(&Request::AddWait { graph: of(graph), event: of(event) }, &[]))
    }

    /// Of 13 with the data of edges before their number; of 12 without.
    fn cudaGraphAddNode(node: *mut Handle, graph: Handle, before: *const Handle, fourth: *const c_void, fifth: *const c_void, sixth: *const c_void) {
        match super::major() {
            13 => add_any(node, graph, before, fifth as usize, sixth.cast()),
            _ => add_any(node, graph, before, fourth as usize, fifth.cast()),
        }
    }

    fn cudaGraphAddNode_v2(node: *mut Handle, graph: Handle, before: *const Handle, _edges: *const c_void, count: usize, how: *const AnyNode) {
        add_any(node, graph, before, count, how)
    }

    /// Of 13 with the data of edges before their number; before without.
    fn cudaGraphAddDependencies(graph: Handle, from: *const Handle, to: *const Handle, fourth: *const c_void, fifth: usize) {
        let count = if super::major() == 13 { fifth } else { fourth as usize };
        connect(graph, from, to, count)
    }

    fn cudaGraphAddDependencies_v2(graph: Handle, from: *const Handle, to: *const Handle, _edges: *const c_void, count: usize) {
        connect(graph, from, to, count)
    }

    fn cudaGraphGetNodes(graph: Handle, to: *mut Handle, count: *mut usize) {
        let found: Vec<[u64; 1]> = nodes(of(graph))?.into_iter().map(|n| [n]).collect();
        list([to], count, &found)
    }

    fn cudaGraphGetRootNodes(graph: Handle, to: *mut Handle, count: *mut usize) {
        let edges = edges(of(graph))?;
        let all = nodes(of(graph))?.into_iter();
        let roots: Vec<[u64; 1]> = all.filter(|n| edges.iter().all(|[_, to]| to != n)).map(|n| [n]).collect();
        list([to], count, &roots)
    }

    fn cudaGraphGetEdges(graph: Handle, from: *mut Handle, to: *mut Handle, fourth: *mut usize, fifth: *mut usize) {
        let count = if super::major() == 13 { fifth } else { fourth };
        list([from, to], count, &edges(of(graph))?)
    }

    fn cudaGraphNodeGetDependencies(node: Handle, to: *mut Handle, third: *mut usize, fourth: *mut usize) {
        let count = if super::major() == 13 { fourth } else { third };
        list([to], count, &beside(node, true)?)
    }

    fn cudaGraphNodeGetDependentNodes(node: Handle, to: *mut Handle, third: *mut usize, fourth: *mut usize) {
        let count = if super::major() == 13 { fourth } else { third };
        list([to], count, &beside(node, false)?)
    }

    fn cudaGraphNodeGetType(node: Handle, kind: *mut u32) {
        give(kind, number(&Request::NodeKind { node: of(node) }, &[])? as u32)
    }

    fn cudaGraphDestroyNode(node: Handle) {
        ask(&Request::DestroyNode { node: of(node) }, &[]).map(drop)
    }

    fn cudaGraphInstantiate(executable: *mut Handle, graph: Handle, _flags: u64) {
        give(executable, instantiate(graph)?)
    }

    fn cudaGraphInstantiateWithFlags(executable: *mut Handle, graph: Handle, _flags: u64) {
        give(executable, instantiate(graph)?)
    }

    fn cudaGraphInstantiateWithParams(executable: *mut Handle, graph: Handle, _how: Pointer) {
        give(executable, instantiate(graph)?)
    }

    fn cudaGraphExecDestroy(executable: Handle) {
        ask(&Request::DestroyExecutable { executable: of(executable) }, &[]).map(drop)
    }

    fn cudaGraphLaunch(executable: Handle, stream: Handle) {
        ask(&Request::LaunchGraph { executable: of(executable), stream: of(stream) }, &[]).map(drop)
    }

    fn cudaGraphUpload(_executable: Handle, _stream: Handle) {
        Ok(())
    }

    /// Up to 11 the node at fault and the result, from 12 on a structure with both.
    fn cudaGraphExecUpdate(executable: Handle, graph: Handle, third: Pointer, fourth: *mut c_int) {
        let request = Request::UpdateExecutable { executable: of(executable), graph: of(graph) };
        let result = number(&request, &[])? as c_int;
        match super::major() {
            11 => {
                offer(third.cast::<Handle>(), handle(0));
                offer(fourth, result);
            }
            _ => offer(third.cast(), UpdateResult { result, node: handle(0), from: handle(0) }),
        }
        match result {
            UPDATED => Ok(()),
            _ => Err(status::UPDATE_FAILURE),
        }
    }

    fn cudaGraphKernelNodeSetParams(node: Handle, how: *const KernelNode) {
        take(how)?.set(0, of(node))
    }

    fn cudaGraphExecKernelNodeSetParams(executable: Handle, node: Handle, how: *const KernelNode) {
        take(how)?.set(of(executable), of(node))
    }

    fn cudaUserObjectCreate(object: *mut Handle, data: Pointer, destroy: *const c_void, count: u32, _flags: u32) {
        let made = Box::new(UserObject { data: data as usize, destroy: destroy as usize, count });
        give(object, Box::into_raw(made).cast())
    }

    fn cudaUserObjectRetain(object: *mut UserObject, count: u32) {
        UserObject::change(object, i64::from(count))
    }

    fn cudaUserObjectRelease(object: *mut UserObject, count: u32) {
        UserObject::change(object, -i64::from(count))
    }

    /// The graph holds it to the program's end.
    fn cudaGraphRetainUserObject(_graph: Handle, object: *mut UserObject, count: u32, flags: u32) {
        // The caller's references can become the graph's.
        match flags {
            1 => Ok(()),
            _ => UserObject::change(object, i64::from(count)),
        }
    }

    fn cudaGraphReleaseUserObject(_graph: Handle, object: *mut UserObject, count: u32) {
        UserObject::change(object, -i64::from(count))
    }
}

/// Something of the program's that lives as long as what refers to it.
pub struct UserObject {
    data: usize,
    destroy: usize,
    count: u32,
}

impl UserObject {
    /// More or fewer references; with the last it goes.
    ///
    /// # Safety
    /// `object` is null or one that lives.
    unsafe fn change(object: *mut UserObject, by: i64) -> Result<()> {
        if object.is_null() {
            return Err(status::INVALID_VALUE);
        }
        // SAFETY: as the caller says; the program's function takes its data.
        unsafe {
            let left = i64::from((*object).count) + by;
            (*object).count = u32::try_from(left).map_err(|_| status::INVALID_VALUE)?;
            if left == 0 {
                let gone = Box::from_raw(object);
                if gone.destroy != 0 {
                    let destroy: unsafe extern "C" fn(*mut c_void) =
                        std::mem::transmute(gone.destroy);
                    destroy(gone.data as *mut c_void);
                }
            }
        }
        Ok(())
    }
}
