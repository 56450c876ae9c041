//! Control bits: what the assembler tells the hardware about when an instruction may issue.
//!
//! They lie in the high word of an instruction's 128 bits. Execution without timing has no use for them; they are
//! decoded for who reads the code, and for timing.

use std::fmt;

/// The control bits of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// Cycles until the warp may issue its next instruction.
    pub stall: u8,
    /// The scheduler should rather go on with another warp.
    pub yields: bool,
    /// The counter that is down again when the results are written.
    pub write_barrier: Option<u8>,
    /// The counter that is down again when the sources have been read.
    pub read_barrier: Option<u8>,
    /// Counters that must be zero before it issues: a bit each.
    pub wait: u8,
    /// Source operands, a bit each, whose values are kept for the next instruction.
    pub reuse: u8,
}

impl Control {
    /// Decodes the high word of an instruction.
    pub fn of(high: u64) -> Control {
        let field = |from: u32, bits: u32| (high >> from & ((1 << bits) - 1)) as u8;
        let barrier = |from: u32| Some(field(from, 3)).filter(|&number| number != 7);
        Control {
            stall: field(41, 4),
            yields: field(45, 1) == 0,
            write_barrier: barrier(46),
            read_barrier: barrier(49),
            wait: field(52, 6),
            reuse: field(58, 4),
        }
    }

    /// In words, for a reader: `wait 0,3; stall 5`.
    pub fn explain(&self) -> String {
        let bits = |mask: u8| -> String {
            let set = (0..8).filter(|n| mask >> n & 1 != 0);
            set.map(|n| n.to_string()).collect::<Vec<_>>().join(",")
        };
        let mut parts = Vec::new();
        if self.wait != 0 {
            parts.push(format!("waits for {}", bits(self.wait)));
        }
        if self.stall != 0 {
            parts.push(format!("stall {}", self.stall));
        }
        if self.yields {
            parts.push("yield".to_string());
        }
        if let Some(number) = self.write_barrier {
            parts.push(format!("{number} until written"));
        }
        if let Some(number) = self.read_barrier {
            parts.push(format!("{number} until read"));
        }
        if self.reuse != 0 {
            parts.push(format!("keeps operand {}", bits(self.reuse)));
        }
        parts.join("; ")
    }
}

/// As people who write about machine code do: `B0-----:R-:W1:Y:S04`.
impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("B")?;
        for number in 0..6 {
            match self.wait >> number & 1 {
                0 => f.write_str("-")?,
                _ => write!(f, "{number}")?,
            }
        }
        let barrier = |number: Option<u8>| number.map_or("-".to_string(), |n| n.to_string());
        write!(
            f,
            ":R{}:W{}:{}:S{:02}",
            barrier(self.read_barrier),
            barrier(self.write_barrier),
            if self.yields { "Y" } else { "-" },
            self.stall
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Control;

    #[test]
    fn words_of_an_assembler_are_decoded() {
        // S2R R0, SR_TID.X, of which the next but two needs the result.
        let load = Control::of(0x000e_2e00_0000_2100);
        assert_eq!((load.stall, load.write_barrier), (7, Some(0)));
        assert_eq!((load.read_barrier, load.wait, load.reuse), (None, 0, 0));
        assert_eq!(load.to_string(), "B------:R-:W0:-:S07");
        // IMAD R9, R9, UR4, R0, which needs it.
        let user = Control::of(0x001f_e200_0f8e_0200);
        assert_eq!((user.wait, user.stall, user.write_barrier), (1, 1, None));
        assert!(!user.yields);
        let idle = Control::of(0x000f_c000_0000_0000);
        assert!(idle.yields);
        assert_eq!(idle.explain(), "yield");
        assert_eq!(user.explain(), "waits for 0; stall 1");
    }

    #[test]
    fn operands_that_are_kept_are_told() {
        let kept = Control::of(0x040f_e400_0000_0000 | 0x1 << 59);
        assert_eq!(kept.reuse, 0b11);
        assert!(kept.explain().ends_with("keeps operand 0,1"));
    }
}
