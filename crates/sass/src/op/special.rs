//! The special-function unit and special registers.
//!
//! `MUFU` is computed in double precision and rounded once, as our PTX is: within every documented bound, more accurate
//! than the hardware, not its bits. Denormals are zeros to it, coming and going.

use super::args::Args;
use super::float::{NAN, flush};
use super::state::{Reach, Row};
use super::{Action, Entry, entry};
use warpsim_exec::machine_code::{cosine_of_turns, hyperbolic_tangent, sine_of_turns};
use warpsim_exec::state::LANES;

pub const OPS: &[Entry] = &[
    entry(
        "MUFU",
        "reciprocals, roots, exponentials, logarithms, sines",
        function,
    ),
    entry("S2R", "a special register", special),
    entry(
        "S2UR",
        "a special register, which is the same in all threads",
        special,
    ),
    entry("CS2R", "a special register of 64 bits", special_pair),
];

/// A function that is computed in double precision and rounded.
type OfDouble = fn(f64) -> f64;
/// One that is computed as the unit does.
type OfFloat = fn(f32) -> f32;

fn function(args: &mut Args<'_>) -> Result<Action, String> {
    let functions: [(&str, OfDouble); 6] = [
        ("RCP", |x| 1.0 / x),
        ("RSQ", |x| 1.0 / x.sqrt()),
        ("SQRT", f64::sqrt),
        ("EX2", f64::exp2),
        ("LG2", f64::log2),
        ("TANH", hyperbolic_tangent),
    ];
    let turns: [(&str, OfFloat); 2] = [("SIN", sine_of_turns), ("COS", cosine_of_turns)];
    let doubles: Option<OfDouble> = args.one_of(&functions);
    let floats: Option<OfFloat> = args.one_of(&turns);
    let (dst, a) = (args.dst()?, args.float()?);
    if doubles.is_none() && floats.is_none() {
        let name = args.instruction().spelling();
        return Err(format!("the function of {name} is not known"));
    }
    Action::alu(move |r| {
        let a = a.float(r);
        let mask = r.mask;
        let row = Row::of(|lane| {
            if mask >> lane & 1 == 0 {
                return 0;
            }
            let x = flush(f32::from_bits(a.0[lane]));
            let y = match (doubles, floats) {
                (Some(f), _) => f(f64::from(x)) as f32,
                (None, Some(f)) => f(x),
                (None, None) => x,
            };
            if y.is_nan() { NAN } else { flush(y).to_bits() }
        });
        r.set(dst, &row);
    })
}

/// A special register of 32 bits.
type Special = fn(&Reach<'_, '_>, usize) -> u32;

const SPECIALS: [(&str, Special); 17] = [
    ("SRZ", |_, _| 0),
    ("SR_TID.X", |r, lane| r.registers.tid[0][lane]),
    ("SR_TID.Y", |r, lane| r.registers.tid[1][lane]),
    ("SR_TID.Z", |r, lane| r.registers.tid[2][lane]),
    ("SR_CTAID.X", |r, _| r.ctaid[0]),
    ("SR_CTAID.Y", |r, _| r.ctaid[1]),
    ("SR_CTAID.Z", |r, _| r.ctaid[2]),
    ("SR_LANEID", |_, lane| lane as u32),
    ("SR_EQMASK", |_, lane| 1 << lane),
    ("SR_LTMASK", |_, lane| (1 << lane) - 1),
    ("SR_LEMASK", |_, lane| u32::MAX >> (31 - lane)),
    ("SR_GTMASK", |_, lane| {
        u32::MAX.checked_shl(lane as u32 + 1).unwrap_or(0)
    }),
    ("SR_GEMASK", |_, lane| u32::MAX << lane),
    // There are no clusters: every block is the first of its own.
    ("SR_CgaCtaId", |_, _| 0),
    ("SR_SWINHI", |_, _| {
        (warpsim_ptx::kernel::window::SHARED >> 32) as u32
    }),
    ("SR_CLOCKLO", |r, _| r.clock as u32),
    ("SR_CLOCKHI", |r, _| (r.clock >> 32) as u32),
];

fn named(args: &mut Args<'_>) -> Result<(&'static str, Special), String> {
    let name = args.word()?;
    let found = SPECIALS.iter().find(|(known, _)| *known == name);
    let found = found.ok_or_else(|| format!("the special register {name} is not known"))?;
    Ok(*found)
}

fn special(args: &mut Args<'_>) -> Result<Action, String> {
    let dst = args.dst()?;
    let (_, read) = named(args)?;
    Action::alu(move |r| {
        let values: [u32; LANES] = std::array::from_fn(|lane| read(r, lane));
        r.set(dst, &Row(values));
    })
}

fn special_pair(args: &mut Args<'_>) -> Result<Action, String> {
    let single = args.modifier("32");
    let dst = args.dst()?;
    let (name, read) = named(args)?;
    let clock = name == "SR_CLOCKLO";
    if !single && !clock && name != "SRZ" {
        return Err(format!("CS2R of 64 bits of {name} is not known"));
    }
    Action::alu(move |r| {
        let low: [u32; LANES] = std::array::from_fn(|lane| read(r, lane));
        r.set(dst, &Row(low));
        if !single {
            let high = if clock { (r.clock >> 32) as u32 } else { 0 };
            r.set(dst.next(), &Row::all(high));
        }
    })
}
