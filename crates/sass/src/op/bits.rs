//! Bits: logic by truth tables, shifts, permutations, counts.

use super::args::Args;
use super::state::{PredicateDst, Row, bits};
use super::{Action, Entry, entry, of_one};

pub const OPS: &[Entry] = &[
    entry(
        "LOP3",
        "any function of three bits, as a table of its eight results",
        lop3,
    ),
    entry("ULOP3", "LOP3 of the warp", lop3),
    entry("PLOP3", "any function of three predicates", plop3),
    entry("UPLOP3", "PLOP3 of the warp", plop3),
    entry("SHF", "a shift of two words as one", shift),
    entry("USHF", "SHF of the warp", shift),
    entry("PRMT", "bytes of two words, chosen one by one", permute),
    entry("UPRMT", "PRMT of the warp", permute),
    entry(
        "SGXT",
        "the low bits, with zeros or the sign above them",
        extend,
    ),
    entry("USGXT", "SGXT of the warp", extend),
    entry("POPC", "how many bits are set", |args| {
        of_one(args, u32::count_ones)
    }),
    entry("UPOPC", "POPC of the warp", |args| {
        of_one(args, u32::count_ones)
    }),
    entry("BREV", "the bits in reverse order", |args| {
        of_one(args, u32::reverse_bits)
    }),
    entry("UBREV", "BREV of the warp", |args| {
        of_one(args, u32::reverse_bits)
    }),
    entry("FLO", "the number of the highest bit that is set", leading),
    entry("UFLO", "FLO of the warp", leading),
    entry("BMSK", "a mask of so many bits from a place on", mask),
];

/// The function of three words that a table of eight results means.
#[inline(always)]
fn table(lut: u32, a: u32, b: u32, c: u32) -> u32 {
    let mut out = 0;
    for case in 0..8 {
        let wanted = |value: u32, bit: u32| if case >> bit & 1 != 0 { value } else { !value };
        if lut >> case & 1 != 0 {
            out |= wanted(a, 2) & wanted(b, 1) & wanted(c, 0);
        }
    }
    out
}

fn lop3(args: &mut Args<'_>) -> Result<Action, String> {
    if !args.modifier("LUT") {
        return Err("LOP3 without a table is not known".into());
    }
    let both = args.modifier("PAND");
    let out = args.optional_predicate_dst()?;
    let dst = args.dst()?;
    let (a, b, c) = (args.integer()?, args.integer()?, args.integer()?);
    let lut = args.number()?;
    let with = args.predicate_or_false()?;
    let looks = !matches!(out, PredicateDst::Thread(7) | PredicateDst::Uniform(7));
    // Most tables are of few functions; each is a loop of its own.
    macro_rules! run {
        ($f:expr) => {
            Action::alu(move |r| {
                let (a, b, c) = (a.integer(r), b.integer(r), c.integer(r));
                let f = $f;
                let result = Row::of(|lane| f(a.0[lane], b.0[lane], c.0[lane]));
                if looks {
                    let (found, with) = (bits(|lane| result.0[lane] != 0), with.bits(r));
                    r.set_predicate(out, if both { found & with } else { found | with });
                }
                r.set(dst, &result);
            })
        };
    }
    match lut {
        0xc0 => run!(|a: u32, b: u32, _| a & b),
        0xfc => run!(|a: u32, b: u32, _| a | b),
        0x3c => run!(|a: u32, b: u32, _| a ^ b),
        0x96 => run!(|a: u32, b: u32, c: u32| a ^ b ^ c),
        0x33 => run!(|_, b: u32, _| !b),
        0xf8 => run!(|a: u32, b: u32, c: u32| a | b & c),
        lut => run!(move |a, b, c| table(lut, a, b, c)),
    }
}

fn plop3(args: &mut Args<'_>) -> Result<Action, String> {
    if !args.modifier("LUT") {
        return Err("PLOP3 without a table is not known".into());
    }
    let out = [args.predicate_dst()?, args.predicate_dst()?];
    let from = [args.predicate()?, args.predicate()?, args.predicate()?];
    let luts = [args.number()?, args.number()?];
    Action::alu(move |r| {
        let [a, b, c] = from.map(|p| p.bits(r));
        for (out, lut) in out.into_iter().zip(luts) {
            r.set_predicate(out, table(lut, a, b, c));
        }
    })
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Word { signed: bool },
    Double { signed: bool },
}

fn shift(args: &mut Args<'_>) -> Result<Action, String> {
    let left = match args.one_of(&[("L", true), ("R", false)]) {
        Some(left) => left,
        None => return Err("SHF without a direction is not known".into()),
    };
    let wraps = args.modifier("W");
    let kinds = [
        ("U32", Kind::Word { signed: false }),
        ("S32", Kind::Word { signed: true }),
        ("U64", Kind::Double { signed: false }),
        ("S64", Kind::Double { signed: true }),
    ];
    let kind = args
        .one_of(&kinds)
        .ok_or("SHF without a type is not known")?;
    let high = args.modifier("HI");
    let (dst, low, by, upper) = (
        args.dst()?,
        args.integer()?,
        args.integer()?,
        args.integer()?,
    );
    let (limit, signed) = match kind {
        Kind::Word { signed } => (32, signed),
        Kind::Double { signed } => (64, signed),
    };
    Action::alu(move |r| {
        let (low, by, upper) = (low.integer(r), by.integer(r), upper.integer(r));
        r.set(
            dst,
            &Row::of(|lane| {
                let by = match wraps {
                    true => by.0[lane] & (limit - 1),
                    false => by.0[lane].min(limit),
                };
                let both = u64::from(upper.0[lane]) << 32 | u64::from(low.0[lane]);
                let shifted = match (left, signed) {
                    (true, _) => both.checked_shl(by).unwrap_or(0),
                    (false, false) => both.checked_shr(by).unwrap_or(0),
                    (false, true) => ((both as i64) >> by.min(63)) as u64,
                };
                if high {
                    (shifted >> 32) as u32
                } else {
                    shifted as u32
                }
            }),
        );
    })
}

fn permute(args: &mut Args<'_>) -> Result<Action, String> {
    let (dst, a, how, b) = (
        args.dst()?,
        args.integer()?,
        args.integer()?,
        args.integer()?,
    );
    Action::alu(move |r| {
        let (a, how, b) = (a.integer(r), how.integer(r), b.integer(r));
        r.set(
            dst,
            &Row::of(|lane| {
                let bytes = u64::from(b.0[lane]) << 32 | u64::from(a.0[lane]);
                let mut out = 0;
                for place in 0..4 {
                    let choice = how.0[lane] >> (4 * place) & 0xf;
                    let byte = (bytes >> (8 * (choice & 7))) as u8;
                    let byte = match choice & 8 {
                        0 => byte,
                        _ => ((byte as i8) >> 7) as u8,
                    };
                    out |= u32::from(byte) << (8 * place);
                }
                out
            }),
        );
    })
}

fn extend(args: &mut Args<'_>) -> Result<Action, String> {
    let (unsigned, wraps) = (args.modifier("U32"), args.modifier("W"));
    let (dst, a, width) = (args.dst()?, args.integer()?, args.integer()?);
    Action::alu(move |r| {
        let (a, width) = (a.integer(r), width.integer(r));
        r.set(
            dst,
            &Row::of(|lane| {
                let kept = match wraps {
                    true => width.0[lane] & 31,
                    false => width.0[lane].min(32),
                };
                if kept == 0 {
                    return 0;
                }
                let above = 32 - kept;
                match unsigned {
                    true => a.0[lane] << above >> above,
                    false => ((a.0[lane] << above) as i32 >> above) as u32,
                }
            }),
        );
    })
}

fn leading(args: &mut Args<'_>) -> Result<Action, String> {
    let unsigned = args.modifier("U32");
    let as_shift = args.modifier("SH");
    of_one(args, move |a| {
        // Of signed numbers, the highest bit that is not the sign.
        let a = if unsigned || (a as i32) >= 0 { a } else { !a };
        match (a, as_shift) {
            (0, _) => u32::MAX,
            (a, true) => a.leading_zeros(),
            (a, false) => 31 - a.leading_zeros(),
        }
    })
}

fn mask(args: &mut Args<'_>) -> Result<Action, String> {
    let wraps = args.modifier("W");
    if !wraps && !args.modifier("C") {
        return Err("BMSK of this kind is not known".into());
    }
    super::of_two(args, move |from, bits| {
        let (from, bits) = match wraps {
            true => (from & 31, bits & 31),
            false => (from.min(32), bits.min(32)),
        };
        let ones = 1u64.checked_shl(bits).map_or(u64::MAX, |one| one - 1);
        (ones << from) as u32
    })
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn a_table_says_what_each_case_gives() {
        let (a, b, c) = (0xf0f0_1234, 0xcccc_5678, 0xaaaa_9abc);
        assert_eq!(table(0xc0, a, b, c), a & b);
        assert_eq!(table(0x96, a, b, c), a ^ b ^ c);
        assert_eq!(table(0xca, a, b, c), a & b | !a & c);
        assert_eq!((table(0, a, b, c), table(0xff, a, b, c)), (0, u32::MAX));
    }
}
