//! Single-precision sums and products.
//!
//! As in PTX, every result that is no number is 0x7fffffff; `.FTZ` takes denormals for zeros, `.SAT` keeps a result
//! between 0 and 1.

use super::args::Args;
use super::state::{Row, bits};
use super::{Action, Entry, entry};
use warpsim_exec::machine_code::{Rounding, fused_multiply_add};

pub const OPS: &[Entry] = &[
    entry("FADD", "a sum", add),
    entry("FMUL", "a product", multiply),
    entry("FFMA", "a product and a sum, rounded once", multiply_add),
    entry("FCHK", "whether a quotient needs the slow way", check),
];

/// The bits of what is not a number.
pub const NAN: u32 = 0x7fff_ffff;

/// A denormal becomes a zero of its sign.
#[inline(always)]
pub fn flush(x: f32) -> f32 {
    match x.abs() < f32::MIN_POSITIVE {
        true => f32::from_bits(x.to_bits() & 0x8000_0000),
        false => x,
    }
}

/// What is done to sources and results.
#[derive(Clone, Copy)]
struct Style {
    ftz: bool,
    sat: bool,
    rounding: Option<Rounding>,
}

impl Style {
    fn read(args: &mut Args<'_>) -> Style {
        let roundings = [
            ("RM", Rounding::Down),
            ("RP", Rounding::Up),
            ("RZ", Rounding::Zero),
        ];
        args.without_effect(&["RN"]);
        Style {
            ftz: args.modifier("FTZ"),
            sat: args.modifier("SAT"),
            rounding: args.one_of(&roundings),
        }
    }

    #[inline(always)]
    fn input(self, bits: u32) -> f32 {
        let value = f32::from_bits(bits);
        if self.ftz { flush(value) } else { value }
    }

    #[inline(always)]
    fn output(self, x: f32) -> u32 {
        let x = if self.ftz { flush(x) } else { x };
        if self.sat {
            return if x > 0.0 { x.min(1.0).to_bits() } else { 0 };
        }
        if x.is_nan() { NAN } else { x.to_bits() }
    }
}

/// A result of three floats, in loops of their own for the usual styles.
macro_rules! rows {
    ($style:expr, $r:ident, $dst:expr, |$lane:ident, $s:ident| $e:expr) => {
        match $style {
            Style {
                ftz: false,
                sat: false,
                ..
            } => {
                let $s = PLAIN;
                let row = Row::of(|$lane| $s.output($e));
                $r.set($dst, &row);
            }
            $s => {
                let row = Row::of(|$lane| $s.output($e));
                $r.set($dst, &row);
            }
        }
    };
}

fn add(args: &mut Args<'_>) -> Result<Action, String> {
    let style = Style::read(args);
    let (dst, a, b) = (args.dst()?, args.float()?, args.float()?);
    if let Some(rounding) = style.rounding {
        return Action::alu(move |r| {
            let (a, b) = (a.float(r), b.float(r));
            let row = Row::of(|lane| {
                let (a, b) = (style.input(a.0[lane]), style.input(b.0[lane]));
                style.output(fused_multiply_add(a, 1.0, b, rounding))
            });
            r.set(dst, &row);
        });
    }
    Action::alu(move |r| {
        let (a, b) = (a.float(r), b.float(r));
        rows!(style, r, dst, |lane, s| s.input(a.0[lane])
            + s.input(b.0[lane]));
    })
}

fn multiply(args: &mut Args<'_>) -> Result<Action, String> {
    let style = Style::read(args);
    let scales = [
        ("D8", 0.125),
        ("D4", 0.25),
        ("D2", 0.5),
        ("M2", 2.0),
        ("M4", 4.0),
        ("M8", 8.0),
    ];
    let scale: Option<f64> = args.one_of(&scales);
    let (dst, a, b) = (args.dst()?, args.float()?, args.float()?);
    if let Some(rounding) = style.rounding {
        if scale.is_some() {
            return Err("FMUL with a scale and a rounding is not known".into());
        }
        return Action::alu(move |r| {
            let (a, b) = (a.float(r), b.float(r));
            let row = Row::of(|lane| {
                let (a, b) = (style.input(a.0[lane]), style.input(b.0[lane]));
                // A zero of the product's sign changes nothing, not even the sign of a zero.
                let zero = f32::from_bits((a.to_bits() ^ b.to_bits()) & 0x8000_0000);
                style.output(fused_multiply_add(a, b, zero, rounding))
            });
            r.set(dst, &row);
        });
    }
    if let Some(scale) = scale {
        // The product of two floats and its scaling are exact in doubles: it is rounded once.
        return Action::alu(move |r| {
            let (a, b) = (a.float(r), b.float(r));
            rows!(style, r, dst, |lane, s| {
                let exact = f64::from(s.input(a.0[lane])) * f64::from(s.input(b.0[lane]));
                (exact * scale) as f32
            });
        });
    }
    Action::alu(move |r| {
        let (a, b) = (a.float(r), b.float(r));
        rows!(style, r, dst, |lane, s| s.input(a.0[lane])
            * s.input(b.0[lane]));
    })
}

fn multiply_add(args: &mut Args<'_>) -> Result<Action, String> {
    let style = Style::read(args);
    let (dst, a, b, c) = (args.dst()?, args.float()?, args.float()?, args.float()?);
    if let Some(rounding) = style.rounding {
        return Action::alu(move |r| {
            let (a, b, c) = (a.float(r), b.float(r), c.float(r));
            let row = Row::of(|lane| {
                let [a, b, c] = [a.0[lane], b.0[lane], c.0[lane]].map(|bits| style.input(bits));
                style.output(fused_multiply_add(a, b, c, rounding))
            });
            r.set(dst, &row);
        });
    }
    let products: Products = if fused() {
        products_fused
    } else {
        products_called
    };
    Action::alu(move |r| {
        let (a, b, c) = (a.float(r), b.float(r), c.float(r));
        // SAFETY: the version that needs the host to multiply and add at once was chosen where it does.
        let row = unsafe { products(style, &a, &b, &c) };
        r.set(dst, &row);
    })
}

/// Products and sums of rows.
type Products = unsafe fn(Style, &Row, &Row, &Row) -> Row;

/// Whether the host multiplies and adds at once.
fn fused() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::is_x86_feature_detected!("fma") && std::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

#[inline(always)]
fn products(style: Style, a: &Row, b: &Row, c: &Row) -> Row {
    let mut out = Row::all(0);
    for lane in 0..out.0.len() {
        let [a, b, c] = [a.0[lane], b.0[lane], c.0[lane]].map(|bits| style.input(bits));
        out.0[lane] = style.output(a.mul_add(b, c));
    }
    out
}

/// Products and sums by instructions of the host.
///
/// # Safety
/// The host has them.
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,fma"))]
unsafe fn products_fused(style: Style, a: &Row, b: &Row, c: &Row) -> Row {
    match style {
        Style {
            ftz: false,
            sat: false,
            ..
        } => products(PLAIN, a, b, c),
        style => products(style, a, b, c),
    }
}

/// The same by the host's library.
///
/// # Safety
/// There is nothing to see to; it has the type of the other.
unsafe fn products_called(style: Style, a: &Row, b: &Row, c: &Row) -> Row {
    products(style, a, b, c)
}

/// No style at all.
const PLAIN: Style = Style {
    ftz: false,
    sat: false,
    rounding: None,
};

/// Quotients are made of a reciprocal and corrections, which are right where neither the operands nor the quotient
/// come near the ends of what a float can be. The slow way is right everywhere, so it may be taken too often.
fn check(args: &mut Args<'_>) -> Result<Action, String> {
    args.without_effect(&["DIVIDE"]);
    let (out, a, b) = (args.predicate_dst()?, args.float()?, args.float()?);
    Action::alu(move |r| {
        let (a, b) = (a.float(r), b.float(r));
        let exponent = |bits: u32| (bits >> 23 & 0xff) as i32;
        let slow = bits(|lane| {
            let (a, b) = (exponent(a.0[lane]), exponent(b.0[lane]));
            let inside = (25..=253).contains(&a) & (2..=252).contains(&b);
            let quotient = a - b;
            !inside | !(-124..=125).contains(&quotient)
        });
        r.set_predicate(out, slow);
    })
}
