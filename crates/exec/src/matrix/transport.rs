//! Matrices between memory and registers: `wmma.load`, `wmma.store`, `ldmatrix`, `stmatrix`; and
//! between registers: `movmatrix`.

use warpsim_ptx::isa::{Op, Space};
use warpsim_ptx::kernel::Instr;
use warpsim_ptx::tensor::{Matrix, Role, Tensor, element_bits};

use super::whole_warps;
use crate::access::load_store::{read_lane, write_lane};
use crate::access::spaces::{Split, resolve};
use crate::fault::Fault;
use crate::op::{Decoded, Plan, Regs, Value, Width, World};
use crate::state::{Access, EffectKind, LANES, lanes_of};

/// Bytes of a row of an 8 by 8 matrix of 16-bit elements.
const ROW: usize = 16;

pub(crate) fn decode(i: &Instr) -> Option<Plan> {
    let tensor = i.mods.tensor?;
    let n = Width::Narrow;
    let width = if tensor.is_wide() { Width::Wide } else { n };
    Some(match (i.op, tensor.role) {
        (Op::Wmma, Role::Load(_)) => Plan::many(load, &[Width::None, n], width),
        (Op::Wmma, Role::Store(_)) => Plan::many(store, &[Width::None, n], width),
        (Op::Ldmatrix, _) => Plan::many(load_rows, &[Width::None], n),
        (Op::Stmatrix, _) => Plan::many(store_rows, &[Width::None], n),
        (Op::Movmatrix, _) => Plan::many(transpose, &[], n),
        _ => return None,
    })
}

fn effect(store: bool, bytes: usize, split: &Split) -> EffectKind {
    EffectKind::Access(Access {
        store,
        shared_atomic: false,
        steps: None,
        element: 4,
        count: (bytes / 4).max(1) as u8,
        shared: split.shared,
        global: split.global,
        local: split.local,
        other: Space::Generic,
    })
}

/// Where the elements of a matrix lie.
struct Tile {
    tensor: Tensor,
    matrix: Matrix,
    /// Elements from one row (or column) to the next.
    stride: u64,
    by_column: bool,
    bits: u64,
}

impl Tile {
    /// The bit of an element, from the start of the matrix.
    fn bit(&self, [row, column]: [u32; 2]) -> u64 {
        let (line, at) = if self.by_column {
            (column, row)
        } else {
            (row, column)
        };
        (u64::from(line) * self.stride + u64::from(at)) * self.bits
    }

    /// The bytes that each of 32 lanes moves if every byte is moved once, and where they begin.
    fn share(&self, lane: usize) -> (usize, u64) {
        let [rows, columns] = self.tensor.size(self.matrix).map(u64::from);
        let run = if self.by_column { rows } else { columns } * self.bits / 8;
        let each = (rows * columns * self.bits / 8 / LANES as u64).max(1);
        let at = each * lane as u64;
        (
            each as usize,
            at / run * self.stride * self.bits / 8 + at % run,
        )
    }
}

fn tile(d: &Decoded, r: &Regs<'_>, w: &World<'_, '_>, lane: usize) -> Option<Tile> {
    let tensor = w.cold.instr.mods.tensor?;
    let matrix = match tensor.role {
        Role::Load(matrix) | Role::Store(matrix) => matrix,
        _ => return None,
    };
    Some(Tile {
        tensor,
        matrix,
        stride: u64::from(r.lane::<u32>(d.src[1], lane)),
        by_column: tensor.by_column[0],
        bits: u64::from(element_bits(tensor.element(matrix))),
    })
}

/// Leaves in the effect what the memory system is asked for.
fn leave_effect(
    store: bool,
    d: &Decoded,
    r: &Regs<'_>,
    w: &mut World<'_, '_>,
    starts: &[u64; LANES],
    split: &Split,
) {
    let mut bytes = 4;
    for lane in lanes_of(r.mask) {
        let Some(tile) = tile(d, r, w, lane) else {
            continue;
        };
        let (each, at) = tile.share(lane);
        bytes = each;
        w.effect.address[lane] = starts[lane] + at;
    }
    w.effect.kind = effect(store, bytes, split);
}

fn load(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let cold = w.cold;
    let split = resolve(d, r, w);
    let starts = w.effect.address;
    let mut rows = vec![<u64 as Value>::ZERO; cold.results.len()];
    let mut wide = false;
    for lane in lanes_of(r.mask) {
        let Some(tile) = tile(d, r, w, lane) else {
            return Ok(());
        };
        wide = tile.tensor.is_wide();
        let bytes = tile.bits.div_ceil(8) as usize;
        let packed = tile.tensor.packed(tile.matrix);
        let mask = u64::MAX >> (64 - tile.bits);
        for (register, row) in rows.iter_mut().enumerate() {
            let mut word = 0;
            for index in 0..packed {
                let place = tile
                    .tensor
                    .place(tile.matrix, lane as u32, register as u32, index);
                let bit = tile.bit(place);
                w.effect.address[lane] = starts[lane] + bit / 8;
                let mut data = [0u8; 8];
                read_lane(w, &split, lane, &mut data[..bytes])?;
                let element = u64::from_le_bytes(data) >> (bit % 8) & mask;
                word |= element << (u64::from(index) * tile.bits);
            }
            u64::put(row, lane, word);
        }
    }
    for (dst, row) in cold.results.iter().zip(&rows) {
        r.commit_bits(*dst, row, wide);
    }
    leave_effect(false, d, r, w, &starts, &split);
    Ok(())
}

fn store(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let cold = w.cold;
    let split = resolve(d, r, w);
    let starts = w.effect.address;
    for lane in lanes_of(r.mask) {
        let Some(tile) = tile(d, r, w, lane) else {
            return Ok(());
        };
        // Results have whole bytes.
        let bytes = (tile.bits / 8) as usize;
        let packed = tile.tensor.packed(tile.matrix);
        for (register, src) in cold.sources[2..].iter().enumerate() {
            let word = if tile.tensor.is_wide() {
                r.lane::<u64>(*src, lane)
            } else {
                u64::from(r.lane::<u32>(*src, lane))
            };
            for index in 0..packed {
                let place = tile
                    .tensor
                    .place(tile.matrix, lane as u32, register as u32, index);
                w.effect.address[lane] = starts[lane] + tile.bit(place) / 8;
                let element = word >> (u64::from(index) * tile.bits);
                write_lane(w, &split, lane, &element.to_le_bytes()[..bytes])?;
            }
        }
    }
    leave_effect(true, d, r, w, &starts, &split);
    Ok(())
}

/// Lanes whose addresses name rows, of those that are here.
fn row_lanes(count: usize, lanes: u32) -> u32 {
    lanes & (u64::MAX >> (64 - 8 * count.max(1))) as u32
}

fn only(split: &Split, lanes: u32) -> Split {
    Split {
        shared: split.shared & lanes,
        global: split.global & lanes,
        local: split.local & lanes,
        param: split.param & lanes,
    }
}

fn load_rows(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let cold = w.cold;
    let Some(sets) = whole_warps(r, w) else {
        return Ok(());
    };
    let transposed = cold.instr.mods.tensor.is_some_and(|t| t.transposed);
    let split = resolve(d, r, w);
    let mut asked = 0;
    for lanes in sets {
        let mut rows = [[0u8; ROW]; LANES];
        let naming = row_lanes(cold.results.len(), lanes);
        asked |= naming;
        for lane in lanes_of(naming) {
            read_lane(w, &split, lane, &mut rows[lane])?;
        }
        for (tile, dst) in cold.results.iter().enumerate() {
            let matrix = &rows[8 * tile..8 * tile + 8];
            let out: [u32; LANES] = std::array::from_fn(|lane| held(matrix, lane, transposed));
            r.commit_masked::<u32>(*dst, &out, lanes);
        }
    }
    w.effect.kind = effect(false, ROW, &only(&split, asked));
    Ok(())
}

fn element(matrix: &[[u8; ROW]], row: usize, column: usize) -> u32 {
    let [low, high] = [0, 1].map(|k| u32::from(matrix[row][2 * column + k]));
    low | high << 8
}

/// The two elements of a matrix that a thread holds.
fn held(matrix: &[[u8; ROW]], lane: usize, transposed: bool) -> u32 {
    let (row, column) = (lane / 4, 2 * (lane % 4));
    let [low, high] = [column, column + 1].map(|column| match transposed {
        true => element(matrix, column, row),
        false => element(matrix, row, column),
    });
    low | high << 16
}

fn put(matrix: &mut [[u8; ROW]], lane: usize, word: u32, transposed: bool) {
    let (row, column) = (lane / 4, 2 * (lane % 4));
    for (k, half) in [word as u16, (word >> 16) as u16].into_iter().enumerate() {
        let (row, column) = match transposed {
            true => (column + k, row),
            false => (row, column + k),
        };
        matrix[row][2 * column..2 * column + 2].copy_from_slice(&half.to_le_bytes());
    }
}

fn store_rows(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let cold = w.cold;
    let Some(sets) = whole_warps(r, w) else {
        return Ok(());
    };
    let transposed = cold.instr.mods.tensor.is_some_and(|t| t.transposed);
    let split = resolve(d, r, w);
    let values = &cold.sources[1..];
    let mut asked = 0;
    for lanes in sets {
        let mut rows = [[0u8; ROW]; LANES];
        for (tile, src) in values.iter().enumerate() {
            let matrix = &mut rows[8 * tile..8 * tile + 8];
            for lane in lanes_of(lanes) {
                put(matrix, lane, r.lane::<u32>(*src, lane), transposed);
            }
        }
        let naming = row_lanes(values.len(), lanes);
        asked |= naming;
        for lane in lanes_of(naming) {
            write_lane(w, &split, lane, &rows[lane])?;
        }
    }
    w.effect.kind = effect(true, ROW, &only(&split, asked));
    Ok(())
}

fn transpose(_: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let cold = w.cold;
    let Some(sets) = whole_warps(r, w) else {
        return Ok(());
    };
    for lanes in sets {
        let mut rows = [[0u8; ROW]; 8];
        for lane in lanes_of(lanes) {
            put(&mut rows, lane, r.lane::<u32>(cold.sources[0], lane), false);
        }
        let out: [u32; LANES] = std::array::from_fn(|lane| held(&rows, lane, true));
        r.commit_masked::<u32>(cold.results[0], &out, lanes);
    }
    Ok(())
}
