//! Atomics and reductions.
//!
//! Shared ones are performed here, lane by lane; global ones are left in the effect for the
//! caller to perform when they arrive at memory.
//!
//! Floating-point additions differ between the two places, as the PTX manual says and as an H200
//! was seen to do: global memory's adder flushes `.f32` denormals to zero and hands on an `.f64`
//! NaN as it is, the operand's before memory's; in shared memory the SM's own adder is at work,
//! which keeps denormals and quiets NaNs, memory's before the operand's.

use warpsim_ptx::isa::{AtomOp, Op, Space, Type};
use warpsim_ptx::kernel::{Instr, Operand};

use super::spaces::{fault, resolve, within};
use crate::fault::{Fault, FaultKind};
use crate::float::float16;
use crate::float::float32::NAN as NAN32;
use crate::float::float64::settle2;
use crate::float::softfloat::{self, BF16, F16, Format, Round};
use crate::memory::image::{AccessError, GlobalMemory};
use crate::op::{Decoded, Plan, Regs, Value, Width, World};
use crate::state::{Access, Atomic, EffectKind, lanes_of};

/// Whose adder is at work.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Global,
    Shared,
}

pub(crate) fn decode(i: &Instr) -> Option<Plan> {
    if !matches!(i.op, Op::Atom | Op::Red) || i.mods.vector > 1 {
        return None;
    }
    let ty = i.mods.types[0]?;
    let op = i.mods.atom?;
    if ty.bytes() > 8 || !valid(op, ty) || i.src.len() < 2 || op == AtomOp::Cas && i.src.len() < 3 {
        return None;
    }
    let w = if ty.bytes() == 8 {
        Width::Wide
    } else {
        Width::Narrow
    };
    Some(Plan::full(run, &[Width::None, w, w], &[w]))
}

/// Whether the operation is defined for the type.
fn valid(op: AtomOp, ty: Type) -> bool {
    let integer = !ty.is_float() && ty.bytes() >= 2;
    match op {
        AtomOp::Add | AtomOp::Exch | AtomOp::Cas => integer || ty.is_float(),
        AtomOp::Min | AtomOp::Max => integer && ty.bytes() >= 4 || float_format(ty).is_some(),
        AtomOp::And | AtomOp::Or | AtomOp::Xor => integer && ty.bytes() >= 4,
        AtomOp::Inc | AtomOp::Dec => ty == Type::U32,
        AtomOp::Malloc | AtomOp::Free => ty == Type::U64,
    }
}

fn float_format(ty: Type) -> Option<Format> {
    float16::format(ty).map(|(f, _)| f)
}

fn run(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let instr = &w.cold.instr;
    let m = &instr.mods;
    let (Some(op), Some(ty)) = (m.atom, m.types[0]) else {
        return Ok(());
    };
    let bytes = ty.bytes() as usize;
    let dst = match instr.dst.first() {
        Some(Operand::Reg(reg)) => Some(*reg),
        _ => None,
    };
    let atomic = Atomic { op, ty, dst };
    let split = resolve(d, r, w);
    for lane in lanes_of(r.mask) {
        for k in 0..2 {
            w.effect.operands[k][lane] = match instr.src.get(k + 1) {
                None => 0,
                Some(_) if bytes == 8 => r.lane::<u64>(d.src[k + 1], lane),
                Some(_) => u64::from(r.lane::<u32>(d.src[k + 1], lane)),
            };
        }
    }
    if let Some(lane) = lanes_of(split.local | split.param).next() {
        let what = "atomics work on global and shared memory only";
        return Err(Fault::new(
            FaultKind::Other(what.into()),
            lane,
            w.lanes.home(lane),
        ));
    }
    if split.shared != 0 && split.global != 0 {
        let lane = split.shared.trailing_zeros() as usize;
        let what = "one atomic instruction touches both shared and global memory";
        return Err(Fault::new(
            FaultKind::Other(what.into()),
            lane,
            w.lanes.home(lane),
        ));
    }
    if split.global != 0 {
        let heap = matches!(op, AtomOp::Malloc | AtomOp::Free);
        for lane in lanes_of(if heap { 0 } else { split.global }) {
            let address = w.effect.address[lane];
            let checked = if !address.is_multiple_of(bytes as u64) {
                Err(AccessError::Misaligned)
            } else {
                w.memory.check(address, bytes)
            };
            checked.map_err(|cause| fault(w, lane, Space::Global, bytes, true, cause))?;
        }
        w.effect.kind = EffectKind::Atomic(atomic);
        return Ok(());
    }
    let mut out = u64::ZERO;
    for lane in lanes_of(split.shared) {
        let home = usize::from(w.lanes.home(lane));
        let block = usize::from(w.threads.warps[home].block);
        let operands = [w.effect.operands[0][lane], w.effect.operands[1][lane]];
        let shared = &mut w.threads.blocks[block].shared;
        match within(w.effect.address[lane], bytes, shared.len()) {
            Ok(range) => u64::put(
                &mut out,
                lane,
                apply_bytes(&mut shared[range], Place::Shared, &atomic, operands),
            ),
            Err(cause) => return Err(fault(w, lane, Space::Shared, bytes, true, cause)),
        }
    }
    w.effect.kind = EffectKind::Access(Access {
        store: dst.is_none(),
        shared_atomic: true,
        steps: None,
        element: bytes as u8,
        count: 1,
        shared: split.shared,
        global: 0,
        local: 0,
        other: Space::Generic,
    });
    r.commit_bits(d.dst[0], &out, bytes == 8);
    Ok(())
}

/// Performs one lane's atomic on global memory and returns the old value.
pub fn apply(
    image: &mut GlobalMemory,
    address: u64,
    atomic: &Atomic,
    operands: [u64; 2],
) -> Result<u64, AccessError> {
    match atomic.op {
        AtomOp::Malloc => return Ok(image.heap_alloc(operands[0])),
        AtomOp::Free => return image.heap_free(operands[0]).map(|()| 0),
        _ => {}
    }
    let bytes = u64::from(atomic.ty.bytes());
    if !address.is_multiple_of(bytes) {
        return Err(AccessError::Misaligned);
    }
    Ok(apply_bytes(
        image.writable(address, bytes)?,
        Place::Global,
        atomic,
        operands,
    ))
}

/// Performs one lane's atomic on the bytes of shared memory and returns the old value.
pub(crate) fn apply_shared(bytes: &mut [u8], atomic: &Atomic, operands: [u64; 2]) -> u64 {
    apply_bytes(bytes, Place::Shared, atomic, operands)
}

fn apply_bytes(bytes: &mut [u8], place: Place, atomic: &Atomic, operands: [u64; 2]) -> u64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    let old = u64::from_le_bytes(word);
    let new = combine(atomic.op, atomic.ty, place, old, operands);
    bytes.copy_from_slice(&new.to_le_bytes()[..bytes.len()]);
    old
}

/// The value that memory holds after the operation.
fn combine(op: AtomOp, ty: Type, place: Place, old: u64, [a, b]: [u64; 2]) -> u64 {
    let bits = 8 * ty.bytes();
    let mask = u64::MAX >> (64 - bits);
    let (a, b) = (a & mask, b & mask);
    let signed = |v: u64| (v << (64 - bits)) as i64 >> (64 - bits);
    match op {
        AtomOp::Exch => a,
        AtomOp::Cas => {
            if old == a {
                b
            } else {
                old
            }
        }
        // Those of the heap do not come here.
        AtomOp::Malloc | AtomOp::Free => old,
        AtomOp::And => old & a,
        AtomOp::Or => old | a,
        AtomOp::Xor => old ^ a,
        AtomOp::Inc => {
            if old >= a {
                0
            } else {
                old + 1
            }
        }
        AtomOp::Dec => {
            if old == 0 || old > a {
                a
            } else {
                old - 1
            }
        }
        AtomOp::Add => add(ty, place, old, a) & mask,
        AtomOp::Min | AtomOp::Max if ty.is_float() => halves(ty, old, a, |f, x, y| {
            let key = |v: u64| {
                let magnitude = (v & !f.sign()) as i64;
                if v & f.sign() != 0 {
                    -magnitude - 1
                } else {
                    magnitude
                }
            };
            if f.is_nan(x) {
                y
            } else if f.is_nan(y) || (key(x) < key(y)) == (op == AtomOp::Min) {
                x
            } else {
                y
            }
        }),
        AtomOp::Min if ty.is_signed() => signed(old).min(signed(a)) as u64 & mask,
        AtomOp::Max if ty.is_signed() => signed(old).max(signed(a)) as u64 & mask,
        AtomOp::Min => old.min(a),
        AtomOp::Max => old.max(a),
    }
}

/// Applies to each half-precision number of a (possibly packed) value.
fn halves(ty: Type, a: u64, b: u64, f: impl Fn(Format, u64, u64) -> u64) -> u64 {
    let Some((format, pair)) = float16::format(ty) else {
        return a;
    };
    let low = f(format, a & 0xffff, b & 0xffff);
    if pair {
        low | f(format, a >> 16 & 0xffff, b >> 16 & 0xffff) << 16
    } else {
        low
    }
}

fn add(ty: Type, place: Place, old: u64, a: u64) -> u64 {
    match ty {
        Type::F32 => {
            let flush = |x: f32| match place {
                Place::Global if x.is_subnormal() => 0f32.copysign(x),
                _ => x,
            };
            let sum = flush(f32::from_bits(old as u32)) + flush(f32::from_bits(a as u32));
            u64::from(if sum.is_nan() { NAN32 } else { flush(sum) }.to_bits())
        }
        Type::F64 => {
            let (x, y) = (f64::from_bits(old), f64::from_bits(a));
            match place {
                Place::Global if y.is_nan() => a,
                Place::Global if x.is_nan() => old,
                _ => settle2(y, x, x + y).to_bits(),
            }
        }
        Type::F16 | Type::F16x2 | Type::Bf16 | Type::Bf16x2 => halves(ty, old, a, |f, x, y| {
            if f.is_nan(x) || f.is_nan(y) {
                return 0x7fff;
            }
            debug_assert!(f == F16 || f == BF16);
            softfloat::add(x, y, f, Round::Nearest).unwrap_or(0x7fff)
        }),
        _ => old.wrapping_add(a),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::Code;
    use crate::state::Lanes;
    use crate::testing::{Bench, instr, mods, n, w};
    use warpsim_ptx::isa::Mods;
    use warpsim_ptx::kernel::{AddrBase, RegId};

    fn after(op: AtomOp, ty: Type, old: u64, a: u64, b: u64) -> u64 {
        combine(op, ty, Place::Global, old, [a, b])
    }

    #[test]
    fn operations() {
        use AtomOp::*;
        assert_eq!(after(Add, Type::U32, 0xffff_ffff, 2, 0), 1);
        assert_eq!(after(Inc, Type::U32, 5, 5, 0), 0);
        assert_eq!(after(Inc, Type::U32, 4, 5, 0), 5);
        assert_eq!(after(Dec, Type::U32, 0, 5, 0), 5);
        assert_eq!(after(Dec, Type::U32, 9, 5, 0), 5);
        assert_eq!(after(Dec, Type::U32, 3, 5, 0), 2);
        assert_eq!(after(Min, Type::S32, 0xffff_ffff, 1, 0), 0xffff_ffff);
        assert_eq!(after(Min, Type::U32, 0xffff_ffff, 1, 0), 1);
        assert_eq!(after(Max, Type::S64, u64::MAX, 1, 0), 1);
        assert_eq!(after(Cas, Type::B64, 7, 7, u64::MAX), u64::MAX);
        assert_eq!(after(Cas, Type::B16, 7, 8, 9), 7);
        assert_eq!(
            after(Add, Type::F16x2, 0x3c00_3c00, 0x3c00_4000, 0),
            0x4000_4200
        );
        assert_eq!(
            after(Add, Type::Bf16x2, 0x3f80_3f80, 0x3f80_7fff, 0),
            0x4000_7fff
        );
        assert_eq!(
            after(Add, Type::F64, 1f64.to_bits(), 2f64.to_bits(), 0),
            3f64.to_bits()
        );
        assert_eq!(
            after(Add, Type::F32, 0x7f80_0000, 0xff80_0000, 0),
            0x7fff_ffff
        );
        assert_eq!(after(Max, Type::F16, 0x7e00, 0xbc00, 0), 0xbc00);
    }

    #[test]
    fn global_and_shared_memory_add_floats_differently() {
        let add = |place, ty, old, a| combine(AtomOp::Add, ty, place, old, [a, 0]);
        assert_eq!(add(Place::Global, Type::F32, 1, 0x8000_0001), 0);
        assert_eq!(
            add(Place::Global, Type::F32, 0x8000_0001, 0x8000_0001),
            0x8000_0000
        );
        assert_eq!(add(Place::Global, Type::F32, 0x0080_0001, 0x8080_0000), 0);
        assert_eq!(add(Place::Shared, Type::F32, 1, 1), 2);
        let (loud, quiet, other) = (
            0x7ff0_0000_0000_0001,
            0x7ff8_0000_0000_0001,
            0xffff_ffff_ffff_ffff,
        );
        assert_eq!(add(Place::Global, Type::F64, 0, loud), loud);
        assert_eq!(add(Place::Global, Type::F64, other, loud), loud);
        assert_eq!(add(Place::Shared, Type::F64, 0, loud), quiet);
        assert_eq!(add(Place::Shared, Type::F64, other, loud), other);
    }

    #[test]
    fn shared_atomics_run_lane_by_lane_and_global_ones_wait() {
        let mut bench = Bench::new();
        for lane in 0..32 {
            bench.set(n(1), lane, 8);
            bench.set(n(2), lane, 2);
        }
        let address = |reg| Operand::Address {
            base: AddrBase::Reg(RegId(reg)),
            offset: 0,
        };
        let m = |space| Mods {
            atom: Some(AtomOp::Add),
            space: Some(space),
            ..mods(Type::U32)
        };
        let shared = instr(Op::Atom, m(Space::Shared), &[n(3)], &[address(1), n(2)]);
        bench.step(shared, 0xffff_fff0).unwrap();
        assert_eq!(bench.threads.blocks[0].shared[8], 56);
        assert_eq!(
            [bench.get(n(3), 4), bench.get(n(3), 5), bench.get(n(3), 0)],
            [0, 2, 0]
        );

        let place = bench.image.alloc(64, 256, "x").unwrap();
        for lane in 0..32 {
            bench.set(w(0), lane, place + 4);
        }
        let global = instr(Op::Atom, m(Space::Global), &[n(3)], &[address(8), n(2)]);
        bench.step(global.clone(), u32::MAX).unwrap();
        let EffectKind::Atomic(atomic) = bench.effect.kind.clone() else {
            panic!("{:?}", bench.effect.kind)
        };
        assert_eq!(bench.image.slice(place, 8).unwrap(), &[0; 8]);
        let code = Code::new(&crate::testing::kernel(vec![global]), &[]).unwrap();
        for lane in [7, 3] {
            let old = apply(
                &mut bench.image,
                bench.effect.address[lane],
                &atomic,
                [2, 0],
            )
            .unwrap();
            code.complete_atomic(&Lanes::Static(0), &atomic, lane, old, &mut bench.threads);
        }
        assert_eq!([bench.get(n(3), 7), bench.get(n(3), 3)], [0, 2]);
        assert!(apply(&mut bench.image, place + 2, &atomic, [0, 0]).is_err());
    }
}
