//! Video instructions, by the pseudo-code of the PTX manual: parts of the sources are extended,
//! combined exactly, saturated, then merged into or combined with the third source.
//!
//! GPUs since Maxwell have few of them in hardware: the driver's compiler makes them of others. What
//! an H200 computes with what it makes (driver 580) departs from the manual, and is what is
//! computed here, found from the recorded results:
//!
//! - A result saturated to 8 or 16 bits is the smaller of itself and the largest number, compared
//!   without sign: what is negative becomes the largest. Before that, what is too large for 32 bits,
//!   or for signed results too small, becomes the nearest that is not.
//! - The upper half of a result is merged from the upper half of what was computed, not the lower.
//! - `vadd` of unsigned whole words does not saturate; `vshl` does what it keeps of 34 bits.
//! - `.add` of packed forms sums what was computed, not what is left of it in a part.
//! - `vmad` takes whole words with their sign whatever the types, and if both are unsigned shifts in
//!   zeros before it saturates.

use warpsim_ptx::isa::{AtomOp, Cmp, Op, Part, Type};
use warpsim_ptx::kernel::Instr;

use crate::fault::Fault;
use crate::op::{Decoded, Plan, Regs, Width, World};
use crate::state::{LANES, lanes_of};

pub(crate) fn decode(i: &Instr) -> Option<Plan> {
    if !i.op.is_video() || !(2..=3).contains(&i.src.len()) {
        return None;
    }
    let n = Width::Narrow;
    Some(Plan::full(run, &[n; 3], &[n]))
}

fn run(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let instr = &w.cold.instr;
    let mut out = [0u32; LANES];
    for lane in lanes_of(r.mask) {
        let source = |k: usize| {
            if k < instr.src.len() {
                r.lane::<u32>(d.src[k], lane)
            } else {
                0
            }
        };
        out[lane] = compute(instr, [source(0), source(1), source(2)]);
    }
    r.commit::<u32>(d.dst[0], &out);
    Ok(())
}

/// The result for one thread.
fn compute(instr: &Instr, [a, b, c]: [u32; 3]) -> u32 {
    match instr.op {
        Op::Vmad => multiply_add(instr, a, b, c),
        op => match op.text().as_bytes().last() {
            Some(b'2') => packed(instr, 2, a, b, c),
            Some(b'4') => packed(instr, 4, a, b, c),
            _ => single(instr, a, b, c),
        },
    }
}

fn signed(ty: Option<Type>) -> bool {
    ty == Some(Type::S32)
}

/// `bits` bits of a value from bit `from` on, extended.
fn extended(value: u32, from: u32, bits: u32, signed: bool) -> i64 {
    let shifted = i64::from(value) << (64 - bits - from);
    if signed {
        shifted >> (64 - bits)
    } else {
        (shifted as u64 >> (64 - bits)) as i64
    }
}

fn part_of(value: u32, part: Part, signed: bool) -> i64 {
    match part {
        Part::Byte(n) => extended(value, 8 * u32::from(n & 3), 8, signed),
        Part::Half(n) => extended(value, 16 * u32::from(n & 1), 16, signed),
        _ => extended(value, 0, 32, signed),
    }
}

fn clamped(value: i128, bits: u32, signed: bool) -> i128 {
    let (low, high) = if signed {
        (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1)
    } else {
        (0, (1i128 << bits) - 1)
    };
    value.clamp(low, high)
}

fn compares(cmp: Option<Cmp>, a: i64, b: i64) -> bool {
    match cmp {
        Some(Cmp::Eq) => a == b,
        Some(Cmp::Ne) => a != b,
        Some(Cmp::Lt | Cmp::Lo) => a < b,
        Some(Cmp::Le | Cmp::Ls) => a <= b,
        Some(Cmp::Gt | Cmp::Hi) => a > b,
        _ => a >= b,
    }
}

/// The types of destination and sources; comparisons give 0 or 1.
fn types(instr: &Instr) -> [Option<Type>; 3] {
    let [first, second, third] = instr.mods.types;
    match instr.op {
        Op::Vset | Op::Vset2 | Op::Vset4 => [Some(Type::U32), first, second],
        _ => [first, second, third],
    }
}

/// Bits that `vshl` keeps before it saturates.
const SHIFTED: u32 = 34;

/// What is computed of two extended parts.
fn combined(instr: &Instr, a: i64, b: i64) -> i128 {
    let (wide_a, wide_b) = (i128::from(a), i128::from(b));
    match instr.op {
        Op::Vadd | Op::Vadd2 | Op::Vadd4 => wide_a + wide_b,
        Op::Vsub | Op::Vsub2 | Op::Vsub4 => wide_a - wide_b,
        Op::Vabsdiff | Op::Vabsdiff2 | Op::Vabsdiff4 => (wide_a - wide_b).abs(),
        Op::Vmin | Op::Vmin2 | Op::Vmin4 => wide_a.min(wide_b),
        Op::Vmax | Op::Vmax2 | Op::Vmax4 => wide_a.max(wide_b),
        Op::Vavrg2 | Op::Vavrg4 => {
            let sum = wide_a + wide_b;
            (sum + i128::from(sum >= 0)) >> 1
        }
        Op::Vset | Op::Vset2 | Op::Vset4 => i128::from(compares(instr.mods.cmp, a, b)),
        // Shifts: the second part is an unsigned amount.
        op => {
            let amount = if instr.mods.wrap {
                b as u32 & 31
            } else {
                (b as u32).min(32)
            };
            match op {
                Op::Vshl => wide_a << amount << (128 - SHIFTED) >> (128 - SHIFTED),
                _ => wide_a >> amount,
            }
        }
    }
}

/// Whether `.sat` means anything to a result of 32 bits.
fn saturates(instr: &Instr) -> bool {
    let of_words = instr.mods.video.parts == [Part::Whole; 2];
    !(instr.op == Op::Vadd && of_words && types(instr) == [Some(Type::U32); 3])
}

fn single(instr: &Instr, a: u32, b: u32, c: u32) -> u32 {
    let m = &instr.mods;
    let [to, of_a, of_b] = types(instr);
    let ta = part_of(a, m.video.parts[0], signed(of_a));
    let shifts = matches!(instr.op, Op::Vshl | Op::Vshr);
    let tb = part_of(b, m.video.parts[1], signed(of_b) && !shifts);
    let mut value = combined(instr, ta, tb);
    let (from, bits) = match m.video.result {
        Part::Byte(n) => (8 * u32::from(n & 3), 8),
        Part::Half(n) => (16 * u32::from(n & 1), 16),
        _ => (0, 32),
    };
    if m.sat && bits == 32 && saturates(instr) {
        value = clamped(value, bits, signed(to));
    }
    if m.sat && bits < 32 {
        value = match signed(to) {
            true => clamped(value, 32, true),
            false => value.min(u32::MAX.into()),
        };
    }
    let mut value = value as u32;
    if bits < 32 {
        if m.sat {
            value = value.min((1 << (bits - u32::from(signed(to)))) - 1);
        }
        let mask = ((1u32 << bits) - 1) << from;
        let moved = if m.video.result == Part::Half(1) {
            value
        } else {
            value << from
        };
        return c & !mask | moved & mask;
    }
    match m.atom {
        Some(AtomOp::Add) => value.wrapping_add(c),
        Some(AtomOp::Min) if signed(to) => (value as i32).min(c as i32) as u32,
        Some(AtomOp::Max) if signed(to) => (value as i32).max(c as i32) as u32,
        Some(AtomOp::Min) => value.min(c),
        Some(AtomOp::Max) => value.max(c),
        _ => value,
    }
}

/// Two or four parts at once.
fn packed(instr: &Instr, count: u32, a: u32, b: u32, c: u32) -> u32 {
    let m = &instr.mods;
    let [to, of_a, of_b] = types(instr);
    let bits = 32 / count;
    let both = u64::from(b) << 32 | u64::from(a);
    let pick = |part: Part, first: u32, k: u32, signed: bool| {
        let at = match part {
            Part::Parts(list) if list[k as usize] != u8::MAX => u32::from(list[k as usize]),
            _ => first + k,
        } % (2 * count);
        extended((both >> (at * bits)) as u32, 0, bits, signed)
    };
    let written = |k: u32| match m.video.result {
        Part::Parts(list) => list.contains(&(k as u8)),
        _ => true,
    };
    let mask = (1u64 << bits) as u32 - 1;
    let (mut result, mut sum) = (c, c);
    for k in (0..count).filter(|k| written(*k)) {
        let ta = pick(m.video.parts[0], 0, k, signed(of_a));
        let tb = pick(m.video.parts[1], count, k, signed(of_b));
        let mut value = combined(instr, ta, tb);
        if m.sat {
            value = clamped(value, bits, signed(to));
        }
        let part = value as u32 & mask;
        result = result & !(mask << (k * bits)) | part << (k * bits);
        sum = sum.wrapping_add(value as u32);
    }
    match m.atom {
        Some(_) => sum,
        None => result,
    }
}

fn multiply_add(instr: &Instr, a: u32, b: u32, c: u32) -> u32 {
    let m = &instr.mods;
    let [_, of_a, of_b] = m.types;
    let [product_negated, c_negated] = m.video.negate;
    let is_signed = signed(of_a) || signed(of_b) || product_negated || c_negated;
    let factor = |value, part, ty| i64::from(part_of(value, part, signed(ty)) as i32);
    let mut product = factor(a, m.video.parts[0], of_a) * factor(b, m.video.parts[1], of_b);
    let mut third = c;
    let mut lowest = 0;
    if m.video.plus_one {
        lowest = 1;
    } else if product_negated {
        (product, lowest) = (!product, 1);
    } else if c_negated {
        (third, lowest) = (!third, 1);
    }
    let sum = product
        .wrapping_add(i64::from(third as i32))
        .wrapping_add(lowest);
    let value = if is_signed {
        sum >> m.video.shift
    } else {
        (sum as u64 >> m.video.shift) as i64
    };
    if m.sat {
        clamped(value.into(), 32, is_signed) as u32
    } else {
        value as u32
    }
}
