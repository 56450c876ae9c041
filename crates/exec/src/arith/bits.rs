//! Logic, shifts and bit fields.

use warpsim_ptx::isa::{Mode, Op, Type};
use warpsim_ptx::kernel::Instr;

use crate::op::{Decoded, Plan, Regs, Width, dispatch, op1, op2, op3};
use crate::state::LANES;

pub(crate) fn decode(i: &Instr) -> Option<Plan> {
    let m = &i.mods;
    let ty = m.types[0]?;
    let bytes = ty.bytes();
    Some(match i.op {
        Op::And | Op::Or | Op::Xor | Op::Not | Op::Cnot => return logic(i, ty),
        Op::Shl => match bytes {
            2 => op2!(u16, u32 => u16, |a, b| if b > 15 { 0 } else { a << b }),
            4 => op2!(hot u32, u32 => u32, |a, b| if b > 31 { 0 } else { a << (b & 31) }),
            8 => op2!(hot u64, u32 => u64, |a, b| if b > 63 { 0 } else { a << (b & 63) }),
            _ => return None,
        },
        Op::Shr => match (ty.is_signed(), bytes) {
            (false, 2) => op2!(u16, u32 => u16, |a, b| if b > 15 { 0 } else { a >> b }),
            (false, 4) => op2!(hot u32, u32 => u32, |a, b| if b > 31 { 0 } else { a >> (b & 31) }),
            (false, 8) => op2!(hot u64, u32 => u64, |a, b| if b > 63 { 0 } else { a >> (b & 63) }),
            (true, 2) => op2!(i16, u32 => i16, |a, b| a >> b.min(15)),
            (true, 4) => op2!(hot i32, u32 => i32, |a, b| a >> b.min(31)),
            (true, 8) => op2!(hot i64, u32 => i64, |a, b| a >> b.min(63)),
            _ => return None,
        },
        Op::Shf => match (m.mode?, m.wrap) {
            (Mode::Left, true) => {
                op3!(u32, u32, u32 => u32, |lo, hi, n| funnel(lo, hi, 32 - (n & 31)))
            }
            (Mode::Left, false) => {
                op3!(u32, u32, u32 => u32, |lo, hi, n| funnel(lo, hi, 32 - n.min(32)))
            }
            (Mode::Right, true) => op3!(u32, u32, u32 => u32, |lo, hi, n| funnel(lo, hi, n & 31)),
            (Mode::Right, false) => {
                op3!(u32, u32, u32 => u32, |lo, hi, n| funnel(lo, hi, n.min(32)))
            }
            _ => return None,
        },
        // The manual masks position and length to 8 bits. Hardware does so in the 32-bit
        // forms; the 64-bit ones (made of shifts) take all 32 bits.
        Op::Bfe => match ty {
            Type::U32 => op3!(u32, u32, u32 => u32, |a, pos, len| {
                extract(u64::from(a), pos & 0xff, len & 0xff) as u32
            }),
            Type::U64 => {
                op3!(u64, u32, u32 => u64, |a, pos, len| extract(a, pos, len))
            }
            Type::S32 => op3!(i32, u32, u32 => i32, |a, pos, len| {
                extract_signed(i64::from(a), pos & 0xff, len & 0xff, 31) as i32
            }),
            Type::S64 => op3!(i64, u32, u32 => i64, |a, pos, len| {
                extract_signed(a, pos, len, 63)
            }),
            _ => return None,
        },
        Op::Bfi => match bytes {
            4 => Plan::alu(insert32, &[Width::Narrow; 4], &[Width::Narrow]),
            8 => Plan::alu(
                insert64,
                &[Width::Wide, Width::Wide, Width::Narrow, Width::Narrow],
                &[Width::Wide],
            ),
            _ => return None,
        },
        Op::Bfind => match (ty, m.shiftamt) {
            (Type::U32, false) => op1!(u32 => u32, |a| find(u64::from(a))),
            (Type::U32, true) => op1!(u32 => u32, |a| shift_amount(find(u64::from(a)), 31)),
            (Type::S32, false) => op1!(i32 => u32, |a| find(u64::from((a ^ (a >> 31)) as u32))),
            (Type::S32, true) => op1!(i32 => u32, |a| {
                shift_amount(find(u64::from((a ^ (a >> 31)) as u32)), 31)
            }),
            (Type::U64, false) => op1!(u64 => u32, |a| find(a)),
            (Type::U64, true) => op1!(u64 => u32, |a| shift_amount(find(a), 63)),
            (Type::S64, false) => op1!(i64 => u32, |a| find((a ^ (a >> 63)) as u64)),
            (Type::S64, true) => op1!(i64 => u32, |a| {
                shift_amount(find((a ^ (a >> 63)) as u64), 63)
            }),
            _ => return None,
        },
        Op::Bmsk => match m.wrap {
            false => op2!(u32, u32 => u32, |a, b| bit_mask(a.min(32), b.min(32))),
            true => op2!(u32, u32 => u32, |a, b| bit_mask(a & 31, b & 31)),
        },
        Op::Szext => match (ty, m.wrap) {
            (Type::U32, false) => op2!(u32, u32 => u32, |a, n| {
                if n > 31 { a } else { a & bit_mask(0, n) }
            }),
            (Type::U32, true) => op2!(u32, u32 => u32, |a, n| a & bit_mask(0, n & 31)),
            (Type::S32, false) => op2!(i32, u32 => i32, |a, n| sign_extend(a, n)),
            (Type::S32, true) => op2!(i32, u32 => i32, |a, n| sign_extend(a, n & 31)),
            _ => return None,
        },
        Op::Brev => match bytes {
            4 => op1!(u32 => u32, |a| a.reverse_bits()),
            8 => op1!(u64 => u64, |a| a.reverse_bits()),
            _ => return None,
        },
        Op::Clz => match bytes {
            4 => op1!(u32 => u32, |a| a.leading_zeros()),
            8 => op1!(u64 => u32, |a| a.leading_zeros()),
            _ => return None,
        },
        Op::Popc => match bytes {
            4 => op1!(u32 => u32, |a| a.count_ones()),
            8 => op1!(u64 => u32, |a| a.count_ones()),
            _ => return None,
        },
        Op::Fns => op3!(u32, u32, i32 => u32, |mask, base, offset| find_nth(mask, base, offset)),
        Op::Lop3 => lop3(),
        Op::Prmt => match m.mode {
            None => op3!(u32, u32, u32 => u32, |a, b, c| permute(a, b, c)),
            Some(Mode::F4e) => {
                op3!(u32, u32, u32 => u32, |a, b, c| bytes_of(a, b, |i| (c & 3) + i))
            }
            Some(Mode::B4e) => {
                op3!(u32, u32, u32 => u32, |a, b, c| bytes_of(a, b, |i| (c & 3).wrapping_sub(i) & 7))
            }
            Some(Mode::Rc8) => op3!(u32, u32, u32 => u32, |a, b, c| bytes_of(a, b, |_| c & 3)),
            Some(Mode::Ecl) => {
                op3!(u32, u32, u32 => u32, |a, b, c| bytes_of(a, b, |i| i.max(c & 3)))
            }
            Some(Mode::Ecr) => {
                op3!(u32, u32, u32 => u32, |a, b, c| bytes_of(a, b, |i| i.min(c & 3)))
            }
            Some(Mode::Rc16) => {
                op3!(u32, u32, u32 => u32, |a, b, c| bytes_of(a, b, |i| (c & 1) * 2 + (i & 1)))
            }
            Some(_) => return None,
        },
        _ => return None,
    })
}

/// Bits `n` to `n + 31` of the 64-bit value `hi:lo`, `n` up to 32.
#[inline(always)]
fn funnel(lo: u32, hi: u32, n: u32) -> u32 {
    ((u64::from(hi) << 32 | u64::from(lo)) >> n) as u32
}

fn extract(a: u64, pos: u32, len: u32) -> u64 {
    let shifted = if pos > 63 { 0 } else { a >> pos };
    if len > 63 {
        shifted
    } else {
        shifted & ((1 << len) - 1)
    }
}

/// The field's top bit, or the operand's when the field reaches beyond it, fills the rest.
fn extract_signed(a: i64, pos: u32, len: u32, msb: u32) -> i64 {
    if len == 0 {
        return 0;
    }
    let top = pos.saturating_add(len - 1).min(msb);
    let sign = a >> top & 1;
    let field = extract(a as u64, pos, len) as i64;
    // Bits of the field that exist in the operand.
    let have = (msb + 1).saturating_sub(pos).min(len);
    let keep = if have > 63 {
        -1
    } else {
        ((1u64 << have) - 1) as i64
    };
    field & keep | if sign != 0 { !keep } else { 0 }
}

fn insert(a: u64, b: u64, pos: u32, len: u32, bits: u32) -> u64 {
    if pos >= bits || len == 0 {
        return b;
    }
    let len = len.min(bits - pos);
    let mask = (u64::MAX >> (64 - len)) << pos;
    b & !mask | a << pos & mask
}

fn insert32(d: &Decoded, r: &mut Regs<'_>) {
    let mut out = [0; LANES];
    for (lane, out) in out.iter_mut().enumerate() {
        let [a, b, pos, len] = std::array::from_fn(|k| r.lane::<u32>(d.src[k], lane));
        *out = insert(u64::from(a), u64::from(b), pos & 0xff, len & 0xff, 32) as u32;
    }
    r.commit::<u32>(d.dst[0], &out);
}

fn insert64(d: &Decoded, r: &mut Regs<'_>) {
    use crate::op::Value;
    let mut out = u64::ZERO;
    for lane in 0..LANES {
        let a = r.lane::<u64>(d.src[0], lane);
        let b = r.lane::<u64>(d.src[1], lane);
        let pos = r.lane::<u32>(d.src[2], lane);
        let len = r.lane::<u32>(d.src[3], lane);
        u64::put(&mut out, lane, insert(a, b, pos, len, 64));
    }
    r.commit::<u64>(d.dst[0], &out);
}

/// Position of the most significant one, or all ones when there is none.
fn find(a: u64) -> u32 {
    63u32.wrapping_sub(a.leading_zeros())
}

fn shift_amount(position: u32, msb: u32) -> u32 {
    if position == u32::MAX {
        position
    } else {
        msb - position
    }
}

fn bit_mask(first: u32, width: u32) -> u32 {
    ((1u64 << width) - 1).checked_shl(first).unwrap_or(0) as u32
}

fn sign_extend(a: i32, n: u32) -> i32 {
    match n {
        0 => 0,
        1..=31 => a << (32 - n) >> (32 - n),
        _ => a,
    }
}

/// The offset-th set bit of `mask` from `base`, upwards or downwards.
fn find_nth(mask: u32, base: u32, offset: i32) -> u32 {
    // It has no negation to count down from; hardware returns 0 whatever the rest.
    if offset == i32::MIN {
        return 0;
    }
    if base > 31 {
        return u32::MAX;
    }
    let (mut count, step) = match offset {
        0 => {
            return if mask >> base & 1 != 0 {
                base
            } else {
                u32::MAX
            };
        }
        n => (n.unsigned_abs(), n.signum()),
    };
    let mut pos = base as i32;
    while (0..32).contains(&pos) {
        if mask >> pos & 1 != 0 {
            count -= 1;
            if count == 0 {
                return pos as u32;
            }
        }
        pos += step;
    }
    u32::MAX
}

fn permute(a: u32, b: u32, selector: u32) -> u32 {
    let all = u64::from(b) << 32 | u64::from(a);
    (0..4).fold(0, |out, i| {
        let s = selector >> (4 * i) & 0xf;
        let byte = (all >> (8 * (s & 7))) as u8;
        let byte = if s & 8 != 0 {
            ((byte as i8) >> 7) as u8
        } else {
            byte
        };
        out | u32::from(byte) << (8 * i)
    })
}

fn bytes_of(a: u32, b: u32, which: impl Fn(u32) -> u32) -> u32 {
    let all = u64::from(b) << 32 | u64::from(a);
    (0..4).fold(0, |out, i| {
        out | u32::from((all >> (8 * (which(i) & 7))) as u8) << (8 * i)
    })
}

fn lut(a: u32, b: u32, c: u32, table: u32) -> u32 {
    (0..8).fold(0, |out, n| {
        let pick = |bit: u32, v: u32| if n & bit != 0 { v } else { !v };
        out | if table >> n & 1 != 0 {
            pick(4, a) & pick(2, b) & pick(1, c)
        } else {
            0
        }
    })
}

/// `lop3` with its optional predicate result `d|p = … != 0 (and/or) q`.
fn lop3() -> Plan {
    fn run(d: &Decoded, r: &mut Regs<'_>) {
        let mut out = [0; LANES];
        let mut nonzero = 0;
        for (lane, out) in out.iter_mut().enumerate() {
            let [a, b, c, table] = std::array::from_fn(|k| r.lane::<u32>(d.src[k], lane));
            *out = lut(a, b, c, table);
            nonzero |= u32::from(*out != 0) << lane;
        }
        r.commit::<u32>(d.dst[0], &out);
        r.set_predicate(d.pdst[0], d.combine(nonzero, r));
    }
    let n = Width::Narrow;
    Plan::alu(run, &[n, n, n, n, Width::Predicate], &[n, Width::Predicate])
}

fn logic(i: &Instr, ty: Type) -> Option<Plan> {
    if ty == Type::Pred {
        fn and(d: &Decoded, r: &mut Regs<'_>) {
            r.set_predicate(d.pdst[0], r.predicate(d.preds[0]) & r.predicate(d.preds[1]));
        }
        fn or(d: &Decoded, r: &mut Regs<'_>) {
            r.set_predicate(d.pdst[0], r.predicate(d.preds[0]) | r.predicate(d.preds[1]));
        }
        fn xor(d: &Decoded, r: &mut Regs<'_>) {
            r.set_predicate(d.pdst[0], r.predicate(d.preds[0]) ^ r.predicate(d.preds[1]));
        }
        fn not(d: &Decoded, r: &mut Regs<'_>) {
            r.set_predicate(d.pdst[0], !r.predicate(d.preds[0]));
        }
        let f = match i.op {
            Op::And => and,
            Op::Or => or,
            Op::Xor => xor,
            Op::Not => not,
            _ => return None,
        };
        let p = Width::Predicate;
        return Some(Plan::alu(f, &[p, p], &[p]));
    }
    Some(match (i.op, ty.bytes()) {
        (Op::And, 2 | 4) => op2!(hot u32, u32 => u32, |a, b| a & b),
        (Op::Or, 2 | 4) => op2!(hot u32, u32 => u32, |a, b| a | b),
        (Op::Xor, 2 | 4) => op2!(hot u32, u32 => u32, |a, b| a ^ b),
        (Op::Not, 2) => op1!(u16 => u16, |a| !a),
        (Op::Not, 4) => op1!(u32 => u32, |a| !a),
        (Op::Cnot, 2) => op1!(u16 => u16, |a| u16::from(a == 0)),
        (Op::Cnot, 4) => op1!(u32 => u32, |a| u32::from(a == 0)),
        (Op::And, 8) => op2!(hot u64, u64 => u64, |a, b| a & b),
        (Op::Or, 8) => op2!(hot u64, u64 => u64, |a, b| a | b),
        (Op::Xor, 8) => op2!(hot u64, u64 => u64, |a, b| a ^ b),
        (Op::Not, 8) => op1!(u64 => u64, |a| !a),
        (Op::Cnot, 8) => op1!(u64 => u64, |a| u64::from(a == 0)),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{eval, mods, n, w};
    use proptest::prelude::*;
    use warpsim_ptx::isa::Mods;

    fn three(op: Op, m: Mods, a: u64, b: u64, c: u64) -> u64 {
        eval(op, m, n(0), &[(n(1), a), (n(2), b), (n(3), c)])
    }

    #[test]
    fn shifts_clamp() {
        let two = |op, ty, a, b| eval(op, mods(ty), n(0), &[(n(1), a), (n(2), b)]);
        assert_eq!(two(Op::Shl, Type::B32, 1, 31), 1 << 31);
        assert_eq!(two(Op::Shl, Type::B32, 1, 32), 0);
        assert_eq!(two(Op::Shr, Type::U32, 1 << 31, 40), 0);
        assert_eq!(two(Op::Shr, Type::S32, 1 << 31, 40), 0xffff_ffff);
        assert_eq!(two(Op::Shr, Type::S16, 0x8000, 100) & 0xffff, 0xffff);
        assert_eq!(two(Op::Shl, Type::B16, 3, 15) & 0xffff, 0x8000);
        let wide = |a, b| eval(Op::Shl, mods(Type::B64), w(0), &[(w(1), a), (n(2), b)]);
        assert_eq!(wide(1, 63), 1 << 63);
        assert_eq!(wide(1, 64), 0);
    }

    #[test]
    fn funnel_shifts() {
        let m = |mode, wrap| Mods {
            mode: Some(mode),
            wrap,
            ..mods(Type::B32)
        };
        let (lo, hi) = (0x1122_3344, 0x5566_7788);
        assert_eq!(three(Op::Shf, m(Mode::Left, false), lo, hi, 8), 0x6677_8811);
        assert_eq!(three(Op::Shf, m(Mode::Left, false), lo, hi, 40), lo);
        assert_eq!(three(Op::Shf, m(Mode::Left, true), lo, hi, 40), 0x6677_8811);
        assert_eq!(three(Op::Shf, m(Mode::Left, true), lo, hi, 0), hi);
        assert_eq!(three(Op::Shf, m(Mode::Right, true), lo, hi, 8), 0x8811_2233);
        assert_eq!(three(Op::Shf, m(Mode::Right, false), lo, hi, 99), hi);
    }

    #[test]
    fn fields() {
        assert_eq!(three(Op::Bfe, mods(Type::U32), 0xabcd_1234, 8, 8), 0x12);
        assert_eq!(
            three(Op::Bfe, mods(Type::S32), 0x0000_8000, 8, 8),
            0xffff_ff80
        );
        assert_eq!(
            three(Op::Bfe, mods(Type::S32), 0x8000_0000, 28, 8),
            0xffff_fff8
        );
        assert_eq!(
            three(Op::Bfe, mods(Type::S32), 0x8000_0000, 40, 4),
            0xffff_ffff
        );
        assert_eq!(three(Op::Bfe, mods(Type::U32), 0xffff_ffff, 4, 0), 0);
        assert_eq!(
            three(Op::Bfe, mods(Type::U32), 0xffff_ffff, 0, 64),
            0xffff_ffff
        );
        let bfi = |a, b, pos, len| {
            eval(
                Op::Bfi,
                mods(Type::B32),
                n(0),
                &[(n(1), a), (n(2), b), (n(3), pos), (n(4), len)],
            )
        };
        assert_eq!(bfi(0xf, 0, 4, 4), 0xf0);
        assert_eq!(bfi(0xffff, 0x1111_1111, 28, 8), 0xf111_1111);
        assert_eq!(bfi(0xffff, 7, 32, 8), 7);
        let find = |ty, shiftamt, a| {
            eval(
                Op::Bfind,
                Mods {
                    shiftamt,
                    ..mods(ty)
                },
                n(0),
                &[(n(1), a)],
            )
        };
        assert_eq!(find(Type::U32, false, 0), 0xffff_ffff);
        assert_eq!(find(Type::U32, false, 0x100), 8);
        assert_eq!(find(Type::U32, true, 0x100), 23);
        assert_eq!(find(Type::S32, false, 0xffff_fff0), 3);
        assert_eq!(find(Type::S32, false, 0xffff_ffff), 0xffff_ffff);
        let bmsk = |wrap, a, b| {
            eval(
                Op::Bmsk,
                Mods {
                    wrap,
                    ..mods(Type::B32)
                },
                n(0),
                &[(n(1), a), (n(2), b)],
            )
        };
        assert_eq!(bmsk(false, 4, 8), 0xff0);
        assert_eq!(bmsk(false, 0, 64), 0xffff_ffff);
        assert_eq!(bmsk(false, 40, 8), 0);
        assert_eq!(bmsk(true, 33, 1), 2);
        let szext = |ty, a, b| eval(Op::Szext, mods(ty), n(0), &[(n(1), a), (n(2), b)]);
        assert_eq!(szext(Type::S32, 0x80, 8), 0xffff_ff80);
        assert_eq!(szext(Type::U32, 0x1ff, 8), 0xff);
        assert_eq!(szext(Type::U32, 0x1ff, 99), 0x1ff);
    }

    #[test]
    fn permutations() {
        let (a, b) = (0x3322_1100, 0x7766_5544);
        assert_eq!(three(Op::Prmt, mods(Type::B32), a, b, 0x0123), 0x0011_2233);
        assert_eq!(
            three(Op::Prmt, mods(Type::B32), a, 0x8066_5544, 0xff00),
            0xffff_0000
        );
        let m = |mode| Mods {
            mode: Some(mode),
            ..mods(Type::B32)
        };
        assert_eq!(three(Op::Prmt, m(Mode::F4e), a, b, 1), 0x4433_2211);
        assert_eq!(three(Op::Prmt, m(Mode::B4e), a, b, 0), 0x5566_7700);
        assert_eq!(three(Op::Prmt, m(Mode::Rc8), a, b, 2), 0x2222_2222);
        assert_eq!(three(Op::Prmt, m(Mode::Ecl), a, b, 2), 0x3322_2222);
        assert_eq!(three(Op::Prmt, m(Mode::Ecr), a, b, 1), 0x1111_1100);
        assert_eq!(three(Op::Prmt, m(Mode::Rc16), a, b, 1), 0x3322_3322);
    }

    #[test]
    fn nth_set_bit() {
        let fns = |mask, base, offset: i32| {
            three(
                Op::Fns,
                mods(Type::B32),
                mask,
                base,
                u64::from(offset as u32),
            )
        };
        assert_eq!(fns(0b1011_0100, 2, 0), 2);
        assert_eq!(fns(0b1011_0100, 3, 0), 0xffff_ffff);
        assert_eq!(fns(0b1011_0100, 0, 2), 4);
        assert_eq!(fns(0b1011_0100, 7, -2), 5);
        assert_eq!(fns(0b1011_0100, 0, 9), 0xffff_ffff);
    }

    proptest! {
        #[test]
        fn lop3_is_its_table(a: u32, b: u32, c: u32, table in 0u32..256) {
            let got = lut(a, b, c, table);
            for bit in 0..32 {
                let index = (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | c >> bit & 1;
                prop_assert_eq!(got >> bit & 1, table >> index & 1);
            }
        }
    }
}
