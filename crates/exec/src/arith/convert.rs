//! `cvt` among all types.
//!
//! The common forms have vectorised functions; the rest go through exact arithmetic lane by
//! lane. NaN becomes 0 in an integer, except that conversions from `.f64` or to 64 bits give
//! the most significant bit alone; NaN becomes the canonical NaN of a float type, but keeps its
//! sign and payload from and to fp64.

use warpsim_ptx::isa::{Mods, Op, Rounding, Type};
use warpsim_ptx::kernel::Instr;

use crate::fault::Fault;
use crate::float::softfloat::{BF16, Exact, F16, F32, F64, Format, Round, TF32};
use crate::op::{Decoded, Plan, Regs, Value, Width, World, by_type, dispatch, op1};
use crate::state::lanes_of;

/// [`by_type`] with the 8-bit types, which only conversions know.
macro_rules! integers {
    ($ty:expr, $t:ident => $e:expr) => {
        match $ty {
            Type::U8 | Type::B8 => {
                type $t = u8;
                $e
            }
            Type::S8 => {
                type $t = i8;
                $e
            }
            wider => by_type!(wider, $t => $e),
        }
    };
}

pub(crate) fn decode(i: &Instr) -> Option<Plan> {
    if i.op != Op::Cvt {
        return None;
    }
    fast(i).or_else(|| general(i))
}

fn is_integer(ty: Type) -> bool {
    integer_bits(ty).is_some()
}

/// Forms worth a function of their own.
fn fast(i: &Instr) -> Option<Plan> {
    let m = &i.mods;
    let (to, from) = (m.types[0]?, m.types[1]?);
    if i.src.len() != 1 || m.sat || m.relu {
        return None;
    }
    if is_integer(to) && is_integer(from) {
        return Some(integers!(from, A => integers!(to, R => op1!(A => R, |a| a as R))));
    }
    let nearest = matches!(m.rounding, Some(Rounding::Rn) | None);
    Some(match (to, from) {
        (Type::F32, Type::S32) if nearest => {
            let f = dispatch!(d, r, r.map1::<i32, f32>(d, |a| a as f32));
            Plan::alu(f, &[Width::Narrow], &[Width::Narrow])
        }
        (Type::F32, _) if nearest && is_integer(from) => {
            integers!(from, A => op1!(A => f32, |a| a as f32))
        }
        (Type::F64, _) if nearest && is_integer(from) => {
            integers!(from, A => op1!(A => f64, |a| a as f64))
        }
        // `as` truncates, saturates and takes NaN to 0.
        (Type::S32, Type::F32) if m.rounding == Some(Rounding::Rzi) => {
            op1!(f32 => i32, |a| a as i32)
        }
        (Type::U32, Type::F32) if m.rounding == Some(Rounding::Rzi) => {
            op1!(f32 => u32, |a| a as u32)
        }
        (Type::F64, Type::F32) if !m.ftz && m.rounding.is_none() => op1!(u32 => u64, |a| widen(a)),
        (Type::F32, Type::F64) if nearest && !m.ftz => op1!(u64 => u32, |a| {
            let x = f64::from_bits(a);
            if x.is_nan() {
                nan_payload(a, F64, F32) as u32
            } else {
                (x as f32).to_bits()
            }
        }),
        _ => return None,
    })
}

/// A NaN in another format, quiet, with its sign and the upper bits of its payload.
fn nan_payload(bits: u64, from: Format, to: Format) -> u64 {
    let sign = if bits & from.sign() != 0 {
        to.sign()
    } else {
        0
    };
    let payload = bits & ((1 << from.mantissa) - 1);
    let payload = if from.mantissa > to.mantissa {
        payload >> (from.mantissa - to.mantissa)
    } else {
        payload << (to.mantissa - from.mantissa)
    };
    sign | to.infinity() | 1 << (to.mantissa - 1) | payload
}

/// fp32 to fp64, on bits so that NaN payloads are kept the same on every host.
fn widen(a: u32) -> u64 {
    let x = f32::from_bits(a);
    if x.is_nan() {
        u64::from(a >> 31) << 63 | 0x7ff8 << 48 | u64::from(a & 0x7f_ffff) << 29
    } else {
        f64::from(x).to_bits()
    }
}

fn width(ty: Type) -> Width {
    if ty.bytes() == 8 {
        Width::Wide
    } else {
        Width::Narrow
    }
}

fn general(i: &Instr) -> Option<Plan> {
    let (to, from) = (i.mods.types[0]?, i.mods.types[1]?);
    let pair = matches!(to, Type::F16x2 | Type::Bf16x2);
    let known = |t: Type| is_integer(t) || float_format(t).is_some();
    if pair {
        if from != Type::F32 || i.src.len() != 2 {
            return None;
        }
    } else if !known(to) || !known(from) || i.src.len() != 1 {
        return None;
    }
    Some(Plan::full(run, &[width(from); 2], &[width(to)]))
}

fn run(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let m = &w.cold.instr.mods;
    let (Some(to), Some(from)) = (m.types[0], m.types[1]) else {
        return Ok(());
    };
    let mut out = u64::ZERO;
    for lane in lanes_of(r.mask) {
        let read = |k: usize| {
            if from.bytes() == 8 {
                r.lane::<u64>(d.src[k], lane)
            } else {
                u64::from(r.lane::<u32>(d.src[k], lane))
            }
        };
        let value = match to {
            // The first source is the upper half.
            Type::F16x2 => {
                convert(read(0), from, Type::F16, m) << 16 | convert(read(1), from, Type::F16, m)
            }
            Type::Bf16x2 => {
                convert(read(0), from, Type::Bf16, m) << 16 | convert(read(1), from, Type::Bf16, m)
            }
            _ => convert(read(0), from, to, m),
        };
        u64::put(&mut out, lane, value);
    }
    if to.bytes() == 8 {
        r.commit::<u64>(d.dst[0], &out);
    } else {
        let mut narrow = u32::ZERO;
        for (lane, word) in narrow.iter_mut().enumerate() {
            *word = u64::get(&out, lane) as u32;
        }
        r.commit::<u32>(d.dst[0], &narrow);
    }
    Ok(())
}

/// Bits and signedness of an integer type.
fn integer_bits(ty: Type) -> Option<(u32, bool)> {
    use Type::*;
    match ty {
        B8 | B16 | B32 | B64 | U8 | U16 | U32 | U64 | S8 | S16 | S32 | S64 => {
            Some((ty.bytes() * 8, ty.is_signed()))
        }
        _ => None,
    }
}

fn float_format(ty: Type) -> Option<Format> {
    Some(match ty {
        Type::F16 => F16,
        Type::Bf16 => BF16,
        Type::Tf32 => TF32,
        Type::F32 => F32,
        Type::F64 => F64,
        _ => return None,
    })
}

fn rounding(m: &Mods) -> Round {
    match m.rounding {
        None | Some(Rounding::Rn | Rounding::Rni) => Round::Nearest,
        Some(Rounding::Rz | Rounding::Rzi) => Round::Zero,
        Some(Rounding::Rm | Rounding::Rmi) => Round::Down,
        Some(Rounding::Rp | Rounding::Rpi) => Round::Up,
        Some(Rounding::Rna) => Round::Away,
    }
}

fn to_integral(m: &Mods) -> bool {
    matches!(
        m.rounding,
        Some(Rounding::Rni | Rounding::Rzi | Rounding::Rmi | Rounding::Rpi)
    )
}

/// Converts one value; the result has the bits of the destination type, sign-extended to 32
/// bits for narrow signed integers.
fn convert(bits: u64, from: Type, to: Type, m: &Mods) -> u64 {
    match (integer_bits(from), integer_bits(to)) {
        (Some((n, signed)), Some(target)) => {
            let shift = 64 - n;
            let value = if signed {
                i128::from((bits << shift) as i64 >> shift)
            } else {
                i128::from(bits << shift >> shift)
            };
            clamp_integer(value, target, m.sat)
        }
        (Some((n, signed)), None) => {
            let shift = 64 - n;
            let value = bits << shift >> shift;
            let negative = signed && value >> (n - 1) & 1 != 0;
            let magnitude = if negative {
                (value | u64::MAX.checked_shl(n).unwrap_or(0)).wrapping_neg()
            } else {
                value
            };
            finish_float(Exact::integer(negative, magnitude), to, m)
        }
        (None, Some(target)) => float_to_integer(bits, from, target, m),
        (None, None) => float_to_float(bits, from, to, m),
    }
}

fn clamp_integer(value: i128, (n, signed): (u32, bool), sat: bool) -> u64 {
    let (low, high) = if signed {
        (-(1i128 << (n - 1)), (1i128 << (n - 1)) - 1)
    } else {
        (0, (1i128 << n) - 1)
    };
    let value = if sat { value.clamp(low, high) } else { value };
    let shift = 64 - n;
    let bits = (value as u64) << shift;
    if signed {
        (bits as i64 >> shift) as u64
    } else {
        bits >> shift
    }
}

fn flush_source(bits: u64, from: Type, m: &Mods) -> u64 {
    if m.ftz && from == Type::F32 && bits & 0x7f80_0000 == 0 {
        bits & 0x8000_0000
    } else {
        bits
    }
}

/// Masks a register down to the bits of the source type.
fn source_bits(bits: u64, f: Format) -> u64 {
    bits & (f.sign() | (f.sign() - 1))
}

fn float_to_integer(bits: u64, from: Type, (n, signed): (u32, bool), m: &Mods) -> u64 {
    let Some(f) = float_format(from) else {
        return 0;
    };
    let bits = flush_source(source_bits(bits, f), from, m);
    if f.is_nan(bits) {
        let marked = from == Type::F64 || n == 64;
        return if marked {
            clamp_integer(1 << (n - 1), (n, signed), false)
        } else {
            0
        };
    }
    let value = if f.is_infinite(bits) {
        None
    } else {
        Exact::unpack(bits, f).to_integer(rounding(m))
    };
    let negative = bits & f.sign() != 0;
    let value = match value {
        Some((true, magnitude)) => -i128::from(magnitude),
        Some((false, magnitude)) => i128::from(magnitude),
        None if negative => i128::MIN,
        None => i128::MAX,
    };
    // Out of range clamps whether or not `.sat` is written.
    clamp_integer(value, (n, signed), true)
}

fn canonical_nan(to: Type) -> u64 {
    match to {
        Type::F16 | Type::Bf16 => 0x7fff,
        Type::Tf32 => 0x7fff_e000,
        Type::F64 => 0x7fff_ffff_e000_0000,
        _ => 0x7fff_ffff,
    }
}

fn float_to_float(bits: u64, from: Type, to: Type, m: &Mods) -> u64 {
    let (Some(f), Some(t)) = (float_format(from), float_format(to)) else {
        return bits;
    };
    // To fp16, `.ftz` is accepted and has no effect.
    let bits = match to {
        Type::F16 => source_bits(bits, f),
        _ => flush_source(source_bits(bits, f), from, m),
    };
    let finite = saturates_finite(to, m);
    let unit = m.sat && !finite;
    if f.is_nan(bits) {
        return match (from, to) {
            _ if unit => 0,
            // The same type without a modifier is a move.
            (Type::F32, Type::F32) | (Type::F64, Type::F64) if m.rounding.is_none() && !m.ftz => {
                bits
            }
            // Nothing but a shift.
            (Type::Bf16, Type::F32) => bits << 16,
            // The payload is truncated; what is left of it may be an infinity.
            (Type::F32, Type::Tf32) if m.rounding == Some(Rounding::Rna) => bits & !0x1fff,
            (Type::F32, Type::F64) if m.ftz => canonical_nan(to),
            // Hardware converts from and to fp64 with the payload, the rest without.
            (Type::F64, _) | (_, Type::F64) => nan_payload(bits, f, t),
            _ => canonical_nan(to),
        };
    }
    let negative = bits & f.sign() != 0;
    if f.is_infinite(bits) {
        if m.relu && negative {
            return 0;
        }
        if finite {
            let sign = if negative { t.sign() } else { 0 };
            return place((t.infinity() - 1) | sign, to);
        }
        if unit {
            let one = Exact::integer(false, 1).pack(t, Round::Nearest);
            return place(if negative { 0 } else { one }, to);
        }
        let sign = if negative { t.sign() } else { 0 };
        return place(t.infinity() | sign, to);
    }
    let mut exact = Exact::unpack(bits, f);
    if to_integral(m) {
        exact = match exact.to_integer(rounding(m)) {
            Some((negative, magnitude)) => Exact::integer(negative, magnitude),
            // Beyond 2^64 every float is an integer already.
            None => exact,
        };
    }
    finish_float(exact, to, m)
}

/// `.satfinite` clamps to the largest finite number where `.sat` clamps to 0..1; both are the
/// same flag, and only the types that have no `.sat` have `.satfinite`.
fn saturates_finite(to: Type, m: &Mods) -> bool {
    m.sat && (matches!(to, Type::Bf16 | Type::Tf32) || m.types[0] == Some(Type::F16x2))
}

/// An fp32 register holds a tf32 in its upper 19 bits.
fn place(bits: u64, to: Type) -> u64 {
    if to == Type::Tf32 { bits << 13 } else { bits }
}

fn finish_float(exact: Exact, to: Type, m: &Mods) -> u64 {
    let Some(t) = float_format(to) else { return 0 };
    let bits = exact.pack(t, rounding(m));
    let negative = bits & t.sign() != 0;
    if m.relu && negative {
        return 0;
    }
    if saturates_finite(to, m) {
        if t.is_infinite(bits) {
            return place(bits - 1, to);
        }
    } else if m.sat {
        let one = Exact::integer(false, 1).pack(t, Round::Nearest);
        let flushed = m.ftz && to == Type::F32 && bits & 0x7f80_0000 == 0;
        return place(
            if negative || flushed {
                0
            } else {
                bits.min(one)
            },
            to,
        );
    }
    if m.ftz && to == Type::F32 && bits & 0x7f80_0000 == 0 {
        return bits & 0x8000_0000;
    }
    place(bits, to)
}

#[cfg(test)]
#[path = "convert_test.rs"]
mod tests;
