//! `mma` and `wmma.mma`: `D = A * B + C` of a whole warp.

use warpsim_ptx::isa::{Op, Type};
use warpsim_ptx::kernel::Instr;
use warpsim_ptx::tensor::{Matrix, Role, Tensor, element_bits};

use super::accumulate::{self, Number, number};
use super::whole_warps;
use crate::exec::fault::Fault;
use crate::exec::op::{Decoded, Plan, Regs, Src, Value, Width, World};
use crate::exec::state::{LANES, lanes_of};

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
    let (b, c) = rest.split_at(counts[1].min(rest.len()));
    for lanes in sets {
        let of = |matrix, list: &[Src]| Elements::read(&tensor, matrix, list, r, lanes);
        let sources = [of(Matrix::A, a), of(Matrix::B, b), of(Matrix::C, c)];
        let result = multiply(cold.instr.op, &tensor, &sources, cold.instr.mods.sat);
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

fn multiply(op: Op, tensor: &Tensor, [a, b, c]: &[Elements; 3], saturated: bool) -> Elements {
    let mut d = Elements::empty(tensor, Matrix::D);
    let k = usize::from(tensor.shape[2]);
    let (rows, columns) = (d.rows, d.columns);
    let [to, of_a, of_b, from] = tensor.types;
    let each = |d: &mut Elements, f: &dyn Fn(usize, usize, u64) -> u64| {
        for row in 0..rows {
            for column in 0..columns {
                let at = row * columns + column;
                d.bits[at] = f(row * k, column * k, c.bits[at]);
            }
        }
    };
    match of_a {
        Type::F64 => {
            let [a, b] = [a, b].map(|m| {
                m.bits
                    .iter()
                    .map(|x| f64::from_bits(*x))
                    .collect::<Vec<_>>()
            });
            each(&mut d, &|i, j, c| {
                accumulate::doubles(&a[i..i + k], &b[j..j + k], f64::from_bits(c)).to_bits()
            });
        }
        Type::B1 => {
            let op = tensor.bits.unwrap_or(warpsim_ptx::tensor::BitOp::Xor);
            let [a, b] = [a, b].map(|m| m.bits.iter().map(|x| *x as u32).collect::<Vec<_>>());
            each(&mut d, &|i, j, c| {
                let sum = accumulate::bits(&a[i..i + k], &b[j..j + k], c as i32, op);
                u64::from(sum as u32)
            });
        }
        Type::U8 | Type::S8 | Type::U4 | Type::S4 => {
            let a: Vec<i32> = a.bits.iter().map(|x| integer(*x, of_a)).collect();
            let b: Vec<i32> = b.bits.iter().map(|x| integer(*x, of_b)).collect();
            each(&mut d, &|i, j, c| {
                let sum = accumulate::integers(&a[i..i + k], &b[j..j + k], c as i32, saturated);
                u64::from(sum as u32)
            });
        }
        _ => {
            let a: Vec<Number> = a.bits.iter().map(|x| number(*x as u32, of_a)).collect();
            let b: Vec<Number> = b.bits.iter().map(|x| number(*x as u32, of_b)).collect();
            let rule = accumulate::rule(op, of_a);
            each(&mut d, &|i, j, c| {
                let (a, b) = (&a[i..i + k], &b[j..j + k]);
                u64::from(accumulate::floats(a, b, c as u32, [from, to], rule))
            });
        }
    }
    d
}
