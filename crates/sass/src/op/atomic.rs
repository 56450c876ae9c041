//! Atomics and reductions. Lanes act one after the other.

use super::args::Args;
use super::memory::{address, addresses, goes_to, resolve, trouble, within};
use super::state::{Dst, PredicateDst, Row, Trouble};
use super::value::Value;
use super::{Action, Entry, entry};
use warpsim_exec::access::atomic;
use warpsim_exec::fault::FaultKind;
use warpsim_exec::machine_code::shared_atomic;
use warpsim_exec::state::{Atomic, lanes_of};
use warpsim_ptx::isa::{AtomOp, Space, Type};

pub const OPS: &[Entry] = &[
    entry("ATOMG", "an atomic in global memory", |args| {
        atomic_of(args, Space::Global, true)
    }),
    entry("ATOM", "an atomic in any memory", |args| {
        atomic_of(args, Space::Generic, true)
    }),
    entry("ATOMS", "an atomic in shared memory", |args| {
        atomic_of(args, Space::Shared, true)
    }),
    entry("REDG", "a reduction in global memory", |args| {
        atomic_of(args, Space::Global, false)
    }),
    entry("RED", "a reduction in any memory", |args| {
        atomic_of(args, Space::Generic, false)
    }),
];

const OPERATIONS: [(&str, AtomOp); 10] = [
    ("ADD", AtomOp::Add),
    ("MIN", AtomOp::Min),
    ("MAX", AtomOp::Max),
    ("INC", AtomOp::Inc),
    ("DEC", AtomOp::Dec),
    ("AND", AtomOp::And),
    ("OR", AtomOp::Or),
    ("XOR", AtomOp::Xor),
    ("EXCH", AtomOp::Exch),
    ("CAS", AtomOp::Cas),
];

/// What the old value is returned as.
#[derive(Clone, Copy, PartialEq)]
enum Answer {
    /// Itself.
    Old,
    /// Whether it was what it was compared with.
    Success,
}

fn operation(args: &mut Args<'_>) -> Result<(AtomOp, Answer), String> {
    // Counts the threads: each adds one.
    if args.modifier("POPC") {
        args.modifier("INC");
        args.without_effect(&["32"]);
        return Ok((AtomOp::Add, Answer::Old));
    }
    // Compares and exchanges, and says whether it has.
    if args.modifier("CAST") {
        args.without_effect(&["SPIN"]);
        return Ok((AtomOp::Cas, Answer::Success));
    }
    let found = args.one_of(&OPERATIONS);
    let name = args.instruction().spelling();
    let found = found.ok_or_else(|| format!("the operation of {name} is not known"))?;
    Ok((found, Answer::Old))
}

fn operand_type(args: &mut Args<'_>, op: AtomOp) -> Type {
    args.without_effect(&["RN"]);
    let (wide, signed) = (args.modifier("64"), args.modifier("S32"));
    let float = args.modifier("F32");
    if float {
        // Global memory's adder takes denormals for zeros either way.
        args.without_effect(&["FTZ"]);
        return Type::F32;
    }
    if args.modifier("F64") {
        return Type::F64;
    }
    if args.modifier("S64") {
        return Type::S64;
    }
    let bits = matches!(
        op,
        AtomOp::And | AtomOp::Or | AtomOp::Xor | AtomOp::Exch | AtomOp::Cas
    );
    match (wide, signed, bits) {
        (false, true, _) => Type::S32,
        (false, false, true) => Type::B32,
        (false, false, false) => Type::U32,
        (true, _, true) => Type::B64,
        (true, _, false) => Type::U64,
    }
}

fn atomic_of(args: &mut Args<'_>, space: Space, returns: bool) -> Result<Action, String> {
    goes_to(args, space)?;
    let counts = args.instruction().modifiers.iter().any(|m| m == "POPC");
    let (op, answer) = operation(args)?;
    let ty = operand_type(args, op);
    let mut dst = Dst::Nowhere;
    if returns {
        match args.optional_predicate_dst()? {
            PredicateDst::Thread(7) => {}
            _ => return Err("an atomic that answers with a predicate is not known".into()),
        }
        dst = args.dst()?;
    }
    if counts && dst != Dst::Nowhere {
        return Err("counting threads with a result is not known".into());
    }
    let at = address(args, space)?;
    let one = Value {
        from: super::value::From::Number(1),
        change: Default::default(),
    };
    let a = if counts { one } else { args.integer()? };
    let b = if op == AtomOp::Cas {
        args.integer()?
    } else {
        one
    };
    let wide = ty.bytes() == 8;
    let what = Atomic { op, ty, dst: None };
    Action::access(move |r| {
        let addresses = addresses(&at, r);
        let operands: [Box<dyn Fn(usize) -> u64>; 2] = [a, b].map(|value| {
            if wide {
                Box::new(value.pair(r)) as Box<dyn Fn(usize) -> u64>
            } else {
                let row = value.integer(r);
                Box::new(move |lane| u64::from(row.0[lane]))
            }
        });
        let (mut low, mut high) = (Row::all(0), Row::all(0));
        for lane in lanes_of(r.mask) {
            let values = [operands[0](lane), operands[1](lane)];
            let (space, address) = resolve(space, addresses[lane]);
            let bytes = ty.bytes() as usize;
            let done = match (space, r.memory.memory_mut()) {
                (Space::Shared, _) => within(address, bytes, r.shared.len())
                    .map(|range| shared_atomic(&mut r.shared[range], &what, values)),
                (Space::Global, Some(image)) => atomic::apply(image, address, &what, values),
                _ => {
                    let kind =
                        FaultKind::Other("atomics work on global and shared memory only".into());
                    return Err(Trouble { lane, kind });
                }
            };
            let old = done.map_err(|cause| trouble(lane, space, address, bytes, true, cause))?;
            let value = match answer {
                Answer::Old => old,
                Answer::Success => u64::from(old == values[0]),
            };
            low.0[lane] = value as u32;
            high.0[lane] = (value >> 32) as u32;
        }
        r.set(dst, &low);
        if wide && answer == Answer::Old {
            r.set(dst.next(), &high);
        }
        Ok(())
    })
}
