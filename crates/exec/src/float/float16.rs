//! Half precision: `.f16`, `.bf16` and their pairs.
//!
//! Every operation rounds once. NaN results are 0x7fff in both formats.

use warpsim_ptx::isa::{Mods, Op, Type};
use warpsim_ptx::kernel::Instr;

use super::rounding::directed;
use super::softfloat::{self, BF16, Exact, F16, F64, Format, Round};
use crate::fault::Fault;
use crate::op::{Decoded, Plan, Regs, Width, World};
use crate::state::{LANES, lanes_of};

const NAN: u16 = 0x7fff;

/// The value of an fp16 number for instructions with `.ftz`.
#[inline(always)]
pub(crate) fn flushed_f16_value(bits: u16) -> f32 {
    f16_value(flush(bits, F16))
}

/// The value of an fp16 number.
#[inline(always)]
pub(crate) fn f16_value(bits: u16) -> f32 {
    half::f16::from_bits(bits).to_f32()
}

/// The value of a bf16 number.
#[inline(always)]
pub(crate) fn bf16_value(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// The format of a half type, and whether it is a pair.
pub(crate) fn format(ty: Type) -> Option<(Format, bool)> {
    Some(match ty {
        Type::F16 => (F16, false),
        Type::F16x2 => (F16, true),
        Type::Bf16 => (BF16, false),
        Type::Bf16x2 => (BF16, true),
        _ => return None,
    })
}

pub(crate) fn decode(i: &Instr) -> Option<Plan> {
    format(i.mods.types[0]?)?;
    let sources = match i.op {
        Op::Add | Op::Sub | Op::Mul | Op::Min | Op::Max => 2,
        Op::Fma => 3,
        Op::Abs | Op::Neg | Op::Tanh | Op::Ex2 => 1,
        _ => return None,
    };
    Some(Plan::full(
        run,
        &[Width::Narrow; 3][..sources],
        &[Width::Narrow],
    ))
}

fn run(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let instr = &w.cold.instr;
    let Some((f, pair)) = instr.mods.types[0].and_then(format) else {
        return Ok(());
    };
    let mut out = [0u32; LANES];
    for lane in lanes_of(r.mask) {
        let src: [u32; 3] = std::array::from_fn(|k| {
            if k < instr.src.len() {
                r.lane::<u32>(d.src[k], lane)
            } else {
                0
            }
        });
        let low = lane_op(instr.op, &instr.mods, f, src.map(|s| s as u16));
        out[lane] = u32::from(low);
        if pair {
            let high = lane_op(instr.op, &instr.mods, f, src.map(|s| (s >> 16) as u16));
            out[lane] |= u32::from(high) << 16;
        }
    }
    r.commit::<u32>(d.dst[0], &out);
    Ok(())
}

fn flush(x: u16, f: Format) -> u16 {
    let magnitude = x & 0x7fff;
    if u32::from(magnitude) < 1 << f.mantissa {
        x & 0x8000
    } else {
        x
    }
}

fn lane_op(op: Op, m: &Mods, f: Format, src: [u16; 3]) -> u16 {
    let nan = |x: u16| f.is_nan(u64::from(x));
    let [a, b, c] = if m.ftz { src.map(|x| flush(x, f)) } else { src };
    let round = directed(m.rounding).unwrap_or(Round::Nearest);
    let wide = |x: u16| u64::from(x);
    let negate = |x: u16| x ^ 0x8000;
    let used = match op {
        Op::Fma => 3,
        Op::Abs | Op::Neg | Op::Tanh | Op::Ex2 => 1,
        _ => 2,
    };
    let any_nan = [a, b, c][..used].iter().any(|&x| nan(x));
    let result = match op {
        Op::Abs | Op::Neg if any_nan => return NAN,
        Op::Abs => return a & 0x7fff,
        Op::Neg => return negate(a),
        Op::Min | Op::Max => return extreme(op == Op::Min, m, f, a, b),
        _ if any_nan => None,
        Op::Add => softfloat::add(wide(a), wide(b), f, round),
        Op::Sub => softfloat::add(wide(a), wide(negate(b)), f, round),
        Op::Mul => softfloat::mul(wide(a), wide(b), f, round),
        Op::Fma => softfloat::fma(wide(a), wide(b), wide(c), f, round),
        _ => {
            let x = f64::from(if f == BF16 {
                bf16_value(a)
            } else {
                f16_value(a)
            });
            // A single's result, cut: rounding towards zero, but what is too large is infinite.
            let y = if op == Op::Tanh {
                super::transcendental::tanh(x)
            } else {
                x.exp2()
            };
            let y = f64::from(y as f32);
            let cut = Exact::unpack(y.to_bits(), F64).pack(f, Round::Zero);
            let too_large = y >= 2f64.powi(1 << (f.exponent - 1));
            Some(if too_large { f.infinity() } else { cut })
        }
    };
    let result = result.map_or(NAN, |bits| bits as u16);
    finish(result, m, f)
}

fn finish(x: u16, m: &Mods, f: Format) -> u16 {
    let x = if m.ftz && !f.is_nan(u64::from(x)) {
        flush(x, f)
    } else {
        x
    };
    let one = Exact::integer(false, 1).pack(f, Round::Nearest) as u16;
    let negative_or_nan = x & 0x8000 != 0 || f.is_nan(u64::from(x));
    if m.sat {
        return if negative_or_nan { 0 } else { x.min(one) };
    }
    if m.relu && x & 0x8000 != 0 && !f.is_nan(u64::from(x)) {
        return 0;
    }
    x
}

fn extreme(least: bool, m: &Mods, f: Format, a: u16, b: u16) -> u16 {
    let nan = |x: u16| f.is_nan(u64::from(x));
    let sign = (a ^ b) & 0x8000;
    let (x, y) = if m.xorsign_abs {
        (a & 0x7fff, b & 0x7fff)
    } else {
        (a, b)
    };
    let picked = match (nan(x), nan(y)) {
        (true, true) => return NAN,
        (true, _) | (_, true) if m.nan => return NAN,
        (true, false) => y,
        (false, true) => x,
        (false, false) => {
            // Sign-magnitude order, in which negative zero is below positive zero.
            let key = |v: u16| {
                let magnitude = i32::from(v & 0x7fff);
                if v & 0x8000 != 0 {
                    -magnitude - 1
                } else {
                    magnitude
                }
            };
            if (key(x) < key(y)) == least { x } else { y }
        }
    };
    let picked = if m.xorsign_abs { picked | sign } else { picked };
    finish(picked, m, f)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{eval, mods, n};
    use proptest::prelude::*;

    #[test]
    fn known_results() {
        let two = |op, ty, a, b| eval(op, mods(ty), n(0), &[(n(1), a), (n(2), b)]);
        assert_eq!(two(Op::Add, Type::F16, 0x3c00, 0x3c00), 0x4000);
        assert_eq!(two(Op::Mul, Type::F16, 0x7bff, 0x4000), 0x7c00);
        assert_eq!(two(Op::Add, Type::F16, 0x7c00, 0xfc00), 0x7fff);
        assert_eq!(
            two(Op::Add, Type::F16x2, 0x3c00_0001, 0x3c00_0001),
            0x4000_0002
        );
        assert_eq!(two(Op::Sub, Type::Bf16, 0x4040, 0x3f80), 0x4000);
        assert_eq!(two(Op::Max, Type::F16, 0x8000, 0x0000), 0);
        assert_eq!(two(Op::Min, Type::F16, 0x7e00, 0x3c00), 0x3c00);
        let relu = Mods {
            relu: true,
            ..mods(Type::F16)
        };
        assert_eq!(
            eval(
                Op::Fma,
                relu,
                n(0),
                &[(n(1), 0xbc00), (n(2), 0x3c00), (n(3), 0)]
            ),
            0
        );
        let sat = Mods {
            sat: true,
            ..mods(Type::F16)
        };
        assert_eq!(
            eval(Op::Add, sat, n(0), &[(n(1), 0x4000), (n(2), 0x4000)]),
            0x3c00
        );
        let ftz = Mods {
            ftz: true,
            ..mods(Type::F16)
        };
        assert_eq!(
            eval(Op::Add, ftz, n(0), &[(n(1), 0x8001), (n(2), 0x8000)]),
            0x8000
        );
        assert_eq!(
            eval(Op::Ex2, mods(Type::F16), n(0), &[(n(1), 0x4000)]),
            0x4400
        );
    }

    /// Whether `got` is the fp16 number nearest to `exact`, ties to even. (Conversions of the
    /// `half` crate go through fp32 and round twice, so they are no reference.)
    fn is_nearest(got: u16, exact: f64) -> bool {
        let value = |bits: u16| f64::from(f16_value(bits));
        if exact.is_nan() {
            return got == NAN;
        }
        if exact.abs() >= 65520.0 {
            return got & 0x7fff == 0x7c00 && (got & 0x8000 != 0) == (exact < 0.0);
        }
        let distance = |bits: u16| (value(bits) - exact).abs();
        let magnitude = got & 0x7fff;
        let sign = got & 0x8000;
        let mut neighbours = vec![sign | (magnitude + 1).min(0x7bff)];
        if magnitude > 0 {
            neighbours.push(sign | (magnitude - 1));
        }
        magnitude < 0x7c00
            && (exact == 0.0 || (sign != 0) == (exact < 0.0))
            && neighbours.into_iter().filter(|&b| b != got).all(|b| {
                distance(got) < distance(b) || distance(got) == distance(b) && got & 1 == 0
            })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn results_are_the_nearest_to_the_exact_ones(a: u16, b: u16, c: u16) {
            // An fp64 holds sums and products of fp16 numbers exactly.
            let [x, y, z] = [a, b, c].map(|v| f64::from(f16_value(v)));
            prop_assume!(!x.is_nan() && !y.is_nan() && !z.is_nan());
            let m = mods(Type::F16);
            for (op, exact) in [(Op::Add, x + y), (Op::Sub, x - y), (Op::Mul, x * y)] {
                let got = lane_op(op, &m, F16, [a, b, 0]);
                prop_assert!(is_nearest(got, exact), "{:?} {} {}: {:#x}", op, x, y, got);
            }
            let got = lane_op(Op::Fma, &m, F16, [a, b, c]);
            let exact = x * y + z;
            // A sum that needs more than 53 bits is not known exactly here.
            if exact - z == x * y && exact - x * y == z || exact.is_nan() {
                prop_assert!(is_nearest(got, exact), "{} {} {}: {:#x}", x, y, z, got);
            }
        }
    }
    #[test]
    fn fma_close_to_a_tie_rounds_once() {
        assert_eq!(
            lane_op(Op::Fma, &mods(Type::F16), F16, [9285, 5595, 39444]),
            0x9a07
        );
    }
}
