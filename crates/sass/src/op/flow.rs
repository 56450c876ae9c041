//! What decides which instruction is next, and what threads wait for.

use super::args::Args;
use super::value::{From, Predicate, Value};
use super::{Action, Entry, entry};
use crate::program::operand::RZ;

pub const OPS: &[Entry] = &[
    entry("BRA", "a branch", branch),
    entry("BRX", "a branch to where registers say", branch_by_register),
    entry("EXIT", "the thread ends", exit),
    entry("CALL", "goes to a function", call),
    entry("RET", "goes to where registers say: back", back),
    entry(
        "BSSY",
        "threads will meet: names a convergence barrier and where",
        begin_sync,
    ),
    entry(
        "BSYNC",
        "waits for the threads of a convergence barrier",
        sync,
    ),
    entry("BREAK", "leaves a convergence barrier", leave),
    entry("WARPSYNC", "waits for threads of the warp", warp_sync),
    entry("YIELD", "other threads of the warp may go on", |_| {
        Ok(Action::Flow(Flow::Yield))
    }),
    entry("NANOSLEEP", "waits a while: other threads go on", sleep),
    entry("BAR", "a barrier of the block", barrier),
    entry("BPT", "a trap", trap),
    entry("NOP", "nothing", |_| Ok(Action::Nothing)),
    entry(
        "DEPBAR",
        "waits for counters: nothing without timing",
        ordering,
    ),
    entry(
        "MEMBAR",
        "orders accesses: they are in order without timing",
        ordering,
    ),
    entry(
        "FENCE",
        "orders accesses: they are in order without timing",
        ordering,
    ),
    entry(
        "ERRBAR",
        "waits for errors: they are told at once",
        ordering,
    ),
    entry(
        "CGAERRBAR",
        "waits for errors: they are told at once",
        ordering,
    ),
    entry(
        "CCTL",
        "forgets lines of caches: there are none without timing",
        ordering,
    ),
];

/// What decides which instruction is next. Targets are offsets in the section.
#[derive(Clone, Debug, PartialEq)]
pub enum Flow {
    /// Threads whose predicate is true go there.
    #[allow(missing_docs)]
    Branch {
        target: u32,
        when: Option<Predicate>,
    },
    /// Threads go to where a pair of registers says, counted from here.
    #[allow(missing_docs)]
    BranchBy { registers: u8, base: u32 },
    /// Threads end.
    Exit,
    /// Threads are to meet at a convergence barrier, at the target.
    #[allow(missing_docs)]
    Begin { barrier: u8, target: u32 },
    /// They wait for the others of it.
    Sync(u8),
    /// They are none of it any more.
    Leave(u8),
    /// They wait for these threads of the warp; for all where there is no mask.
    WarpSync(Option<Value>),
    /// Others may go on.
    Yield,
    /// A barrier of the block.
    #[allow(missing_docs)]
    Barrier {
        number: Value,
        count: Option<Value>,
        waits: bool,
    },
    /// A trap.
    Trap,
}

fn flow(flow: Flow) -> Result<Action, String> {
    Ok(Action::Flow(flow))
}

fn branch(args: &mut Args<'_>) -> Result<Action, String> {
    // `.U`: all threads of the warp go the same way.
    args.without_effect(&["U"]);
    let when = if args.predicate_next() {
        Some(args.predicate()?)
    } else {
        None
    };
    let target = args.number()?;
    flow(Flow::Branch { target, when })
}

/// A register of a pair.
fn pair(args: &mut Args<'_>) -> Result<u8, String> {
    match args.value()?.from {
        From::Register(number) if number != RZ => Ok(number),
        _ => Err("an address to go to stands in two registers".into()),
    }
}

fn branch_by_register(args: &mut Args<'_>) -> Result<Action, String> {
    let registers = pair(args)?;
    let offset = args.number()?;
    // Counted from the instruction behind it.
    let base = (args.instruction().offset + 16).wrapping_add(offset);
    flow(Flow::BranchBy { registers, base })
}

fn exit(args: &mut Args<'_>) -> Result<Action, String> {
    let _ = args;
    flow(Flow::Exit)
}

fn call(args: &mut Args<'_>) -> Result<Action, String> {
    if !args.modifier("REL") {
        return Err("only calls of functions of the same kernel are known".into());
    }
    args.without_effect(&["NOINC"]);
    let target = args.number()?;
    flow(Flow::Branch { target, when: None })
}

fn back(args: &mut Args<'_>) -> Result<Action, String> {
    if !args.modifier("REL") {
        return Err("only returns within the same kernel are known".into());
    }
    args.without_effect(&["NODEC"]);
    let (registers, base) = (pair(args)?, args.number()?);
    flow(Flow::BranchBy { registers, base })
}

fn begin_sync(args: &mut Args<'_>) -> Result<Action, String> {
    args.without_effect(&["RELIABLE", "RECONVERGENT"]);
    let (barrier, target) = (args.barrier()?, args.number()?);
    flow(Flow::Begin { barrier, target })
}

fn sync(args: &mut Args<'_>) -> Result<Action, String> {
    args.without_effect(&["RELIABLE", "RECONVERGENT"]);
    flow(Flow::Sync(args.barrier()?))
}

fn leave(args: &mut Args<'_>) -> Result<Action, String> {
    args.without_effect(&["RELIABLE"]);
    flow(Flow::Leave(args.barrier()?))
}

fn warp_sync(args: &mut Args<'_>) -> Result<Action, String> {
    if args.modifier("ALL") {
        return flow(Flow::WarpSync(None));
    }
    args.without_effect(&["EXCLUSIVE"]);
    flow(Flow::WarpSync(Some(args.integer()?)))
}

fn sleep(args: &mut Args<'_>) -> Result<Action, String> {
    while args.left() > 0 {
        args.operand()?;
    }
    flow(Flow::Yield)
}

fn barrier(args: &mut Args<'_>) -> Result<Action, String> {
    args.without_effect(&["DEFER_BLOCKING"]);
    let waits = match args.one_of(&[("SYNC", true), ("ARV", false)]) {
        Some(waits) => waits,
        None => return Err(format!("{} is not known", args.instruction().spelling())),
    };
    let number = args.integer()?;
    let count = if args.left() > 0 {
        Some(args.integer()?)
    } else {
        None
    };
    flow(Flow::Barrier {
        number,
        count,
        waits,
    })
}

fn trap(args: &mut Args<'_>) -> Result<Action, String> {
    args.without_effect(&["TRAP", "INT"]);
    while args.left() > 0 {
        args.number()?;
    }
    flow(Flow::Trap)
}

/// What orders, and has nothing to order here. Operands say only what is waited for.
fn ordering(args: &mut Args<'_>) -> Result<Action, String> {
    args.without_effect(&[
        "LE", "SC", "ALL", "GPU", "SYS", "CTA", "VC", "IVALL", "E", "VIEW", "ASYNC", "C",
    ]);
    while args.left() > 0 {
        args.operand()?;
    }
    Ok(Action::Nothing)
}
