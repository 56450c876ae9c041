//! What the parts of a machine cost in energy, as whole femtojoules and microwatts: values of a
//! machine file, multiplied with what the statistics count.

use super::rule::range;
use super::settings::settings;
use super::work::Work;

const MOST: u32 = 1_000_000_000;

settings! {
    /// Energies of events, and power of what leaks.
    pub struct Energy {
        /// Leakage of an integer pipeline of one lane, while it is on.
        int_leakage: u32 = range(0, MOST), "µW";
        /// Leakage of a floating-point pipeline of one lane, while it is on.
        fp_leakage: u32 = range(0, MOST), "µW";
        /// Shifting values between the lanes of a cluster, for each lane of a unit that an
        /// instruction enters, where there is the hardware for it.
        shift: u32 = range(0, MOST), "µW";
        /// A lane's counter of idle cycles, where lanes are gated.
        idle_counter: u32 = range(0, MOST), "nW";
        /// A 32-bit operand of one lane, read from or written to the register file.
        operand: u32 = range(0, MOST), "fJ";
        /// Fetch and decode of what the instruction cache gives at once.
        fetch: u32 = range(0, MOST), "fJ";
        /// Choosing and issuing an instruction: scheduler, scoreboard, buffers.
        issue: u32 = range(0, MOST), "fJ";
        /// A bank of shared memory in a cycle in which the banks work; all of them do together.
        shared_bank: u32 = range(0, MOST), "fJ";
        /// An access to the L1 data or texture cache.
        l1: u32 = range(0, MOST), "fJ";
        /// An access to the constant cache.
        constant: u32 = range(0, MOST), "fJ";
        /// A byte of a flit that crosses the network; flits have `interconnect.flit` of them.
        flit_byte: u32 = range(0, MOST), "fJ";
        /// A sector or an atomic in the L2.
        l2: u32 = range(0, MOST), "fJ";
        /// A row of DRAM that is opened.
        dram_activate: u32 = range(0, MOST), "fJ";
        /// A byte read from or written to DRAM, its way to the chip included.
        dram_byte: u32 = range(0, MOST), "fJ";
        /// What an SM takes whatever runs, in use or not, beside the leakage of its lanes.
        background_sm: u32 = range(0, MOST), "mW";
        /// What the rest of the chip takes whatever runs.
        background_chip: u32 = range(0, MOST), "mW";
    } with {
        /// What the execution of an instruction takes, for each lane.
        work: WorkEnergy;
    }
}

macro_rules! work_energy {
    ($($(#[doc = $doc:literal])+ $field:ident $work:ident;)*) => {
        settings! {
            /// Energy of executing an instruction on one lane, by the kind of work.
            pub struct WorkEnergy {
                $($(#[doc = $doc])+ $field: u32 = range(0, MOST), "fJ";)*
            }
        }

        impl WorkEnergy {
            /// That of a kind of work.
            pub fn of(&self, work: Work) -> u32 {
                match work { $(Work::$work => self.$field,)* }
            }
        }
    };
}

work_energy! {
    /// Integer addition, minimum and the like.
    int_add IntAdd;
    /// Integer multiplication.
    int_mul IntMul;
    /// Integer division.
    int_div IntDiv;
    /// Logic, shifts, bit fields.
    logic Logic;
    /// Moves and selections.
    moves Move;
    /// Comparison of integers.
    compare Compare;
    /// Conversion between integers.
    convert Convert;
    /// Branches, barriers, exits.
    control Control;
    /// Single-precision addition, minimum and the like.
    fp32_add Fp32Add;
    /// Single-precision multiplication.
    fp32_mul Fp32Mul;
    /// Single-precision division.
    fp32_div Fp32Div;
    /// Comparison of single-precision numbers.
    fp32_compare Fp32Compare;
    /// Conversion from or to single precision.
    fp32_convert Fp32Convert;
    /// Double precision.
    fp64 Fp64;
    /// Special functions.
    sfu Sfu;
    /// Addresses of loads, stores and atomics.
    memory Memory;
    /// What else does not compute.
    other Other;
}
