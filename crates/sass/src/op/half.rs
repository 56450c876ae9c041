//! Half precision, two to a register. The assembler uses it for moving numbers, too.

use super::args::Args;
use super::state::{Reach, Row};
use super::value::Value;
use super::{Action, Entry, entry};
use warpsim_exec::machine_code::half_multiply_add;

pub const OPS: &[Entry] = &[
    entry("HFMA2", "two products and sums of halves", multiply_add),
    entry("HADD2", "two sums of halves", add),
    entry("HMUL2", "two products of halves", multiply),
];

const SIGN: u16 = 0x8000;
const ONE: u16 = 0x3c00;

/// Two halves of a source.
#[derive(Clone, Copy)]
struct Halves {
    value: Value,
    /// Which half each of the two is.
    halves: [u32; 2],
}

impl Halves {
    fn read(args: &mut Args<'_>) -> Result<Halves, String> {
        let (value, part) = args.selected()?;
        let halves = match part {
            None | Some("H1_H0") => [0, 1],
            Some("H0_H0") => [0, 0],
            Some("H1_H1") => [1, 1],
            Some(part) => return Err(format!("the part .{part} of a half is not known")),
        };
        if value.change.invert {
            return Err("halves have no inverted bits".into());
        }
        Ok(Halves { value, halves })
    }

    /// A source that may be two numbers, one for each half, which the encoding holds together.
    fn read_last(args: &mut Args<'_>) -> Result<Halves, String> {
        let first = Halves::read(args)?;
        if matches!(first.value.from, super::value::From::Number(_)) {
            Halves::read(args)?;
        }
        Ok(first)
    }

    fn row(&self, r: &Reach<'_, '_>) -> impl Fn(usize, usize) -> u16 + use<> {
        let row = self.value.raw(r);
        let (halves, change) = (self.halves, self.value.change);
        // What is written as a number has its sign in it.
        let number = matches!(self.value.from, super::value::From::Number(_));
        move |lane, which| {
            let mut bits = (row.0[lane] >> (16 * halves[which])) as u16;
            if change.absolute {
                bits &= !SIGN;
            }
            if change.negate && !number {
                bits ^= SIGN;
            }
            bits
        }
    }
}

fn finish(
    args: &mut Args<'_>,
    a: Halves,
    b: Halves,
    c: Halves,
    dst: super::state::Dst,
) -> Result<Action, String> {
    // Whichever unit does it: the results are the same.
    args.without_effect(&["MMA", "H1_H0"]);
    Action::alu(move |r| {
        let (a, b, c) = (a.row(r), b.row(r), c.row(r));
        let half = |lane, which| half_multiply_add(a(lane, which), b(lane, which), c(lane, which));
        let row = Row::of(|lane| u32::from(half(lane, 1)) << 16 | u32::from(half(lane, 0)));
        r.set(dst, &row);
    })
}

fn multiply_add(args: &mut Args<'_>) -> Result<Action, String> {
    let dst = args.dst()?;
    let a = Halves::read(args)?;
    let b = Halves::read_last(args)?;
    let c = Halves::read_last(args)?;
    finish(args, a, b, c, dst)
}

fn number(half: u16) -> Halves {
    Halves {
        value: Value {
            from: super::value::From::Number(u32::from(half) * 0x1_0001),
            change: Default::default(),
        },
        halves: [0, 1],
    }
}

fn add(args: &mut Args<'_>) -> Result<Action, String> {
    let dst = args.dst()?;
    let a = Halves::read(args)?;
    let b = Halves::read_last(args)?;
    finish(args, a, number(ONE), b, dst)
}

fn multiply(args: &mut Args<'_>) -> Result<Action, String> {
    let dst = args.dst()?;
    let a = Halves::read(args)?;
    let b = Halves::read_last(args)?;
    // Adding a negative zero changes nothing, not even the sign of a zero.
    finish(args, a, b, number(SIGN), dst)
}
