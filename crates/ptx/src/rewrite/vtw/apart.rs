//! Numbers of blocks and threads are taken apart into indices, x fastest, in every iteration, and a division takes longer than many a kernel's
//! iteration. So the loop has none: before it, each size's reciprocal is divided out once.
//!
//! - A thread's number is below 1,024, as every size of a block is at most that: its product with 2^22 / size, rounded up, has the
//!   quotient in its upper ten bits.
//! - A block's may be any: the upper half of its product with (2^32 - 1) / size, rounded down, is the quotient or one less.

use super::indices::{Index, Kind};
use std::fmt::Write;

/// A number that is taken apart.
pub struct Apart<'a> {
    pub kind: Kind,
    /// Indices that it has.
    pub dimensions: u8,
    /// The register that holds it.
    pub number: &'a str,
    /// The registers with the sizes in x and y.
    pub sizes: [String; 2],
    /// The registers of the indices that are wanted.
    pub parts: [Option<&'a str>; 3],
}

/// Whether the quotient is one more, the row of a number, and a part that the kernel does not read.
const MORE: &str = "%vtw_carry";
const ROW: &str = "%vtw_row";
const REST: &str = "%vtw_rest";

impl Apart<'_> {
    /// A register that is computed from a size before the loop.
    fn of_size(&self, what: &str, component: u8) -> String {
        let index = Index {
            kind: self.kind,
            component,
        };
        format!("%vtw_{what}_{}", index.text())
    }

    /// The register with the reciprocal of a size.
    fn reciprocal(&self, component: u8) -> String {
        self.of_size("per", component)
    }

    /// The register with the size times minus one: a rest is one multiplication and addition then.
    fn minus(&self, component: u8) -> String {
        self.of_size("minus", component)
    }

    /// The components whose sizes are divided by.
    fn divisors(&self) -> std::ops::Range<u8> {
        0..self.dimensions.saturating_sub(1)
    }

    /// The registers of the reciprocals.
    pub fn declare(&self, text: &mut String) {
        for component in self.divisors() {
            let _ = writeln!(text, ".reg .b32 {};", self.reciprocal(component));
            let _ = writeln!(text, ".reg .b32 {};", self.minus(component));
        }
    }

    /// The reciprocals, before the loop.
    pub fn before(&self, text: &mut String) {
        for component in self.divisors() {
            let size = &self.sizes[usize::from(component)];
            let (per, minus) = (self.reciprocal(component), self.minus(component));
            let _ = writeln!(text, "mov.u32 {minus}, {size};");
            match self.kind {
                Kind::Tid => {
                    let _ = writeln!(text, "add.u32 {per}, {minus}, {};", (1 << 22) - 1);
                    let _ = writeln!(text, "div.u32 {per}, {per}, {minus};");
                }
                _ => {
                    let _ = writeln!(text, "div.u32 {per}, {}, {minus};", u32::MAX);
                }
            }
            let _ = writeln!(text, "neg.s32 {minus}, {minus};");
        }
    }

    /// The indices, in the loop. The last dimension's is wanted: that is what makes it one.
    pub fn now(&self, text: &mut String) {
        let [x, y, z] = self.parts;
        let parts = match (self.dimensions, y, z) {
            (2, Some(y), _) => [y, x.unwrap_or(REST)],
            (3, _, Some(_)) => [ROW, x.unwrap_or(REST)],
            _ => return,
        };
        self.divide(text, 0, self.number, parts);
        if let (3, Some(z)) = (self.dimensions, z) {
            self.divide(text, 1, ROW, [z, y.unwrap_or(REST)]);
        }
    }

    /// Quotient and rest of a number and the size of a component.
    fn divide(&self, text: &mut String, component: u8, number: &str, to: [&str; 2]) {
        let (per, minus) = (self.reciprocal(component), self.minus(component));
        let [quotient, rest] = to;
        if self.kind == Kind::Tid {
            let _ = writeln!(text, "mul.lo.u32 {quotient}, {number}, {per};");
            let _ = writeln!(text, "shr.u32 {quotient}, {quotient}, 22;");
            let _ = writeln!(text, "mad.lo.u32 {rest}, {quotient}, {minus}, {number};");
            return;
        }
        let size = &self.sizes[usize::from(component)];
        let _ = writeln!(text, "mul.hi.u32 {quotient}, {number}, {per};");
        let _ = writeln!(text, "mad.lo.u32 {rest}, {quotient}, {minus}, {number};");
        let _ = writeln!(text, "setp.ge.u32 {MORE}, {rest}, {size};");
        let _ = writeln!(text, "@{MORE} add.u32 {quotient}, {quotient}, 1;");
        let _ = writeln!(text, "@{MORE} add.u32 {rest}, {rest}, {minus};");
    }
}

/// Registers that taking numbers apart needs for itself.
pub fn declare(text: &mut String) {
    let _ = writeln!(text, ".reg .pred {MORE};");
    for register in [ROW, REST] {
        let _ = writeln!(text, ".reg .b32 {register};");
    }
}

#[cfg(test)]
mod tests {
    /// What the instructions of `divide` compute.
    fn divided(number: u32, size: u32) -> (u32, u32) {
        let per = u32::MAX / size;
        let mut quotient = ((u64::from(number) * u64::from(per)) >> 32) as u32;
        let mut rest = number.wrapping_sub(quotient.wrapping_mul(size));
        if rest >= size {
            quotient += 1;
            rest -= size;
        }
        (quotient, rest)
    }

    #[test]
    fn numbers_of_threads_need_no_correction() {
        for size in 1..=1024u32 {
            let per = (size + (1 << 22) - 1) / size;
            for number in 0..1024u32 {
                let product = number.checked_mul(per).expect("32 bits");
                assert_eq!(product >> 22, number / size, "{number} by {size}");
            }
        }
    }

    #[test]
    fn a_reciprocal_and_one_correction_divide_exactly() {
        let edges = [0, 1, 2, 3, 5, 7, 31, 32, 33, 1000, 65_535, 65_536, 1 << 31];
        let around = |n: u32| [n.wrapping_sub(1), n, n.wrapping_add(1), !n];
        let numbers: Vec<u32> = edges.into_iter().flat_map(around).collect();
        let mut any = 12_345_u32;
        let mut random = || {
            any = any.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            any >> (any >> 27)
        };
        let more: Vec<(u32, u32)> = (0..100_000).map(|_| (random(), random())).collect();
        let all = numbers
            .iter()
            .flat_map(|n| numbers.iter().map(|s| (*n, *s)));
        for (number, size) in all.chain(more).filter(|(_, size)| *size > 0) {
            let expected = (number / size, number % size);
            assert_eq!(divided(number, size), expected, "{number} by {size}");
        }
    }
}
