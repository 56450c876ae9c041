//! `mma` and `wmma.mma`: `D = A * B + C` of a whole warp.

use warpsim_ptx::isa::{Op, Type};
use warpsim_ptx::kernel::Instr;
use warpsim_ptx::tensor::{BitOp, Matrix, Role, Tensor, element_bits};

use super::accumulate::{self, number};
use super::{quarters, whole_warps};
use crate::fault::Fault;
use crate::float::float16::f16_value;
use crate::op::{Decoded, Plan, Regs, Src, Value, Width, World};
use crate::state::{LANES, lanes_of};

pub(crate) fn decode(i: &Instr) -> Option<Plan> {
    let tensor = i.mods.tensor?;
    if !matches!(i.op, Op::Mma | Op::Wmma) || tensor.role != Role::Multiply {
        return None;
    }
    let width = if tensor.is_wide() {
        Width::Wide
    } else {
        Width::Narrow
    };
    Some(Plan::many(run, &[], width))
}

fn run(_: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let cold = w.cold;
    let Some(tensor) = cold.instr.mods.tensor else {
        return Ok(());
    };
    let Some(sets) = whole_warps(r, w) else {
        return Ok(());
    };
    let counts = [Matrix::A, Matrix::B, Matrix::C].map(|m| tensor.registers(m) as usize);
    let (a, rest) = cold.sources.split_at(counts[0].min(cold.sources.len()));
    let (b, rest) = rest.split_at(counts[1].min(rest.len()));
    let (c, sparse) = rest.split_at(counts[2].min(rest.len()));
    for lanes in sets {
        let of = |matrix, list: &[Src]| Elements::read(&tensor, matrix, list, r, lanes);
        let sources = [of(Matrix::A, a), of(Matrix::B, b), of(Matrix::C, c)];
        let chosen = match sparse {
            [which, selector] => Some(chosen(&tensor, *which, *selector, r)),
            _ => None,
        };
        let multiplication = Multiplication {
            op: cold.instr.op,
            tensor: &tensor,
            saturated: cold.instr.mods.sat,
            chosen: chosen.as_deref(),
        };
        let result = multiplication.result(&sources);
        for (register, dst) in cold.results.iter().enumerate() {
            if tensor.is_wide() {
                let mut row = u64::ZERO;
                for lane in lanes_of(lanes) {
                    u64::put(&mut row, lane, result.word(&tensor, lane, register));
                }
                r.commit_masked::<u64>(*dst, &row, lanes);
            } else {
                let mut row = [0u32; LANES];
                for lane in lanes_of(lanes) {
                    row[lane] = result.word(&tensor, lane, register) as u32;
                }
                r.commit_masked::<u32>(*dst, &row, lanes);
            }
        }
    }
    Ok(())
}

/// A matrix as the bits of its elements; A row by row, B column by column, so that the products of
/// one sum lie in order.
struct Elements {
    bits: Vec<u64>,
    columns: usize,
    by_column: bool,
    rows: usize,
}

impl Elements {
    fn empty(tensor: &Tensor, matrix: Matrix) -> Elements {
        let [rows, columns] = tensor.size(matrix).map(|n| n as usize);
        Elements {
            bits: vec![0; rows * columns],
            columns,
            rows,
            by_column: matrix == Matrix::B,
        }
    }

    fn index(&self, [row, column]: [u32; 2]) -> usize {
        let (row, column) = (row as usize, column as usize);
        if self.by_column {
            column * self.rows + row
        } else {
            row * self.columns + column
        }
    }

    /// Puts a matrix together from the registers of these lanes.
    fn read(tensor: &Tensor, matrix: Matrix, list: &[Src], r: &Regs<'_>, lanes: u32) -> Elements {
        let mut all = Elements::empty(tensor, matrix);
        let packed = tensor.packed(matrix);
        let width = element_bits(tensor.element(matrix));
        let mask = u64::MAX >> (64 - width);
        for lane in lanes_of(lanes) {
            for (register, src) in list.iter().enumerate() {
                let word = if tensor.is_wide() {
                    r.lane::<u64>(*src, lane)
                } else {
                    u64::from(r.lane::<u32>(*src, lane))
                };
                for index in 0..packed {
                    let place = tensor.place(matrix, lane as u32, register as u32, index);
                    let at = all.index(place);
                    all.bits[at] = word >> (width * index) & mask;
                }
            }
        }
        all
    }

    fn numbers<N>(&self, of: impl Fn(u64) -> N) -> Vec<N> {
        self.bits.iter().map(|bits| of(*bits)).collect()
    }

    /// A register of the result.
    fn word(&self, tensor: &Tensor, lane: usize, register: usize) -> u64 {
        let width = element_bits(tensor.element(Matrix::D));
        let packed = tensor.packed(Matrix::D);
        (0..packed).fold(0, |word, index| {
            let place = tensor.place(Matrix::D, lane as u32, register as u32, index);
            word | self.bits[self.index(place)] << (width * index)
        })
    }
}

/// The element of an integer matrix.
fn integer(bits: u64, ty: Type) -> i32 {
    match ty {
        Type::S8 => i32::from(bits as i8),
        Type::S4 => i32::from((bits as i8) << 4 >> 4),
        _ => bits as i32,
    }
}

/// For each stored element of a sparse A the row of B that it is multiplied with.
fn chosen(tensor: &Tensor, which: Src, selector: Src, r: &Regs<'_>) -> Vec<usize> {
    let sparsity = tensor.sparsity();
    let [rows, columns] = tensor.size(Matrix::A);
    let each = columns / sparsity.chunks;
    let selector = r.lane::<u32>(selector, 0);
    let mut chosen = Vec::new();
    for row in 0..rows {
        for column in 0..columns {
            let (chunk, index) = (column / each, column % each);
            let (lane, bit) = sparsity.place(row, chunk, selector);
            let four = r.lane::<u32>(which, lane as usize) >> bit & 15;
            chosen.push(sparsity.column(chunk, index, four) as usize);
        }
    }
    chosen
}

/// What there is to know of a multiplication but its numbers.
struct Multiplication<'a> {
    op: Op,
    tensor: &'a Tensor,
    saturated: bool,
    chosen: Option<&'a [usize]>,
}

impl Multiplication<'_> {
    /// Each element of the result by `sum`, which is given a row of A, as many elements of a column
    /// of B, and what is added to.
    fn each<N: Copy>(
        &self,
        [a, b]: [&[N]; 2],
        c: &Elements,
        sum: impl Fn(&[N], &[N], u64) -> u64,
    ) -> Elements {
        let mut d = Elements::empty(self.tensor, Matrix::D);
        let [_, stored] = self.tensor.size(Matrix::A).map(|n| n as usize);
        let [rows, columns, k] = self.tensor.shape.map(usize::from);
        let mut picked = Vec::new();
        for row in 0..d.rows {
            let of_a = &a[row * stored..][..stored];
            // Several multiplications stand one below the other, their B one beside the other.
            let first = row / rows * columns;
            for column in 0..d.columns {
                let whole = &b[(first + column) * k..][..k];
                let of_b = match self.chosen {
                    Some(chosen) => {
                        let chosen = &chosen[row * stored..][..stored];
                        picked.clear();
                        picked.extend(chosen.iter().map(|k| whole[*k]));
                        &picked[..]
                    }
                    None => whole,
                };
                let at = row * d.columns + column;
                d.bits[at] = sum(of_a, of_b, c.bits[at]);
            }
        }
        d
    }

    fn result(&self, [a, b, c]: &[Elements; 3]) -> Elements {
        let [to, of_a, of_b, from] = self.tensor.types;
        match of_a {
            Type::F64 => {
                let [a, b] = [a, b].map(|m| m.numbers(f64::from_bits));
                self.each([&a, &b], c, |a, b, c| {
                    accumulate::doubles(a, b, f64::from_bits(c)).to_bits()
                })
            }
            Type::B1 => {
                let op = self.tensor.bits.unwrap_or(BitOp::Xor);
                let [a, b] = [a, b].map(|m| m.numbers(|x| x as u32));
                self.each([&a, &b], c, |a, b, c| {
                    u64::from(accumulate::bits(a, b, c as i32, op) as u32)
                })
            }
            Type::U8 | Type::S8 | Type::U4 | Type::S4 => {
                let a = a.numbers(|x| integer(x, of_a));
                let b = b.numbers(|x| integer(x, of_b));
                self.each([&a, &b], c, |a, b, c| {
                    u64::from(accumulate::integers(a, b, c as i32, self.saturated) as u32)
                })
            }
            Type::F16 if self.tensor.in_quarters() => {
                let [a, b] = [a, b].map(|m| m.numbers(|x| f16_value(x as u16)));
                self.each([&a, &b], c, |a, b, c| {
                    u64::from(quarters::sum(a, b, c as u32, [from, to]))
                })
            }
            _ => {
                let a = a.numbers(|x| number(x as u32, of_a));
                let b = b.numbers(|x| number(x as u32, of_b));
                let rule = accumulate::rule(self.op, of_a);
                self.each([&a, &b], c, |a, b, c| {
                    u64::from(accumulate::floats(a, b, c as u32, [from, to], rule))
                })
            }
        }
    }
}
