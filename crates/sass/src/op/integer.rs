//! Integer sums and products.

use super::args::Args;
use super::state::{PredicateDst, Reach, Row, bits};
use super::value::{Predicate, Value};
use super::{Action, Entry, entry, of_one, of_two};
use warpsim_exec::state::LANES;

pub const OPS: &[Entry] = &[
    entry("IADD3", "a sum of three, with carries in and out", add3),
    entry("UIADD3", "IADD3 of the warp", add3),
    entry("VIADD", "a sum of two", |args| {
        of_two(args, u32::wrapping_add)
    }),
    entry(
        "IMAD",
        "a product and a sum: low, high or all 64 bits",
        multiply_add,
    ),
    entry("UIMAD", "IMAD of the warp", multiply_add),
    entry(
        "LEA",
        "a value shifted and added to another: an address",
        lea,
    ),
    entry("ULEA", "LEA of the warp", lea),
    entry("IABS", "the absolute value", |args| {
        of_one(args, |a| (a as i32).unsigned_abs())
    }),
    entry("VABSDIFF", "the distance of two, and a third", distance),
];

/// A summand as the adder sees it: a negative one is inverted, and one is added.
#[derive(Clone, Copy)]
struct Summand {
    value: Value,
    flip: u32,
    one: u64,
}

impl Summand {
    fn of(value: Value) -> Summand {
        let flip = if value.change.negate != value.change.invert {
            u32::MAX
        } else {
            0
        };
        Summand {
            value,
            flip,
            one: u64::from(value.change.negate),
        }
    }

    #[inline(always)]
    fn row(&self, r: &Reach<'_, '_>) -> Row {
        let raw = self.value.raw(r);
        Row::of(|lane| raw.0[lane] ^ self.flip)
    }
}

/// How many times a sum of words went beyond 32 bits, as predicates: the first says once or more, the second twice.
fn carries(r: &mut Reach<'_, '_>, dst: [PredicateDst; 2], sums: &[u64; LANES]) {
    r.set_predicate(dst[0], bits(|lane| sums[lane] >> 32 >= 1));
    r.set_predicate(dst[1], bits(|lane| sums[lane] >> 32 >= 2));
}

fn add3(args: &mut Args<'_>) -> Result<Action, String> {
    let extended = args.modifier("X");
    let dst = args.dst()?;
    let out = [
        args.optional_predicate_dst()?,
        args.optional_predicate_dst()?,
    ];
    let terms = [args.integer()?, args.integer()?, args.integer()?].map(Summand::of);
    if !extended {
        let plain = [PredicateDst::Thread(7); 2] == out;
        if plain {
            return Action::alu(move |r| {
                let [a, b, c] = terms.map(|t| t.value.integer(r));
                let sum = |lane: usize| a.0[lane].wrapping_add(b.0[lane]).wrapping_add(c.0[lane]);
                r.set(dst, &Row::of(sum));
            });
        }
    }
    let carry = match extended {
        true => [args.predicate_or_false()?, args.predicate_or_false()?],
        false => [NEVER; 2],
    };
    // What is extended takes its ones from the carries: its negative summands are inverted and no more.
    let ones = if extended {
        0
    } else {
        terms.iter().map(|t| t.one).sum()
    };
    Action::alu(move |r| {
        let [a, b, c] = terms.map(|t| t.row(r));
        let [x, y] = carry.map(|p| p.bits(r));
        let sums: [u64; LANES] = std::array::from_fn(|lane| {
            u64::from(a.0[lane])
                + u64::from(b.0[lane])
                + u64::from(c.0[lane])
                + u64::from(x >> lane & 1)
                + u64::from(y >> lane & 1)
                + ones
        });
        carries(r, out, &sums);
        r.set(dst, &Row::of(|lane| sums[lane] as u32));
    })
}

/// A predicate that is false.
const NEVER: Predicate = Predicate {
    number: 7,
    uniform: false,
    invert: true,
};

fn multiply_add(args: &mut Args<'_>) -> Result<Action, String> {
    let unsigned = args.modifier("U32");
    let (wide, high) = (args.modifier("WIDE"), args.modifier("HI"));
    let extended = args.modifier("X");
    // What the assembler had in mind: all are products and sums.
    args.without_effect(&["MOV", "IADD", "SHL"]);
    let dst = args.dst()?;
    let out = args.optional_predicate_dst()?;
    let (a, b, c) = (args.integer()?, args.integer()?, args.integer()?);
    let carry = if extended {
        args.predicate_or_false()?
    } else {
        NEVER
    };
    if wide || high {
        if a.change.invert || b.change.invert || extended && c.change.negate {
            return Err("IMAD.WIDE of inverted factors is not known".into());
        }
        return Action::alu(move |r| {
            let (a, b, c, x) = (a.integer(r), b.integer(r), c.wide(r), carry.bits(r));
            let products: [u128; LANES] = std::array::from_fn(|lane| {
                let product = match unsigned {
                    true => u64::from(a.0[lane]) * u64::from(b.0[lane]),
                    false => (i64::from(a.0[lane] as i32) * i64::from(b.0[lane] as i32)) as u64,
                };
                u128::from(product) + u128::from(c(lane)) + u128::from(x >> lane & 1)
            });
            r.set_predicate(out, bits(|lane| products[lane] >> 64 != 0));
            if high {
                r.set(dst, &Row::of(|lane| (products[lane] >> 32) as u32));
            } else {
                r.set_pair(dst, |lane| products[lane] as u64);
            }
        });
    }
    if out != PredicateDst::Thread(7) {
        return Err("IMAD of 32 bits with a carry out is not known".into());
    }
    Action::alu(move |r| {
        let (a, b, c, x) = (a.integer(r), b.integer(r), c.integer(r), carry.bits(r));
        r.set(
            dst,
            &Row::of(|lane| {
                let product = a.0[lane].wrapping_mul(b.0[lane]);
                product.wrapping_add(c.0[lane]).wrapping_add(x >> lane & 1)
            }),
        );
    })
}

fn lea(args: &mut Args<'_>) -> Result<Action, String> {
    let (high, extended) = (args.modifier("HI"), args.modifier("X"));
    let sign = args.modifier("SX32");
    if !high && (extended || sign) {
        return Err("LEA extends only the high word".into());
    }
    let dst = args.dst()?;
    let out = args.optional_predicate_dst()?;
    let (a, b) = (args.integer()?, Summand::of(args.integer()?));
    let upper = if high && !sign {
        Some(args.integer()?)
    } else {
        None
    };
    let shift = args.number()? & 31;
    let carry = if extended {
        args.predicate_or_false()?
    } else {
        NEVER
    };
    let ones = if extended { 0 } else { b.one };
    if a.change.invert || a.change.negate && high {
        return Err("LEA.HI of a changed first operand is not known".into());
    }
    Action::alu(move |r| {
        let (low, b, x) = (a.integer(r), b.row(r), carry.bits(r));
        let upper = upper.map(|value| value.integer(r));
        let sums: [u64; LANES] = std::array::from_fn(|lane| {
            let low = low.0[lane];
            let shifted = match (&upper, high) {
                (_, false) => low << shift,
                (Some(upper), _) => {
                    ((u64::from(upper.0[lane]) << 32 | u64::from(low)) << shift >> 32) as u32
                }
                (None, _) => (i64::from(low as i32) << shift >> 32) as u32,
            };
            u64::from(shifted) + u64::from(b.0[lane]) + ones + u64::from(x >> lane & 1)
        });
        r.set_predicate(out, bits(|lane| sums[lane] >> 32 != 0));
        r.set(dst, &Row::of(|lane| sums[lane] as u32));
    })
}

fn distance(args: &mut Args<'_>) -> Result<Action, String> {
    let unsigned = args.modifier("U32");
    let (dst, a, b, c) = (
        args.dst()?,
        args.integer()?,
        args.integer()?,
        args.integer()?,
    );
    Action::alu(move |r| {
        let (a, b, c) = (a.integer(r), b.integer(r), c.integer(r));
        r.set(
            dst,
            &Row::of(|lane| {
                let apart = match unsigned {
                    true => a.0[lane].abs_diff(b.0[lane]),
                    false => (a.0[lane] as i32).abs_diff(b.0[lane] as i32),
                };
                apart.wrapping_add(c.0[lane])
            }),
        );
    })
}
