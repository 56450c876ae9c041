//! Whole machines drawn at random from the declared ranges: each is refused before anything runs,
//! or runs programs to their end with the right result, and the same statistics stepped, on several threads and listened to.
//! `WARPSIM_MACHINES` says how many are drawn, `WARPSIM_MACHINES_SEED` where to begin.

use crate::common;

use common::generate::Generator;
use common::{BUFFER, kernel, program};
use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use warpsim_ptx::kernel::Program;
use warpsim_sim::config::model::rule::{Of, Rule};
use warpsim_sim::config::read::presets;
use warpsim_sim::config::{Machine, ReadMachine, SECTIONS};
use warpsim_sim::gpu::api::Launch;
use warpsim_sim::gpu::{Gpu, Options, SimError};
use warpsim_sim::mechanism::{Kind, MECHANISMS};
use warpsim_sim::observe::{Observer, WarpEvent};
use warpsim_sim::stats::LaunchReport;
use warpsim_sim::time::Cycle;

/// Drawn where the environment does not say how many.
const MACHINES: u64 = 40;
/// Machines on which a program takes longer than this are not stepped; and than this, not looked at in all ways.
const STEPPED: u64 = 50_000;
const ALL_WAYS: u64 = 1_000_000;
/// Cycles that the slowest machine may take.
const LONGEST: u64 = 400_000_000;

struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % n.max(1)
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len() as u64) as usize]
    }

    /// A value that a rule allows: the ends of ranges often, else any order of magnitude alike.
    fn value(&mut self, rule: &Rule) -> String {
        match *rule {
            Rule::Number { low, high, of } => self.number(low.into(), high.into(), of).to_string(),
            Rule::Flag => (self.below(2) == 0).to_string(),
            Rule::Words(words) => format!("\"{}\"", self.one(words)),
            Rule::Several(words) => {
                let some = words.iter().filter(|_| self.below(2) == 0);
                let some: Vec<String> = some.map(|w| format!("\"{w}\"")).collect();
                format!("[{}]", some.join(", "))
            }
            Rule::Timing => {
                let latency = self.number(1, 1000, Of::Any);
                format!("[{latency}, {}]", self.number(1, latency, Of::Any))
            }
        }
    }

    fn number(&mut self, low: u64, high: u64, of: Of) -> u64 {
        let any = match self.below(8) {
            0 => low,
            1 => (low + 1).min(high),
            2 if high < 1 << 11 => high,
            _ => {
                let span = 64 - (high - low + 1).leading_zeros();
                let order = self.below(u64::from(span) + 1);
                (low + self.below(1 << order)).min(high)
            }
        };
        match of {
            Of::Any => any,
            Of::Multiples(n) => any.next_multiple_of(n.into()).min(high),
            Of::PowersOfTwo => any.max(1).next_power_of_two().clamp(low, high),
            Of::PowersOfTwoOrZero if any == 0 => 0,
            Of::PowersOfTwoOrZero => any.next_power_of_two().min(high),
        }
    }
}

/// A machine as the command line would ask for it.
#[derive(Clone)]
struct Asked {
    preset: &'static str,
    set: Vec<String>,
}

impl Asked {
    /// Some change a few settings of a preset, some nearly all.
    fn draw(random: &mut Random) -> Asked {
        let names: Vec<&str> = presets::names().collect();
        let preset = *random.one(&names);
        let share = [2, 10, 40, 100][random.below(4) as usize];
        let mut set = Vec::new();
        for (section, settings) in SECTIONS {
            for setting in *settings {
                // Which unit takes what is a partition, which nothing drawn at random is; the SMs
                // are drawn below.
                let apart = ["takes", "sms"].contains(&setting.name);
                if !apart && random.below(100) < share {
                    let value = match setting.name.ends_with("_mhz") {
                        // A clock of 1 MHz beside one of 100 GHz is right, too, and takes minutes.
                        true => random.number(100, 5000, Of::Any).to_string(),
                        false => random.value(&setting.rule),
                    };
                    set.push(format!("{section}.{}={value}", setting.name));
                }
            }
        }
        for kind in Kind::ALL {
            if random.below(100) < share.max(30) {
                let info = *random.one(&MECHANISMS.of(kind));
                set.push(format!("{}=\"{}\"", kind.key(), info.name));
                for parameter in info.parameters {
                    if random.below(2) == 0 {
                        let value = random.value(&parameter.rule());
                        set.push(format!("{}.{}={value}", kind.key(), parameter.name()));
                    }
                }
            }
        }
        // Each SM has the same behind it: more of them show nothing and take time.
        set.push(format!("gpu.sms={}", 1 + random.below(4)));
        Asked { preset, set }
    }

    /// The machine; what is refused is taken out until something is left that is not. Counts those.
    fn resolve(&mut self, random: &mut Random, refused: &mut u64) -> Machine {
        loop {
            let error = match Machine::resolve(self.preset, &self.set) {
                Ok(machine) => return machine,
                Err(error) => error.to_string(),
            };
            *refused += 1;
            let named = |set: &&String| {
                let key = set.split('=').next().unwrap_or_default();
                error.contains(key)
            };
            let at = self.set.iter().position(|s| named(&s));
            let at = at.unwrap_or(random.below(self.set.len() as u64) as usize);
            self.set.remove(at);
        }
    }

    fn text(&self) -> String {
        let mut text = format!("--machine {}", self.preset);
        for set in &self.set {
            let _ = write!(text, " --set '{set}'");
        }
        text
    }
}

/// A program, and what it leaves in its output.
struct Case {
    name: &'static str,
    program: Arc<Program>,
    block: u32,
    expected: Vec<u8>,
}

const GRID: u32 = 4;

/// The number of a thread, and where its result goes.
const OWN: &str = "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;\n\
    mul.wide.u32 %rd3, %r4, 4; add.u64 %rd4, %rd1, %rd3;\n";

/// Programs for blocks of 64 threads whose results are known: name, shared memory, body, and what a thread stores.
type Known = (&'static str, u32, &'static str, fn(u32) -> u32);

const KNOWN: [Known; 4] = [
    (
        "steps of Collatz",
        0,
        "add.u32 %r5, %r4, 1; mov.u32 %r6, 0;\n\
         STEP: setp.eq.u32 %p1, %r5, 1; @%p1 bra DONE; and.b32 %r7, %r5, 1; setp.eq.u32 %p2, %r7, 0; @%p2 bra HALF;\n\
         mad.lo.u32 %r5, %r5, 3, 1; bra NEXT; HALF: shr.u32 %r5, %r5, 1; NEXT: add.u32 %r6, %r6, 1; bra STEP;\n\
         DONE: st.global.u32 [%rd4], %r6;",
        collatz,
    ),
    (
        "hand round",
        256,
        "shl.b32 %r5, %r1, 2; mov.u32 %r6, tile; add.u32 %r5, %r5, %r6; add.u32 %r7, %r1, 1; and.b32 %r7, %r7, 63;\n\
         shl.b32 %r7, %r7, 2; add.u32 %r7, %r7, %r6; mov.u32 %r8, %r4; mov.u32 %r9, 5;\n\
         AGAIN: st.shared.u32 [%r5], %r8; bar.sync 0; ld.shared.u32 %r8, [%r7]; bar.sync 0;\n\
         sub.u32 %r9, %r9, 1; setp.ne.u32 %p1, %r9, 0; @%p1 bra AGAIN; st.global.u32 [%rd4], %r8;",
        |i| i / 64 * 64 + (i + 5) % 64,
    ),
    (
        "vote and swap",
        0,
        "and.b32 %r5, %r4, 3; setp.eq.u32 %p1, %r5, 1; vote.sync.ballot.b32 %r6, %p1, 0xffffffff;\n\
         shfl.sync.bfly.b32 %r7, %r4, 5, 0x1f, 0xffffffff; popc.b32 %r8, %r6; mad.lo.u32 %r9, %r8, 1000, %r7;\n\
         st.global.u32 [%rd4], %r9;",
        |i| 8000 + (i ^ 5),
    ),
    (
        "count",
        4,
        "mov.u32 %r5, tile; setp.ne.u32 %p1, %r1, 0; @!%p1 st.shared.u32 [%r5], 0; bar.sync 0;\n\
         atom.shared.add.u32 %r6, [%r5], %r1; bar.sync 0; ld.shared.u32 %r7, [%r5]; red.global.add.u32 [%rd1+1024], 3;\n\
         st.global.u32 [%rd4], %r7;",
        |i| if i < 256 { 63 * 32 } else { 3 * 256 },
    ),
];

fn collatz(i: u32) -> u32 {
    let step = |n: &u32| {
        Some(if n.is_multiple_of(2) {
            n / 2
        } else {
            3 * n + 1
        })
    };
    let steps = std::iter::successors(Some(i + 1), step);
    steps.take_while(|n| *n != 1).count() as u32
}

/// Programs whose results are known, with these.
fn known() -> impl Iterator<Item = Case> {
    KNOWN.into_iter().map(|(name, shared, body, answer)| {
        let words = GRID * 64 + u32::from(name == "count");
        let mut expected: Vec<u8> = (0..words).flat_map(|i| answer(i).to_le_bytes()).collect();
        expected.resize(BUFFER as usize, 0);
        Case {
            name,
            program: program(&kernel(shared, &format!("{OWN}{body}"))),
            block: 64,
            expected,
        }
    })
}

/// Sizes of accesses, local memory, constants, fences, atomics of both memories.
const KINDS_OF_MEMORY: &str = "\
    .local .align 8 .b8 frame[64];\n\
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;\n\
    mul.wide.u32 %rd3, %r4, 32; add.u64 %rd4, %rd1, %rd3;\n\
    mul.wide.u32 %rd5, %r4, 4; add.u64 %rd6, %rd2, %rd5; ld.global.u32 %r10, [%rd6];\n\
    mov.u32 %r20, frame; st.local.u32 [%r20], %r10; st.local.v2.u32 [%r20+8], {%r4, %r10};\n\
    and.b32 %r21, %r1, 7; shl.b32 %r21, %r21, 2; add.u32 %r22, %r20, %r21;\n\
    st.local.u32 [%r22+32], %r4; ld.local.v2.u32 {%r11, %r12}, [%r20+8]; ld.local.u32 %r13, [%r22+32];\n\
    mov.u64 %rd7, table; add.u64 %rd7, %rd7, 0; cvt.u64.u32 %rd8, %r21; add.u64 %rd7, %rd7, %rd8;\n\
    ld.const.u32 %r14, [%rd7];\n\
    mov.u32 %r23, tile; setp.ne.u32 %p1, %r1, 0; @!%p1 st.shared.u32 [%r23], 0; bar.sync 0;\n\
    atom.shared.add.u32 %r15, [%r23], 3; bar.sync 0; ld.shared.u32 %r16, [%r23];\n\
    st.global.u8 [%rd4], %r10; st.global.u16 [%rd4+2], %r4; st.global.u32 [%rd4+4], %r11;\n\
    add.u32 %r17, %r12, %r13; st.global.v2.u32 [%rd4+8], {%r14, %r17}; membar.gl;\n\
    st.global.v4.u32 [%rd4+16], {%r16, %r13, %r14, %r10};\n\
    atom.global.add.u32 %r18, [%rd1+60000], %r4; atom.global.max.u32 %r19, [%rd1+60004], %r4;\n\
    red.global.add.u32 [%rd1+60008], 1; membar.sys;";

fn cases() -> Vec<Case> {
    let memory = kernel(128, KINDS_OF_MEMORY).replace(
        ".visible .entry",
        ".const .align 4 .u32 table[8] = {3, 1, 4, 1, 5, 9, 2, 6};\n.visible .entry",
    );
    let texts = [
        ("memory", memory, 64),
        ("generated 3", kernel(4096, &Generator::body(3, 64)), 64),
        (
            "breaks 5",
            kernel(4096, &Generator::body_with_breaks(5, 32)),
            32,
        ),
    ];
    let machine = Machine::preset("gtx480").expect("a preset");
    let cases = texts.into_iter().map(|(name, ptx, block)| {
        let program = program(&ptx);
        let mut case = Case {
            name,
            program,
            block,
            expected: Vec::new(),
        };
        let options = Options {
            functional: true,
            ..Options::default()
        };
        case.expected = case
            .run(&machine, options)
            .unwrap_or_else(|e| panic!("{name}: {e}"))
            .0;
        case
    });
    cases.chain(known()).collect()
}

impl Case {
    /// Runs it twice, so that the second finds caches and memory as the first left them.
    fn run(&self, machine: &Machine, options: Options) -> Result<Ran, SimError> {
        let mut gpu = Gpu::new(machine.clone(), options)?;
        let module = gpu.load(self.program.clone())?;
        let out = gpu.alloc(BUFFER, "out").expect("room");
        let input = gpu.alloc(BUFFER, "in").expect("room");
        let words: Vec<u8> = (0..BUFFER as u32 / 4).flat_map(u32::to_le_bytes).collect();
        gpu.write(input, &words).expect("valid");
        for _ in 0..2 {
            gpu.write(out, &vec![0; BUFFER as usize]).expect("valid");
            let mut params = out.to_le_bytes().to_vec();
            params.extend(input.to_le_bytes());
            params.extend(0u32.to_le_bytes());
            let launch = Launch {
                kernel: 0,
                grid: [GRID, 1, 1],
                block: [self.block, 1, 1],
                dynamic_shared: 0,
                params,
                registers: None,
            };
            gpu.launch(module, &launch)?;
        }
        Ok((
            gpu.read(out, BUFFER).expect("valid"),
            gpu.reports().to_vec(),
        ))
    }

    /// In which way of simulating it comes to something else than when it runs as most do.
    fn differs(&self, machine: &Machine) -> Option<String> {
        let plain = self.run(machine, Options::default()).ok()?;
        let cycles: u64 = plain.1.iter().map(|r| r.totals.cycles).sum();
        if cycles > ALL_WAYS {
            return None;
        }
        let stepped = Options {
            skip: cycles > STEPPED,
            ..Options::default()
        };
        let listened = Options {
            observer: Some(Box::new(Listener)),
            ..Options::default()
        };
        let threads = |threads| Options {
            threads,
            ..Options::default()
        };
        let ways = [
            ("stepped", stepped),
            ("listened to", listened),
            ("on two threads", threads(2)),
            ("on five threads", threads(5)),
        ];
        ways.into_iter().find_map(|(name, options)| {
            let other = match self.run(machine, options) {
                Ok(other) => other,
                Err(error) => return Some(format!("{name} it ends with {error}")),
            };
            (other != plain).then(|| {
                format!(
                    "{name} it comes to something else: {}",
                    first_difference(&plain, &other)
                )
            })
        })
    }

    /// What is wrong with it on a machine; `None` where it is right or refused.
    fn wrong(&self, machine: &Machine, ran: &mut u64) -> Option<String> {
        let options = Options {
            max_cycles: Some(LONGEST),
            ..Options::default()
        };
        let result = catch_unwind(AssertUnwindSafe(|| self.run(machine, options)));
        match result {
            Err(_) => Some("panic".into()),
            Ok(Err(SimError::BadLaunch(_))) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Ok(Ok((output, _))) => {
                *ran += 1;
                (output != self.expected).then(|| "another result".into())
            }
        }
    }
}

/// What a run leaves, and what was counted.
type Ran = (Vec<u8>, Vec<LaunchReport>);

/// The first value in which two runs differ.
fn first_difference(plain: &Ran, other: &Ran) -> String {
    let [plain, other] = [plain, other].map(|ran| format!("{:#?}", ran.1));
    let mut lines = plain.lines().zip(other.lines()).enumerate();
    match lines.find(|(_, (a, b))| a != b) {
        Some((line, (a, b))) => format!("line {}: {} and {}", line + 1, a.trim(), b.trim()),
        None => "what they leave in memory".into(),
    }
}

struct Listener;

impl Observer for Listener {
    fn warp(&mut self, _: Cycle, _: u16, _: u16, _: WarpEvent) {}

    fn samples_every(&self) -> Option<u64> {
        Some(90)
    }
}

/// Takes out whatever can go without the failure going.
fn smallest(mut asked: Asked, fails: impl Fn(&Machine) -> bool) -> Asked {
    let mut at = 0;
    while at < asked.set.len() {
        let mut less = asked.clone();
        less.set.remove(at);
        let still = Machine::resolve(less.preset, &less.set).is_ok_and(|machine| fails(&machine));
        if still {
            asked = less;
        } else {
            at += 1;
        }
    }
    asked
}

fn number(name: &str, default: u64) -> u64 {
    let given = std::env::var(name);
    given.map_or(default, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is no number"))
    })
}

#[test]
fn a_machine_is_refused_or_runs_correctly() {
    let cases = cases();
    let (first, count) = (
        number("WARPSIM_MACHINES_SEED", 0),
        number("WARPSIM_MACHINES", MACHINES),
    );
    let (mut ran, mut refused) = (0, 0);
    for seed in first..first + count {
        let random = &mut Random::new(seed);
        let mut asked = Asked::draw(random);
        let machine = asked.resolve(random, &mut refused);
        for case in &cases {
            let began = std::time::Instant::now();
            if let Some(wrong) = case.wrong(&machine, &mut ran) {
                let small = smallest(asked, |m| case.wrong(m, &mut 0).is_some());
                panic!("seed {seed}, {}: {wrong}\n{}", case.name, small.text());
            }
            // One program on each machine, another one on the next.
            let is_its_turn = case.name == cases[seed as usize % cases.len()].name;
            if is_its_turn && let Some(wrong) = case.differs(&machine) {
                let small = smallest(asked, |m| case.differs(m).is_some());
                panic!("seed {seed}, {}: {wrong}\n{}", case.name, small.text());
            }
            if began.elapsed().as_secs() > 20 {
                println!(
                    "seed {seed}, {}: {:?}\n{}",
                    case.name,
                    began.elapsed(),
                    asked.text()
                );
            }
        }
    }
    println!("{count} machines, {ran} programs run on them, {refused} machines refused");
    assert!(
        ran >= count * 2,
        "of {count} machines most refuse everything: {ran} ran"
    );
}

/// What was once accepted and then never ended.
#[test]
fn settings_that_once_hung_run() {
    let cases = cases();
    for preset in presets::names() {
        for set in [
            &["l2.sector=64"][..],
            &["l2.sector=128"],
            &["interconnect.sectored_replies=false"],
            &["interconnect.sectored_replies=false", "l2.sector=64"],
            &["l1d.miss_queue=1"],
            &["l1d.miss_queue=1", "l1d.hashed_index=false"],
            &["l1d.miss_queue=1", "l1d.sets=1", "l1d.ways=1"],
        ] {
            let asked = Asked {
                preset,
                set: set.iter().map(|s| s.to_string()).collect(),
            };
            // A sector larger than a preset's line is refused, which is an answer.
            let Ok(machine) = Machine::resolve(preset, &asked.set) else {
                continue;
            };
            for case in &cases {
                if let Some(wrong) = case.wrong(&machine, &mut 0) {
                    panic!("{}: {}: {wrong}", asked.text(), case.name);
                }
            }
        }
    }
}
