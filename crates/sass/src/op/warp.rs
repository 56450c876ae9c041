//! What threads of a warp tell each other.

use super::args::Args;
use super::state::{Dst, Row, bits};
use super::{Action, Entry, entry};
use warpsim_exec::state::LANES;

pub const OPS: &[Entry] = &[
    entry(
        "VOTE",
        "whose predicate is true, of the threads that execute it",
        vote,
    ),
    entry("VOTEU", "VOTE for the warp", vote),
    entry("SHFL", "a register of another thread", shuffle),
];

#[derive(Clone, Copy)]
enum Vote {
    Any,
    All,
    Equal,
}

fn vote(args: &mut Args<'_>) -> Result<Action, String> {
    let kinds = [("ANY", Vote::Any), ("ALL", Vote::All), ("EQ", Vote::Equal)];
    let kind = args
        .one_of(&kinds)
        .ok_or("a vote of this kind is not known")?;
    let dst = if args.predicate_next() {
        Dst::Nowhere
    } else {
        args.dst()?
    };
    let (out, asked) = (args.predicate_dst()?, args.predicate()?);
    Action::alu(move |r| {
        let for_it = asked.bits(r) & r.mask;
        let outcome = match kind {
            Vote::Any => for_it != 0,
            Vote::All => for_it == r.mask,
            Vote::Equal => for_it == 0 || for_it == r.mask,
        };
        r.set_predicate(out, if outcome { u32::MAX } else { 0 });
        r.set(dst, &Row::all(for_it));
    })
}

#[derive(Clone, Copy)]
enum Way {
    Index,
    Up,
    Down,
    Butterfly,
}

fn shuffle(args: &mut Args<'_>) -> Result<Action, String> {
    let ways = [
        ("IDX", Way::Index),
        ("UP", Way::Up),
        ("DOWN", Way::Down),
        ("BFLY", Way::Butterfly),
    ];
    let way = args.one_of(&ways).ok_or("SHFL of this kind is not known")?;
    let (out, dst) = (args.predicate_dst()?, args.dst()?);
    let (value, by, clamp) = (args.integer()?, args.integer()?, args.integer()?);
    Action::alu(move |r| {
        let (value, by, clamp) = (value.integer(r), by.integer(r), clamp.integer(r));
        let source = |lane: usize| {
            let (lane, by, clamp) = (lane as i32, (by.0[lane] & 31) as i32, clamp.0[lane] as i32);
            let (last, segment) = (clamp & 31, clamp >> 8 & 31);
            let most = lane & segment | last & !segment;
            let least = lane & segment;
            let from = match way {
                Way::Index => least | by & !segment,
                Way::Up => lane - by,
                Way::Down => lane + by,
                Way::Butterfly => lane ^ by,
            };
            let inside = match way {
                Way::Up => from >= most,
                _ => from <= most,
            };
            (if inside { from } else { lane }, inside)
        };
        let from: [(i32, bool); LANES] = std::array::from_fn(source);
        r.set_predicate(out, bits(|lane| from[lane].1));
        let row = Row::of(|lane| value.0[(from[lane].0 & 31) as usize]);
        r.set(dst, &row);
    })
}
