//! The table of requests and questions: what they are called, their numbers and their fields.

use super::{Place, Words};

macro_rules! table {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $number:literal $what:ident { $($field:ident: $type:ty),* })* }) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[allow(missing_docs)] // fields say what they are; what is odd stands at the request
        pub enum $name {
            $($(#[$doc])* $what { $($field: $type),* },)*
        }

        impl $name {
            /// Its number.
            pub fn code(&self) -> u32 {
                match self {
                    $($name::$what { .. } => $number,)*
                }
            }

            /// Its fields.
            pub fn words(&self) -> Vec<u64> {
                #[allow(unused_mut)]
                let mut words = Vec::with_capacity(16);
                match self {
                    $($name::$what { $($field),* } => { $($field.put(&mut words);)* })*
                }
                words
            }

            /// The one of this number with these fields, if there is such a one.
            pub fn read(code: u32, words: &[u64]) -> Option<$name> {
                let mut words = words.iter();
                let read = match code {
                    $($number => $name::$what { $($field: Words::take(&mut words)?),* },)*
                    _ => return None,
                };
                words.next().is_none().then_some(read)
            }
        }
    };
}

table! {
    /// What the program's end asks for. Handles are the simulator's; 0 stands for none, and for the default stream.
    Request {
        /// The first of a connection. Answer: nothing.
        1 Hello { version: u32, process: u32 }
        /// What a program is made of, from the part that is preloaded; the bytes are its path. Needs no `Hello`, makes no session.
        2 Seen { process: u32, facts: u32 }
        /// A function of the API that is not there; the bytes are its name.
        3 Lacking { }

        /// One of CUDA's numbered attributes. Answer: its value.
        10 DeviceAttribute { attribute: u32 }
        /// Answer: its name.
        11 DeviceName { }
        /// Answer: free and all bytes.
        12 MemoryInfo { }
        13 Synchronize { }
        /// Gives everything back. Statistics stay.
        14 Reset { }
        15 Limit { limit: u32 }
        16 SetLimit { limit: u32, value: u64 }

        /// Kinds: 0 device, 1 managed, 2 pinned host memory. Answer: the address; the bytes are the file to be mapped there.
        20 Allocate { kind: u32, bytes: u64, stream: u64 }
        21 Free { address: u64, stream: u64 }
        /// Answer: kind (0 unknown, 1 pinned host, 2 device, 3 managed), start, bytes.
        22 Pointer { address: u64 }
        /// From a host place the bytes come along, row by row; into one they are the answer's. Answer: 1 where nothing was copied
        /// because the stream is being captured.
        23 Transfer { from: Place, to: Place, width: u64, height: u64, depth: u64, stream: u64 }
        /// Sets rows of elements.
        24 Fill { to: u64, pitch: u64, element: u32, value: u32, width: u64, height: u64, stream: u64 }

        /// The bytes: for each part its length (8 bytes) and its bytes. Answer: a module.
        30 LoadModule { parts: u32 }
        31 UnloadModule { module: u64 }
        /// By name. Answer: the function, bytes of parameters, and offset and size of each.
        32 Function { module: u64 }
        /// By name. Answer: address and bytes.
        33 Global { module: u64 }
        /// Answer: as CUDA's structure has them, see `functions::attributes` of the simulator's end.
        34 FunctionAttributes { function: u64 }
        35 SetFunctionAttribute { function: u64, attribute: u32, value: i32 }
        /// Answer: functions, one after the other.
        36 Functions { module: u64 }
        /// Answer: its name as bytes, its module.
        37 FunctionName { function: u64 }
        /// By name: a global that host code uses, too. The answer is as `Allocate`'s, with its size.
        38 Managed { module: u64 }
        /// By name: binds a texture reference of a module to a texture object.
        39 BindTexture { module: u64, texture: u64 }

        /// The bytes are the parameters. Flags: 1 cooperative.
        40 Launch { function: u64, grid: [u32; 3], block: [u32; 3], cluster: [u32; 3], shared: u32, flags: u32, stream: u64 }
        /// Answer: blocks of an SM.
        41 Occupancy { function: u64, threads: u32, shared: u64 }

        50 CreateStream { flags: u32, priority: i32 }
        51 DestroyStream { stream: u64 }
        52 SynchronizeStream { stream: u64 }
        /// Answer: flags, priority, number.
        53 StreamInfo { stream: u64 }
        54 WaitEvent { stream: u64, event: u64 }
        /// Calls a function of the program: kind 0 `f(data)`, 1 `f(stream, status, data)`.
        55 HostFunction { stream: u64, function: u64, data: u64, kind: u32 }
        56 CreateEvent { flags: u32 }
        57 DestroyEvent { event: u64 }
        58 RecordEvent { event: u64, stream: u64 }
        59 QueryEvent { event: u64 }
        /// Answer: milliseconds, as the bits of an `f32`.
        60 Elapsed { start: u64, end: u64 }

        /// Into a graph that there is, or a new one (0).
        70 BeginCapture { stream: u64, mode: u32, graph: u64 }
        71 EndCapture { stream: u64 }
        /// Answer: status (0 none, 1 capturing, 2 invalidated), number, graph, nodes that the next one depends on.
        72 CaptureInfo { stream: u64 }
        73 CreateGraph { }
        74 DestroyGraph { graph: u64 }
        75 CloneGraph { graph: u64 }
        /// A kernel's node; the bytes are the parameters. Nodes that it depends on are those named last by `DependsOn`.
        76 AddKernel { graph: u64, function: u64, grid: [u32; 3], block: [u32; 3], shared: u32, flags: u32 }
        77 AddTransfer { graph: u64, from: Place, to: Place, width: u64, height: u64, depth: u64 }
        78 AddFill { graph: u64, to: u64, pitch: u64, element: u32, value: u32, width: u64, height: u64 }
        79 AddHost { graph: u64, function: u64, data: u64 }
        80 AddEmpty { graph: u64 }
        81 AddChild { graph: u64, child: u64 }
        82 AddRecord { graph: u64, event: u64 }
        83 AddWait { graph: u64, event: u64 }
        /// The bytes are pairs of nodes (8 bytes each): the second depends on the first.
        84 AddDependencies { graph: u64 }
        /// Answer: nodes, one after the other.
        85 GraphNodes { graph: u64 }
        /// Answer: pairs, from and to.
        86 GraphEdges { graph: u64 }
        /// Answer: CUDA's number of its kind.
        87 NodeKind { node: u64 }
        88 Instantiate { graph: u64 }
        89 DestroyExecutable { executable: u64 }
        90 LaunchGraph { executable: u64, stream: u64 }
        /// Answer: 0 where it could be, else why not, by CUDA's number.
        91 UpdateExecutable { executable: u64, graph: u64 }
        /// Gives a kernel's node of a graph, or (where it is not 0) of an executable, other parameters.
        92 SetKernel { executable: u64, node: u64, function: u64, grid: [u32; 3], block: [u32; 3], shared: u32 }
        93 DestroyNode { node: u64 }

        /// Texels in x, y, z (0: it has no such dimension); bits of the components; kind 0 signed, 1 unsigned, 2 float.
        100 CreateArray { size: [u32; 3], bits: [u32; 4], kind: u32, flags: u32 }
        101 DestroyArray { array: u64 }
        /// Answer: size, bits, kind, flags.
        102 ArrayInfo { array: u64 }
        /// Of an array, or (0) of memory with rows of `pitch` bytes, linear where that is 0.
        103 CreateTexture { array: u64, address: u64, size: [u32; 3], pitch: u64, bits: [u32; 4], kind: u32, wrap: u32, filter: u32, read: u32, normalized: u32 }
        104 DestroyTexture { texture: u64 }
        105 CreateSurface { array: u64 }
    }
}

table! {
    /// What the simulator asks of the program's end before it answers.
    Question {
        /// Write the bytes to standard output (1) or standard error (2).
        1 Print { to: u32 }
        /// Read memory that a call named. Answer: the bytes.
        2 ReadHost { address: u64, bytes: u64 }
        /// Write the bytes to memory that a call named.
        3 WriteHost { address: u64 }
        /// Call a function of the program.
        4 Call { function: u64, data: u64, kind: u32, stream: u64, status: u32 }
        /// Map a file of the session (its path is in the bytes) where the program is to have it.
        5 Map { address: u64, bytes: u64 }
        /// Take a mapping away.
        6 Unmap { address: u64, bytes: u64 }
    }
}
