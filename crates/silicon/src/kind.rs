//! What an operand is: its width and the values that matter for it.

use crate::random::Random;

/// The kind of an operand or a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Kind {
    Pred,
    /// 8-bit integers, in a 32-bit register whose upper bits are anything.
    I8,
    I16,
    I32,
    I64,
    F16,
    Bf16,
    F32,
    F64,
    /// Two 16-bit integers.
    I16x2,
    F16x2,
    Bf16x2,
    /// A 32-bit shift amount, bit position or length.
    Amount,
    /// A byte selector of `prmt`.
    Selector,
    /// Clamp and segment mask of `shfl`.
    Segment,
    /// A texture coordinate in texels.
    Coordinate,
    /// A texture coordinate where 1 is the whole texture.
    Fraction,
    /// A whole texture coordinate.
    Texel,
}

const F16_EDGES: &[u64] = &[
    0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x8400, 0x3c00, 0xbc00, 0x3c01, 0x3555, 0x7bff, 0xfbff,
    0x7c00, 0xfc00, 0x7e00, 0x7c01, 0xffff,
];
const BF16_EDGES: &[u64] = &[
    0, 0x8000, 1, 0x8001, 0x7f, 0x80, 0x8080, 0x3f80, 0xbf80, 0x3f81, 0x3eab, 0x7f7f, 0xff7f,
    0x7f80, 0xff80, 0x7fc0, 0x7f81, 0xffff,
];
const F32_EDGES: &[u64] = &[
    0,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    1,
    0x8000_0001,
    0x007f_ffff,
    0x0080_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0001,
    0xffff_ffff,
    0x3f80_0001,
    0x3f7f_ffff,
    0x8080_0000,
    0x3eaa_aaab,
    0x3f00_0000,
    0x4b00_0001,
    0x4f00_0000,
    0xcf00_0000,
    0x4f80_0000,
    0x5f00_0000,
    0xdf00_0000,
    0x5f80_0000,
    0x4770_0000,
    0x477f_f000,
    0x3300_0000,
    0x3380_0000,
    0x3fc0_0000,
    0x4020_0000,
    0xc020_0000,
    0xbf00_0000,
    0x437f_8000,
    0x42fe_ffff,
    0x4380_0000,
    0x4780_0000,
    0xc301_0000,
    0x40c9_0fdb,
    0x477f_e000,
];
const F64_EDGES: &[u64] = &[
    0,
    1 << 63,
    0x3ff0_0000_0000_0000,
    0xbff0_0000_0000_0000,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    1,
    0x8000_0000_0000_0001,
    0x000f_ffff_ffff_ffff,
    0x0010_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0xffef_ffff_ffff_ffff,
    0x7ff0_0000_0000_0001,
    0xffff_ffff_ffff_ffff,
    0x3ff0_0000_0000_0001,
    0x3fef_ffff_ffff_ffff,
    0x3fd5_5555_5555_5555,
    0x3fe0_0000_0000_0000,
    0x41df_ffff_ffc0_0000,
    0x41e0_0000_0000_0000,
    0xc1e0_0000_0000_0000,
    0x43e0_0000_0000_0000,
    0xc3e0_0000_0000_0000,
    0x43f0_0000_0000_0000,
    0x41ef_ffff_ffe0_0000,
    0x41f0_0000_0000_0000,
    0x47ef_ffff_e000_0000,
    0x47ef_ffff_f000_0000,
    0x36a0_0000_0000_0000,
    0x3690_0000_0000_0000,
    0x380f_ffff_ffff_ffff,
    0x3ff8_0000_0000_0000,
    0x4004_0000_0000_0000,
    0xc004_0000_0000_0000,
    0xbfe0_0000_0000_0000,
    0x7ff4_dead_beef_1234,
    0x3ff0_0000_1000_0000,
    0x4330_0000_0000_0001,
    0x40ef_ffff_ffff_ffff,
];

impl Kind {
    /// Bytes of a value in memory (predicates and 8-bit values are stored as 32 bits).
    pub fn bytes(self) -> usize {
        match self {
            Kind::I16 | Kind::F16 | Kind::Bf16 => 2,
            Kind::I64 | Kind::F64 => 8,
            _ => 4,
        }
    }

    /// Bits that count.
    fn width(self) -> u32 {
        match self {
            Kind::Pred => 1,
            Kind::I8 => 8,
            _ => self.bytes() as u32 * 8,
        }
    }

    /// Bits of exponent and mantissa of a floating-point kind.
    pub fn float(self) -> Option<(u32, u32)> {
        match self {
            Kind::F16 => Some((5, 10)),
            Kind::Bf16 => Some((8, 7)),
            Kind::F32 => Some((8, 23)),
            Kind::F64 => Some((11, 52)),
            _ => None,
        }
    }

    /// The scalar of a packed kind.
    fn part(self) -> Option<Kind> {
        match self {
            Kind::I16x2 => Some(Kind::I16),
            Kind::F16x2 => Some(Kind::F16),
            Kind::Bf16x2 => Some(Kind::Bf16),
            _ => None,
        }
    }

    /// Values at which something changes, the most telling first.
    pub fn edges(self) -> Vec<u64> {
        if let Some(part) = self.part() {
            let parts = part.edges();
            let n = parts.len();
            return (0..n)
                .map(|i| parts[i] | parts[(i * 7 + 3) % n] << 16)
                .collect();
        }
        let w = self.width();
        match self {
            Kind::Pred => vec![0, 1],
            Kind::F16 => F16_EDGES.to_vec(),
            Kind::Bf16 => BF16_EDGES.to_vec(),
            Kind::F32 => F32_EDGES.to_vec(),
            Kind::F64 => F64_EDGES.to_vec(),
            Kind::Amount => vec![
                0,
                1,
                4,
                8,
                31,
                32,
                33,
                63,
                64,
                255,
                256,
                260,
                15,
                16,
                0x8000_0000,
                0xffff_ffff,
            ],
            Kind::Selector => vec![
                0x3210,
                0x7654,
                0xba98,
                0xfedc,
                0,
                1,
                2,
                3,
                0x0123,
                0x8888,
                0xffff_0246,
            ],
            Kind::Coordinate | Kind::Fraction => [
                0.0f32,
                0.5,
                1.0,
                -0.5,
                0.25,
                0.75,
                1.5,
                4.999,
                5.0,
                7.0,
                2.0 / 3.0,
                -1.0,
                -1.25,
                12.5,
                13.0,
                100.0,
                -100.0,
                1.0e-6,
                0.0019,
                0.998,
                0.999,
            ]
            .iter()
            .map(|v| u64::from(v.to_bits()))
            .collect(),
            Kind::Texel => [0i32, 1, -1, 2, 4, 5, 6, 7, 12, 13, 3, 100, -100]
                .iter()
                .map(|v| u64::from(*v as u32))
                .collect(),
            Kind::Segment => vec![
                0x1f,
                0,
                0x1000,
                0x101f,
                0x1800,
                0x181f,
                0x1c1f,
                0x1e1f,
                0x1f1f,
                0x0f,
                0x1007,
                0x0a15,
                0xffff_ffff,
            ],
            _ => {
                let top = 1u64 << (w - 1);
                let all = u64::MAX >> (64 - w);
                let mut edges = vec![0, 1, all, top, top - 1, 2, top + 1, all - 1, 7, 0x55];
                edges.extend([0xff, 0x80, 0x7f, 0x100].map(|v: u64| v & all));
                if w > 16 {
                    edges.extend([0xffff, 0x8000, 0x7fff, 0x1_0000, 0x0123_4567, 0x00ff_ffff]);
                    edges.extend([0x0100_0001, 0x89ab_cdef, all - 0xff, all - 0x7fff]);
                }
                if w > 32 {
                    edges.extend([0xffff_ffff, 0x8000_0000, 0x7fff_ffff, 1 << 32]);
                    edges.extend([all - 0x7fff_ffff, (1 << 53) + 1, 0x0123_4567_89ab_cdef]);
                }
                edges
            }
        }
    }

    /// A random value; `before` are the operands already drawn.
    pub fn draw(self, random: &mut Random, before: &[u64]) -> u64 {
        if let Some(part) = self.part() {
            let low: Vec<u64> = before.iter().map(|v| v & 0xffff).collect();
            let high: Vec<u64> = before.iter().map(|v| v >> 16 & 0xffff).collect();
            return part.draw(random, &low) | part.draw(random, &high) << 16;
        }
        let bits = random.next();
        let all = u64::MAX >> (64 - self.width());
        match self {
            Kind::Amount if random.below(4) > 0 => return bits % 72,
            Kind::Selector => return bits & 0xffff,
            Kind::Segment => return bits & 0x1f1f,
            // Mostly around a small texture, with 8 bits of fraction or with many.
            Kind::Coordinate | Kind::Fraction => {
                let (steps, below) = if self == Kind::Fraction {
                    (1024.0, 2.0)
                } else {
                    (256.0, 4.0)
                };
                let few = random.below(1 << 12) as f32 / steps - below;
                let more = (bits >> 40) as f32 / (1 << 26) as f32;
                let value = if bits & 1 == 0 { few } else { few + more };
                return u64::from(value.to_bits());
            }
            Kind::Texel => return u64::from((random.below(24) as i32 - 5) as u32),
            Kind::I8 => return bits & 0xffff_ffff,
            _ => {}
        }
        match random.below(8) {
            0 => {
                let edges = self.edges();
                edges[random.below(edges.len() as u64) as usize]
            }
            1 if !before.is_empty() => {
                // The last operand again, its sign or its low bits changed.
                let last = before[before.len() - 1] & all;
                match random.below(3) {
                    0 => last,
                    1 => last ^ (all / 2 + 1),
                    _ => last ^ (bits & 0xf),
                }
            }
            2 | 3 => match self.float() {
                Some((exponent, mantissa)) => {
                    // Near one: where sums cancel and integers are.
                    let bias = (1u64 << (exponent - 1)) - 1;
                    let near = bias - 12 + random.below(28);
                    bits & (all / 2 + 1) | near << mantissa | bits & ((1 << mantissa) - 1)
                }
                // Any magnitude is as likely as another.
                None => (bits & all) >> random.below(u64::from(self.width())),
            },
            4 => match self.float() {
                Some((_, mantissa)) => {
                    let kept = bits & all;
                    kept & (all / 2 + 1) | kept & ((1 << mantissa) - 1) >> random.below(4)
                }
                None => bits.wrapping_rem(64).wrapping_sub(32) & all,
            },
            _ => bits & all,
        }
    }
}
