//! Integer arithmetic.

use warpsim_ptx::isa::{Half, Op, Type};
use warpsim_ptx::kernel::Instr;

use crate::op::{Plan, by_type, dispatch, op1, op2, op3};

macro_rules! by_sign {
    ($ty:expr, $t:ident => $e:expr) => {
        match $ty {
            Type::S16 => {
                type $t = i16;
                $e
            }
            Type::S32 => {
                type $t = i32;
                $e
            }
            Type::S64 => {
                type $t = i64;
                $e
            }
            _ => return None,
        }
    };
}

/// Both halves of a pair of 16-bit values.
fn pairs(a: u32, b: u32, f: impl Fn(u16, u16) -> u16) -> u32 {
    u32::from(f(a as u16, b as u16)) | u32::from(f((a >> 16) as u16, (b >> 16) as u16)) << 16
}

/// Sign-extends a 24-bit value.
fn s24(a: i32) -> i64 {
    i64::from(a << 8 >> 8)
}

fn u24(a: u32) -> u64 {
    u64::from(a & 0xff_ffff)
}

fn clamp32(v: i64) -> i32 {
    v.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

pub(crate) fn decode(i: &Instr) -> Option<Plan> {
    let m = &i.mods;
    let ty = m.types[0]?;
    Some(match i.op {
        Op::Add if m.sat => match ty {
            Type::S32 => op2!(i32, i32 => i32, |a, b| a.saturating_add(b)),
            _ => return None,
        },
        Op::Add => match ty {
            Type::U16x2 | Type::S16x2 => {
                op2!(u32, u32 => u32, |a, b| pairs(a, b, u16::wrapping_add))
            }
            Type::U32 | Type::S32 => op2!(hot u32, u32 => u32, |a, b| a.wrapping_add(b)),
            Type::U64 | Type::S64 => op2!(hot u64, u64 => u64, |a, b| a.wrapping_add(b)),
            _ => by_type!(ty, T => op2!(T, T => T, |a, b| a.wrapping_add(b))),
        },
        Op::Sub if m.sat => match ty {
            Type::S32 => op2!(i32, i32 => i32, |a, b| a.saturating_sub(b)),
            _ => return None,
        },
        Op::Sub => match ty {
            Type::U32 | Type::S32 => op2!(hot u32, u32 => u32, |a, b| a.wrapping_sub(b)),
            Type::U64 | Type::S64 => op2!(hot u64, u64 => u64, |a, b| a.wrapping_sub(b)),
            _ => by_type!(ty, T => op2!(T, T => T, |a, b| a.wrapping_sub(b))),
        },
        Op::Mul => multiply(ty, m.half)?,
        Op::Mad => multiply_add(ty, m.half, m.sat)?,
        Op::Mul24 => match (ty, m.half) {
            (Type::S32, Some(Half::Hi)) => {
                op2!(i32, i32 => i32, |a, b| ((s24(a) * s24(b)) >> 16) as i32)
            }
            (Type::S32, _) => op2!(i32, i32 => i32, |a, b| (s24(a) * s24(b)) as i32),
            (Type::U32, Some(Half::Hi)) => {
                op2!(u32, u32 => u32, |a, b| ((u24(a) * u24(b)) >> 16) as u32)
            }
            (Type::U32, _) => op2!(u32, u32 => u32, |a, b| (u24(a) * u24(b)) as u32),
            _ => return None,
        },
        Op::Mad24 => match (ty, m.half) {
            (Type::S32, Some(Half::Hi)) if m.sat => op3!(i32, i32, i32 => i32, |a, b, c|
                clamp32(((s24(a) * s24(b)) >> 16) + i64::from(c))),
            (Type::S32, Some(Half::Hi)) => op3!(i32, i32, i32 => i32, |a, b, c|
                (((s24(a) * s24(b)) >> 16) as i32).wrapping_add(c)),
            (Type::S32, _) => op3!(i32, i32, i32 => i32, |a, b, c|
                ((s24(a) * s24(b)) as i32).wrapping_add(c)),
            (Type::U32, Some(Half::Hi)) => op3!(u32, u32, u32 => u32, |a, b, c|
                (((u24(a) * u24(b)) >> 16) as u32).wrapping_add(c)),
            (Type::U32, _) => op3!(u32, u32, u32 => u32, |a, b, c|
                ((u24(a) * u24(b)) as u32).wrapping_add(c)),
            _ => return None,
        },
        // Division by zero gives all ones, the remainder then is the dividend; the most
        // negative number by minus one wraps.
        Op::Div => by_type!(ty, T => op2!(T, T => T, |a, b|
            if b == 0 { !0 } else { a.wrapping_div(b) })),
        Op::Rem => by_type!(ty, T => op2!(T, T => T, |a, b|
            if b == 0 { !0 } else { a.wrapping_rem(b) })),
        Op::Abs => by_sign!(ty, T => op1!(T => T, |a| a.wrapping_abs())),
        Op::Neg => match ty {
            Type::U16 | Type::U32 | Type::U64 => {
                by_type!(ty, T => op1!(T => T, |a| a.wrapping_neg()))
            }
            _ => by_sign!(ty, T => op1!(T => T, |a| a.wrapping_neg())),
        },
        Op::Min => match (ty, m.relu) {
            (Type::U16x2, _) => op2!(u32, u32 => u32, |a, b| pairs(a, b, u16::min)),
            (Type::S16x2, false) => op2!(u32, u32 => u32, |a, b|
                pairs(a, b, |a, b| (a as i16).min(b as i16) as u16)),
            (Type::S16x2, true) => op2!(u32, u32 => u32, |a, b|
                pairs(a, b, |a, b| (a as i16).min(b as i16).max(0) as u16)),
            (Type::S32, true) => op2!(i32, i32 => i32, |a, b| a.min(b).max(0)),
            (Type::S32, false) => op2!(hot i32, i32 => i32, |a, b| a.min(b)),
            _ => by_type!(ty, T => op2!(T, T => T, |a, b| a.min(b))),
        },
        Op::Max => match (ty, m.relu) {
            (Type::U16x2, _) => op2!(u32, u32 => u32, |a, b| pairs(a, b, u16::max)),
            (Type::S16x2, false) => op2!(u32, u32 => u32, |a, b|
                pairs(a, b, |a, b| (a as i16).max(b as i16) as u16)),
            (Type::S16x2, true) => op2!(u32, u32 => u32, |a, b|
                pairs(a, b, |a, b| (a as i16).max(b as i16).max(0) as u16)),
            (Type::S32, true) => op2!(i32, i32 => i32, |a, b| a.max(b).max(0)),
            (Type::S32, false) => op2!(hot i32, i32 => i32, |a, b| a.max(b)),
            _ => by_type!(ty, T => op2!(T, T => T, |a, b| a.max(b))),
        },
        Op::Sad => by_type!(ty, T => op3!(T, T, T => T, |a, b, c|
            c.wrapping_add(if a < b { b.wrapping_sub(a) } else { a.wrapping_sub(b) }))),
        Op::Dp4a => return dot4(ty, m.types[1]?),
        Op::Dp2a => return dot2(ty, m.types[1]?, m.half?),
        _ => return None,
    })
}

fn multiply(ty: Type, half: Option<Half>) -> Option<Plan> {
    Some(match (ty, half.unwrap_or(Half::Lo)) {
        (Type::U32 | Type::S32, Half::Lo) => {
            op2!(hot u32, u32 => u32, |a, b| a.wrapping_mul(b))
        }
        (Type::U64 | Type::S64, Half::Lo) => {
            op2!(hot u64, u64 => u64, |a, b| a.wrapping_mul(b))
        }
        (_, Half::Lo) => by_type!(ty, T => op2!(T, T => T, |a, b| a.wrapping_mul(b))),
        (Type::U16, Half::Hi) => {
            op2!(u16, u16 => u16, |a, b| ((u32::from(a) * u32::from(b)) >> 16) as u16)
        }
        (Type::S16, Half::Hi) => {
            op2!(i16, i16 => i16, |a, b| ((i32::from(a) * i32::from(b)) >> 16) as i16)
        }
        (Type::U32, Half::Hi) => {
            op2!(u32, u32 => u32, |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32)
        }
        (Type::S32, Half::Hi) => {
            op2!(i32, i32 => i32, |a, b| ((i64::from(a) * i64::from(b)) >> 32) as i32)
        }
        (Type::U64, Half::Hi) => {
            op2!(u64, u64 => u64, |a, b| ((u128::from(a) * u128::from(b)) >> 64) as u64)
        }
        (Type::S64, Half::Hi) => {
            op2!(i64, i64 => i64, |a, b| ((i128::from(a) * i128::from(b)) >> 64) as i64)
        }
        (Type::U16, Half::Wide) => op2!(u16, u16 => u32, |a, b| u32::from(a) * u32::from(b)),
        (Type::S16, Half::Wide) => op2!(i16, i16 => i32, |a, b| i32::from(a) * i32::from(b)),
        (Type::U32, Half::Wide) => op2!(hot u32, u32 => u64, |a, b| u64::from(a) * u64::from(b)),
        (Type::S32, Half::Wide) => op2!(hot i32, i32 => i64, |a, b| i64::from(a) * i64::from(b)),
        _ => return None,
    })
}

fn multiply_add(ty: Type, half: Option<Half>, sat: bool) -> Option<Plan> {
    Some(match (ty, half.unwrap_or(Half::Lo)) {
        (Type::S32, Half::Hi) if sat => op3!(i32, i32, i32 => i32, |a, b, c|
            clamp32(((i64::from(a) * i64::from(b)) >> 32) + i64::from(c))),
        (Type::U32 | Type::S32, Half::Lo) => op3!(hot u32, u32, u32 => u32, |a, b, c|
            a.wrapping_mul(b).wrapping_add(c)),
        (Type::U64 | Type::S64, Half::Lo) => op3!(hot u64, u64, u64 => u64, |a, b, c|
            a.wrapping_mul(b).wrapping_add(c)),
        (_, Half::Lo) => by_type!(ty, T => op3!(T, T, T => T, |a, b, c|
            a.wrapping_mul(b).wrapping_add(c))),
        (Type::U16, Half::Hi) => op3!(u16, u16, u16 => u16, |a, b, c|
            (((u32::from(a) * u32::from(b)) >> 16) as u16).wrapping_add(c)),
        (Type::S16, Half::Hi) => op3!(i16, i16, i16 => i16, |a, b, c|
            (((i32::from(a) * i32::from(b)) >> 16) as i16).wrapping_add(c)),
        (Type::U32, Half::Hi) => op3!(u32, u32, u32 => u32, |a, b, c|
            (((u64::from(a) * u64::from(b)) >> 32) as u32).wrapping_add(c)),
        (Type::S32, Half::Hi) => op3!(i32, i32, i32 => i32, |a, b, c|
            (((i64::from(a) * i64::from(b)) >> 32) as i32).wrapping_add(c)),
        (Type::U64, Half::Hi) => op3!(u64, u64, u64 => u64, |a, b, c|
            (((u128::from(a) * u128::from(b)) >> 64) as u64).wrapping_add(c)),
        (Type::S64, Half::Hi) => op3!(i64, i64, i64 => i64, |a, b, c|
            (((i128::from(a) * i128::from(b)) >> 64) as i64).wrapping_add(c)),
        (Type::U16, Half::Wide) => op3!(u16, u16, u32 => u32, |a, b, c|
            (u32::from(a) * u32::from(b)).wrapping_add(c)),
        (Type::S16, Half::Wide) => op3!(i16, i16, i32 => i32, |a, b, c|
            (i32::from(a) * i32::from(b)).wrapping_add(c)),
        (Type::U32, Half::Wide) => op3!(hot u32, u32, u64 => u64, |a, b, c|
            (u64::from(a) * u64::from(b)).wrapping_add(c)),
        (Type::S32, Half::Wide) => op3!(hot i32, i32, i64 => i64, |a, b, c|
            (i64::from(a) * i64::from(b)).wrapping_add(c)),
        _ => return None,
    })
}

/// Byte `n` of a packed operand of the given signedness.
fn byte(word: u32, n: u32, signed: bool) -> i32 {
    let b = (word >> (8 * n)) as u8;
    if signed {
        i32::from(b as i8)
    } else {
        i32::from(b)
    }
}

fn half_word(word: u32, n: u32, signed: bool) -> i32 {
    let h = (word >> (16 * n)) as u16;
    if signed {
        i32::from(h as i16)
    } else {
        i32::from(h)
    }
}

fn dp4a(a: u32, b: u32, c: u32, sa: bool, sb: bool) -> u32 {
    (0..4).fold(c, |sum, n| {
        sum.wrapping_add(byte(a, n, sa).wrapping_mul(byte(b, n, sb)) as u32)
    })
}

fn dp2a(a: u32, b: u32, c: u32, sa: bool, sb: bool, first: u32) -> u32 {
    (0..2).fold(c, |sum, n| {
        sum.wrapping_add(half_word(a, n, sa).wrapping_mul(byte(b, n + first, sb)) as u32)
    })
}

fn dot4(a: Type, b: Type) -> Option<Plan> {
    Some(match (a.is_signed(), b.is_signed()) {
        (false, false) => op3!(u32, u32, u32 => u32, |a, b, c| dp4a(a, b, c, false, false)),
        (false, true) => op3!(u32, u32, u32 => u32, |a, b, c| dp4a(a, b, c, false, true)),
        (true, false) => op3!(u32, u32, u32 => u32, |a, b, c| dp4a(a, b, c, true, false)),
        (true, true) => op3!(u32, u32, u32 => u32, |a, b, c| dp4a(a, b, c, true, true)),
    })
}

fn dot2(a: Type, b: Type, half: Half) -> Option<Plan> {
    let hi = half == Half::Hi;
    Some(match (a.is_signed(), b.is_signed(), hi) {
        (false, false, false) => {
            op3!(u32, u32, u32 => u32, |a, b, c| dp2a(a, b, c, false, false, 0))
        }
        (false, true, false) => op3!(u32, u32, u32 => u32, |a, b, c| dp2a(a, b, c, false, true, 0)),
        (true, false, false) => op3!(u32, u32, u32 => u32, |a, b, c| dp2a(a, b, c, true, false, 0)),
        (true, true, false) => op3!(u32, u32, u32 => u32, |a, b, c| dp2a(a, b, c, true, true, 0)),
        (false, false, true) => {
            op3!(u32, u32, u32 => u32, |a, b, c| dp2a(a, b, c, false, false, 2))
        }
        (false, true, true) => op3!(u32, u32, u32 => u32, |a, b, c| dp2a(a, b, c, false, true, 2)),
        (true, false, true) => op3!(u32, u32, u32 => u32, |a, b, c| dp2a(a, b, c, true, false, 2)),
        (true, true, true) => op3!(u32, u32, u32 => u32, |a, b, c| dp2a(a, b, c, true, true, 2)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{eval, mods, n, w};
    use warpsim_ptx::isa::Mods;

    fn two(op: Op, m: Mods, a: u64, b: u64) -> u64 {
        let wide = m.types[0].unwrap().bytes() == 8;
        if wide {
            eval(op, m, w(0), &[(w(1), a), (w(2), b)])
        } else {
            eval(op, m, n(0), &[(n(1), a), (n(2), b)])
        }
    }

    fn neg(x: i32) -> u64 {
        u64::from(x as u32)
    }

    #[test]
    fn division_has_no_undefined_corner() {
        assert_eq!(two(Op::Div, mods(Type::U32), 7, 0), 0xffff_ffff);
        assert_eq!(two(Op::Div, mods(Type::S32), 7, 0), 0xffff_ffff);
        assert_eq!(two(Op::Rem, mods(Type::S32), 7, 0), 0xffff_ffff);
        assert_eq!(two(Op::Div, mods(Type::S32), 1 << 31, neg(-1)), 1 << 31);
        assert_eq!(two(Op::Rem, mods(Type::S32), 1 << 31, neg(-1)), 0);
        assert_eq!(two(Op::Div, mods(Type::S32), neg(-7), 2), neg(-3));
        assert_eq!(two(Op::Rem, mods(Type::S32), neg(-7), 2), neg(-1));
        assert_eq!(two(Op::Div, mods(Type::U64), 7, 0), u64::MAX);
    }

    #[test]
    fn products() {
        let half = |ty, h| Mods {
            half: Some(h),
            ..mods(ty)
        };
        assert_eq!(two(Op::Mul, half(Type::S32, Half::Hi), neg(-1), 5), neg(-1));
        assert_eq!(two(Op::Mul, half(Type::U32, Half::Hi), neg(-1), 5), 4);
        let wide = |ty, a, b| eval(Op::Mul, half(ty, Half::Wide), w(0), &[(n(1), a), (n(2), b)]);
        assert_eq!(wide(Type::S32, neg(-3), 4), -12i64 as u64);
        assert_eq!(wide(Type::U32, neg(-3), 4), 0xffff_fffdu64 * 4);
        let m = half(Type::U16, Half::Wide);
        assert_eq!(
            eval(Op::Mul, m, n(0), &[(n(1), 0xffff), (n(2), 0xffff)]),
            0xfffe_0001
        );
        assert_eq!(
            two(Op::Mul, half(Type::S64, Half::Hi), -1i64 as u64, 1),
            u64::MAX
        );
        let m = Mods {
            sat: true,
            ..half(Type::S32, Half::Hi)
        };
        assert_eq!(
            eval(
                Op::Mad,
                m,
                n(0),
                &[(n(1), 0x4000_0000), (n(2), 4), (n(3), 0x7fff_ffff)]
            ),
            0x7fff_ffff
        );
        assert_eq!(
            two(Op::Mul24, half(Type::U32, Half::Hi), 0xff_ffff, 0xff_ffff),
            0xffff_fe00
        );
        assert_eq!(
            two(Op::Mul24, half(Type::S32, Half::Lo), 0xff_ffff, 3),
            neg(-3)
        );
    }

    #[test]
    fn minima_saturation_and_the_like() {
        assert_eq!(two(Op::Min, mods(Type::S32), neg(-1), 1), neg(-1));
        assert_eq!(two(Op::Min, mods(Type::U32), neg(-1), 1), 1);
        assert_eq!(two(Op::Max, mods(Type::S16), 0xffff, 1), 1);
        let sat = Mods {
            sat: true,
            ..mods(Type::S32)
        };
        assert_eq!(two(Op::Add, sat, 0x7fff_ffff, 1), 0x7fff_ffff);
        assert_eq!(two(Op::Sub, sat, 1 << 31, 1), 1 << 31);
        assert_eq!(
            eval(Op::Abs, mods(Type::S32), n(0), &[(n(1), 1 << 31)]),
            1 << 31
        );
        assert_eq!(
            eval(
                Op::Sad,
                mods(Type::S32),
                n(0),
                &[(n(1), neg(-3)), (n(2), 4), (n(3), 10)]
            ),
            17
        );
        assert_eq!(
            two(Op::Add, mods(Type::U16x2), 0x0001_ffff, 0x0001_0001),
            0x0002_0000
        );
    }

    #[test]
    fn dot_products() {
        let m = |a, b| Mods {
            types: [Some(a), Some(b), None],
            ..Mods::default()
        };
        let src = [(n(1), 0xff01_0203), (n(2), 0x0101_0102), (n(3), 100)];
        assert_eq!(
            eval(Op::Dp4a, m(Type::S32, Type::U32), n(0), &src),
            100 - 1 + 1 + 2 + 6
        );
        assert_eq!(
            eval(Op::Dp4a, m(Type::U32, Type::U32), n(0), &src),
            100 + 255 + 1 + 2 + 6
        );
        let half = |h| Mods {
            half: Some(h),
            ..m(Type::S32, Type::S32)
        };
        let src = [(n(1), 0xffff_0002), (n(2), 0x0403_0201), (n(3), 10)];
        assert_eq!(eval(Op::Dp2a, half(Half::Lo), n(0), &src), 10);
        assert_eq!(eval(Op::Dp2a, half(Half::Hi), n(0), &src), 10 + 6 - 4);
    }
}
