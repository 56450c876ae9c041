//! The API's state for one process: every request comes to [`Session::answer`].

mod arrays;
mod attributes;
mod capture;
mod copy;
mod events;
mod functions;
mod graphs;
mod launch;
mod memory;
mod modules;
mod operation;
mod streams;
#[cfg(test)]
mod tests;

use crate::choice::{Choice, Chooser};
use crate::refused::{Answer, Refused};
use arrays::Array;
use capture::Capture;
use events::Event;
use functions::Function;
use graphs::{Executable, Graph, Node};
use launch::Known;
pub use launch::{How, Launched};
use memory::Allocation;
use modules::Module;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::{self, Write};
use std::path::PathBuf;
use std::rc::Rc;
use streams::Stream;
use warpsim_doors::wire::{Question, Request, status};
use warpsim_images::Capability;
use warpsim_workloads::lowering::Lowering;
use warpsim_workloads::simulated::Simulated;

/// How programs run.
pub struct Settings {
    /// How PTX becomes kernels.
    pub lowering: Lowering,
    /// Which launches are timed.
    pub choice: Choice,
    /// Nothing is timed.
    pub functional: bool,
    /// What the device says it is.
    pub capability: Capability,
    /// Bytes that device-side `malloc` may give out at first.
    pub heap: u64,
}

/// The program while it waits for an answer.
pub trait Program {
    /// Asks it something; its answer's bytes.
    fn ask(&mut self, question: &Question, bytes: &[u8]) -> Answer<Vec<u8>>;
}

/// What a request comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Numbers.
    pub words: Vec<u64>,
    /// Bytes.
    pub bytes: Vec<u8>,
}

impl From<u64> for Reply {
    fn from(word: u64) -> Reply {
        Reply::words(vec![word])
    }
}

impl Reply {
    /// Numbers.
    pub fn words(words: Vec<u64>) -> Reply {
        Reply {
            words,
            bytes: Vec::new(),
        }
    }

    /// Bytes.
    pub fn bytes(bytes: Vec<u8>) -> Reply {
        Reply {
            words: Vec::new(),
            bytes,
        }
    }
}

/// What is to be told to the user.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// A launch has ended.
    Launched(Launched),
    /// Something went wrong, or is odd.
    Note(String),
}

/// What kernels have printed and the program has not been given yet.
#[derive(Clone, Default)]
pub struct Printed(Rc<RefCell<Vec<u8>>>);

impl Write for Printed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A process's use of a GPU.
pub struct Session {
    /// The GPU.
    pub device: Simulated,
    settings: Rc<Settings>,
    printed: Printed,
    /// Where files for shared memory lie.
    folder: PathBuf,
    next: u64,
    memory: BTreeMap<u64, Allocation>,
    modules: HashMap<u64, Module>,
    functions: HashMap<u64, Function>,
    streams: HashMap<u64, Stream>,
    events: HashMap<u64, Event>,
    captures: HashMap<u64, Capture>,
    graphs: HashMap<u64, Graph>,
    nodes: HashMap<u64, Node>,
    executables: HashMap<u64, Executable>,
    arrays: HashMap<u64, Array>,
    textures: HashSet<u64>,
    limits: HashMap<u32, u64>,
    /// A kernel's error, which every call answers with until everything is reset.
    sticky: Option<u32>,
    chooser: Chooser,
    /// Launches that were timed, by kernel and shape, where launches are sampled.
    known: HashMap<launch::Shape, Vec<Known>>,
    /// How many launches there were, and how many of them were not timed.
    pub launches: u64,
    /// Launches that were executed without timing though others were timed.
    pub untimed: u64,
    /// Launches that count as another of their kind that was timed.
    pub sampled: u64,
    told: HashSet<String>,
    said: Vec<Said>,
}

impl Session {
    /// On this GPU, whose kernels print to `printed`.
    pub fn new(
        device: Simulated,
        settings: Rc<Settings>,
        printed: Printed,
        folder: PathBuf,
    ) -> Session {
        Session {
            device,
            printed,
            folder,
            // Numbers that cannot be mistaken for small ones that mean something.
            next: 0x1000,
            memory: BTreeMap::new(),
            modules: HashMap::new(),
            functions: HashMap::new(),
            streams: HashMap::new(),
            events: HashMap::new(),
            captures: HashMap::new(),
            graphs: HashMap::new(),
            nodes: HashMap::new(),
            executables: HashMap::new(),
            arrays: HashMap::new(),
            textures: HashSet::new(),
            limits: HashMap::from([
                (0, 1024),
                (1, 1 << 20),
                (2, settings.heap),
                (3, 2),
                (4, 2048),
            ]),
            sticky: None,
            chooser: Chooser::default(),
            known: HashMap::new(),
            launches: 0,
            untimed: 0,
            sampled: 0,
            told: HashSet::new(),
            said: Vec::new(),
            settings,
        }
    }

    /// A new handle.
    fn handle(&mut self) -> u64 {
        self.next += 16;
        self.next
    }

    /// What there is to be told since it was asked last.
    pub fn take_said(&mut self) -> Vec<Said> {
        std::mem::take(&mut self.said)
    }

    /// Something to be told, once.
    fn note(&mut self, text: String) {
        if self.told.insert(text.clone()) {
            self.said.push(Said::Note(text));
        }
    }

    /// Answers a request. What explains an error is told.
    pub fn answer(
        &mut self,
        request: Request,
        bytes: Vec<u8>,
        program: &mut dyn Program,
    ) -> Result<Reply, u32> {
        if let Some(sticky) = self.sticky
            && !matches!(request, Request::Reset {} | Request::Lacking {})
        {
            return Err(sticky);
        }
        self.handled(request, bytes, program)
            .map_err(|Refused { status, text }| {
                if let Some(text) = text {
                    self.note(text);
                }
                status
            })
    }

    fn handled(
        &mut self,
        request: Request,
        bytes: Vec<u8>,
        program: &mut dyn Program,
    ) -> Answer<Reply> {
        use Request as R;
        match request {
            R::Hello { .. } | R::Seen { .. } => Err(status::INVALID_VALUE.into()),
            R::Lacking {} => {
                let name = String::from_utf8_lossy(&bytes).into_owned();
                self.note(format!("{name} is not supported: it answers with an error"));
                Ok(Reply::default())
            }
            R::DeviceAttribute { attribute } => self.attribute(attribute).map(Reply::from),
            R::DeviceName {} => Ok(Reply::bytes(self.device_name().into_bytes())),
            R::MemoryInfo {} => Ok(Reply::words(self.memory_info().to_vec())),
            R::Synchronize {} => self.check_all_uncaptured().map(|()| Reply::default()),
            R::Reset {} => self.reset(program).map(|()| Reply::default()),
            R::Limit { limit } => {
                let value = self.limits.get(&limit).copied();
                value.map(Reply::from).ok_or(status::INVALID_VALUE.into())
            }
            R::SetLimit { limit, value } => self.set_limit(limit, value),
            R::Allocate {
                kind,
                bytes,
                stream,
            } => self.allocate(kind, bytes, stream, program).map(Reply::from),
            R::Free { address, stream } => self.free(address, stream, program),
            R::Pointer { address } => Ok(Reply::words(self.pointer(address).to_vec())),
            R::Transfer {
                from,
                to,
                width,
                height,
                depth,
                stream,
            } => self.asked_transfer(
                copy::Copy {
                    from,
                    to,
                    extent: [width, height, depth],
                },
                stream,
                bytes,
                program,
            ),
            R::Fill {
                to,
                pitch,
                element,
                value,
                width,
                height,
                stream,
            } => {
                let fill = copy::Fill {
                    to,
                    pitch,
                    element,
                    value,
                    width,
                    height,
                };
                self.submit(stream, operation::Operation::Fill(fill), program)
            }
            R::LoadModule { parts } => self.load(parts, &bytes).map(Reply::from),
            R::UnloadModule { module } => self.unload(module),
            R::Function { module } => self.function(module, &bytes),
            R::Global { module } => self.global(module, &bytes),
            R::Managed { module } => self.managed(module, &bytes, program),
            R::FunctionAttributes { function } => self.function_attributes(function),
            R::SetFunctionAttribute {
                function,
                attribute,
                value,
            } => self.set_function_attribute(function, attribute, value),
            R::Functions { module } => self.all_functions(module),
            R::FunctionName { function } => self.function_name(function),
            R::BindTexture { module, texture } => self.bind_texture(module, &bytes, texture),
            R::Launch {
                function,
                grid,
                block,
                cluster,
                shared,
                flags,
                stream,
            } => {
                let call = launch::Call {
                    function,
                    grid,
                    block,
                    cluster,
                    shared,
                    cooperative: flags & 1 != 0,
                    parameters: bytes,
                };
                self.submit(stream, operation::Operation::Kernel(call), program)
            }
            R::Occupancy {
                function,
                threads,
                shared,
            } => self.occupancy(function, threads, shared).map(Reply::from),
            R::CreateStream { flags, priority } => Ok(self.create_stream(flags, priority).into()),
            R::DestroyStream { stream } => self.destroy_stream(stream),
            R::SynchronizeStream { stream } => self.synchronize(stream),
            R::StreamInfo { stream } => self.stream_info(stream),
            R::WaitEvent { stream, event } => self.wait_event(stream, event),
            R::HostFunction {
                stream,
                function,
                data,
                kind,
            } => self.submit(
                stream,
                operation::Operation::Host {
                    function,
                    data,
                    kind,
                    stream,
                },
                program,
            ),
            R::CreateEvent { flags } => Ok(self.create_event(flags).into()),
            R::DestroyEvent { event } => self.destroy_event(event),
            R::RecordEvent { event, stream } => self.record_event(event, stream),
            R::QueryEvent { event } => self.event(event).map(|_| Reply::default()),
            R::Elapsed { start, end } => self.elapsed(start, end),
            R::BeginCapture {
                stream,
                mode: _,
                graph,
            } => self.begin_capture(stream, graph),
            R::EndCapture { stream } => self.end_capture(stream).map(Reply::from),
            R::CaptureInfo { stream } => self.capture_info(stream),
            R::CreateGraph {} => Ok(self.create_graph().into()),
            R::DestroyGraph { graph } => self.destroy_graph(graph),
            R::CloneGraph { graph } => self.clone_graph(graph).map(Reply::from),
            R::AddKernel {
                graph,
                function,
                grid,
                block,
                shared,
                flags,
            } => {
                let call = launch::Call {
                    function,
                    grid,
                    block,
                    cluster: [0; 3],
                    shared,
                    cooperative: flags & 1 != 0,
                    parameters: bytes,
                };
                self.add(graph, operation::Operation::Kernel(call), &[])
                    .map(Reply::from)
            }
            R::AddTransfer {
                graph,
                from,
                to,
                width,
                height,
                depth,
            } => {
                let copy = copy::Copy {
                    from,
                    to,
                    extent: [width, height, depth],
                };
                self.add(graph, operation::Operation::Transfer(copy), &[])
                    .map(Reply::from)
            }
            R::AddFill {
                graph,
                to,
                pitch,
                element,
                value,
                width,
                height,
            } => {
                let fill = copy::Fill {
                    to,
                    pitch,
                    element,
                    value,
                    width,
                    height,
                };
                self.add(graph, operation::Operation::Fill(fill), &[])
                    .map(Reply::from)
            }
            R::AddHost {
                graph,
                function,
                data,
            } => {
                let host = operation::Operation::Host {
                    function,
                    data,
                    kind: 0,
                    stream: 0,
                };
                self.add(graph, host, &[]).map(Reply::from)
            }
            R::AddEmpty { graph } => self
                .add(graph, operation::Operation::Empty, &[])
                .map(Reply::from),
            R::AddChild { graph, child } => self.add_child(graph, child).map(Reply::from),
            R::AddRecord { graph, event } => self
                .add(graph, operation::Operation::Record(event), &[])
                .map(Reply::from),
            R::AddWait { graph, event: _ } => self
                .add(graph, operation::Operation::Empty, &[])
                .map(Reply::from),
            R::AddDependencies { graph } => self.add_dependencies(graph, &bytes),
            R::GraphNodes { graph } => self.graph_nodes(graph),
            R::GraphEdges { graph } => self.graph_edges(graph),
            R::NodeKind { node } => self.node_kind(node).map(Reply::from),
            R::Instantiate { graph } => self.instantiate(graph).map(Reply::from),
            R::DestroyExecutable { executable } => self.destroy_executable(executable),
            R::LaunchGraph { executable, stream } => self.launch_graph(executable, stream, program),
            R::UpdateExecutable { executable, graph } => {
                self.update(executable, graph).map(Reply::from)
            }
            R::SetKernel {
                executable,
                node,
                function,
                grid,
                block,
                shared,
            } => {
                let call = launch::Call {
                    function,
                    grid,
                    block,
                    cluster: [0; 3],
                    shared,
                    cooperative: false,
                    parameters: bytes,
                };
                self.set_kernel(executable, node, call)
            }
            R::DestroyNode { node } => self.destroy_node(node),
            R::CreateArray {
                size,
                bits,
                kind,
                flags,
            } => self.create_array(size, bits, kind, flags).map(Reply::from),
            R::DestroyArray { array } => self.destroy_array(array),
            R::ArrayInfo { array } => self.array_info(array),
            R::CreateTexture {
                array,
                address,
                size,
                pitch,
                bits,
                kind,
                wrap,
                filter,
                read,
                normalized,
            } => {
                let source = arrays::Source {
                    array,
                    address,
                    size,
                    pitch,
                    bits,
                    kind,
                };
                let sampling = arrays::Sampling {
                    wrap,
                    filter,
                    read,
                    normalized: normalized != 0,
                };
                self.create_texture(source, sampling).map(Reply::from)
            }
            R::DestroyTexture { texture } => self.destroy_texture(texture),
            R::CreateSurface { array } => self.create_surface(array).map(Reply::from),
        }
    }

    fn set_limit(&mut self, limit: u32, value: u64) -> Answer<Reply> {
        let kept = self.limits.get_mut(&limit).ok_or(status::NOT_SUPPORTED)?;
        *kept = value;
        if limit == HEAP {
            self.device.gpu.limit_heap(value);
        }
        Ok(Reply::default())
    }

    /// Everything as at first, but for statistics: memory is given back, modules' variables have their first contents.
    fn reset(&mut self, program: &mut dyn Program) -> Answer<()> {
        let all: Vec<u64> = self
            .memory
            .iter()
            .filter(|(_, a)| !a.of_module)
            .map(|(at, _)| *at)
            .collect();
        for address in all {
            self.release(address, program)?;
        }
        self.streams.clear();
        self.events.clear();
        self.captures.clear();
        self.graphs.clear();
        self.nodes.clear();
        self.executables.clear();
        self.arrays.clear();
        for texture in std::mem::take(&mut self.textures) {
            self.device.gpu.drop_texture(texture);
        }
        self.device.gpu.recover();
        for module in self.modules.values() {
            let done = self.device.gpu.initialise(module.id.0);
            done.map_err(|e| Refused::told(status::UNKNOWN, e.to_string()))?;
        }
        self.sticky = None;
        Ok(())
    }
}

/// The limit for device-side `malloc`.
const HEAP: u32 = 2;
