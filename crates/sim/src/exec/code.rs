//! A kernel decoded for execution: operands resolved to rows, a function for each instruction.

use warpsim_ptx::isa::{BoolOp, Op, Special};
use warpsim_ptx::kernel::{AddrBase, Instr, Kernel, Operand, Pc, RegClass, RegId, TexBase};

use super::fault::{Fault, LoadError};
use super::grid::Grid;
use super::regs::{AluFn, Dst, NO_SLOT, PredSrc, Regs, Src, TRUE, Temp, Width};
use super::state::{Effect, EffectKind, LANES, Lanes, Moment, Threads};
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
    fn new(action: Action, src: &[Width], dst: &[Width]) -> Plan {
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
    /// Any other instruction.
    pub fn full(f: FullFn, src: &[Width], dst: &[Width]) -> Plan {
        Plan::new(Action::Full(f), src, dst)
    }
}

/// An instruction ready to execute.
pub(super) struct Decoded {
    action: Action,
    guard: PredSrc,
    /// Temporary rows it needs; those instructions take the slower way.
    temps: u8,
    /// The first source is an address whose base has 64 bits.
    pub wide_address: bool,
    pub src: [Src; SOURCES],
    pub dst: [Dst; RESULTS],
    /// Predicate sources in order.
    pub preds: [PredSrc; 2],
    /// Predicate destinations in order.
    pub pdst: [u32; 2],
    /// Offset of an address.
    pub offset: i64,
    /// How a comparison is combined with the predicate source.
    pub boolop: Option<BoolOp>,
    /// What `set` writes for true; 0 for all others.
    pub truth: u32,
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
    fills: Vec<Fill>,
    drains: Vec<Drain>,
    /// Word ranges of registers read and written, for gathered groups.
    reads: Vec<(u32, u32)>,
    writes: Vec<(u32, u32)>,
    predicate_reads: Vec<u32>,
    predicate_writes: Vec<u32>,
}

/// A temporary row filled before the instruction.
struct Fill {
    temp: u8,
    wide: bool,
    from: FillFrom,
}

enum FillFrom {
    Special(Special),
    /// A 64-bit register at this word offset, of which the low half is used.
    LowHalf(u32),
    /// A 32-bit register zero-extended.
    Extended(u32),
}

/// A temporary row copied to a register of another width after the instruction.
struct Drain {
    temp: u8,
    to: u32,
    /// The register has 64 bits, the value 32 (else the other way round).
    widen: bool,
    signed: bool,
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
    pool: Vec<u32>,
    registers: Vec<(u32, RegClass)>,
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
        let d = &self.ops[pc as usize];
        if let (Lanes::Static(home), Action::Alu(run), 0) = (lanes, d.action, d.temps) {
            let warp = &mut threads.warps[usize::from(*home)];
            let mut regs = Regs {
                rows: &mut warp.rows,
                predicates: &mut warp.predicates,
                carry: &mut warp.carry,
                pool: &self.pool,
                temps: &mut [],
                mask: 0,
            };
            regs.mask = active & regs.predicate(d.guard);
            effect.executed = regs.mask;
            effect.kind = EffectKind::Alu;
            if regs.mask != 0 {
                // SAFETY: decoding chose a version this host can run.
                unsafe { run(d, &mut regs) };
            }
            return Ok(());
        }
        self.step_general(pc, lanes, active, threads, grid, memory, now, effect)
    }

    #[allow(clippy::too_many_arguments)]
    fn step_general(
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
        let mut temps: [Temp; 10] = [[0; 2 * LANES]; 10];
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
                Action::Full(run) => {
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
            for drain in &cold.drains {
                drain.run(&mut regs);
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
                scatter(cold, homes, mask, threads, &rows, &predicates, carry);
                threads.scratch.rows = rows;
                threads.scratch.predicates = predicates;
            }
        }
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
    fn run(&self, regs: &mut Regs<'_>, lanes: &Lanes, threads: &Threads, grid: &Grid, now: Moment) {
        let temp = usize::from(self.temp);
        for lane in 0..LANES {
            if regs.mask >> lane & 1 == 0 {
                continue;
            }
            let value = match self.from {
                FillFrom::Special(s) => {
                    super::special::value(s, lane, lanes.home(lane), threads, grid, now)
                }
                FillFrom::LowHalf(at) => u64::from(regs.rows[at as usize + 2 * lane]),
                FillFrom::Extended(at) => u64::from(regs.rows[at as usize + lane]),
            };
            let row = &mut regs.temps[temp];
            if self.wide {
                row[2 * lane] = value as u32;
                row[2 * lane + 1] = (value >> 32) as u32;
            } else {
                row[lane] = value as u32;
            }
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

/// Decodes one instruction.
struct Decoder<'a> {
    code: &'a mut Code,
    kernel: &'a Kernel,
    symbols: &'a [u64],
}

impl Decoder<'_> {
    fn register(&self, reg: RegId) -> Result<(u32, RegClass), String> {
        self.code
            .registers
            .get(usize::from(reg.0))
            .copied()
            .ok_or_else(|| format!("register number {} does not exist", reg.0))
    }

    fn constant(&mut self, value: u64, wide: bool) -> Src {
        let row: [u32; 2 * LANES] = if wide {
            std::array::from_fn(|i| (value >> (32 * (i & 1))) as u32)
        } else {
            [value as u32; 2 * LANES]
        };
        // Pools are small; equal constants share a row.
        let at = self
            .code
            .pool
            .chunks_exact(2 * LANES)
            .position(|r| r == row)
            .map_or(self.code.pool.len(), |n| n * 2 * LANES);
        if at == self.code.pool.len() {
            self.code.pool.extend_from_slice(&row);
        }
        Src::Pool(at as u32)
    }

    fn symbol(&self, index: u32) -> Result<u64, String> {
        self.symbols
            .get(index as usize)
            .copied()
            .ok_or_else(|| format!("symbol number {index} has no address"))
    }

    fn decode(mut self, instr: &Instr) -> Result<(Decoded, Cold), String> {
        let plan = super::families()
            .iter()
            .find_map(|family| family(instr))
            .ok_or_else(|| unsupported(instr))?;
        let mut d = Decoded {
            action: plan.action,
            guard: TRUE,
            temps: 0,
            wide_address: false,
            src: [Src::Pool(0); SOURCES],
            dst: [Dst::Sink; RESULTS],
            preds: [TRUE; 2],
            pdst: [NO_SLOT; 2],
            offset: 0,
            boolop: instr.mods.boolop,
            truth: super::compare::truth(instr),
        };
        let mut cold = Cold {
            instr: instr.clone(),
            fills: Vec::new(),
            drains: Vec::new(),
            reads: Vec::new(),
            writes: Vec::new(),
            predicate_reads: Vec::new(),
            predicate_writes: Vec::new(),
        };
        if self.code.pool.is_empty() {
            self.constant(0, false);
        }
        if let Some((reg, negated)) = instr.guard {
            d.guard = self.predicate(&Operand::Reg(reg), negated, &mut cold)?;
        }
        if instr.src.len() > SOURCES || instr.dst.len() > RESULTS {
            return Err(unsupported(instr));
        }
        let mut predicates = 0;
        for (k, operand) in instr.src.iter().enumerate() {
            if plan.src[k] == Width::Predicate {
                if predicates == d.preds.len() {
                    return Err(unsupported(instr));
                }
                d.preds[predicates] = self.predicate(operand, false, &mut cold)?;
                predicates += 1;
            } else if !matches!(operand, Operand::Sink) {
                d.src[k] = self.source(operand, plan.src[k], &mut d, &mut cold)?;
            }
        }
        let mut predicates = 0;
        for (k, operand) in instr.dst.iter().enumerate() {
            let Operand::Reg(reg) = operand else {
                if plan.dst[k] == Width::Predicate {
                    predicates += 1;
                }
                continue;
            };
            let (slot, class) = self.register(*reg)?;
            match (plan.dst[k], class) {
                (Width::Predicate, RegClass::Pred) => {
                    if predicates == d.pdst.len() {
                        return Err(unsupported(instr));
                    }
                    d.pdst[predicates] = slot;
                    cold.predicate_writes.push(slot);
                    predicates += 1;
                }
                (Width::Narrow, RegClass::B32) | (Width::Wide, RegClass::B64) => {
                    let words = if class == RegClass::B64 { 64 } else { 32 };
                    d.dst[k] = Dst::Reg(slot * 32);
                    cold.writes.push((slot * 32, words));
                }
                (Width::Narrow, RegClass::B64) | (Width::Wide, RegClass::B32) => {
                    d.dst[k] = Dst::Temp(d.temps);
                    cold.drains.push(Drain {
                        temp: d.temps,
                        to: slot * 32,
                        widen: class == RegClass::B64,
                        signed: instr.mods.types[0].is_some_and(|t| t.is_signed()),
                    });
                    let words = if class == RegClass::B64 { 64 } else { 32 };
                    cold.writes.push((slot * 32, words));
                    d.temps += 1;
                }
                _ => {
                    return Err(format!(
                        "{}: destination {} has the wrong kind",
                        instr.op.text(),
                        self.kernel.registers[usize::from(reg.0)].name
                    ));
                }
            }
        }
        Ok((d, cold))
    }

    fn predicate(
        &self,
        operand: &Operand,
        negated: bool,
        cold: &mut Cold,
    ) -> Result<PredSrc, String> {
        let (reg, negated) = match operand {
            Operand::Reg(reg) => (*reg, negated),
            Operand::NotReg(reg) => (*reg, !negated),
            Operand::Imm(value) => {
                let value = (*value != 0) != negated;
                return Ok(PredSrc {
                    slot: NO_SLOT,
                    flip: if value { u32::MAX } else { 0 },
                });
            }
            other => return Err(format!("{other:?} where a predicate is expected")),
        };
        let (slot, class) = self.register(reg)?;
        if class != RegClass::Pred {
            return Err(format!(
                "register {} where a predicate is expected",
                self.kernel.registers[usize::from(reg.0)].name
            ));
        }
        cold.predicate_reads.push(slot);
        Ok(PredSrc {
            slot,
            flip: if negated { u32::MAX } else { 0 },
        })
    }

    fn source(
        &mut self,
        operand: &Operand,
        width: Width,
        d: &mut Decoded,
        cold: &mut Cold,
    ) -> Result<Src, String> {
        let wide = width == Width::Wide;
        Ok(match operand {
            Operand::Reg(reg) | Operand::NotReg(reg) => {
                let (slot, class) = self.register(*reg)?;
                let at = slot * 32;
                match class {
                    RegClass::Pred => {
                        return Err(format!(
                            "predicate {} where a value is expected",
                            self.kernel.registers[usize::from(reg.0)].name
                        ));
                    }
                    RegClass::B32 => cold.reads.push((at, 32)),
                    RegClass::B64 => cold.reads.push((at, 64)),
                }
                match (class, wide) {
                    (RegClass::B64, false) => Self::temp(d, cold, false, FillFrom::LowHalf(at)),
                    (RegClass::B32, true) => Self::temp(d, cold, true, FillFrom::Extended(at)),
                    _ => Src::Reg(at),
                }
            }
            Operand::Imm(value) => self.constant(*value, wide),
            Operand::Symbol { index, offset } => {
                let address = self.symbol(*index)?.wrapping_add_signed(*offset);
                self.constant(address, wide)
            }
            Operand::Special(s) => Self::temp(d, cold, wide, FillFrom::Special(*s)),
            Operand::Address { base, offset } => {
                d.offset = *offset;
                match base {
                    AddrBase::Reg(reg) => {
                        let (slot, class) = self.register(*reg)?;
                        d.wide_address = class == RegClass::B64;
                        let words = if d.wide_address { 64 } else { 32 };
                        cold.reads.push((slot * 32, words));
                        Src::Reg(slot * 32)
                    }
                    AddrBase::Zero => {
                        d.wide_address = true;
                        self.constant(0, true)
                    }
                    AddrBase::Symbol(index) => {
                        d.wide_address = true;
                        let address = self.symbol(*index)?;
                        self.constant(address, true)
                    }
                }
            }
            Operand::Texture(TexBase::Texref(index)) => self.constant(u64::from(*index), true),
            Operand::Texture(TexBase::Handle(reg)) => {
                return self.source(&Operand::Reg(*reg), Width::Wide, d, cold);
            }
            Operand::Sink => Src::Pool(0),
        })
    }

    fn temp(d: &mut Decoded, cold: &mut Cold, wide: bool, from: FillFrom) -> Src {
        let temp = d.temps;
        d.temps += 1;
        cold.fills.push(Fill { temp, wide, from });
        Src::Temp(temp)
    }
}

fn unsupported(instr: &Instr) -> String {
    let types: String = instr
        .mods
        .types
        .iter()
        .flatten()
        .map(|t| format!(".{t:?}").to_lowercase())
        .collect();
    format!(
        "this form of `{}{types}` is not supported (modifiers {:?})",
        instr.op.text(),
        instr.mods
    )
}
