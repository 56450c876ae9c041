//! `cp.async`: copies from global to shared memory that the thread does not wait for.
//!
//! What is copied is in shared memory at once, which is one of the times at which it may arrive;
//! how long the copies are under way is the business of timing, and so is waiting for them.

use warpsim_ptx::asynchronous::Async;
use warpsim_ptx::isa::{Op, Space};
use warpsim_ptx::kernel::Instr;

use super::load_store::{read_lane, write_lane};
use super::mbarrier;
use super::spaces::{Split, resolve};
use crate::fault::Fault;
use crate::op::{Decoded, Plan, Regs, Width, World};
use crate::state::{Access, Copies, EffectKind, lanes_of};

pub(crate) fn decode(i: &Instr) -> Option<Plan> {
    let n = Width::Narrow;
    if i.op != Op::Cp {
        return None;
    }
    Some(match i.mods.asynchronous? {
        Async::Copy(_) => Plan::full(copy, &[Width::None, n, n, n], &[]),
        Async::Commit => Plan::full(
            |_, _, w| {
                w.effect.kind = EffectKind::Copies(Copies::Commit);
                Ok(())
            },
            &[],
            &[],
        ),
        Async::WaitAll => Plan::full(wait_all, &[], &[]),
        Async::WaitGroup => Plan::full(wait_group, &[n], &[]),
        Async::ArriveAfterCopies { .. } => Plan::full(arrive, &[Width::None], &[]),
        _ => return None,
    })
}

fn wait_all(_: &Decoded, _: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    w.effect.kind = EffectKind::Copies(Copies::Wait { groups: 0 });
    Ok(())
}

fn wait_group(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let asked = lanes_of(r.mask).map(|lane| r.lane::<u32>(d.src[0], lane));
    w.effect.kind = EffectKind::Copies(Copies::WaitGroups {
        groups: asked.min().unwrap_or(0),
    });
    Ok(())
}

fn arrive(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    mbarrier::arrive_after_copies(d, r, w)?;
    wait_all(d, r, w)
}

fn copy(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let bytes = match w.cold.instr.mods.asynchronous {
        Some(Async::Copy(bytes)) => usize::from(bytes),
        _ => return Ok(()),
    };
    let from = resolve(d, r, w);
    let sources = w.effect.address;
    let to = Split {
        shared: r.mask,
        global: 0,
        local: 0,
        param: 0,
    };
    for lane in lanes_of(r.mask) {
        let there = (r.lane::<u32>(d.src[3], lane) as usize).min(bytes);
        let mut data = [0u8; 16];
        w.effect.address[lane] = sources[lane];
        // All of it must be there and aligned, however little of it is copied.
        if there > 0 {
            read_lane(w, &from, lane, &mut data[..bytes])?;
            data[there..].fill(0);
        }
        let [base, offset] = [1, 2].map(|k| r.lane::<u32>(d.src[k], lane));
        w.effect.address[lane] = u64::from(base.wrapping_add(offset));
        write_lane(w, &to, lane, &data[..bytes])?;
    }
    w.effect.address = sources;
    w.effect.kind = EffectKind::Access(Access {
        store: false,
        shared_atomic: false,
        steps: None,
        element: 4,
        count: (bytes / 4) as u8,
        shared: 0,
        global: from.global,
        local: from.local,
        other: Space::Generic,
    });
    Ok(())
}
