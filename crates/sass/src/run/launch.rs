//! A launch: blocks come and go, their warps take turns.

use super::banks::{Banks, stack};
use super::code::{Code, Decoded};
use super::gate::Gate;
use super::group::{Wait, Warp};
use crate::op::state::{Reach, Row, Surroundings, Trouble};
use crate::op::{Action, Flow, RESERVED_SHARED};
use crate::program::operand::PT;
use std::ops::ControlFlow;
use warpsim_exec::fault::{FaultKind, FaultReport};
use warpsim_exec::functional::{FunctionalStats, Options, SimFault, StuckWarp};
use warpsim_exec::grid::Grid;
use warpsim_exec::memory::image::GlobalMemory;
use warpsim_exec::memory::store_buffer::GlobalView;
use warpsim_exec::state::{LANES, lanes_of};

/// Blocks resident at first, and how many join when none ends.
const BLOCKS_AT_FIRST: usize = 16;
/// Rounds of turns without a block's end before more blocks join.
const PATIENCE: u32 = 64;
/// Barriers of a block.
const GATES: usize = 16;

/// What is launched.
pub struct Launch<'a> {
    /// The kernel.
    pub code: &'a Code,
    /// The grid, with parameters and textures.
    pub grid: &'a Grid,
    /// Constants.
    pub banks: &'a mut Banks,
    /// How to run.
    pub options: Options,
}

#[derive(Default)]
struct Block {
    ctaid: [u32; 3],
    shared: Vec<u8>,
    gates: [Gate; GATES],
    warps: Vec<Warp>,
}

impl Block {
    fn live(&self) -> u32 {
        self.warps.iter().map(|w| w.live.count_ones()).sum()
    }

    /// Opens the barriers to which all have come.
    fn open_gates(&mut self) {
        let live = self.live();
        for (number, gate) in self.gates.iter_mut().enumerate() {
            if gate.opens(live) {
                self.warps.iter_mut().for_each(|w| w.release(number as u8));
            }
        }
    }
}

struct Machine<'a> {
    code: &'a Code,
    around: Surroundings<'a>,
    options: Options,
    stats: FunctionalStats,
    next_block: u64,
}

/// Runs a kernel to its end. `hand_on` is called now and then: it says whether to go on.
pub fn run(
    launch: Launch<'_>,
    image: &mut GlobalMemory,
    hand_on: &mut dyn FnMut(&mut Vec<u8>) -> ControlFlow<()>,
) -> Result<FunctionalStats, SimFault> {
    let Launch {
        code,
        grid,
        banks,
        options,
    } = launch;
    if grid.threads() == 0 || grid.blocks() == 0 || grid.threads() > 1024 {
        return Err(SimFault::Launch(format!(
            "kernel {}: blocks have 1 to 1024 threads, and there is at least one",
            code.name
        )));
    }
    banks.publish(code, image).map_err(SimFault::Launch)?;
    let mut machine = Machine {
        code,
        around: Surroundings {
            banks: banks.of(code, grid),
            grid,
        },
        options,
        stats: FunctionalStats::default(),
        next_block: 0,
    };
    let slots = options.resident_blocks.max(1);
    let slots = slots.min(usize::try_from(grid.blocks()).unwrap_or(slots));
    let mut prints = Vec::new();
    let mut view = GlobalView::direct(image, &mut prints);
    machine.run(slots, &mut view, hand_on)?;
    Ok(machine.stats)
}

impl Machine<'_> {
    fn run(
        &mut self,
        slots: usize,
        view: &mut GlobalView<'_>,
        hand_on: &mut dyn FnMut(&mut Vec<u8>) -> ControlFlow<()>,
    ) -> Result<(), SimFault> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut rounds = 0;
        self.join(&mut blocks, slots.min(BLOCKS_AT_FIRST));
        while !blocks.is_empty() {
            let mut progress = false;
            for block in &mut blocks {
                for warp in 0..block.warps.len() {
                    progress |= self.turn(block, warp, view)?;
                }
                if hand_on(view.prints).is_break() {
                    return Err(SimFault::Stopped {
                        kernel: self.code.name.clone(),
                        instructions: self.stats.warp_instructions,
                    });
                }
                if block.live() == 0 && self.next_block < self.around.grid.blocks() {
                    self.start(block);
                    (progress, rounds) = (true, 0);
                }
            }
            blocks.retain(|block| block.live() != 0);
            if !progress && !blocks.is_empty() {
                return Err(self.deadlock(&blocks));
            }
            rounds += 1;
            if rounds == PATIENCE {
                rounds = 0;
                let most = slots.min(blocks.len() + BLOCKS_AT_FIRST);
                self.join(&mut blocks, most);
            }
        }
        Ok(())
    }

    /// Starts blocks until there are so many.
    fn join(&mut self, blocks: &mut Vec<Block>, most: usize) {
        while blocks.len() < most && self.next_block < self.around.grid.blocks() {
            let mut block = Block::default();
            self.start(&mut block);
            blocks.push(block);
        }
    }

    fn start(&mut self, block: &mut Block) {
        let grid = self.around.grid;
        block.ctaid = grid.block_index(self.next_block);
        self.next_block += 1;
        let shared =
            RESERVED_SHARED + self.code.kernel.shared as usize + grid.dynamic_shared as usize;
        block.shared.clear();
        block.shared.resize(shared, 0);
        block.gates = [Gate::default(); GATES];
        let threads = grid.threads();
        let warps = threads.div_ceil(LANES as u64) as usize;
        block.warps.resize_with(warps, Warp::default);
        let [nx, ny, _] = grid.block.map(u64::from);
        for (index, warp) in block.warps.iter_mut().enumerate() {
            let first = index as u64 * LANES as u64;
            let there = threads.saturating_sub(first).min(LANES as u64);
            warp.begin(((1u64 << there) - 1) as u32);
            let registers = &mut warp.registers;
            registers.rows.clear();
            registers.rows.resize(self.code.registers, Row::all(0));
            registers.predicates = [0; 8];
            registers.predicates[usize::from(PT)] = u32::MAX;
            registers.local.reset(stack(self.code) as usize);
            for lane in 0..there {
                let n = first + lane;
                let at = [n % nx, n / nx % ny, n / nx / ny];
                for (axis, value) in at.into_iter().enumerate() {
                    registers.tid[axis][lane as usize] = value as u32;
                }
            }
        }
    }

    /// One turn of a warp; whether it did anything.
    fn turn(
        &mut self,
        block: &mut Block,
        number: usize,
        view: &mut GlobalView<'_>,
    ) -> Result<bool, SimFault> {
        let mut left = self.options.turn.max(1);
        let mut progress = false;
        while left > 0 {
            let Some(group) = block.warps[number].choose() else {
                return Ok(progress);
            };
            progress = true;
            let warp = &mut block.warps[number];
            let (mut pc, lanes) = (warp.groups[group].pc, warp.groups[group].lanes);
            let room = self.options.max_instructions - self.stats.warp_instructions;
            let most = u64::from(left).min(room);
            if most == 0 {
                return Err(SimFault::Limit {
                    kernel: self.code.name.clone(),
                    instructions: self.options.max_instructions,
                });
            }
            let mut reach = Reach {
                mask: lanes,
                active: lanes,
                registers: &mut warp.registers,
                shared: &mut block.shared,
                memory: view,
                around: &self.around,
                ctaid: block.ctaid,
                clock: self.stats.warp_instructions,
            };
            let start = self.stats.warp_instructions;
            let ran = straight(
                &self.code.ops,
                &mut pc,
                &mut reach,
                most as u32,
                &mut self.stats,
            );
            left -= (self.stats.warp_instructions - start) as u32;
            let mask = reach.mask;
            warp.groups[group].pc = pc;
            match ran {
                Ok(None) => warp.put_back(),
                Ok(Some(flow)) => {
                    let passes = self.settle(block, number, pc, mask, flow)?;
                    if passes {
                        return Ok(true);
                    }
                }
                Err(trouble) => return Err(self.fault(block, number, pc, trouble)),
            }
        }
        block.warps[number].pass_on();
        Ok(progress)
    }

    /// Acts on what decides where threads go; whether the warp's turn is over.
    fn settle(
        &self,
        block: &mut Block,
        number: usize,
        pc: usize,
        mask: u32,
        flow: &Flow,
    ) -> Result<bool, SimFault> {
        let warp = &mut block.warps[number];
        let next = pc + 1;
        warp.put_back();
        warp.groups[warp.current].pc = next;
        match flow {
            Flow::Branch { target, .. } => {
                if mask != 0 {
                    let target = self.target(block, number, pc, *target)?;
                    block.warps[number].part(mask, target, Wait::Nothing);
                }
            }
            Flow::BranchBy { registers, base } => {
                let low = warp.registers.rows[usize::from(*registers)];
                let mut left = mask;
                while left != 0 {
                    let offset = low.0[left.trailing_zeros() as usize % LANES];
                    let same = lanes_of(left).filter(|&lane| low.0[lane] == offset);
                    let same = same.fold(0, |all, lane| all | 1u32 << lane);
                    let target = self.target(block, number, pc, base.wrapping_add(offset))?;
                    let warp = &mut block.warps[number];
                    // The rest of the group stays the current one: those that go are parted from it.
                    warp.part(same, target, Wait::Nothing);
                    left &= !same;
                }
            }
            Flow::Exit => {
                warp.exit(mask);
                block.open_gates();
            }
            Flow::Begin { barrier, .. } => warp.begin_sync(*barrier, mask),
            Flow::Leave(barrier) => warp.leave(*barrier, mask),
            Flow::Sync(barrier) => {
                if mask != 0 {
                    warp.part(mask, pc, Wait::Converge(*barrier));
                    warp.meet();
                }
            }
            Flow::WarpSync(named) => {
                if mask != 0 {
                    let all = named.map_or(u32::MAX, |value| {
                        let row = warp.read(value);
                        row.0[mask.trailing_zeros() as usize % LANES]
                    });
                    warp.part(mask, pc, Wait::Warp(all & warp.live | mask));
                    warp.meet();
                }
            }
            Flow::Yield => {
                warp.give_way();
                return Ok(true);
            }
            Flow::Barrier {
                number: id,
                count,
                waits,
            } => {
                if mask != 0 {
                    let first = mask.trailing_zeros() as usize % LANES;
                    let id = warp.read(*id).0[first] as usize % GATES;
                    let count = count.map(|value| warp.read(value).0[first]);
                    let live = warp.live;
                    if *waits {
                        warp.part(mask, pc, Wait::Block(id as u8));
                    }
                    block.gates[id].arrive(mask, live, count.filter(|&n| n != 0));
                    block.open_gates();
                }
            }
            Flow::Trap => {
                if mask != 0 {
                    let lane = mask.trailing_zeros() as usize;
                    let kind = FaultKind::Trap;
                    return Err(self.fault(block, number, pc, Trouble { lane, kind }));
                }
            }
        }
        Ok(false)
    }

    fn target(
        &self,
        block: &Block,
        warp: usize,
        pc: usize,
        offset: u32,
    ) -> Result<usize, SimFault> {
        self.code.kernel.at(offset).ok_or_else(|| {
            let kind = FaultKind::Other(format!("there is no instruction at {offset:#x}"));
            self.fault(block, warp, pc, Trouble { lane: 0, kind })
        })
    }

    fn fault(&self, block: &Block, warp: usize, pc: usize, trouble: Trouble) -> SimFault {
        let tid = &block.warps[warp].registers.tid;
        let lane = trouble.lane % LANES;
        SimFault::Thread(Box::new(FaultReport {
            kind: trouble.kind,
            kernel: self.code.name.clone(),
            block: block.ctaid,
            thread: [tid[0][lane], tid[1][lane], tid[2][lane]],
            pc: pc as u32,
            place: format!("machine code {}", self.code.kernel.place(pc)),
            note: None,
        }))
    }

    fn deadlock(&self, blocks: &[Block]) -> SimFault {
        let mut stuck = Vec::new();
        for block in blocks {
            for (index, warp) in block.warps.iter().enumerate() {
                for group in &warp.groups {
                    let lanes = group.lanes;
                    stuck.push(StuckWarp {
                        block: block.ctaid,
                        warp: index as u16,
                        pc: group.pc as u32,
                        place: format!("machine code {}", self.code.kernel.place(group.pc)),
                        waiting: match group.wait {
                            Wait::Nothing => "nothing".into(),
                            Wait::Converge(n) => {
                                format!("threads {lanes:#010x} wait at convergence barrier B{n}")
                            }
                            Wait::Warp(all) => {
                                format!(
                                    "threads {lanes:#010x} wait for threads {all:#010x} of the warp"
                                )
                            }
                            Wait::Block(n) => {
                                format!("threads {lanes:#010x} wait at barrier {n} of the block")
                            }
                        },
                    });
                }
            }
        }
        stuck.truncate(MOST_STUCK);
        SimFault::Deadlock {
            kernel: self.code.name.clone(),
            warps: stuck,
        }
    }
}

/// Waiting groups that are told of a deadlock.
const MOST_STUCK: usize = 32;

/// Executes instructions one after the other until one decides where threads go, which is left for the caller with
/// its lanes in `reach.mask`, or so many are done.
fn straight<'c>(
    ops: &'c [Decoded],
    pc: &mut usize,
    reach: &mut Reach<'_, '_>,
    most: u32,
    stats: &mut FunctionalStats,
) -> Result<Option<&'c Flow>, Trouble> {
    for _ in 0..most {
        let Some(op) = ops.get(*pc) else {
            let kind = FaultKind::Other("the code has no end".into());
            return Err(Trouble { lane: 0, kind });
        };
        let guard = op.guard;
        let bits = match guard.uniform {
            false => reach.registers.predicates[usize::from(guard.number & 7)],
            true => reach.registers.uniform.predicates[usize::from(guard.number & 7)],
        };
        let bits = if guard.invert { !bits } else { bits };
        reach.mask = reach.active & bits;
        stats.warp_instructions += 1;
        stats.thread_instructions += u64::from(reach.mask.count_ones());
        reach.clock += 1;
        match &op.action {
            Action::Nothing => {}
            Action::Alu(run) => {
                if reach.mask != 0 {
                    run(reach);
                }
            }
            Action::Access(run) => {
                if reach.mask != 0 {
                    run(reach)?;
                }
            }
            Action::Flow(flow) => {
                if let Flow::Branch {
                    when: Some(when), ..
                } = flow
                {
                    reach.mask &= when.bits(reach);
                }
                return Ok(Some(flow));
            }
        }
        *pc += 1;
    }
    Ok(None)
}
