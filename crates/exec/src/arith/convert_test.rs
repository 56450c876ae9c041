//! Tests of `cvt`.

use super::*;
use crate::testing::{eval, n, w};

fn cvt(
    to: Type,
    from: Type,
    rounding: Option<Rounding>,
    change: impl Fn(&mut Mods),
    bits: u64,
) -> u64 {
    let mut m = Mods {
        types: [Some(to), Some(from), None],
        rounding,
        ..Mods::default()
    };
    change(&mut m);
    let src = if from.bytes() == 8 { w(1) } else { n(1) };
    let dst = if to.bytes() == 8 { w(0) } else { n(0) };
    eval(Op::Cvt, m, dst, &[(src, bits)])
}

fn f(x: f32) -> u64 {
    u64::from(x.to_bits())
}

#[test]
fn floats_to_integers_clamp_and_take_nan_to_zero_or_the_top_bit() {
    let rzi = Some(Rounding::Rzi);
    let plain = |_: &mut Mods| {};
    assert_eq!(
        cvt(Type::S32, Type::F32, rzi, plain, f(-1.9)),
        u64::from(-1i32 as u32)
    );
    assert_eq!(cvt(Type::S32, Type::F32, rzi, plain, f(3e9)), 0x7fff_ffff);
    assert_eq!(cvt(Type::U32, Type::F32, rzi, plain, f(-1.0)), 0);
    assert_eq!(cvt(Type::S32, Type::F32, rzi, plain, f(f32::NAN)), 0);
    assert_eq!(
        cvt(Type::S32, Type::F64, rzi, plain, f64::NAN.to_bits()),
        0x8000_0000
    );
    assert_eq!(cvt(Type::S64, Type::F32, rzi, plain, f(f32::NAN)), 1 << 63);
    assert_eq!(
        cvt(Type::U64, Type::F32, rzi, plain, f(f32::INFINITY)),
        u64::MAX
    );
    assert_eq!(cvt(Type::S8, Type::F32, rzi, plain, f(-200.0)), 0xffff_ff80);
    assert_eq!(cvt(Type::U16, Type::F32, rzi, plain, f(70000.0)), 0xffff);
    let modes = [
        (Rounding::Rni, [2, -2, 2, 0]),
        (Rounding::Rzi, [1, -2, 2, 0]),
        (Rounding::Rmi, [1, -3, 2, 0]),
        (Rounding::Rpi, [2, -2, 3, 1]),
    ];
    for (mode, want) in modes {
        for (x, want) in [1.5f32, -2.5, 2.5, 1e-40].into_iter().zip(want) {
            assert_eq!(
                cvt(Type::S32, Type::F32, Some(mode), plain, f(x)) as u32 as i32,
                want,
                "{mode:?} {x}"
            );
        }
    }
    // A denormal is flushed before it is rounded up.
    assert_eq!(
        cvt(
            Type::S32,
            Type::F32,
            Some(Rounding::Rpi),
            |m| m.ftz = true,
            f(1e-40)
        ),
        0
    );
}

#[test]
fn integers_to_floats_round_as_told() {
    let big = 16_777_217u64; // 2^24 + 1
    let plain = |_: &mut Mods| {};
    let go = |r, v| f32::from_bits(cvt(Type::F32, Type::S32, Some(r), plain, v) as u32);
    assert_eq!(go(Rounding::Rn, big), 16_777_216.0);
    assert_eq!(go(Rounding::Rp, big), 16_777_218.0);
    assert_eq!(go(Rounding::Rz, big), 16_777_216.0);
    let minus = u64::from((-16_777_217i32) as u32);
    assert_eq!(go(Rounding::Rm, minus), -16_777_218.0);
    assert_eq!(go(Rounding::Rp, minus), -16_777_216.0);
    let half = cvt(Type::F16, Type::U64, Some(Rounding::Rn), plain, u64::MAX);
    assert_eq!(half, 0x7c00);
    assert_eq!(
        cvt(Type::F16, Type::U64, Some(Rounding::Rz), plain, u64::MAX),
        0x7bff
    );
    assert_eq!(
        cvt(Type::F32, Type::S8, Some(Rounding::Rn), plain, 0xff),
        f(-1.0)
    );
}

#[test]
fn integers_extend_truncate_and_saturate() {
    let plain = |_: &mut Mods| {};
    let sat = |m: &mut Mods| m.sat = true;
    assert_eq!(
        cvt(Type::S64, Type::S32, None, plain, 0xffff_fffe),
        u64::MAX - 1
    );
    assert_eq!(
        cvt(Type::U64, Type::U32, None, plain, 0xffff_fffe),
        0xffff_fffe
    );
    assert_eq!(cvt(Type::U16, Type::U32, None, plain, 0x12345), 0x2345);
    assert_eq!(cvt(Type::S32, Type::S8, None, plain, 0x80), 0xffff_ff80);
    assert_eq!(cvt(Type::U8, Type::S32, None, sat, 300), 255);
    assert_eq!(
        cvt(Type::U8, Type::S32, None, sat, u64::from(-5i32 as u32)),
        0
    );
    assert_eq!(cvt(Type::S8, Type::U32, None, sat, 200), 127);
}

#[test]
fn floats_to_floats() {
    let plain = |_: &mut Mods| {};
    let tiny = 1e-300f64.to_bits();
    assert_eq!(
        cvt(Type::F32, Type::F64, Some(Rounding::Rp), plain, tiny),
        1
    );
    assert_eq!(
        cvt(
            Type::F32,
            Type::F64,
            Some(Rounding::Rn),
            plain,
            f64::NAN.to_bits()
        ),
        0x7fc0_0000
    );
    assert_eq!(
        cvt(Type::F64, Type::F32, None, plain, f(1.5)),
        1.5f64.to_bits()
    );
    assert_eq!(cvt(Type::F64, Type::F32, None, |m| m.ftz = true, 1), 0);
    assert_eq!(
        cvt(Type::F32, Type::F32, None, |m| m.sat = true, f(2.0)),
        f(1.0)
    );
    assert_eq!(
        cvt(Type::F32, Type::F32, None, |m| m.sat = true, f(f32::NAN)),
        0
    );
    assert_eq!(
        cvt(Type::F32, Type::F32, Some(Rounding::Rmi), plain, f(-0.5)),
        f(-1.0)
    );
    assert_eq!(
        cvt(Type::F32, Type::F32, Some(Rounding::Rzi), plain, f(-0.5)),
        f(-0.0)
    );
    assert_eq!(
        cvt(
            Type::F64,
            Type::F64,
            Some(Rounding::Rpi),
            plain,
            1e300f64.to_bits()
        ),
        1e300f64.to_bits()
    );
    assert_eq!(
        cvt(
            Type::F16,
            Type::F32,
            Some(Rounding::Rn),
            plain,
            f(1.0 + 1.0 / 2048.0)
        ),
        0x3c00
    );
    assert_eq!(
        cvt(Type::F32, Type::F16, None, plain, 0x0001),
        f(2f32.powi(-24))
    );
    assert_eq!(
        cvt(
            Type::Bf16,
            Type::F32,
            Some(Rounding::Rn),
            plain,
            0x3f80_8001
        ),
        0x3f81
    );
    assert_eq!(
        cvt(
            Type::Tf32,
            Type::F32,
            Some(Rounding::Rna),
            plain,
            0x3f80_1000
        ),
        0x3f80_2000
    );
    assert_eq!(
        cvt(
            Type::Bf16,
            Type::F32,
            Some(Rounding::Rn),
            |m| m.sat = true,
            f(f32::INFINITY)
        ),
        0x7f7f
    );
    assert_eq!(
        cvt(
            Type::F16,
            Type::F32,
            Some(Rounding::Rn),
            |m| m.relu = true,
            f(-3.0)
        ),
        0
    );
    let m = Mods {
        types: [Some(Type::F16x2), Some(Type::F32), None],
        rounding: Some(Rounding::Rn),
        ..Mods::default()
    };
    let pair = eval(Op::Cvt, m, n(0), &[(n(1), f(1.0)), (n(2), f(-2.0))]);
    assert_eq!(pair, 0x3c00_c000);
}

#[test]
fn every_pair_of_types_agrees_with_exact_arithmetic() {
    use Type::*;
    let all = [U8, S8, U16, S16, U32, S32, U64, S64, F16, Bf16, F32, F64];
    for to in all {
        for from in all {
            let rounding = match (is_integer(to), is_integer(from)) {
                (true, true) => None,
                (true, false) => Some(Rounding::Rzi),
                (false, true) => Some(Rounding::Rn),
                (false, false) if to.bytes() < from.bytes() || to == from || from == Bf16 => {
                    Some(Rounding::Rn)
                }
                (false, false) => None,
            };
            if to == from && !is_integer(to) {
                continue;
            }
            for bits in [
                0u64,
                1,
                0x7f,
                0x80,
                0x3c00,
                0x7bff,
                0x8000_0000,
                0x3f80_0000,
                0x4f00_0000,
                0xcf00_0001,
                0x4059_0000_0000_0000,
                u64::MAX - 1,
            ] {
                let bits = if from.bytes() == 8 {
                    bits
                } else {
                    bits & 0xffff_ffff
                };
                let m = Mods {
                    types: [Some(to), Some(from), None],
                    rounding,
                    ..Mods::default()
                };
                let want = convert(bits, from, to, &m);
                let want = if to.bytes() == 8 {
                    want
                } else {
                    want & 0xffff_ffff
                };
                assert_eq!(
                    cvt(to, from, rounding, |_| {}, bits),
                    want,
                    "{to:?} {from:?} {bits:#x}"
                );
            }
        }
    }
}
