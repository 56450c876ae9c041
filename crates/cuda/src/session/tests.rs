//! The API by itself: what calls come to, without processes.

use super::*;
use std::collections::VecDeque;
use warpsim_doors::wire::{Place, PlaceKind, WINDOW};
use warpsim_sim::config::{Machine, ReadMachine};
use warpsim_sim::exec::memory::image::GLOBAL_BASE;
use warpsim_sim::gpu::Options;

/// `add(c, a, n)`: c[i] += a[i]; `wild()`: a store out of bounds; `odd(c)`: the first block does more where c[0] is not 0.
const PTX: &str = r"
.version 7.0
.target sm_52
.address_size 64
.global .align 4 .u32 counter = 7;
.visible .entry add(.param .u64 c, .param .u64 a, .param .u32 n)
{
    .reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<7>;
    ld.param.u64 %rd1, [c]; ld.param.u64 %rd2, [a]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p1, %r5, %r1;
    @%p1 bra END;
    mul.wide.u32 %rd3, %r5, 4;
    add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
    ld.global.u32 %r6, [%rd4]; ld.global.u32 %r7, [%rd5];
    add.u32 %r8, %r6, %r7;
    st.global.u32 [%rd4], %r8;
END:
    ret;
}
.visible .entry wild()
{
    .reg .b64 %rd<2>;
    mov.u64 %rd1, 123456789012;
    st.global.u32 [%rd1], 5;
    ret;
}
.visible .entry odd(.param .u64 c)
{
    .reg .pred %p<2>; .reg .b32 %r<4>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [c];
    ld.global.u32 %r1, [%rd1];
    add.u32 %r2, %r1, 1;
    st.global.u32 [%rd1], %r2;
    setp.lt.u32 %p1, %r1, 3;
    @%p1 bra END;
    mov.u32 %r3, 50;
AGAIN:
    sub.u32 %r3, %r3, 1;
    setp.ne.u32 %p1, %r3, 0;
    @%p1 bra AGAIN;
END:
    ret;
}
";

/// A program that remembers what it was asked.
#[derive(Default)]
struct Asked(VecDeque<Question>);

impl Program for Asked {
    fn ask(&mut self, question: &Question, _bytes: &[u8]) -> Answer<Vec<u8>> {
        self.0.push_back(question.clone());
        Ok(match question {
            Question::ReadHost { bytes, .. } => vec![3; *bytes as usize],
            _ => Vec::new(),
        })
    }
}

struct Bench {
    session: Session,
    program: Asked,
    _folder: tempfile::TempDir,
}

impl Bench {
    fn with(choice: Choice, functional: bool) -> Bench {
        let machine = Machine::resolve("gtx480", &["gpu.sms=2".to_string()]).expect("a machine");
        let printed = Printed::default();
        let options = Options {
            output: Box::new(printed.clone()),
            functional,
            ..Options::default()
        };
        let device = Simulated::new(machine, options).expect("a GPU");
        let settings = Settings {
            lowering: Lowering::default(),
            choice,
            functional,
            capability: Capability::new(80),
            heap: 8 << 20,
        };
        let folder = tempfile::tempdir().expect("a folder");
        let session = Session::new(
            device,
            Rc::new(settings),
            printed,
            folder.path().to_path_buf(),
        );
        Bench {
            session,
            program: Asked::default(),
            _folder: folder,
        }
    }

    fn new() -> Bench {
        Bench::with(Choice::default(), false)
    }

    fn try_ask(&mut self, request: Request, bytes: &[u8]) -> Result<Reply, u32> {
        self.session
            .answer(request, bytes.to_vec(), &mut self.program)
    }

    fn ask(&mut self, request: Request, bytes: &[u8]) -> Reply {
        let shown = format!("{request:?}");
        let answer = self.try_ask(request, bytes);
        answer.unwrap_or_else(|code| panic!("{shown}: {code}: {:?}", self.session.said))
    }

    fn one(&mut self, request: Request, bytes: &[u8]) -> u64 {
        self.ask(request, bytes).words[0]
    }

    fn module(&mut self) -> u64 {
        let mut bytes = (PTX.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(PTX.as_bytes());
        self.one(Request::LoadModule { parts: 1 }, &bytes)
    }

    fn function(&mut self, name: &str) -> u64 {
        let module = self.module();
        self.one(Request::Function { module }, name.as_bytes())
    }

    fn memory(&mut self, kind: u32, bytes: u64) -> u64 {
        self.one(
            Request::Allocate {
                kind,
                bytes,
                stream: 0,
            },
            &[],
        )
    }

    fn write(&mut self, to: u64, data: &[u32]) {
        let bytes: Vec<u8> = data.iter().flat_map(|n| n.to_le_bytes()).collect();
        let copy = self.copy(
            Place::plain(PlaceKind::Host, 64),
            Place::plain(PlaceKind::Device, to),
            bytes.len() as u64,
            0,
        );
        self.ask(copy, &bytes);
    }

    fn read(&mut self, from: u64, words: u64) -> Vec<u32> {
        let copy = self.copy(
            Place::plain(PlaceKind::Device, from),
            Place::plain(PlaceKind::Host, 64),
            words * 4,
            0,
        );
        let bytes = self.ask(copy, &[]).bytes;
        bytes
            .chunks_exact(4)
            .map(|w| u32::from_le_bytes(w.try_into().expect("four")))
            .collect()
    }

    fn copy(&self, from: Place, to: Place, width: u64, stream: u64) -> Request {
        Request::Transfer {
            from,
            to,
            width,
            height: 1,
            depth: 1,
            stream,
        }
    }

    fn launched(&mut self) -> Vec<How> {
        let said = self.session.take_said().into_iter();
        said.filter_map(|s| match s {
            Said::Launched(l) => Some(l.how),
            Said::Note(_) => None,
        })
        .collect()
    }
}

fn launch(function: u64, stream: u64) -> Request {
    Request::Launch {
        function,
        grid: [2, 1, 1],
        block: [32, 1, 1],
        cluster: [0; 3],
        shared: 0,
        flags: 0,
        stream,
    }
}

fn arguments(c: u64, a: u64, n: u32) -> Vec<u8> {
    let mut bytes = c.to_le_bytes().to_vec();
    bytes.extend_from_slice(&a.to_le_bytes());
    bytes.extend_from_slice(&n.to_le_bytes());
    bytes
}

#[test]
fn the_window_is_that_of_simulated_memory() {
    assert_eq!(WINDOW.start, GLOBAL_BASE);
    const { assert!(WINDOW.end < warpsim_ptx::kernel::window::SHARED) };
}

#[test]
fn a_kernel_adds() {
    let mut bench = Bench::new();
    let add = bench.function("add");
    let (c, a) = (bench.memory(0, 256), bench.memory(0, 256));
    bench.write(c, &[1; 64]);
    bench.write(a, &(0..64).collect::<Vec<u32>>());
    bench.ask(launch(add, 0), &arguments(c, a, 60));
    let got = bench.read(c, 64);
    let right: Vec<u32> = (0..64).map(|n| if n < 60 { n + 1 } else { 1 }).collect();
    assert_eq!(got, right);
    let how = bench.launched();
    assert!(
        matches!(how[..], [How::Timed { cycles, .. }] if cycles > 0),
        "{how:?}"
    );
}

#[test]
fn variables_are_found_and_begin_anew_with_a_reset() {
    let mut bench = Bench::new();
    let module = bench.module();
    let found = bench.ask(Request::Global { module }, b"counter").words;
    assert_eq!(found[1], 4);
    assert_eq!(bench.read(found[0], 1), [7]);
    bench.write(found[0], &[9]);
    assert_eq!(bench.read(found[0], 1), [9]);
    let lost = bench.memory(0, 16);
    bench.ask(Request::Reset {}, &[]);
    assert_eq!(bench.read(found[0], 1), [7]);
    assert_eq!(
        bench.ask(Request::Pointer { address: lost }, &[]).words[0],
        0
    );
    assert_eq!(
        bench.try_ask(Request::Global { module }, b"other"),
        Err(status::NOT_FOUND)
    );
    assert_eq!(
        bench.try_ask(Request::Function { module }, b"other"),
        Err(status::NOT_FOUND)
    );
}

#[test]
fn a_fault_is_the_error_of_all_calls_that_follow() {
    for functional in [false, true] {
        let mut bench = Bench::with(Choice::default(), functional);
        let wild = bench.function("wild");
        // The launch itself waits for nothing.
        bench.ask(launch(wild, 0), &[]);
        let said = bench.session.take_said();
        let text = said.iter().find_map(|s| match s {
            Said::Note(text) if text.contains("failed") => Some(text),
            _ => None,
        });
        assert!(
            text.is_some_and(|t| t.contains("wild") && t.contains("write of 4 bytes")),
            "{said:?}"
        );
        for _ in 0..2 {
            assert_eq!(
                bench.try_ask(Request::Synchronize {}, &[]),
                Err(status::ILLEGAL_ADDRESS)
            );
            let more = Request::Allocate {
                kind: 0,
                bytes: 8,
                stream: 0,
            };
            assert_eq!(bench.try_ask(more, &[]), Err(status::ILLEGAL_ADDRESS));
        }
        // A reset ends that, and kernels run again.
        bench.ask(Request::Reset {}, &[]);
        let add = bench.function("add");
        let (c, a) = (bench.memory(0, 256), bench.memory(0, 256));
        bench.write(a, &[5; 64]);
        bench.ask(launch(add, 0), &arguments(c, a, 64));
        assert_eq!(bench.read(c, 2), [5, 5]);
    }
}

#[test]
fn wrong_launches_are_errors_of_their_own() {
    let mut bench = Bench::new();
    let add = bench.function("add");
    let with = |grid, block, shared| Request::Launch {
        function: add,
        grid,
        block,
        cluster: [0; 3],
        shared,
        flags: 0,
        stream: 0,
    };
    let bytes = arguments(0, 0, 0);
    for (request, code) in [
        (
            with([0, 1, 1], [32, 1, 1], 0),
            status::INVALID_CONFIGURATION,
        ),
        (
            with([1, 1, 1], [2048, 1, 1], 0),
            status::INVALID_CONFIGURATION,
        ),
        (with([1, 1, 1], [32, 1, 1], 1 << 20), status::INVALID_VALUE),
        (launch(add + 1, 0), status::INVALID_FUNCTION),
        (launch(add, 77), status::INVALID_HANDLE),
    ] {
        assert_eq!(bench.try_ask(request, &bytes), Err(code));
    }
    assert_eq!(
        bench.try_ask(launch(add, 0), &bytes[1..]),
        Err(status::INVALID_VALUE)
    );
    // None of them is sticky, and none was launched.
    bench.ask(Request::Synchronize {}, &[]);
    assert_eq!(bench.session.launches, 0);
    let large = Request::Launch {
        function: add,
        grid: [9999, 1, 1],
        block: [32, 1, 1],
        cluster: [0; 3],
        shared: 0,
        flags: 1,
        stream: 0,
    };
    assert_eq!(
        bench.try_ask(large, &bytes),
        Err(status::COOPERATIVE_TOO_LARGE)
    );
}

#[test]
fn memory_is_given_back_and_known() {
    let mut bench = Bench::new();
    let free = bench.ask(Request::MemoryInfo {}, &[]).words[0];
    let at = bench.memory(0, 1000);
    assert_eq!(bench.ask(Request::MemoryInfo {}, &[]).words[0], free - 1000);
    assert_eq!(
        bench.ask(Request::Pointer { address: at + 999 }, &[]).words,
        [2, at, 1000]
    );
    assert_eq!(
        bench
            .ask(Request::Pointer { address: at + 1000 }, &[])
            .words,
        [0, 0, 0]
    );
    bench.ask(
        Request::Free {
            address: at,
            stream: 0,
        },
        &[],
    );
    assert_eq!(
        bench.try_ask(
            Request::Free {
                address: at,
                stream: 0
            },
            &[]
        ),
        Err(status::INVALID_VALUE)
    );
    let huge = Request::Allocate {
        kind: 0,
        bytes: 1 << 50,
        stream: 0,
    };
    assert_eq!(bench.try_ask(huge, &[]), Err(status::OUT_OF_MEMORY));
    // Host memory that is none, and more than there is.
    let host = bench.memory(0, 16);
    let wrong = bench.copy(
        Place::plain(PlaceKind::Host, host),
        Place::plain(PlaceKind::Device, host),
        4,
        0,
    );
    assert_eq!(bench.try_ask(wrong, &[]), Err(status::INVALID_VALUE));
    let long = bench.copy(
        Place::plain(PlaceKind::Host, 64),
        Place::plain(PlaceKind::Device, host),
        20,
        0,
    );
    assert_eq!(bench.try_ask(long, &[0; 20]), Err(status::INVALID_VALUE));
}

#[test]
#[cfg(target_os = "linux")]
fn managed_memory_is_mapped_by_the_program_and_unmapped() {
    let mut bench = Bench::new();
    let at = bench.memory(1, 5000);
    let page = memory::page();
    assert_eq!(at % page, 0);
    let bytes = 5000u64.next_multiple_of(page);
    assert_eq!(
        bench.program.0.pop_back(),
        Some(Question::Map { address: at, bytes })
    );
    bench.write(at, &[1, 2]);
    assert_eq!(bench.read(at, 3), [1, 2, 0]);
    bench.ask(
        Request::Free {
            address: at,
            stream: 0,
        },
        &[],
    );
    assert_eq!(
        bench.program.0.pop_back(),
        Some(Question::Unmap { address: at, bytes })
    );
    assert_eq!(
        std::fs::read_dir(bench._folder.path())
            .expect("a folder")
            .count(),
        0
    );
}

#[test]
fn rows_fills_and_arrays() {
    let mut bench = Bench::new();
    let at = bench.memory(0, 64);
    let fill = |to, element, value, width, height| Request::Fill {
        to,
        pitch: 16,
        element,
        value,
        width,
        height,
        stream: 0,
    };
    bench.ask(fill(at, 1, 0xaa, 64, 1), &[]);
    bench.ask(fill(at + 4, 4, 7, 2, 3), &[]);
    let aa = 0xaaaa_aaaa;
    assert_eq!(bench.read(at, 8), [aa, 7, 7, aa, aa, 7, 7, aa]);
    assert_eq!(
        bench.try_ask(fill(at + 4, 4, 7, 9, 3), &[]),
        Err(status::INVALID_PITCH)
    );
    assert_eq!(
        bench.try_ask(fill(at + 4, 4, 7, 20, 1), &[]),
        Err(status::INVALID_VALUE)
    );
    let array = bench.one(
        Request::CreateArray {
            size: [4, 2, 0],
            bits: [32, 0, 0, 0],
            kind: 1,
            flags: 0,
        },
        &[],
    );
    assert_eq!(
        bench.ask(Request::ArrayInfo { array }, &[]).words,
        [4, 2, 0, 32, 0, 0, 0, 1, 0]
    );
    let copy = |from, to, width| Request::Transfer {
        from,
        to,
        width,
        height: 2,
        depth: 1,
        stream: 0,
    };
    let rows = Place::pitched(PlaceKind::Device, at, 16);
    bench.ask(copy(rows, Place::array(array, [4, 0, 0]), 12), &[]);
    let host = Place::pitched(PlaceKind::Host, 64, 16);
    let got = bench
        .ask(copy(Place::array(array, [0, 0, 0]), host, 16), &[])
        .bytes;
    assert_eq!(got[..12], [0, 0, 0, 0, 0xaa, 0xaa, 0xaa, 0xaa, 7, 0, 0, 0]);
    assert_eq!(
        bench.try_ask(copy(rows, Place::array(array, [8, 0, 0]), 12), &[]),
        Err(status::INVALID_VALUE)
    );
    let texture = Request::CreateTexture {
        array,
        address: 0,
        size: [0; 3],
        pitch: 0,
        bits: [0; 4],
        kind: 0,
        wrap: 1,
        filter: 0,
        read: 0,
        normalized: 0,
    };
    let texture = bench.one(texture, &[]);
    bench.ask(Request::DestroyTexture { texture }, &[]);
    assert_eq!(
        bench.try_ask(Request::DestroyTexture { texture }, &[]),
        Err(status::INVALID_VALUE)
    );
    bench.ask(Request::DestroyArray { array }, &[]);
    assert_eq!(
        bench.try_ask(Request::ArrayInfo { array }, &[]),
        Err(status::INVALID_HANDLE)
    );
}

#[test]
fn events_measure_the_machines_time() {
    let mut bench = Bench::new();
    let add = bench.function("add");
    let memory = bench.memory(0, 256);
    let [start, end] = [0, 0].map(|flags| bench.one(Request::CreateEvent { flags }, &[]));
    assert_eq!(
        bench.try_ask(Request::Elapsed { start, end }, &[]),
        Err(status::INVALID_HANDLE)
    );
    bench.ask(
        Request::RecordEvent {
            event: start,
            stream: 0,
        },
        &[],
    );
    bench.ask(launch(add, 0), &arguments(memory, memory, 64));
    bench.ask(
        Request::RecordEvent {
            event: end,
            stream: 0,
        },
        &[],
    );
    let bits = bench.one(Request::Elapsed { start, end }, &[]) as u32;
    let [How::Timed { cycles, .. }] = bench.launched()[..] else {
        panic!("one launch");
    };
    let mhz = bench.session.device.gpu.machine().gpu.core_mhz;
    let expected = cycles as f32 / mhz as f32 / 1000.0;
    let got = f32::from_bits(bits);
    assert!(
        got > 0.0 && (got / expected - 1.0).abs() < 0.01,
        "{got} {expected}"
    );
}

#[test]
fn a_capture_is_a_graph_and_runs_when_it_is_launched() {
    let mut bench = Bench::new();
    let add = bench.function("add");
    let (c, a) = (bench.memory(0, 256), bench.memory(0, 256));
    bench.write(a, &[2; 64]);
    let [first, second] =
        [0, 1].map(|flags| bench.one(Request::CreateStream { flags, priority: 0 }, &[]));
    let [fork, join] = [0, 0].map(|flags| bench.one(Request::CreateEvent { flags }, &[]));
    bench.ask(
        Request::BeginCapture {
            stream: first,
            mode: 0,
            graph: 0,
        },
        &[],
    );
    bench.ask(launch(add, first), &arguments(c, a, 64));
    bench.ask(
        Request::RecordEvent {
            event: fork,
            stream: first,
        },
        &[],
    );
    bench.ask(
        Request::WaitEvent {
            stream: second,
            event: fork,
        },
        &[],
    );
    bench.ask(launch(add, second), &arguments(c, a, 64));
    assert_eq!(bench.one(Request::CaptureInfo { stream: second }, &[]), 1);
    bench.ask(
        Request::RecordEvent {
            event: join,
            stream: second,
        },
        &[],
    );
    bench.ask(
        Request::WaitEvent {
            stream: first,
            event: join,
        },
        &[],
    );
    // A copy from the program is made when the graph is launched: the program has threes there by then.
    let copy = bench.copy(
        Place::plain(PlaceKind::Host, 64),
        Place::plain(PlaceKind::Device, a),
        4,
        first,
    );
    assert_eq!(bench.ask(copy, &[0; 4]).words, [1]);
    let host = Request::HostFunction {
        stream: first,
        function: 5,
        data: 6,
        kind: 0,
    };
    bench.ask(host, &[]);
    let graph = bench.one(Request::EndCapture { stream: first }, &[]);
    assert_eq!(bench.read(c, 1), [0]);
    assert!(bench.program.0.is_empty());
    let nodes = bench.ask(Request::GraphNodes { graph }, &[]).words;
    let kinds: Vec<u64> = nodes
        .iter()
        .map(|&node| bench.one(Request::NodeKind { node }, &[]))
        .collect();
    assert_eq!(kinds, [0, 0, 1, 3]);
    let executable = bench.one(Request::Instantiate { graph }, &[]);
    for times in 1..3 {
        bench.ask(
            Request::LaunchGraph {
                executable,
                stream: first,
            },
            &[],
        );
        let first_word = if times == 1 { 4 } else { 4 + 2 * 0x0303_0303 };
        assert_eq!(bench.read(c, 2), [first_word, 4 * times]);
    }
    assert!(bench.program.0.contains(&Question::Call {
        function: 5,
        data: 6,
        kind: 0,
        stream: first,
        status: 0
    }));
    let other = bench.one(Request::CreateGraph {}, &[]);
    assert_eq!(
        bench.one(
            Request::UpdateExecutable {
                executable,
                graph: other
            },
            &[]
        ),
        2
    );
}

#[test]
fn captures_that_cannot_be_are_errors() {
    let mut bench = Bench::new();
    let [first, second] =
        [0, 1].map(|flags| bench.one(Request::CreateStream { flags, priority: 0 }, &[]));
    let fork = bench.one(Request::CreateEvent { flags: 0 }, &[]);
    let begin = |stream| Request::BeginCapture {
        stream,
        mode: 0,
        graph: 0,
    };
    assert_eq!(
        bench.try_ask(begin(0), &[]),
        Err(status::CAPTURE_UNSUPPORTED)
    );
    assert_eq!(
        bench.try_ask(Request::EndCapture { stream: first }, &[]),
        Err(status::ILLEGAL_STATE)
    );
    // Work of another stream for which the program has not waited.
    bench.ask(begin(first), &[]);
    bench.ask(
        Request::RecordEvent {
            event: fork,
            stream: first,
        },
        &[],
    );
    bench.ask(
        Request::WaitEvent {
            stream: second,
            event: fork,
        },
        &[],
    );
    let fill = |to, stream| Request::Fill {
        to,
        pitch: 0,
        element: 1,
        value: 0,
        width: 4,
        height: 1,
        stream,
    };
    let memory = bench.memory(0, 4);
    bench.ask(fill(memory, second), &[]);
    assert_eq!(
        bench.try_ask(Request::EndCapture { stream: first }, &[]),
        Err(status::CAPTURE_UNJOINED)
    );
    // Waiting for it during the capture.
    bench.ask(begin(first), &[]);
    assert_eq!(
        bench.try_ask(Request::SynchronizeStream { stream: first }, &[]),
        Err(status::CAPTURE_UNSUPPORTED)
    );
    assert_eq!(
        bench.try_ask(fill(memory, first), &[]),
        Err(status::CAPTURE_INVALIDATED)
    );
    assert_eq!(
        bench.try_ask(Request::EndCapture { stream: first }, &[]),
        Err(status::CAPTURE_INVALIDATED)
    );
    bench.ask(Request::Synchronize {}, &[]);
}

#[test]
fn a_graph_that_waits_for_itself_is_none() {
    let mut bench = Bench::new();
    let graph = bench.one(Request::CreateGraph {}, &[]);
    let [a, b] = [0, 0].map(|_| bench.one(Request::AddEmpty { graph }, &[]));
    let pairs: Vec<u8> = [a, b, b, a]
        .iter()
        .flat_map(|n: &u64| n.to_le_bytes())
        .collect();
    bench.ask(Request::AddDependencies { graph }, &pairs);
    assert_eq!(
        bench.ask(Request::GraphEdges { graph: a }, &[]).words,
        [a, b, b, a]
    );
    assert_eq!(
        bench.try_ask(Request::Instantiate { graph }, &[]),
        Err(status::INVALID_VALUE)
    );
    assert_eq!(
        bench.try_ask(Request::AddDependencies { graph }, &pairs[1..]),
        Err(status::INVALID_VALUE)
    );
}

#[test]
fn launches_are_chosen() {
    let choice = Choice {
        launches: Some("2".parse().expect("a number")),
        ..Choice::default()
    };
    let mut bench = Bench::with(choice, false);
    let add = bench.function("add");
    let (c, a) = (bench.memory(0, 256), bench.memory(0, 256));
    bench.write(a, &[1; 64]);
    for _ in 0..3 {
        bench.ask(launch(add, 0), &arguments(c, a, 64));
    }
    assert_eq!(bench.read(c, 1), [3]);
    let how = bench.launched();
    assert!(
        matches!(
            how[..],
            [How::Functional, How::Timed { .. }, How::Functional]
        ),
        "{how:?}"
    );
    assert_eq!(
        (
            bench.session.untimed,
            bench.session.device.gpu.reports().len()
        ),
        (2, 1)
    );
}

#[test]
fn launches_that_are_alike_are_timed_twice_and_others_as_they_would_have_been() {
    let run = |sample| {
        let mut bench = Bench::with(
            Choice {
                sample,
                ..Choice::default()
            },
            false,
        );
        let odd = bench.function("odd");
        let c = bench.memory(0, 4);
        for _ in 0..6 {
            let one = Request::Launch {
                function: odd,
                grid: [1, 1, 1],
                block: [1, 1, 1],
                cluster: [0; 3],
                shared: 0,
                flags: 0,
                stream: 0,
            };
            bench.ask(one, &c.to_le_bytes());
        }
        assert_eq!(bench.read(c, 1), [6]);
        let cycles = bench.session.device.gpu.totals().cycles;
        (bench.launched(), cycles, bench.session.sampled)
    };
    let (how, all, _) = run(false);
    assert!(
        how.iter().all(|h| matches!(h, How::Timed { .. })),
        "{how:?}"
    );
    let (how, sampled, counted) = run(true);
    let likes = how.map_likes();
    // The fourth does more than the first: it is timed itself.
    assert_eq!(likes, [None, None, Some(2), None, None, Some(5)]);
    assert_eq!(counted, 2);
    // Those that are counted find caches as full as the second does.
    assert!(sampled.abs_diff(all) * 20 < all, "{sampled} {all}");
}

trait Likes {
    fn map_likes(&self) -> Vec<Option<u64>>;
}

impl Likes for Vec<How> {
    fn map_likes(&self) -> Vec<Option<u64>> {
        let like = |how: &How| match how {
            How::Like { number, .. } => Some(*number),
            _ => None,
        };
        self.iter().map(like).collect()
    }
}

#[test]
fn the_same_calls_count_the_same() {
    let run = || {
        let mut bench = Bench::new();
        let add = bench.function("add");
        let (c, a) = (bench.memory(0, 4096), bench.memory(0, 4096));
        bench.write(a, &[1; 1024]);
        let big = Request::Launch {
            function: add,
            grid: [16, 1, 1],
            block: [64, 1, 1],
            cluster: [0; 3],
            shared: 0,
            flags: 0,
            stream: 0,
        };
        bench.ask(big.clone(), &arguments(c, a, 1024));
        bench.ask(big, &arguments(a, c, 1000));
        bench.session.device.gpu.totals().clone()
    };
    assert_eq!(run(), run());
}

#[test]
fn what_is_not_supported_is_told_once() {
    let mut bench = Bench::new();
    for _ in 0..3 {
        bench.ask(Request::Lacking {}, b"cudaNothing");
    }
    let said = bench.session.take_said();
    assert_eq!(
        said,
        [Said::Note(
            "cudaNothing is not supported: it answers with an error".into()
        )]
    );
}

#[test]
fn images_without_ptx_and_ptx_with_mistakes_are_told() {
    let mut bench = Bench::new();
    let mut load = |image: &[u8]| {
        let mut bytes = (image.len() as u64).to_le_bytes().to_vec();
        bytes.extend_from_slice(image);
        let code = bench
            .try_ask(Request::LoadModule { parts: 1 }, &bytes)
            .expect_err("an error");
        (code, format!("{:?}", bench.session.take_said()))
    };
    let (code, text) = load(b".version 7.0\n.target sm_52\n.address_size 64\n.entry k() { oops; }");
    assert!(
        code == status::INVALID_PTX && text.contains("oops"),
        "{code} {text}"
    );
    let (code, text) = load(b"\x7fELF damaged");
    assert!(
        code == status::INVALID_IMAGE && text.contains("an image"),
        "{code} {text}"
    );
    assert_eq!(
        bench.try_ask(Request::LoadModule { parts: 2 }, &[1, 2, 3]),
        Err(status::INVALID_VALUE)
    );
}

#[test]
fn handles_that_are_none_are_errors() {
    let mut bench = Bench::new();
    let none = 0xdead;
    for request in [
        Request::DestroyStream { stream: none },
        Request::SynchronizeStream { stream: none },
        Request::DestroyStream { stream: 0 },
        Request::QueryEvent { event: none },
        Request::DestroyEvent { event: none },
        Request::DestroyGraph { graph: none },
        Request::Instantiate { graph: none },
        Request::LaunchGraph {
            executable: none,
            stream: 0,
        },
        Request::UnloadModule { module: none },
        Request::Function { module: none },
        Request::ArrayInfo { array: none },
        Request::NodeKind { node: none },
    ] {
        let shown = format!("{request:?}");
        assert_eq!(
            bench.try_ask(request, b"name"),
            Err(status::INVALID_HANDLE),
            "{shown}"
        );
    }
}
