//! Decoding: operands of a lowered instruction to rows, by the widths its family asks for.

use std::collections::HashMap;
use warpsim_ptx::isa::Space;
use warpsim_ptx::kernel::{AddrBase, Instr, Kernel, Operand, RegClass, RegId, TexBase};

use super::access::{atomic, copy, load_store, mbarrier, spaces};
use super::arith::{bits, carry, compare, convert, integer, mov, video};
use super::control::{calls, flow, printf, warp};
use super::float::{float16, float32, float64, pairs, transcendental};
use super::matrix::{multiply, transport};
use super::op::{
    Cold, Decoded, Drain, Dst, Fill, FillFrom, NO_SLOT, Plan, PredSrc, RESULTS, SOURCES, Src, TRUE,
    Width,
};
use super::rows::Rows;
use super::state::LANES;
use super::texture::{fetch, surface};

/// Every family's decoder; the first that knows an instruction has it.
pub(super) fn families() -> &'static [fn(&Instr) -> Option<Plan>] {
    &[
        carry::decode,
        integer::decode,
        bits::decode,
        video::decode,
        compare::decode,
        float32::decode,
        pairs::decode,
        float64::decode,
        float16::decode,
        transcendental::decode,
        convert::decode,
        mov::decode,
        spaces::decode,
        load_store::decode,
        atomic::decode,
        copy::decode,
        mbarrier::decode,
        fetch::decode,
        surface::decode,
        warp::decode,
        multiply::decode,
        transport::decode,
        flow::decode,
        printf::decode,
        calls::decode,
    ]
}

/// Decodes instructions of a kernel.
pub(super) struct Decoder<'a> {
    pub kernel: &'a Kernel,
    /// The address of each of the program's symbols.
    pub symbols: &'a [u64],
    /// Rows of constants, which instructions share.
    pub pool: Rows,
    /// Where in the pool a row is, by its first two words.
    pub known: HashMap<[u32; 2], u32>,
}

impl Decoder<'_> {
    fn register(&self, reg: RegId) -> Result<(u32, RegClass), String> {
        self.kernel
            .registers
            .get(usize::from(reg.0))
            .map(|r| (r.slot, r.class))
            .ok_or_else(|| format!("register number {} does not exist", reg.0))
    }

    fn constant(&mut self, value: u64, wide: bool) -> Src {
        let row: [u32; 2 * LANES] = if wide {
            std::array::from_fn(|i| (value >> (32 * (i & 1))) as u32)
        } else {
            [value as u32; 2 * LANES]
        };
        let new = self.pool.rows().len() as u32;
        // The first two words tell the others.
        let at = *self.known.entry([row[0], row[1]]).or_insert(new);
        if at == new {
            let (low, high) = row.split_at(LANES);
            for half in [low, high] {
                self.pool.push(half.try_into().expect("half of two rows"));
            }
        }
        Src::Pool(at)
    }

    fn symbol(&self, index: u32) -> Result<u64, String> {
        self.symbols
            .get(index as usize)
            .copied()
            .ok_or_else(|| format!("symbol number {index} has no address"))
    }

    pub fn decode(&mut self, instr: &Instr) -> Result<(Decoded, Cold), String> {
        let plan = families()
            .iter()
            .find_map(|family| family(instr))
            .ok_or_else(|| unsupported(instr))?;
        let mut d = Decoded {
            action: plan.action,
            guard: TRUE,
            temps: 0,
            wide_address: false,
            space: instr.mods.space.unwrap_or(Space::Generic),
            src: [Src::Pool(0); SOURCES],
            dst: [Dst::Sink; RESULTS],
            preds: [TRUE; 2],
            pdst: [NO_SLOT; 2],
            offset: 0,
            boolop: instr.mods.boolop,
            truth: compare::truth(instr),
        };
        let mut cold = Cold {
            instr: instr.clone(),
            fills: Vec::new(),
            drains: Vec::new(),
            reads: Vec::new(),
            writes: Vec::new(),
            predicate_reads: Vec::new(),
            predicate_writes: Vec::new(),
            sources: Vec::new(),
            results: Vec::new(),
        };
        if self.pool.is_empty() {
            self.constant(0, false);
        }
        if let Some((reg, negated)) = instr.guard {
            d.guard = self.predicate(&Operand::Reg(reg), negated, &mut cold)?;
        }
        if let Some(width) = plan.many {
            self.many(instr, &plan, width, &mut d, &mut cold)?;
            return Ok((d, cold));
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
                    d.dst[k] = Dst::Reg(slot);
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

    /// Any number of operands: registers of one width, behind perhaps an address.
    fn many(
        &mut self,
        instr: &Instr,
        plan: &Plan,
        width: Width,
        d: &mut Decoded,
        cold: &mut Cold,
    ) -> Result<(), String> {
        for (k, operand) in instr.src.iter().enumerate() {
            let wanted = plan.src.get(k).copied().unwrap_or(width);
            let src = self.source(operand, wanted, d, cold)?;
            if let Some(place) = d.src.get_mut(k) {
                *place = src;
            }
            cold.sources.push(src);
        }
        for operand in &instr.dst {
            let Operand::Reg(reg) = operand else {
                cold.results.push(Dst::Sink);
                continue;
            };
            let (slot, class) = self.register(*reg)?;
            let words = match (width, class) {
                (Width::Narrow, RegClass::B32) => 32,
                (Width::Wide, RegClass::B64) => 64,
                _ => return Err(unsupported(instr)),
            };
            cold.results.push(Dst::Reg(slot));
            cold.writes.push((slot * 32, words));
        }
        Ok(())
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
                    _ => Src::Reg(slot),
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
                        Src::Reg(slot)
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
    let vector = match instr.mods.vector {
        0 | 1 => String::new(),
        n => format!(".v{n}"),
    };
    let op = instr.op.text();
    format!("this form of `{op}{vector}{types}` is not supported")
}
