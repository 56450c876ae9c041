//! What can go wrong while a thread executes, and how it is told.

mod argument;

use std::fmt;

use warpsim_present::mangled::shown;
use warpsim_ptx::isa::{Op, Space};
use warpsim_ptx::kernel::{Instr, Kernel, Pc, Virtualised};

use super::memory::image::{AccessError, GlobalMemory};
use super::state::{Effect, LANES, Lanes, Threads, lanes_of};

/// A fault of one thread. The caller knows kernel and PC and makes a [`FaultReport`] of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// What happened; boxed, for the success path carries it by value.
    pub kind: Box<FaultKind>,
    /// Lane of the thread.
    pub lane: u8,
    /// Home warp of the thread.
    pub home: u16,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum FaultKind {
    /// A memory access that cannot be.
    Memory {
        /// Space, as far as it is known (`Generic` addresses have been resolved).
        space: Space,
        /// Address in the space.
        address: u64,
        /// Bytes accessed.
        bytes: u32,
        /// Store or atomic (else load).
        store: bool,
        /// What is wrong with it.
        cause: AccessError,
    },
    /// `trap`.
    Trap,
    /// `brkpt`.
    Breakpoint,
    /// A device-side `assert` failed.
    Assert {
        /// The expression.
        message: String,
        /// Source file.
        file: String,
        /// Source line.
        line: u32,
        /// Function.
        function: String,
    },
    /// A `.sync` operation names live threads that are not executing it together.
    MissingMembers {
        /// The instruction.
        what: &'static str,
        /// Threads named.
        members: u32,
        /// Those of them that live and are not here.
        missing: u32,
    },
    /// Anything else, in words.
    Other(String),
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::Memory {
                space,
                address,
                bytes,
                store,
                cause,
            } => {
                let what = if *store { "write" } else { "read" };
                let space = match space {
                    Space::Global => "global",
                    Space::Shared => "shared",
                    Space::Local => "local",
                    Space::Const => "constant",
                    Space::Param => "parameter",
                    Space::Tex => "texture",
                    Space::Generic | Space::Reg => "generic",
                };
                write!(
                    f,
                    "invalid {space} {what} of {bytes} bytes at {address:#x}: {cause}"
                )
            }
            FaultKind::Trap => write!(f, "trap"),
            FaultKind::Breakpoint => write!(f, "breakpoint"),
            FaultKind::Assert {
                message,
                file,
                line,
                function,
            } => write!(f, "{file}:{line}: {function}: assertion `{message}` failed"),
            FaultKind::MissingMembers {
                what,
                members,
                missing,
            } => write!(
                f,
                "{what} names threads {members:#010x}, but {missing:#010x} of them are elsewhere: \
                 the named threads must execute it together"
            ),
            FaultKind::Other(text) => f.write_str(text),
        }
    }
}

/// A fault with all that a reader needs to find it.
#[derive(Clone, Debug, PartialEq)]
pub struct FaultReport {
    /// What happened.
    pub kind: FaultKind,
    /// Kernel.
    pub kernel: String,
    /// Block in the grid.
    pub block: [u32; 3],
    /// Thread in the block.
    pub thread: [u32; 3],
    /// Instruction.
    pub pc: Pc,
    /// Where that stands.
    pub place: String,
    /// What else helps.
    pub note: Option<String>,
}

impl Fault {
    /// A fault of the thread on `lane`.
    pub fn new(kind: FaultKind, lane: usize, home: u16) -> Self {
        Fault {
            kind: Box::new(kind),
            lane: lane as u8,
            home,
        }
    }

    /// The fault of an operation that [awaits](super::state::EffectKind::Awaits) threads that
    /// cannot come.
    pub fn missing_members(
        effect: &Effect,
        lanes: &Lanes,
        threads: &Threads,
        instr: &Instr,
    ) -> Self {
        let mut lane = effect.executed.trailing_zeros() as usize % LANES;
        let mut missing = 0;
        lanes.each_home(effect.executed, |home, here| {
            let live = threads.warps[usize::from(home)].awaited();
            for l in lanes_of(here) {
                let named = effect.operands[0][l] as u32;
                let together = lanes_of(here)
                    .filter(|&other| effect.operands[0][other] as u32 == named)
                    .fold(0, |all, other| all | 1u32 << other);
                if missing == 0 && named & live & !together != 0 {
                    (lane, missing) = (l, named & live & !together);
                }
            }
        });
        let kind = FaultKind::MissingMembers {
            what: match instr.op {
                Op::Bar => "bar.warp.sync",
                op => op.text(),
            },
            members: effect.operands[0][lane] as u32,
            missing,
        };
        Fault::new(kind, lane, lanes.home(lane))
    }

    /// Adds where it happened.
    pub fn report(self, kernel: &Kernel, pc: Pc, threads: &Threads) -> FaultReport {
        let warp = threads.warps.get(usize::from(self.home));
        let lane = usize::from(self.lane) % super::state::LANES;
        let thread = warp.map_or([0; 3], |w| std::array::from_fn(|d| w.tid[d][lane]));
        let block = warp
            .and_then(|w| threads.blocks.get(usize::from(w.block)))
            .map_or([0; 3], |b| b.ctaid);
        let strides = matches!(&kernel.virtualised, Virtualised::Form(form) if !form.hardware);
        let retired = strides && matches!(*self.kind, FaultKind::MissingMembers { .. });
        FaultReport {
            kind: *self.kind,
            kernel: kernel.name.clone(),
            block,
            thread,
            pc,
            place: kernel.origin(pc).to_string(),
            note: retired.then(|| RETURNED.to_string()),
        }
    }
}

/// What a kernel whose blocks stride over others does with threads that return.
const RETURNED: &str = "with --virtualize software a thread that has returned waits for its warp's next block, and \
     still counts as a member; --virtualize hardware lets it go";

impl FaultReport {
    /// Adds which argument the pointer of an access in global memory came from, as far as that can be told.
    pub fn name_argument(&mut self, kernel: &Kernel, params: &[u8], memory: &GlobalMemory) {
        let FaultKind::Memory { space, cause, .. } = &self.kind else {
            return;
        };
        if matches!(space, Space::Global | Space::Generic) {
            let found = argument::of_pointer(kernel, self.pc, params, cause, memory);
            self.note = found.or(self.note.take());
        }
    }
}

impl fmt::Display for FaultReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [bx, by, bz] = self.block;
        let [tx, ty, tz] = self.thread;
        writeln!(f, "{}", self.kind)?;
        write!(
            f,
            "  in kernel {}, block ({bx},{by},{bz}), thread ({tx},{ty},{tz}), pc {}, {}",
            shown(&self.kernel),
            self.pc,
            self.place
        )?;
        match &self.note {
            Some(note) => write!(f, "\n  {note}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for FaultReport {}

/// A kernel that cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    /// Kernel.
    pub kernel: String,
    /// Instruction.
    pub pc: Pc,
    /// Where that stands.
    pub place: String,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "kernel {}, {}: {}",
            shown(&self.kernel),
            self.place,
            self.message
        )
    }
}

impl std::error::Error for LoadError {}
