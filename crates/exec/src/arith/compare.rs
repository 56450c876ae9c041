//! Comparison and selection: `setp`, `set`, `selp`, `slct`, `testp`.

use warpsim_ptx::isa::{Cmp, Mode, Op, Type};
use warpsim_ptx::kernel::Instr;

use crate::float::float16::{bf16_value, f16_value, flushed_f16_value};
use crate::float::float32::flush;
use crate::op::{Decoded, Plan, Regs, Value, Width, dispatch, op3, width};
use crate::state::LANES;

pub(crate) fn decode(i: &Instr) -> Option<Plan> {
    let m = &i.mods;
    match i.op {
        Op::Setp => compare(i, m.types[0]?),
        Op::Set => compare(i, m.types[1]?),
        Op::Selp => Some(select(m.types[0]?)),
        Op::Slct => slct(i),
        Op::Testp => testp(i),
        _ => None,
    }
}

/// What `set` writes for true.
pub(crate) fn truth(i: &Instr) -> u32 {
    if i.op != Op::Set {
        return 0;
    }
    match i.mods.types[0] {
        Some(Type::F32) => 1f32.to_bits(),
        Some(Type::F16) => 0x3c00,
        Some(Type::F16x2) => 0x3c00_3c00,
        Some(Type::Bf16) => 0x3f80,
        Some(Type::Bf16x2) => 0x3f80_3f80,
        Some(Type::U16 | Type::S16 | Type::B16) => 0xffff,
        _ => u32::MAX,
    }
}

#[inline(always)]
fn finish(d: &Decoded, r: &mut Regs<'_>, bits: u32) {
    if d.truth != 0 {
        let bits = d.combine(bits, r);
        let mut out = [0; LANES];
        for (lane, out) in out.iter_mut().enumerate() {
            *out = if bits >> lane & 1 != 0 { d.truth } else { 0 };
        }
        r.commit::<u32>(d.dst[0], &out);
        return;
    }
    let first = d.combine(bits, r);
    let second = d.combine(!bits, r);
    r.set_predicate(d.pdst[0], first);
    r.set_predicate(d.pdst[1], second);
}

macro_rules! compare_fn {
    ($t:ty, |$a:ident, $b:ident| $e:expr) => {
        (
            dispatch!(d, r, {
                let bits = r.test2::<$t, $t>(d, |$a, $b| $e);
                finish(d, r, bits);
            }),
            width::<$t>(),
        )
    };
}

macro_rules! integer {
    ($t:ty, $cmp:expr) => {
        match $cmp {
            Cmp::Eq => compare_fn!($t, |a, b| a == b),
            Cmp::Ne => compare_fn!($t, |a, b| a != b),
            Cmp::Lt | Cmp::Lo => compare_fn!($t, |a, b| a < b),
            Cmp::Le | Cmp::Ls => compare_fn!($t, |a, b| a <= b),
            Cmp::Gt | Cmp::Hi => compare_fn!($t, |a, b| a > b),
            Cmp::Ge | Cmp::Hs => compare_fn!($t, |a, b| a >= b),
            _ => return None,
        }
    };
}

// Ordered comparisons are false and `u` ones true when an operand is NaN.
#[allow(clippy::neg_cmp_op_on_partial_ord, clippy::double_comparisons)]
fn float<T: PartialOrd>(cmp: Cmp, a: T, b: T) -> bool {
    match cmp {
        Cmp::Eq => a == b,
        Cmp::Ne => a < b || a > b,
        Cmp::Lt | Cmp::Lo => a < b,
        Cmp::Le | Cmp::Ls => a <= b,
        Cmp::Gt | Cmp::Hi => a > b,
        Cmp::Ge | Cmp::Hs => a >= b,
        Cmp::Equ => !(a < b || a > b),
        Cmp::Neu => a != b,
        Cmp::Ltu => !(a >= b),
        Cmp::Leu => !(a > b),
        Cmp::Gtu => !(a <= b),
        Cmp::Geu => !(a < b),
        Cmp::Num => a.partial_cmp(&b).is_some(),
        Cmp::Nan => a.partial_cmp(&b).is_none(),
    }
}

macro_rules! floating {
    ($t:ty, $cmp:expr, |$v:ident| $value:expr) => {{
        macro_rules! one {
            ($c:ident) => {
                compare_fn!($t, |a, b| {
                    let convert = |$v: $t| $value;
                    float(Cmp::$c, convert(a), convert(b))
                })
            };
        }
        match $cmp {
            Cmp::Eq => one!(Eq),
            Cmp::Ne => one!(Ne),
            Cmp::Lt | Cmp::Lo => one!(Lt),
            Cmp::Le | Cmp::Ls => one!(Le),
            Cmp::Gt | Cmp::Hi => one!(Gt),
            Cmp::Ge | Cmp::Hs => one!(Ge),
            Cmp::Equ => one!(Equ),
            Cmp::Neu => one!(Neu),
            Cmp::Ltu => one!(Ltu),
            Cmp::Leu => one!(Leu),
            Cmp::Gtu => one!(Gtu),
            Cmp::Geu => one!(Geu),
            Cmp::Num => one!(Num),
            Cmp::Nan => one!(Nan),
        }
    }};
}

fn compare(i: &Instr, ty: Type) -> Option<Plan> {
    let cmp = i.mods.cmp?;
    // `lo`, `ls`, `hi`, `hs` are unsigned whatever the type says.
    let unsigned = matches!(cmp, Cmp::Lo | Cmp::Ls | Cmp::Hi | Cmp::Hs);
    let (run, w) = match ty {
        Type::U16 | Type::B16 => integer!(u16, cmp),
        Type::S16 if unsigned => integer!(u16, cmp),
        Type::S16 => integer!(i16, cmp),
        Type::U32 | Type::B32 => integer!(u32, cmp),
        Type::S32 if unsigned => integer!(u32, cmp),
        Type::S32 => integer!(i32, cmp),
        Type::U64 | Type::B64 => integer!(u64, cmp),
        Type::S64 if unsigned => integer!(u64, cmp),
        Type::S64 => integer!(i64, cmp),
        Type::F32 if i.mods.ftz => floating!(f32, cmp, |v| flush(v)),
        Type::F32 => floating!(f32, cmp, |v| v),
        Type::F64 => floating!(f64, cmp, |v| v),
        Type::F16 if i.mods.ftz => floating!(u16, cmp, |v| flushed_f16_value(v)),
        Type::F16 => floating!(u16, cmp, |v| f16_value(v)),
        Type::Bf16 => floating!(u16, cmp, |v| bf16_value(v)),
        Type::F16x2 | Type::Bf16x2 => return Some(packed(i)),
        _ => return None,
    };
    let src = [w, w, Width::Predicate];
    Some(if i.op == Op::Set {
        Plan::alu(run, &src, &[Width::Narrow])
    } else {
        Plan::alu(run, &src, &[Width::Predicate, Width::Predicate])
    })
}

/// `setp.f16x2 p|q`: the low halves decide `p`, the high ones `q`. `set` writes both halves.
fn packed(i: &Instr) -> Plan {
    use crate::fault::Fault;
    use crate::op::World;
    fn run(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
        let m = &w.cold.instr.mods;
        let cmp = m.cmp.unwrap_or(Cmp::Eq);
        let brain = m.types.contains(&Some(Type::Bf16x2));
        let value = match (brain, m.ftz) {
            (true, _) => bf16_value,
            (false, true) => flushed_f16_value,
            (false, false) => f16_value,
        };
        let mut bits = [0u32; 2];
        for lane in 0..LANES {
            let a = r.lane::<u32>(d.src[0], lane);
            let b = r.lane::<u32>(d.src[1], lane);
            for (half, bits) in bits.iter_mut().enumerate() {
                let v = |x: u32| value((x >> (16 * half)) as u16);
                *bits |= u32::from(float(cmp, v(a), v(b))) << lane;
            }
        }
        let bits = bits.map(|b| d.combine(b, r));
        if w.cold.instr.op == Op::Set {
            let out: [u32; LANES] = std::array::from_fn(|lane| {
                let half = |k: usize| {
                    if bits[k] >> lane & 1 != 0 {
                        d.truth & 0xffff << (16 * k)
                    } else {
                        0
                    }
                };
                half(0) | half(1)
            });
            r.commit::<u32>(d.dst[0], &out);
        } else {
            r.set_predicate(d.pdst[0], bits[0]);
            r.set_predicate(d.pdst[1], bits[1]);
        }
        Ok(())
    }
    let src = [Width::Narrow, Width::Narrow, Width::Predicate];
    if i.op == Op::Set {
        Plan::full(run, &src, &[Width::Narrow])
    } else {
        Plan::full(run, &src, &[Width::Predicate, Width::Predicate])
    }
}

fn select(ty: Type) -> Plan {
    #[inline(always)]
    fn run<T: Value>(d: &Decoded, r: &mut Regs<'_>) {
        let p = r.predicate(d.preds[0]);
        let mut out = *r.row::<T>(d.src[1]);
        T::blend(&mut out, r.row::<T>(d.src[0]), p);
        r.commit::<T>(d.dst[0], &out);
    }
    if ty.bytes() == 8 {
        let f = dispatch!(d, r, run::<u64>(d, r));
        Plan::alu(
            f,
            &[Width::Wide, Width::Wide, Width::Predicate],
            &[Width::Wide],
        )
    } else {
        let f = dispatch!(d, r, run::<u32>(d, r));
        let n = Width::Narrow;
        Plan::alu(f, &[n, n, Width::Predicate], &[n])
    }
}

fn slct(i: &Instr) -> Option<Plan> {
    let wide = i.mods.types[0]?.bytes() == 8;
    Some(match (wide, i.mods.types[1]?, i.mods.ftz) {
        (false, Type::S32, _) => op3!(u32, u32, i32 => u32, |a, b, c| if c >= 0 { a } else { b }),
        (true, Type::S32, _) => op3!(u64, u64, i32 => u64, |a, b, c| if c >= 0 { a } else { b }),
        // A flushed denormal is a zero of either sign, which is not negative.
        (false, Type::F32, true) => {
            op3!(u32, u32, f32 => u32, |a, b, c| if flush(c) >= 0.0 { a } else { b })
        }
        (true, Type::F32, true) => {
            op3!(u64, u64, f32 => u64, |a, b, c| if flush(c) >= 0.0 { a } else { b })
        }
        (false, Type::F32, false) => {
            op3!(u32, u32, f32 => u32, |a, b, c| if c >= 0.0 { a } else { b })
        }
        (true, Type::F32, false) => {
            op3!(u64, u64, f32 => u64, |a, b, c| if c >= 0.0 { a } else { b })
        }
        _ => return None,
    })
}

macro_rules! test_fn {
    ($t:ty, |$a:ident| $e:expr) => {{
        fn run(d: &Decoded, r: &mut Regs<'_>) {
            let row = r.row::<$t>(d.src[0]);
            let mut bits = 0;
            for lane in 0..LANES {
                let $a = <$t as Value>::get(row, lane);
                bits |= u32::from($e) << lane;
            }
            r.set_predicate(d.pdst[0], bits);
        }
        Plan::alu(run, &[width::<$t>()], &[Width::Predicate])
    }};
}

fn testp(i: &Instr) -> Option<Plan> {
    macro_rules! tests {
        ($t:ty) => {
            match i.mods.mode? {
                Mode::Finite => test_fn!($t, |a| a.is_finite()),
                Mode::Infinite => test_fn!($t, |a| a.is_infinite()),
                Mode::Number => test_fn!($t, |a| !a.is_nan()),
                Mode::NotANumber => test_fn!($t, |a| a.is_nan()),
                // Zeros count as normal.
                Mode::Normal => test_fn!($t, |a| a.is_normal() || a == 0.0),
                Mode::Subnormal => test_fn!($t, |a| a.is_subnormal()),
                _ => return None,
            }
        };
    }
    Some(match i.mods.types[0]? {
        Type::F32 => tests!(f32),
        Type::F64 => tests!(f64),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, eval, instr, mods, n, p, w};
    use warpsim_ptx::isa::{BoolOp, Mods};
    use warpsim_ptx::kernel::Operand;

    fn setp(ty: Type, cmp: Cmp, a: u64, b: u64) -> bool {
        let m = Mods {
            cmp: Some(cmp),
            ..mods(ty)
        };
        let src = if ty.bytes() == 8 {
            [(w(1), a), (w(2), b)]
        } else {
            [(n(1), a), (n(2), b)]
        };
        eval(Op::Setp, m, p(0), &src) != 0
    }

    #[test]
    fn unordered_comparisons_are_true_for_nan() {
        let nan = u64::from(f32::NAN.to_bits());
        let one = u64::from(1f32.to_bits());
        let ordered = [
            Cmp::Eq,
            Cmp::Ne,
            Cmp::Lt,
            Cmp::Le,
            Cmp::Gt,
            Cmp::Ge,
            Cmp::Num,
        ];
        let unordered = [
            Cmp::Equ,
            Cmp::Neu,
            Cmp::Ltu,
            Cmp::Leu,
            Cmp::Gtu,
            Cmp::Geu,
            Cmp::Nan,
        ];
        for cmp in ordered {
            assert!(!setp(Type::F32, cmp, nan, one), "{cmp:?}");
        }
        for cmp in unordered {
            assert!(setp(Type::F32, cmp, one, nan), "{cmp:?}");
        }
        assert!(setp(Type::F32, Cmp::Eq, 0, 0x8000_0000));
        assert!(setp(Type::F64, Cmp::Lt, 1f64.to_bits(), 2f64.to_bits()));
        assert!(setp(Type::F16, Cmp::Gt, 0x3c00, 0xbc00));
        let ftz = Mods {
            cmp: Some(Cmp::Eq),
            ftz: true,
            ..mods(Type::F32)
        };
        assert_eq!(eval(Op::Setp, ftz, p(0), &[(n(1), 1), (n(2), 0)]), 1);
        assert!(!setp(Type::F32, Cmp::Eq, 1, 0));
    }

    #[test]
    fn integers_compare_by_type() {
        assert!(setp(Type::S32, Cmp::Lt, 0xffff_ffff, 0));
        assert!(!setp(Type::U32, Cmp::Lt, 0xffff_ffff, 0));
        assert!(setp(Type::S32, Cmp::Hi, 0xffff_ffff, 0));
        // Only the low half of a 16-bit register counts.
        assert!(setp(Type::S16, Cmp::Eq, 0xffff_0001, 1));
        assert!(setp(Type::S64, Cmp::Lt, u64::MAX, 0));
    }

    #[test]
    fn combination_and_the_second_predicate() {
        let mut bench = Bench::new();
        for lane in 0..32 {
            bench.set(n(1), lane, lane as u64);
            bench.set(n(2), lane, 16);
            bench.set(p(2), lane, u64::from(lane % 2 == 0));
        }
        let m = Mods {
            cmp: Some(Cmp::Lt),
            boolop: Some(BoolOp::And),
            ..mods(Type::U32)
        };
        let Operand::Reg(reg) = p(2) else {
            unreachable!()
        };
        let i = instr(
            Op::Setp,
            m,
            &[p(0), p(1)],
            &[n(1), n(2), Operand::NotReg(reg)],
        );
        bench.step(i, 0x00ff_ffff).unwrap();
        assert_eq!(bench.threads.warps[0].predicates[0], 0x0000_aaaa);
        assert_eq!(bench.threads.warps[0].predicates[1], 0x00aa_0000);
    }

    #[test]
    fn set_select_and_test() {
        let m = |to| Mods {
            types: [Some(to), Some(Type::S32), None],
            cmp: Some(Cmp::Lt),
            ..Mods::default()
        };
        assert_eq!(
            eval(Op::Set, m(Type::U32), n(0), &[(n(1), 1), (n(2), 2)]),
            0xffff_ffff
        );
        assert_eq!(
            eval(Op::Set, m(Type::F32), n(0), &[(n(1), 1), (n(2), 2)]),
            u64::from(1f32.to_bits())
        );
        assert_eq!(
            eval(
                Op::Selp,
                mods(Type::B64),
                w(0),
                &[(w(1), 5), (w(2), 6), (p(1), 0)]
            ),
            6
        );
        let m = |c| Mods {
            types: [Some(Type::U32), Some(c), None],
            ..Mods::default()
        };
        assert_eq!(
            eval(
                Op::Slct,
                m(Type::S32),
                n(0),
                &[(n(1), 5), (n(2), 6), (n(3), 0xffff_ffff)]
            ),
            6
        );
        assert_eq!(
            eval(
                Op::Slct,
                m(Type::F32),
                n(0),
                &[(n(1), 5), (n(2), 6), (n(3), 0x8000_0000)]
            ),
            5
        );
        assert_eq!(
            eval(
                Op::Slct,
                m(Type::F32),
                n(0),
                &[(n(1), 5), (n(2), 6), (n(3), 0x7fc0_0000)]
            ),
            6
        );
        let m = |mode| Mods {
            mode: Some(mode),
            ..mods(Type::F32)
        };
        assert_eq!(eval(Op::Testp, m(Mode::Subnormal), p(0), &[(n(1), 1)]), 1);
        assert_eq!(eval(Op::Testp, m(Mode::Normal), p(0), &[(n(1), 1)]), 0);
        assert_eq!(
            eval(Op::Testp, m(Mode::NotANumber), p(0), &[(n(1), 0x7fc0_0000)]),
            1
        );
    }
}
