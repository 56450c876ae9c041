//! The memory traffic of some of the reference's micro-kernels, replayed: the lines that each
//! SM's 8 warps miss on, in order, as many under way as the L1 has MSHRs. What the SM itself
//! takes (its start, the code, the end) is not in it.

use super::*;
use crate::packet::{RequestKind, Traffic};
use crate::testing::{Bench, gtx480, request};

const SMS: u64 = 15;
const BASE: u64 = 0xc000_0000;

/// Line addresses of one SM: 16 iterations of 8 warps of 32 lanes, highest lane first.
fn lines(sm: u64, line: impl Fn(u64, u64) -> u64) -> Vec<u64> {
    let mut all = Vec::new();
    for iteration in 0..16 {
        for warp in 0..8 {
            for lane in (0..32).rev() {
                let thread = sm * 256 + warp * 32 + lane;
                all.push(line(thread, iteration));
            }
        }
    }
    all
}

/// Cycles until all is answered.
fn replay(memory: &mut Bench, mut waiting: Vec<Vec<u64>>) -> u64 {
    let machine = gtx480();
    let quantum = u64::from(machine.gpu.quantum);
    let mut free = vec![machine.l1d.cache.mshrs; waiting.len()];
    waiting.iter_mut().for_each(|lines| lines.reverse());
    let mut now = Cycle::ZERO;
    while !(waiting.iter().all(Vec::is_empty) && memory.idle()) {
        for cycle in now.until(now + quantum) {
            for (sm, lines) in waiting.iter_mut().enumerate() {
                if memory.pop_reply(sm, cycle).is_some_and(|reply| reply.last) {
                    free[sm] += 1;
                }
                if free[sm] > 0
                    && memory.injection_free(sm) > 0
                    && let Some(addr) = lines.pop()
                {
                    let mut read = request(RequestKind::Read, addr, 128, 0);
                    read.sm = sm as u16;
                    memory.push(cycle, read);
                    free[sm] -= 1;
                }
            }
        }
        now += quantum;
        memory.advance(now, &mut |_, _| {});
    }
    now.get()
}

/// `global_gather`, 15 blocks: 37211 cycles of which some 1300 are the SM's, 73010 L2 misses.
#[test]
fn random_lines_of_a_table_larger_than_l2() {
    let mut memory = Bench::new(&gtx480());
    memory.warm_l2(BASE, 1 << 20);
    let line = |thread: u64, iteration: u64| {
        let mut random = thread as u32 + 1;
        for _ in 0..=iteration {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        }
        BASE + (u64::from(random >> 14) * 4) / 128 * 128
    };
    let cycles = replay(&mut memory, (0..SMS).map(|sm| lines(sm, line)).collect());
    let counters = *memory.stats().l2(Traffic::Global, RequestKind::Read);
    assert!((34_000..36_300).contains(&cycles), "{cycles}");
    // The reference's count includes some 500 of code, parameters and results.
    assert!((72_000..73_000).contains(&counters.misses), "{counters:?}");
}

/// `global_stride32`, 15 blocks: 64758 cycles, 246254 L2 misses, 2.04 clocks per sector.
#[test]
fn lines_in_order_from_dram() {
    let mut memory = Bench::new(&gtx480());
    memory.warm_l2(BASE, 7_864_320);
    let line = |thread: u64, iteration: u64| BASE + (iteration * SMS * 256 + thread) * 128;
    let cycles = replay(&mut memory, (0..SMS).map(|sm| lines(sm, line)).collect());
    let counters = *memory.stats().l2(Traffic::Global, RequestKind::Read);
    assert!((62_700..63_900).contains(&cycles), "{cycles}");
    assert_eq!(counters.misses, SMS * 256 * 16 * 4);
}

/// What a warp of `global_copy` does next.
#[derive(Clone, Copy)]
enum Step {
    /// Load, not before this cycle.
    Load(Cycle),
    Wait,
    Store,
}

/// `global_copy`, 120 blocks: 26660 (lrr) or 25696 (gto) cycles, the DRAM bus 83 % busy.
#[test]
fn a_copy_with_write_backs() {
    /// Warps of an SM: at first 6 blocks of 8, then 2 more; those at a time; iterations.
    const WARPS: usize = 64;
    const RESIDENT: usize = 48;
    const ITERATIONS: u64 = 16;
    /// From a load's reply to the next load's request, L1 queue and loop included.
    const SM_CYCLES: u64 = 60;
    let mut memory = Bench::new(&gtx480());
    memory.warm_l2(BASE, 16 << 20);
    let sms = SMS as usize;
    let mut next = vec![[Step::Load(Cycle::ZERO); WARPS]; sms];
    let mut done = vec![[0u64; WARPS]; sms];
    let mut now = Cycle::ZERO;
    let mut left = sms * WARPS;
    while left > 0 || !memory.idle() {
        for (sm, (next, done)) in next.iter_mut().zip(&mut done).enumerate() {
            if let Some(reply) = memory.pop_reply(sm, now)
                && reply.last
                && reply.kind == RequestKind::Read
            {
                next[reply.token as usize] = Step::Store;
            }
            let line = |warp: usize, iteration: u64| {
                let block = (warp / 8) as u64 * SMS + sm as u64;
                let thread = block * 256 + (warp % 8) as u64 * 32;
                BASE + (iteration * 30_720 + thread) * 4
            };
            let resident = (0..WARPS).filter(|&w| done[w] < ITERATIONS).take(RESIDENT);
            let chosen = resident.into_iter().find_map(|warp| match next[warp] {
                Step::Load(at) if at <= now => Some((warp, RequestKind::Read, 0)),
                Step::Store => Some((warp, RequestKind::Write, 8 << 20)),
                _ => None,
            });
            let Some((warp, kind, offset)) = chosen else {
                continue;
            };
            let mut wanted = request(kind, line(warp, done[warp]) + offset, 128, warp as u32);
            wanted.sm = sm as u16;
            if memory.injection_free(sm) < memory.flits(&wanted) {
                continue;
            }
            memory.push(now, wanted);
            next[warp] = Step::Wait;
            if kind == RequestKind::Write {
                next[warp] = Step::Load(now + SM_CYCLES);
                done[warp] += 1;
                left -= usize::from(done[warp] == ITERATIONS);
            }
        }
        now += 1;
        memory.advance(now, &mut |_, _| {});
    }
    let dram = memory.stats().dram;
    assert!((23_500..25_500).contains(&now.get()), "{now}");
    let busy = dram.busy_clocks as f64 / dram.total_clocks as f64;
    assert!((0.80..0.92).contains(&busy), "{busy}");
}
