//! What instructions work on: the registers of a warp, and all that its threads can reach.

use crate::program::operand::{PT, RZ, URZ};
use warpsim_exec::fault::FaultKind;
use warpsim_exec::grid::Grid;
use warpsim_exec::memory::local::LocalMemory;
use warpsim_exec::memory::store_buffer::GlobalView;
use warpsim_exec::state::LANES;

/// A register of every thread of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(align(64))]
pub struct Row(pub [u32; LANES]);

impl Row {
    /// The same value in all lanes.
    #[inline(always)]
    pub fn all(value: u32) -> Row {
        Row([value; LANES])
    }

    /// What a function says for each lane.
    #[inline(always)]
    pub fn of(f: impl FnMut(usize) -> u32) -> Row {
        Row(std::array::from_fn(f))
    }
}

/// `1 << lane`: a comparison with a table vectorises where a variable shift does not.
const LANE_BIT: [u32; LANES] = {
    let mut bits = [0; LANES];
    let mut lane = 0;
    while lane < LANES {
        bits[lane] = 1 << lane;
        lane += 1;
    }
    bits
};

/// A bit a lane, set where the function says so.
#[inline(always)]
pub fn bits(f: impl Fn(usize) -> bool) -> u32 {
    let mut all = 0;
    for (lane, bit) in LANE_BIT.iter().enumerate() {
        all |= if f(lane) { *bit } else { 0 };
    }
    all
}

/// Registers of the warp as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uniform {
    /// Registers; the last is always zero.
    pub registers: [u32; 64],
    /// Predicates, all bits or none; the last is always true.
    pub predicates: [u32; 8],
}

impl Default for Uniform {
    fn default() -> Self {
        let mut predicates = [0; 8];
        predicates[usize::from(PT)] = u32::MAX;
        Uniform {
            registers: [0; 64],
            predicates,
        }
    }
}

/// The registers of a warp's threads.
#[derive(Clone, Debug, Default)]
pub struct Registers {
    /// Registers by number.
    pub rows: Vec<Row>,
    /// Predicates, a bit a lane; the last is always true.
    pub predicates: [u32; 8],
    /// Those of the warp.
    pub uniform: Uniform,
    /// Local memory.
    pub local: LocalMemory<LANES>,
    /// Thread indices in the block: x, y, z by lane.
    pub tid: [[u32; LANES]; 3],
}

/// What does not change while a launch runs.
pub struct Surroundings<'a> {
    /// Constant banks by number.
    pub banks: [Vec<u8>; 5],
    /// The launch as its threads see it.
    pub grid: &'a Grid,
}

/// What one instruction can reach while it executes.
pub struct Reach<'a, 'm> {
    /// The lanes that execute it.
    pub mask: u32,
    /// The lanes that are at it, whether they execute it or not.
    pub active: u32,
    /// Registers.
    pub registers: &'a mut Registers,
    /// Shared memory of the block, what the hardware keeps for itself included.
    pub shared: &'a mut [u8],
    /// Global memory.
    pub memory: &'a mut GlobalView<'m>,
    /// Constants and the launch.
    pub around: &'a Surroundings<'a>,
    /// Index of the block in the grid.
    pub ctaid: [u32; 3],
    /// What `SR_CLOCK` says.
    pub clock: u64,
}

/// What went wrong, and in which lane.
#[derive(Debug)]
pub struct Trouble {
    /// The lane.
    pub lane: usize,
    /// What.
    pub kind: FaultKind,
}

/// Where a result goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dst {
    /// A register of each thread.
    Register(u8),
    /// A register of the warp.
    Uniform(u8),
    /// Nowhere.
    Nowhere,
}

impl Dst {
    /// The second of a pair of registers.
    pub fn next(self) -> Dst {
        self.after(1)
    }

    /// The register so many numbers on.
    pub fn after(self, n: u8) -> Dst {
        match self {
            Dst::Register(number) if number != RZ => Dst::Register(number + n),
            Dst::Uniform(number) if number + n < URZ => Dst::Uniform(number + n),
            _ => Dst::Nowhere,
        }
    }
}

/// Where a predicate goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum PredicateDst {
    Thread(u8),
    Uniform(u8),
}

impl Reach<'_, '_> {
    /// Writes a result.
    #[inline(always)]
    pub fn set(&mut self, dst: Dst, row: &Row) {
        match dst {
            Dst::Register(number) => {
                let to = &mut self.registers.rows[usize::from(number)];
                if self.mask == u32::MAX {
                    *to = *row;
                } else {
                    let lanes = to.0.iter_mut().zip(&row.0).zip(&LANE_BIT);
                    for ((to, from), bit) in lanes {
                        let keep = u32::from(self.mask & bit != 0).wrapping_sub(1);
                        *to = from & !keep | *to & keep;
                    }
                }
            }
            Dst::Uniform(number) if number != URZ => {
                self.registers.uniform.registers[usize::from(number)] = row.0[0];
            }
            _ => {}
        }
    }

    /// Writes a 64-bit result.
    #[inline(always)]
    pub fn set_pair(&mut self, dst: Dst, f: impl Fn(usize) -> u64) {
        let (mut low, mut high) = (Row::all(0), Row::all(0));
        for lane in 0..LANES {
            let value = f(lane);
            low.0[lane] = value as u32;
            high.0[lane] = (value >> 32) as u32;
        }
        self.set(dst, &low);
        self.set(dst.next(), &high);
    }

    /// Writes a predicate: a bit a lane.
    #[inline(always)]
    pub fn set_predicate(&mut self, dst: PredicateDst, bits: u32) {
        match dst {
            PredicateDst::Thread(PT) | PredicateDst::Uniform(PT) => {}
            PredicateDst::Thread(number) => {
                let to = &mut self.registers.predicates[usize::from(number)];
                *to = *to & !self.mask | bits & self.mask;
            }
            PredicateDst::Uniform(number) => {
                let truth = 0u32.wrapping_sub(bits & 1);
                self.registers.uniform.predicates[usize::from(number)] = truth;
            }
        }
    }
}
