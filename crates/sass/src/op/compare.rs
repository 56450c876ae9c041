//! Comparisons, and what is chosen by them.

use super::args::Args;
use super::float::{NAN, flush};
use super::state::{PredicateDst, Reach, Row, bits};
use super::value::Predicate;
use super::{Action, Entry, entry};
use warpsim_exec::state::LANES;

pub const OPS: &[Entry] = &[
    entry("ISETP", "compares integers", compare_integers),
    entry("UISETP", "ISETP of the warp", compare_integers),
    entry("FSETP", "compares floats", compare_floats),
    entry("SEL", "one of two, by a predicate", select),
    entry("USEL", "SEL of the warp", select),
    entry("FSEL", "one of two floats, by a predicate", select_float),
    entry("VIMNMX", "the smaller or larger of two integers", extreme),
    entry(
        "VIMNMX3",
        "the smallest or largest of three integers",
        extreme_of_three,
    ),
    entry(
        "VIADDMNMX",
        "a sum of two, and the smaller or larger of it and a third",
        extreme_of_sum,
    ),
    entry(
        "FMNMX",
        "the smaller or larger of two floats",
        extreme_of_floats,
    ),
];

/// How a comparison goes together with a predicate.
#[derive(Clone, Copy)]
enum Join {
    And,
    Or,
    Xor,
}

impl Join {
    fn read(args: &mut Args<'_>) -> Result<Join, String> {
        let all = [("AND", Join::And), ("OR", Join::Or), ("XOR", Join::Xor)];
        args.one_of(&all)
            .ok_or("a comparison is not joined to its predicate".into())
    }

    fn of(self, a: u32, b: u32) -> u32 {
        match self {
            Join::And => a & b,
            Join::Or => a | b,
            Join::Xor => a ^ b,
        }
    }
}

/// Results of a comparison: what is asked for, and the opposite of it, each joined to the predicate.
fn put(r: &mut Reach<'_, '_>, out: [PredicateDst; 2], join: Join, found: u32, with: Predicate) {
    let with = with.bits(r);
    r.set_predicate(out[0], join.of(found, with));
    r.set_predicate(out[1], join.of(!found, with));
}

/// What is asked of an order: less, equal, greater.
type Order = (bool, bool, bool);

const ORDERS: [(&str, Order); 6] = [
    ("LT", (true, false, false)),
    ("EQ", (false, true, false)),
    ("LE", (true, true, false)),
    ("GT", (false, false, true)),
    ("NE", (true, false, true)),
    ("GE", (false, true, true)),
];

fn compare_integers(args: &mut Args<'_>) -> Result<Action, String> {
    let (less, equal, greater) = args
        .one_of(&ORDERS)
        .ok_or("ISETP of this kind is not known")?;
    let unsigned = args.modifier("U32");
    let join = Join::read(args)?;
    let extended = args.modifier("EX");
    let out = [args.predicate_dst()?, args.predicate_dst()?];
    let (a, b, with) = (args.integer()?, args.integer()?, args.predicate()?);
    let lower = if extended {
        Some(args.predicate()?)
    } else {
        None
    };
    // With this added, the order of signed numbers is that of unsigned ones.
    let bias = if unsigned { 0 } else { 1u32 << 31 };
    Action::alu(move |r| {
        let (a, b) = (a.integer(r), b.integer(r));
        let (a, b) = (
            Row::of(|lane| a.0[lane] ^ bias),
            Row::of(|lane| b.0[lane] ^ bias),
        );
        let same = bits(|lane| a.0[lane] == b.0[lane]);
        let below = bits(|lane| a.0[lane] < b.0[lane]);
        let pick = |asked: bool, bits: u32| if asked { bits } else { 0 };
        // Where the high words are equal the low ones decide, which were compared before.
        let decided = match lower {
            Some(lower) => lower.bits(r) & same,
            None => pick(equal, same),
        };
        let found = pick(less, below) | decided | pick(greater, !below & !same);
        put(r, out, join, found, with);
    })
}

fn compare_floats(args: &mut Args<'_>) -> Result<Action, String> {
    let unordered = [
        ("LTU", (true, false, false)),
        ("EQU", (false, true, false)),
        ("LEU", (true, true, false)),
        ("GTU", (false, false, true)),
        ("NEU", (true, false, true)),
        ("GEU", (false, true, true)),
        ("NAN", (false, false, false)),
    ];
    let number = ("NUM", (true, true, true));
    let (order, nan) = match args.one_of(&unordered) {
        Some(order) => (order, true),
        None => {
            let ordered = args.one_of(&ORDERS).or_else(|| args.one_of(&[number]));
            (ordered.ok_or("FSETP of this kind is not known")?, false)
        }
    };
    let ((less, equal, greater), ftz, join) = (order, args.modifier("FTZ"), Join::read(args)?);
    let out = [args.predicate_dst()?, args.predicate_dst()?];
    let (a, b, with) = (args.float()?, args.float()?, args.predicate()?);
    Action::alu(move |r| {
        let (a, b) = (a.float(r), b.float(r));
        let input = |bits: u32| {
            let value = f32::from_bits(bits);
            if ftz { flush(value) } else { value }
        };
        let found = bits(|lane| {
            let (a, b) = (input(a.0[lane]), input(b.0[lane]));
            less & (a < b) | equal & (a == b) | greater & (a > b) | nan & (a.is_nan() | b.is_nan())
        });
        put(r, out, join, found, with);
    })
}

fn choose(r: &mut Reach<'_, '_>, by: u32, a: &Row, b: &Row) -> Row {
    let _ = r;
    Row::of(|lane| {
        if by >> lane & 1 != 0 {
            a.0[lane]
        } else {
            b.0[lane]
        }
    })
}

fn select(args: &mut Args<'_>) -> Result<Action, String> {
    let (dst, a, b, by) = (
        args.dst()?,
        args.integer()?,
        args.integer()?,
        args.predicate()?,
    );
    Action::alu(move |r| {
        let (a, b, by) = (a.integer(r), b.integer(r), by.bits(r));
        let row = choose(r, by, &a, &b);
        r.set(dst, &row);
    })
}

fn select_float(args: &mut Args<'_>) -> Result<Action, String> {
    let ftz = args.modifier("FTZ");
    let (dst, a, b, by) = (args.dst()?, args.float()?, args.float()?, args.predicate()?);
    Action::alu(move |r| {
        let (a, b, by) = (a.float(r), b.float(r), by.bits(r));
        let mut row = choose(r, by, &a, &b);
        if ftz {
            row.0
                .iter_mut()
                .for_each(|v| *v = flush(f32::from_bits(*v)).to_bits());
        }
        r.set(dst, &row);
    })
}

/// The smaller of two where `least`, else the larger.
#[inline(always)]
fn of_both(least: bool, unsigned: bool, a: u32, b: u32) -> u32 {
    let bias = if unsigned { 0 } else { 1u32 << 31 };
    if (a ^ bias < b ^ bias) == least { a } else { b }
}

fn extreme(args: &mut Args<'_>) -> Result<Action, String> {
    let unsigned = args.modifier("U32");
    let (dst, a, b, least) = (
        args.dst()?,
        args.integer()?,
        args.integer()?,
        args.predicate()?,
    );
    Action::alu(move |r| {
        let (a, b, least) = (a.integer(r), b.integer(r), least.bits(r));
        let row = Row::of(|lane| of_both(least >> lane & 1 != 0, unsigned, a.0[lane], b.0[lane]));
        r.set(dst, &row);
    })
}

fn extreme_of_three(args: &mut Args<'_>) -> Result<Action, String> {
    let unsigned = args.modifier("U32");
    let dst = args.dst()?;
    let from = [args.integer()?, args.integer()?, args.integer()?];
    let least = args.predicate()?;
    Action::alu(move |r| {
        let ([a, b, c], least) = (from.map(|value| value.integer(r)), least.bits(r));
        let row = Row::of(|lane| {
            let least = least >> lane & 1 != 0;
            let first = of_both(least, unsigned, a.0[lane], b.0[lane]);
            of_both(least, unsigned, first, c.0[lane])
        });
        r.set(dst, &row);
    })
}

fn extreme_of_sum(args: &mut Args<'_>) -> Result<Action, String> {
    let unsigned = args.modifier("U32");
    let relu = args.modifier("RELU");
    let dst = args.dst()?;
    let from = [args.integer()?, args.integer()?, args.integer()?];
    let least = args.predicate()?;
    Action::alu(move |r| {
        let ([a, b, c], least) = (from.map(|value| value.integer(r)), least.bits(r));
        let row = Row::of(|lane| {
            let sum = a.0[lane].wrapping_add(b.0[lane]);
            let one = of_both(least >> lane & 1 != 0, unsigned, sum, c.0[lane]);
            if relu && (one as i32) < 0 { 0 } else { one }
        });
        r.set(dst, &row);
    })
}

fn extreme_of_floats(args: &mut Args<'_>) -> Result<Action, String> {
    let (ftz, nan) = (args.modifier("FTZ"), args.modifier("NAN"));
    let (dst, a, b, least) = (args.dst()?, args.float()?, args.float()?, args.predicate()?);
    Action::alu(move |r| {
        let (a, b, least) = (a.float(r), b.float(r), least.bits(r));
        let input = |bits: u32| {
            let value = f32::from_bits(bits);
            if ftz { flush(value) } else { value }
        };
        let out: [u32; LANES] = std::array::from_fn(|lane| {
            let (a, b) = (input(a.0[lane]), input(b.0[lane]));
            match (a.is_nan(), b.is_nan()) {
                (true, true) => NAN,
                (true, false) if !nan => b.to_bits(),
                (false, true) if !nan => a.to_bits(),
                (false, false) => {
                    // Zeros have an order by their signs, too.
                    let first = a < b || a == b && a.is_sign_negative();
                    if first == (least >> lane & 1 != 0) {
                        a.to_bits()
                    } else {
                        b.to_bits()
                    }
                }
                _ => NAN,
            }
        });
        r.set(dst, &Row(out));
    })
}
