//! Moves between registers, predicates and constants.

use super::args::Args;
use super::state::{PredicateDst, Row, bits};
use super::value::constant;
use super::{Action, Entry, entry};
use crate::program::operand::{Index, Place, RZ};
use warpsim_exec::state::LANES;

pub const OPS: &[Entry] = &[
    entry("MOV", "a copy", copy),
    entry("UMOV", "MOV of the warp", copy),
    entry(
        "R2UR",
        "a register of the first thread that executes it, for the warp",
        to_uniform,
    ),
    entry(
        "P2R",
        "predicates as the bits of a register",
        from_predicates,
    ),
    entry("R2P", "the bits of a register as predicates", to_predicates),
    entry("LDC", "constants", load_constant),
    entry("ULDC", "LDC of the warp", load_constant),
];

fn copy(args: &mut Args<'_>) -> Result<Action, String> {
    let (dst, a) = (args.dst()?, args.integer()?);
    if args.left() == 1 {
        // Which quarters of the warp it is for: all of them.
        match args.number()? {
            0xf => {}
            other => return Err(format!("MOV for the parts {other:#x} is not known")),
        }
    }
    Action::alu(move |r| {
        let a = a.integer(r);
        r.set(dst, &a);
    })
}

fn to_uniform(args: &mut Args<'_>) -> Result<Action, String> {
    let (dst, a) = (args.dst()?, args.integer()?);
    Action::alu(move |r| {
        let a = a.integer(r);
        let first = r.mask.trailing_zeros() as usize % LANES;
        r.set(dst, &Row::all(a.0[first]));
    })
}

/// `PR`: all predicates.
fn all_predicates(args: &mut Args<'_>) -> Result<(), String> {
    match args.word()? {
        "PR" => Ok(()),
        other => Err(format!("{other} is not known as a set of predicates")),
    }
}

fn from_predicates(args: &mut Args<'_>) -> Result<Action, String> {
    let dst = args.dst()?;
    all_predicates(args)?;
    let (old, mask) = (args.integer()?, args.number()?);
    Action::alu(move |r| {
        let old = old.integer(r);
        let predicates = r.registers.predicates;
        let row = Row::of(|lane| {
            let all = (0..7).fold(0, |all, p| all | (predicates[p] >> lane & 1) << p);
            old.0[lane] & !mask | all & mask
        });
        r.set(dst, &row);
    })
}

fn to_predicates(args: &mut Args<'_>) -> Result<Action, String> {
    all_predicates(args)?;
    let (value, mask) = (args.integer()?, args.number()?);
    Action::alu(move |r| {
        let value = value.integer(r);
        for p in (0..7u8).filter(|p| mask >> p & 1 != 0) {
            let found = bits(|lane| value.0[lane] >> p & 1 != 0);
            r.set_predicate(PredicateDst::Thread(p), found);
        }
    })
}

fn load_constant(args: &mut Args<'_>) -> Result<Action, String> {
    let parts = [
        ("U8", (1, false)),
        ("S8", (1, true)),
        ("U16", (2, false)),
        ("S16", (2, true)),
        ("64", (8, false)),
    ];
    let (bytes, signed) = args.one_of(&parts).unwrap_or((4, false));
    let dst = args.dst()?;
    let operand = args.operand()?;
    let Place::Constant {
        bank,
        index,
        offset,
    } = operand.place
    else {
        return Err("LDC takes a constant".into());
    };
    Action::alu(move |r| {
        let at = match index {
            None | Some(Index::Register { number: RZ, .. }) => Row::all(0),
            Some(Index::Register { number, .. }) => r.registers.rows[usize::from(number)],
            Some(Index::Uniform(number)) => {
                Row::all(r.registers.uniform.registers[usize::from(number)])
            }
        };
        let at = |lane: usize| at.0[lane].wrapping_add(offset as u32);
        let word = |lane: usize| {
            let at = at(lane);
            let word = constant(r, bank, at & !3);
            match (bytes, signed) {
                (1, false) => word >> (8 * (at & 3)) & 0xff,
                (1, true) => (word >> (8 * (at & 3))) as i8 as u32,
                (2, false) => word >> (8 * (at & 2)) & 0xffff,
                (2, true) => (word >> (8 * (at & 2))) as i16 as u32,
                _ => word,
            }
        };
        let same = index.is_none();
        let row = if same {
            Row::all(word(0))
        } else {
            Row::of(word)
        };
        let second = (bytes == 8).then(|| match same {
            true => Row::all(constant(r, bank, at(0) + 4)),
            false => Row::of(|lane| constant(r, bank, at(lane).wrapping_add(4))),
        });
        r.set(dst, &row);
        if let Some(second) = second {
            r.set(dst.next(), &second);
        }
    })
}
