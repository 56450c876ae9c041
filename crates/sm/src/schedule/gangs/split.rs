//! Gangs that fall apart: because their warps go different ways, or because memory answers some of
//! them before others.

use super::super::{GangView, Place};
use super::table::{Part, Table};
use crate::divergence::GroupState;
use crate::fixed_list::FixedList;
use crate::stats::SmCounters;
use crate::time::Cycle;
use warpsim_ptx::kernel::Pc;

/// What a gang does when memory answers some of its warps before others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemorySplit {
    /// Waits for the others.
    Never,
    /// Falls apart into single warps.
    Impatient,
    /// Those that were answered together go on as a gang.
    Group,
}

/// Brings the parts of an original gang in line with where its warps stand: those that have exited
/// leave, and a gang whose warps stand at several PCs becomes a part for each. So does one of whose
/// warps some wait for other threads, and some do not: those threads may come to where these have to
/// lead first. `waits` says until when a part that has come to a PC, and that others of its original
/// gang are missing from, waits there.
pub fn by_pc(
    table: &mut Table,
    home: u16,
    view: &GangView,
    waits: impl Fn(Pc) -> Option<Cycle>,
    counters: &mut SmCounters,
) {
    if let [part] = table.get(home).parts[..]
        && part.waits.is_none()
        && let Some((pc, _)) = common_stand(table, home, part.slices, view)
    {
        return table.move_whole(home, pc);
    }
    if let Some(stands) = new_stands(table, home, view, &waits) {
        return table.move_parts(home, &stands);
    }
    let mut parts: FixedList<Part, 8> = FixedList::default();
    let mut members = 0;
    let old = table.get(home).parts;
    for part in old.iter() {
        let mut sides: FixedList<((Pc, bool), u8), 8> = FixedList::default();
        for slice in (0..8).filter(|s| part.slices >> s & 1 != 0) {
            let place = table.place(home, slice);
            let group = view.group(place);
            if group.state != GroupState::Running {
                continue;
            }
            members |= 1 << slice;
            let stands = (group.pc, (view.waits_for_threads)(place));
            match sides.iter_mut().find(|(side, _)| *side == stands) {
                Some((_, slices)) => *slices |= 1 << slice,
                None => sides.push((stands, 1 << slice)),
            }
        }
        counters.gang_splits += u64::from(sides.len() > 1);
        for &((pc, held), slices) in sides.iter() {
            let same = sides.len() == 1;
            parts.push(Part {
                slices,
                pc,
                held,
                waits: part.waits.filter(|_| same && pc == part.pc),
                id: if same { part.id } else { table.new_id() },
            });
        }
    }
    for part in parts.iter_mut() {
        let whole = part.slices == members;
        let came = !old.iter().any(|o| o.id == part.id && o.pc == part.pc);
        if whole {
            part.waits = None;
        } else if came {
            part.waits = waits(part.pc);
        }
    }
    table.set_parts(home, parts);
}

/// Where the parts of an original gang stand, and whether they are held there, by part, if each is as it was, and
/// none waits for the others.
fn new_stands(
    table: &Table,
    home: u16,
    view: &GangView,
    waits: impl Fn(Pc) -> Option<Cycle>,
) -> Option<FixedList<(Pc, bool), 8>> {
    let mut stands = FixedList::default();
    for part in table.get(home).parts.iter() {
        let (pc, held) = common_stand(table, home, part.slices, view)?;
        if part.waits.is_some() || pc != part.pc && waits(pc).is_some() {
            return None;
        }
        stands.push((pc, held));
    }
    Some(stands)
}

/// Where the warps of these slices stand, and whether they wait for other threads there, if all run and that is the
/// same for all.
#[inline]
fn common_stand(table: &Table, home: u16, slices: u8, view: &GangView) -> Option<(Pc, bool)> {
    let pc = common_pc(table, home, slices, view)?;
    let mut places = table.places(home, slices).iter();
    let held = (view.waits_for_threads)(places.next()?);
    let same = places.all(|place| (view.waits_for_threads)(place) == held);
    same.then_some((pc, held))
}

/// Where the warps of these slices stand, if all run and stand at one PC.
#[inline]
fn common_pc(table: &Table, home: u16, slices: u8, view: &GangView) -> Option<Pc> {
    if slices == table.slices && table.schedulers() == 1 {
        let first = view.layout.slot_at(table.place(home, 0));
        let slots = first..first + slices.count_ones() as u16;
        let pc = view.groups.get(first).pc;
        return view.groups.all_run_at(slots, pc).then_some(pc);
    }
    let mut places = table.places(home, slices).iter();
    let pc = view.group(places.clone().next()?).pc;
    let same = |place: Place| {
        let group = view.group(place);
        group.pc == pc && group.state == GroupState::Running
    };
    places.all(same).then_some(pc)
}

/// Memory has made these warps ready in one cycle.
pub fn by_memory(
    table: &mut Table,
    ready: &[Place],
    how: MemorySplit,
    view: &GangView,
    counters: &mut SmCounters,
) {
    if how == MemorySplit::Never {
        return;
    }
    let mut homes: Vec<(u16, u8)> = Vec::new();
    for place in ready {
        let (home, slice) = table.home_of(*place);
        match homes.iter_mut().find(|(h, _)| *h == home) {
            Some((_, slices)) => *slices |= 1 << slice,
            None => homes.push((home, 1 << slice)),
        }
    }
    for (home, answered) in homes {
        let mut parts: FixedList<Part, 8> = FixedList::default();
        for part in table.get(home).parts.iter().copied().collect::<Vec<_>>() {
            let first = part.slices & answered;
            let rest = part.slices & !answered;
            let waits = table
                .places(home, rest)
                .iter()
                .any(|p| (view.waits_for_data)(p));
            if !part.is_gang() || first == 0 || !waits {
                parts.push(part);
                continue;
            }
            counters.gang_memory_splits += 1;
            let held = (view.waits_for_threads)(table.places(home, first).leader());
            let mut push = |slices: u8| {
                parts.push(Part {
                    slices,
                    held,
                    id: table.new_id(),
                    ..part
                });
            };
            match how {
                MemorySplit::Group => {
                    push(first);
                    push(rest);
                }
                _ => (0..8)
                    .filter(|s| part.slices >> s & 1 != 0)
                    .for_each(|s| push(1 << s)),
            }
        }
        table.set_parts(home, parts);
    }
}
