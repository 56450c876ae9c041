//! Barriers in shared memory: `mbarrier`.
//!
//! A phase of a barrier ends when as many arrivals as it expects have been counted and no bytes are
//! outstanding. The 64 bits of one are its own business: from the lowest, arrivals that a phase
//! expects (20 bits), arrivals still pending (20 bits), bytes still outstanding (23 bits, a signed
//! number), and the parity of the phase.

use warpsim_ptx::asynchronous::Async;
use warpsim_ptx::isa::{Op, Space};
use warpsim_ptx::kernel::Instr;

use super::spaces::{fault, resolve, within};
use crate::fault::{Fault, FaultKind};
use crate::op::{Decoded, Plan, Regs, Value, Width, World};
use crate::state::{Access, EffectKind, LANES, lanes_of};

/// Arrivals that a barrier can expect, by the manual.
const MOST: u32 = (1 << 20) - 1;

pub(crate) fn decode(i: &Instr) -> Option<Plan> {
    if i.op != Op::Mbarrier {
        return None;
    }
    let (n, wide) = (Width::Narrow, Width::Wide);
    Some(match i.mods.asynchronous? {
        Async::Init | Async::Expect | Async::Complete => Plan::full(run, &[Width::None, n], &[]),
        Async::Invalidate => Plan::full(run, &[Width::None], &[]),
        Async::Arrive { .. } => Plan::full(run, &[Width::None, n], &[wide]),
        Async::Test { parity } => {
            let phase = if parity { n } else { wide };
            Plan::full(run, &[Width::None, phase], &[Width::Predicate])
        }
        Async::PendingCount => Plan::full(pending_count, &[wide], &[n]),
        _ => return None,
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Barrier {
    expected: u32,
    pending: u32,
    bytes: i32,
    phase: bool,
}

impl Barrier {
    fn unpack(bits: u64) -> Barrier {
        Barrier {
            expected: bits as u32 & MOST,
            pending: (bits >> 20) as u32 & MOST,
            bytes: ((bits << 1) as i64 >> 41) as i32,
            phase: bits >> 63 != 0,
        }
    }

    fn pack(self) -> u64 {
        u64::from(self.expected)
            | u64::from(self.pending) << 20
            | (self.bytes as u64 & 0x7f_ffff) << 40
            | u64::from(self.phase) << 63
    }

    /// Goes on to the next phase if this one is complete.
    fn settle(&mut self) {
        if self.pending == 0 && self.bytes == 0 && self.expected != 0 {
            self.phase = !self.phase;
            self.pending = self.expected;
        }
    }
}

fn wrong(w: &World<'_, '_>, lane: usize, text: String) -> Fault {
    Fault::new(FaultKind::Other(text), lane, w.lanes.home(lane))
}

/// Changes the barrier of the thread on `lane`, whose address is in the effect; says what it was.
fn change(
    w: &mut World<'_, '_>,
    lane: usize,
    f: impl FnOnce(&mut Barrier) -> Result<(), String>,
) -> Result<Barrier, Fault> {
    let home = usize::from(w.lanes.home(lane));
    let block = usize::from(w.threads.warps[home].block);
    let size = w.threads.blocks[block].shared.len();
    let range = within(w.effect.address[lane], 8, size)
        .map_err(|cause| fault(w, lane, Space::Shared, 8, true, cause))?;
    let mut bits = [0u8; 8];
    bits.copy_from_slice(&w.threads.blocks[block].shared[range.clone()]);
    let before = Barrier::unpack(u64::from_le_bytes(bits));
    let mut after = before;
    f(&mut after).map_err(|text| wrong(w, lane, text))?;
    after.settle();
    w.threads.blocks[block].shared[range].copy_from_slice(&after.pack().to_le_bytes());
    Ok(before)
}

fn arrive(barrier: &mut Barrier, count: u32, drop: bool) -> Result<(), String> {
    if count == 0 || count > barrier.pending {
        return Err(format!(
            "mbarrier.arrive of {count}: {} of {} arrivals are pending",
            barrier.pending, barrier.expected
        ));
    }
    barrier.pending -= count;
    if drop {
        barrier.expected -= count.min(barrier.expected);
    }
    Ok(())
}

fn run(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let Some(kind) = w.cold.instr.mods.asynchronous else {
        return Ok(());
    };
    let split = resolve(d, r, w);
    let mut states = <u64 as Value>::ZERO;
    let mut done = 0;
    for lane in lanes_of(r.mask) {
        let word = || r.lane::<u32>(d.src[1], lane);
        let before = match kind {
            Async::Init => {
                let count = word();
                if count == 0 || count > MOST {
                    let text =
                        format!("mbarrier.init for {count} arrivals: 1 to {MOST} are possible");
                    return Err(wrong(w, lane, text));
                }
                change(w, lane, |b| {
                    *b = Barrier {
                        expected: count,
                        pending: count,
                        bytes: 0,
                        phase: false,
                    };
                    Ok(())
                })?
            }
            Async::Invalidate => change(w, lane, |b| {
                *b = Barrier::unpack(0);
                Ok(())
            })?,
            Async::Arrive { drop, expects } => {
                let n = word();
                change(w, lane, |b| {
                    if expects {
                        b.bytes += n as i32;
                        arrive(b, 1, drop)
                    } else {
                        arrive(b, n, drop)
                    }
                })?
            }
            Async::Expect => {
                let n = word() as i32;
                change(w, lane, |b| {
                    b.bytes += n;
                    Ok(())
                })?
            }
            Async::Complete => {
                let n = word() as i32;
                change(w, lane, |b| {
                    b.bytes -= n;
                    Ok(())
                })?
            }
            Async::Test { parity } => {
                let asked = if parity {
                    word() & 1 != 0
                } else {
                    Barrier::unpack(r.lane::<u64>(d.src[1], lane)).phase
                };
                let now = change(w, lane, |_| Ok(()))?;
                done |= u32::from(now.phase != asked) << lane;
                now
            }
            _ => return Ok(()),
        };
        u64::put(&mut states, lane, before.pack());
    }
    match kind {
        Async::Arrive { .. } => r.commit::<u64>(d.dst[0], &states),
        Async::Test { .. } => r.set_predicate(d.pdst[0], done),
        _ => {}
    }
    w.effect.kind = EffectKind::Access(Access {
        store: false,
        shared_atomic: true,
        steps: None,
        element: 8,
        count: 1,
        shared: split.shared,
        global: 0,
        local: 0,
        other: Space::Generic,
    });
    Ok(())
}

/// `cp.async.mbarrier.arrive`: the copies have ended as far as memory is concerned. Without
/// `.noinc` one more arrival is expected in this phase, which then comes.
pub(super) fn arrive_after_copies(
    d: &Decoded,
    r: &mut Regs<'_>,
    w: &mut World<'_, '_>,
) -> Result<(), Fault> {
    let counted = matches!(
        w.cold.instr.mods.asynchronous,
        Some(Async::ArriveAfterCopies { counted: true })
    );
    resolve(d, r, w);
    for lane in lanes_of(r.mask) {
        change(
            w,
            lane,
            |b| if counted { arrive(b, 1, false) } else { Ok(()) },
        )?;
    }
    Ok(())
}

fn pending_count(d: &Decoded, r: &mut Regs<'_>, _: &mut World<'_, '_>) -> Result<(), Fault> {
    let out: [u32; LANES] =
        std::array::from_fn(|lane| Barrier::unpack(r.lane::<u64>(d.src[0], lane)).pending);
    r.commit::<u32>(d.dst[0], &out);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_barrier_keeps_its_parts() {
        for bytes in [0, 1, -1, 1000, -(1 << 20)] {
            for (expected, pending) in [(1, 1), (MOST, 3), (7, 0)] {
                for phase in [false, true] {
                    let barrier = Barrier {
                        expected,
                        pending,
                        bytes,
                        phase,
                    };
                    assert_eq!(Barrier::unpack(barrier.pack()), barrier);
                }
            }
        }
    }

    #[test]
    fn a_phase_ends_with_the_last_arrival_and_the_last_byte() {
        let mut barrier = Barrier {
            expected: 2,
            pending: 2,
            bytes: 16,
            phase: false,
        };
        for (arrivals, bytes, phase) in [(1, 0, false), (1, 0, false), (0, 16, true)] {
            if arrivals > 0 {
                arrive(&mut barrier, arrivals, false).unwrap();
            }
            barrier.bytes -= bytes;
            barrier.settle();
            assert_eq!(barrier.phase, phase);
        }
        assert_eq!(barrier.pending, 2);
        assert!(arrive(&mut barrier, 3, false).is_err());
    }
}
