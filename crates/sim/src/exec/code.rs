//! A kernel decoded for execution: operands resolved to rows, a function for each instruction.

use warpsim_ptx::isa::{BoolOp, Op, Space, Special};
use warpsim_ptx::kernel::{Instr, Kernel, Pc, RegClass, RegId};

use super::decode::Decoder;
use super::fault::{Fault, LoadError};
use super::grid::Grid;
use super::regs::{AluFn, Dst, PredSrc, Regs, Src, Temp, Value, Width};
use super::state::{Effect, EffectKind, LANES, Lanes, Moment, Threads};
use super::whole::{Reach, WholeFn};
use crate::memory::store_buffer::GlobalView;

/// Function of an instruction that does more than change registers.
pub(super) type FullFn = fn(&Decoded, &mut Regs<'_>, &mut World<'_, '_>) -> Result<(), Fault>;

/// What executes an instruction.
#[derive(Clone, Copy)]
pub(super) enum Action {
    /// Registers only.
    Alu(AluFn),
    /// Memory, other threads, control.
    Full(FullFn),
    /// A load or store: the short way for one home warp, and the long way where that does not
    /// apply.
    Access { whole: WholeFn, lanes: FullFn },
    /// A branch: nothing but the guard matters.
    Branch,
}

/// How a family wants an instruction executed.
pub(super) struct Plan {
    pub action: Action,
    pub src: [Width; SOURCES],
    pub dst: [Width; RESULTS],
}

pub(super) const SOURCES: usize = 5;
pub(super) const RESULTS: usize = 4;

impl Plan {
    pub fn new(action: Action, src: &[Width], dst: &[Width]) -> Plan {
        let mut plan = Plan {
            action,
            src: [Width::None; SOURCES],
            dst: [Width::None; RESULTS],
        };
        plan.src[..src.len()].copy_from_slice(src);
        plan.dst[..dst.len()].copy_from_slice(dst);
        plan
    }
    /// An instruction that only changes registers.
    pub fn alu(f: AluFn, src: &[Width], dst: &[Width]) -> Plan {
        Plan::new(Action::Alu(f), src, dst)
    }
    /// A branch.
    pub fn branch() -> Plan {
        Plan::new(Action::Branch, &[], &[])
    }
    /// Any other instruction.
    pub fn full(f: FullFn, src: &[Width], dst: &[Width]) -> Plan {
        Plan::new(Action::Full(f), src, dst)
    }
}

/// An instruction ready to execute. In this order, what most instructions need of it is in two
/// lines of the host's cache.
#[repr(C, align(64))]
pub(super) struct Decoded {
    pub action: Action,
    pub guard: PredSrc,
    /// Temporary rows it needs; those instructions take the slower way.
    pub temps: u8,
    /// The first source is an address whose base has 64 bits.
    pub wide_address: bool,
    /// The space of an access.
    pub space: Space,
    /// How a comparison is combined with the predicate source.
    pub boolop: Option<BoolOp>,
    /// What `set` writes for true; 0 for all others.
    pub truth: u32,
    /// Offset of an address.
    pub offset: i64,
    pub src: [Src; SOURCES],
    pub dst: [Dst; RESULTS],
    /// Predicate sources in order.
    pub preds: [PredSrc; 2],
    /// Predicate destinations in order.
    pub pdst: [u32; 2],
}

impl Decoded {
    /// A comparison's result combined with the predicate source.
    #[inline(always)]
    pub fn combine(&self, bits: u32, r: &Regs<'_>) -> u32 {
        match self.boolop {
            None | Some(BoolOp::Popc) => bits,
            Some(BoolOp::And) => bits & r.predicate(self.preds[0]),
            Some(BoolOp::Or) => bits | r.predicate(self.preds[0]),
            Some(BoolOp::Xor) => bits ^ r.predicate(self.preds[0]),
        }
    }
}

/// What only some instructions need.
pub(super) struct Cold {
    pub instr: Instr,
    pub fills: Vec<Fill>,
    pub drains: Vec<Drain>,
    /// Word ranges of registers read and written, for gathered groups.
    pub reads: Vec<(u32, u32)>,
    pub writes: Vec<(u32, u32)>,
    pub predicate_reads: Vec<u32>,
    pub predicate_writes: Vec<u32>,
}

/// A temporary row filled before the instruction.
pub(super) struct Fill {
    pub temp: u8,
    pub wide: bool,
    pub from: FillFrom,
}

/// What fills a temporary row.
pub(super) enum FillFrom {
    Special(Special),
    /// A 64-bit register at this word offset, of which the low half is used.
    LowHalf(u32),
    /// A 32-bit register zero-extended.
    Extended(u32),
}

/// A temporary row copied to a register of another width after the instruction.
pub(super) struct Drain {
    pub temp: u8,
    pub to: u32,
    /// The register has 64 bits, the value 32 (else the other way round).
    pub widen: bool,
    pub signed: bool,
}

/// What an instruction that does more than change registers may touch. The registers of the
/// group are not here but in its [`Regs`].
pub(super) struct World<'a, 'm> {
    pub lanes: &'a Lanes,
    pub threads: &'a mut Threads,
    pub grid: &'a Grid,
    pub memory: &'a mut GlobalView<'m>,
    pub effect: &'a mut Effect,
    pub cold: &'a Cold,
    pub code: &'a Code,
    pub active: u32,
}

/// A kernel ready to execute.
pub struct Code {
    ops: Vec<Decoded>,
    cold: Vec<Cold>,
    pub(super) pool: Vec<u32>,
    pub(super) registers: Vec<(u32, RegClass)>,
    rows: u32,
    predicate_slots: u32,
    local_bytes: u32,
}

impl Code {
    /// Decodes a kernel. `symbols` holds the address of each of the program's symbols.
    pub fn new(kernel: &Kernel, symbols: &[u64]) -> Result<Code, LoadError> {
        let mut code = Code {
            ops: Vec::with_capacity(kernel.code.len()),
            cold: Vec::with_capacity(kernel.code.len()),
            pool: Vec::new(),
            registers: kernel.registers.iter().map(|r| (r.slot, r.class)).collect(),
            rows: kernel.rows,
            predicate_slots: kernel.predicate_slots,
            local_bytes: kernel.local_bytes,
        };
        for r in &kernel.registers {
            let (end, limit) = match r.class {
                RegClass::Pred => (r.slot + 1, kernel.predicate_slots),
                RegClass::B32 => (r.slot + 1, kernel.rows),
                RegClass::B64 => (r.slot + 2, kernel.rows),
            };
            if end > limit {
                return Err(LoadError {
                    kernel: kernel.name.clone(),
                    pc: 0,
                    line: 0,
                    message: format!("register {} lies outside the register file", r.name),
                });
            }
        }
        for (pc, instr) in kernel.code.iter().enumerate() {
            let (decoded, cold) = Decoder {
                code: &mut code,
                kernel,
                symbols,
            }
            .decode(instr)
            .map_err(|message| LoadError {
                kernel: kernel.name.clone(),
                pc: pc as Pc,
                line: instr.line,
                message,
            })?;
            code.ops.push(decoded);
            code.cold.push(cold);
        }
        Ok(code)
    }

    /// 32-bit register rows a warp needs.
    pub fn rows(&self) -> u32 {
        self.rows
    }
    /// Predicate registers a warp needs.
    pub fn predicate_slots(&self) -> u32 {
        self.predicate_slots
    }
    /// Local memory of a thread in bytes.
    pub fn local_bytes(&self) -> u32 {
        self.local_bytes
    }
    /// The instruction as lowered.
    pub fn instr(&self, pc: Pc) -> &Instr {
        &self.cold[pc as usize].instr
    }
    /// Number of instructions.
    pub fn len(&self) -> usize {
        self.ops.len()
    }
    /// No instruction at all (kernels always have some).
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// The same as [`step`](Code::step) for what changes nothing but registers of one home
    /// warp, or not even those, and reads no special register; `false`, with nothing done, for
    /// all else.
    #[inline(always)]
    pub fn step_registers(
        &self,
        pc: Pc,
        lanes: &Lanes,
        active: u32,
        threads: &mut Threads,
        effect: &mut Effect,
    ) -> bool {
        let d = &self.ops[pc as usize];
        let Lanes::Static(home) = lanes else {
            return false;
        };
        let warp = &mut threads.warps[usize::from(*home)];
        let mask = active & d.guard.bits(&warp.predicates);
        match d.action {
            Action::Branch => effect.kind = EffectKind::Branch { taken: mask },
            Action::Alu(run) if d.temps == 0 => {
                effect.kind = EffectKind::Alu;
                if mask != 0 {
                    let mut regs = Regs {
                        rows: &mut warp.rows,
                        predicates: &mut warp.predicates,
                        carry: &mut warp.carry,
                        pool: &self.pool,
                        temps: &mut [],
                        mask,
                    };
                    // SAFETY: decoding chose a version this host can run.
                    unsafe { run(d, &mut regs) };
                }
            }
            _ => return false,
        }
        effect.executed = mask;
        true
    }

    /// Executes the instruction at `pc` for the active lanes whose guard is true, which it
    /// leaves in `effect.executed`. When there are none, `effect.kind` is `Alu`, or `Branch`
    /// with nobody taking it.
    #[allow(clippy::too_many_arguments)]
    #[inline]
    pub fn step(
        &self,
        pc: Pc,
        lanes: &Lanes,
        active: u32,
        threads: &mut Threads,
        grid: &Grid,
        memory: &mut GlobalView<'_>,
        now: Moment,
        effect: &mut Effect,
    ) -> Result<(), Fault> {
        if self.step_registers(pc, lanes, active, threads, effect) {
            return Ok(());
        }
        if self.step_access(pc, lanes, active, threads, grid, memory, effect) {
            return Ok(());
        }
        self.step_general(pc, lanes, active, threads, grid, memory, now, effect)
    }

    /// The same as [`step`](Code::step) for a load or store of one home warp that can be done
    /// for all lanes at once; `false`, with no register and no memory changed, for all else.
    #[allow(clippy::too_many_arguments)]
    #[inline(always)]
    pub fn step_access(
        &self,
        pc: Pc,
        lanes: &Lanes,
        active: u32,
        threads: &mut Threads,
        grid: &Grid,
        memory: &mut GlobalView<'_>,
        effect: &mut Effect,
    ) -> bool {
        let d = &self.ops[pc as usize];
        let (Lanes::Static(home), Action::Access { whole, .. }, 0) = (lanes, d.action, d.temps)
        else {
            return false;
        };
        let warp = &mut threads.warps[usize::from(*home)];
        let mask = active & d.guard.bits(&warp.predicates);
        effect.executed = mask;
        effect.kind = EffectKind::Alu;
        if mask == 0 {
            return true;
        }
        let mut regs = Regs {
            rows: &mut warp.rows,
            predicates: &mut warp.predicates,
            carry: &mut warp.carry,
            pool: &self.pool,
            temps: &mut [],
            mask,
        };
        let mut reach = Reach {
            shared: &mut threads.blocks[usize::from(warp.block)].shared,
            params: &grid.params,
            memory,
            effect,
        };
        whole(d, &mut regs, &mut reach)
    }

    /// The same as [`step`](Code::step) by the way that does for everything.
    #[allow(clippy::too_many_arguments)]
    #[inline(never)]
    pub fn step_general(
        &self,
        pc: Pc,
        lanes: &Lanes,
        active: u32,
        threads: &mut Threads,
        grid: &Grid,
        memory: &mut GlobalView<'_>,
        now: Moment,
        effect: &mut Effect,
    ) -> Result<(), Fault> {
        let d = &self.ops[pc as usize];
        let cold = &self.cold[pc as usize];
        // The registers are taken out while the instruction has the run of everything else.
        let (mut rows, mut predicates, mut carry) = match lanes {
            Lanes::Static(home) => {
                let warp = &mut threads.warps[usize::from(*home)];
                (
                    std::mem::take(&mut warp.rows),
                    std::mem::take(&mut warp.predicates),
                    warp.carry,
                )
            }
            Lanes::Gathered(homes) => self.gather(cold, homes, active, threads),
        };
        let mut temps = std::mem::take(&mut threads.scratch.temps);
        temps.resize(temps.len().max(usize::from(d.temps)), [0; 2 * LANES]);
        let mut regs = Regs {
            rows: &mut rows,
            predicates: &mut predicates,
            carry: &mut carry,
            pool: &self.pool,
            temps: &mut temps[..usize::from(d.temps)],
            mask: 0,
        };
        regs.mask = active & regs.predicate(d.guard);
        let mask = regs.mask;
        let mut written = mask;
        effect.executed = mask;
        effect.kind = EffectKind::Alu;
        let mut result = Ok(());
        if mask != 0 {
            for fill in &cold.fills {
                fill.run(&mut regs, lanes, threads, grid, now);
            }
            match d.action {
                // SAFETY: decoding chose a version this host can run.
                Action::Alu(run) => unsafe { run(d, &mut regs) },
                Action::Branch => effect.kind = EffectKind::Branch { taken: mask },
                Action::Access { whole, .. }
                    if whole(
                        d,
                        &mut regs,
                        &mut Reach {
                            shared: threads.shared_of(lanes),
                            params: &grid.params,
                            memory,
                            effect,
                        },
                    ) => {}
                Action::Full(run) | Action::Access { lanes: run, .. } => {
                    let mut world = World {
                        lanes,
                        threads,
                        grid,
                        memory,
                        effect,
                        cold,
                        code: self,
                        active,
                    };
                    result = run(d, &mut regs, &mut world);
                }
            }
            if matches!(effect.kind, EffectKind::Awaits) {
                written = 0;
            } else {
                for drain in &cold.drains {
                    drain.run(&mut regs);
                }
            }
        } else if cold.instr.op == Op::Bra {
            effect.kind = EffectKind::Branch { taken: 0 };
        }
        match lanes {
            Lanes::Static(home) => {
                let warp = &mut threads.warps[usize::from(*home)];
                warp.rows = rows;
                warp.predicates = predicates;
                warp.carry = carry;
            }
            Lanes::Gathered(homes) => {
                scatter(cold, homes, written, threads, &rows, &predicates, carry);
                threads.scratch.rows = rows;
                threads.scratch.predicates = predicates;
            }
        }
        threads.scratch.temps = temps;
        result
    }

    fn gather(
        &self,
        cold: &Cold,
        homes: &[u16; LANES],
        active: u32,
        threads: &mut Threads,
    ) -> (Vec<u32>, Vec<u32>, u32) {
        let mut rows = std::mem::take(&mut threads.scratch.rows);
        let mut predicates = std::mem::take(&mut threads.scratch.predicates);
        rows.resize(self.rows as usize * LANES, 0);
        predicates.resize(self.predicate_slots as usize, 0);
        let mut carry = 0;
        for slot in &cold.predicate_reads {
            predicates[*slot as usize] = 0;
        }
        for lane in super::regs::lanes_of(active) {
            let warp = &threads.warps[usize::from(homes[lane])];
            for &(at, words) in &cold.reads {
                let (at, n) = (
                    at as usize + lane * words as usize / LANES,
                    words as usize / LANES,
                );
                rows[at..at + n].copy_from_slice(&warp.rows[at..at + n]);
            }
            for &slot in &cold.predicate_reads {
                predicates[slot as usize] |= warp.predicates[slot as usize] & 1 << lane;
            }
            carry |= warp.carry & 1 << lane;
        }
        (rows, predicates, carry)
    }

    fn place(&self, reg: RegId) -> Option<(usize, RegClass)> {
        let &(slot, class) = self.registers.get(usize::from(reg.0))?;
        Some((slot as usize, class))
    }

    /// Writes a value to a register (or predicate) of the thread on `lane`.
    pub fn write_register(
        &self,
        lanes: &Lanes,
        reg: RegId,
        lane: usize,
        value: u64,
        threads: &mut Threads,
    ) {
        let warp = &mut threads.warps[usize::from(lanes.home(lane))];
        match self.place(reg) {
            Some((slot, RegClass::Pred)) => {
                let p = &mut warp.predicates[slot];
                *p = *p & !(1 << lane) | u32::from(value != 0) << lane;
            }
            Some((slot, RegClass::B32)) => warp.rows[slot * LANES + lane] = value as u32,
            Some((slot, RegClass::B64)) => {
                let at = slot * LANES + 2 * lane;
                warp.rows[at] = value as u32;
                warp.rows[at + 1] = (value >> 32) as u32;
            }
            None => {}
        }
    }

    /// Writes bits of `value` to a predicate for the lanes of `mask`.
    pub fn write_predicate(
        &self,
        lanes: &Lanes,
        reg: RegId,
        mask: u32,
        value: u32,
        threads: &mut Threads,
    ) {
        for lane in super::regs::lanes_of(mask) {
            self.write_register(lanes, reg, lane, u64::from(value >> lane & 1), threads);
        }
    }
}

fn scatter(
    cold: &Cold,
    homes: &[u16; LANES],
    mask: u32,
    threads: &mut Threads,
    rows: &[u32],
    predicates: &[u32],
    carry: u32,
) {
    for lane in super::regs::lanes_of(mask) {
        let warp = &mut threads.warps[usize::from(homes[lane])];
        let bit = 1u32 << lane;
        for &(at, words) in &cold.writes {
            let (at, n) = (
                at as usize + lane * words as usize / LANES,
                words as usize / LANES,
            );
            warp.rows[at..at + n].copy_from_slice(&rows[at..at + n]);
        }
        for &slot in &cold.predicate_writes {
            let p = &mut warp.predicates[slot as usize];
            *p = *p & !bit | predicates[slot as usize] & bit;
        }
        warp.carry = warp.carry & !bit | carry & bit;
    }
}

impl Fill {
    /// Fills the row, also on lanes that do not execute.
    fn run(&self, regs: &mut Regs<'_>, lanes: &Lanes, threads: &Threads, grid: &Grid, now: Moment) {
        let row = &mut regs.temps[usize::from(self.temp)];
        match self.from {
            FillFrom::Special(s) => {
                let values = super::special::values(s, lanes, regs.mask, threads, grid, now);
                for (lane, value) in values.into_iter().enumerate() {
                    self.put(row, lane, value);
                }
            }
            FillFrom::LowHalf(at) => {
                let from = u64::row(&regs.rows[at as usize..]);
                for lane in 0..LANES {
                    self.put(row, lane, u64::get(from, lane));
                }
            }
            FillFrom::Extended(at) => {
                let from = u32::row(&regs.rows[at as usize..]);
                for (lane, value) in from.iter().enumerate() {
                    self.put(row, lane, u64::from(*value));
                }
            }
        }
    }

    #[inline(always)]
    fn put(&self, row: &mut Temp, lane: usize, value: u64) {
        if self.wide {
            u64::put(row, lane, value);
        } else {
            row[lane] = value as u32;
        }
    }
}

impl Drain {
    fn run(&self, regs: &mut Regs<'_>) {
        let row = &regs.temps[usize::from(self.temp)];
        for lane in super::regs::lanes_of(regs.mask) {
            let to = self.to as usize;
            if self.widen {
                let low = row[lane];
                regs.rows[to + 2 * lane] = low;
                regs.rows[to + 2 * lane + 1] = if self.signed {
                    ((low as i32) >> 31) as u32
                } else {
                    0
                };
            } else {
                regs.rows[to + lane] = row[2 * lane];
            }
        }
    }
}
