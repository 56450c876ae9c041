//! Between integers and floats.

use super::args::Args;
use super::float::{NAN, flush};
use super::state::Row;
use super::{Action, Entry, entry};
use warpsim_exec::machine_code::{Rounding, integer_to_float};

pub const OPS: &[Entry] = &[
    entry("F2I", "a float as an integer, within its range", to_integer),
    entry("I2F", "an integer as a float", to_float),
    entry("I2FP", "an integer as a float", to_float),
    entry("FRND", "a float as a whole number", round),
];

fn whole(x: f32, rounding: Option<Rounding>) -> f32 {
    match rounding {
        None => x.round_ties_even(),
        Some(Rounding::Zero) => x.trunc(),
        Some(Rounding::Down) => x.floor(),
        Some(Rounding::Up) => x.ceil(),
    }
}

fn whole_rounding(args: &mut Args<'_>) -> Option<Rounding> {
    args.one_of(&[
        ("TRUNC", Rounding::Zero),
        ("FLOOR", Rounding::Down),
        ("CEIL", Rounding::Up),
    ])
}

fn to_integer(args: &mut Args<'_>) -> Result<Action, String> {
    let ftz = args.modifier("FTZ");
    let unsigned = args.modifier("U32");
    let rounding = whole_rounding(args);
    if !args.modifier("NTZ") {
        return Err("F2I that does not take what is no number for zero is not known".into());
    }
    let (dst, a) = (args.dst()?, args.float()?);
    Action::alu(move |r| {
        let a = a.float(r);
        let row = Row::of(|lane| {
            let value = f32::from_bits(a.0[lane]);
            let value = whole(if ftz { flush(value) } else { value }, rounding);
            // Beyond the range they stop at its ends, and what is no number is zero.
            if unsigned {
                value as u32
            } else {
                value as i32 as u32
            }
        });
        r.set(dst, &row);
    })
}

fn round(args: &mut Args<'_>) -> Result<Action, String> {
    let ftz = args.modifier("FTZ");
    let rounding = whole_rounding(args);
    let (dst, a) = (args.dst()?, args.float()?);
    Action::alu(move |r| {
        let a = a.float(r);
        let row = Row::of(|lane| {
            let value = f32::from_bits(a.0[lane]);
            let value = whole(if ftz { flush(value) } else { value }, rounding);
            if value.is_nan() { NAN } else { value.to_bits() }
        });
        r.set(dst, &row);
    })
}

fn to_float(args: &mut Args<'_>) -> Result<Action, String> {
    args.without_effect(&["F32", "RN"]);
    let kinds = [
        ("U32", (32, false)),
        ("S32", (32, true)),
        ("U16", (16, false)),
        ("S16", (16, true)),
        ("U8", (8, false)),
        ("S8", (8, true)),
    ];
    let (bits, signed) = args.one_of(&kinds).unwrap_or((32, true));
    let rounding = args.one_of(&[
        ("RZ", Rounding::Zero),
        ("RM", Rounding::Down),
        ("RP", Rounding::Up),
    ]);
    let dst = args.dst()?;
    let (a, part) = args.selected()?;
    let from = match (part, bits) {
        (None, 32) | (Some("B0"), 8) | (None | Some("H0"), 16) | (None, 8) => 0,
        (Some("B1"), 8) => 8,
        (Some("B2"), 8) => 16,
        (Some("B3"), 8) => 24,
        (Some("H1"), 16) => 16,
        (Some(part), _) => return Err(format!("the part .{part} of an integer is not known")),
        (None, _) => return Err("I2F of this width is not known".into()),
    };
    let above = 32 - bits;
    Action::alu(move |r| {
        let a = a.integer(r);
        let row = Row::of(|lane| {
            let value = a.0[lane] >> from << above;
            let value = match signed {
                true => i64::from(value as i32 >> above),
                false => i64::from(value >> above),
            };
            match rounding {
                None => (value as f32).to_bits(),
                Some(rounding) => integer_to_float(value, rounding).to_bits(),
            }
        });
        r.set(dst, &row);
    })
}
