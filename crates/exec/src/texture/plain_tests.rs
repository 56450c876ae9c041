use crate::grid::{TexelKind, Texture};
use crate::testing::{Bench, instr, n};
use warpsim_ptx::isa::{Geometry, Mods, Op, Type};
use warpsim_ptx::kernel::{Operand, TexBase};

/// Texels in the texture.
const TEXELS: usize = 6;

/// A texture over plain memory whose bytes are their places times 37.
fn bench(channels: u8, bits: u8, kind: TexelKind, read_normalized: bool) -> Bench {
    let mut bench = Bench::new();
    let texel = usize::from(channels) * usize::from(bits) / 8;
    let bytes: Vec<u8> = (0..TEXELS * texel).map(|k| (k * 37) as u8).collect();
    let address = bench
        .image
        .alloc(bytes.len() as u64, 256, "texels")
        .unwrap();
    bench.image.write(address, &bytes).unwrap();
    let texture = Texture {
        address,
        size: [TEXELS as u32, 1, 1],
        dimensions: 1,
        channels,
        bits,
        kind,
        linear_memory: true,
        filter_linear: false,
        wrap: false,
        normalized: false,
        read_normalized,
    };
    bench.grid.texrefs = vec![Some(texture)];
    bench
}

/// What every lane gets at `place(lane)`. By the short way coordinates are whole; the same place
/// as a float takes the way lane by lane.
fn fetched(bench: &mut Bench, whole: bool, place: impl Fn(usize) -> i32) -> Vec<[u32; 4]> {
    for lane in 0..32 {
        let bits = match whole {
            true => place(lane) as u32,
            false => (place(lane) as f32).to_bits(),
        };
        bench.set(n(5), lane, u64::from(bits));
        for k in 0..4 {
            bench.set(n(k), lane, 0xdead);
        }
    }
    let coordinates = if whole { Type::S32 } else { Type::F32 };
    let m = Mods {
        types: [Some(Type::U32), Some(coordinates), None],
        geometry: Some(Geometry::D1),
        vector: 4,
        ..Mods::default()
    };
    let src = [Operand::Texture(TexBase::Texref(0)), n(5)];
    let dst = [n(0), n(1), n(2), n(3)];
    bench
        .step(instr(Op::Tex, m, &dst, &src), 0x00ff_ff0f)
        .unwrap();
    let lane = |lane| std::array::from_fn(|k| bench.get(n(k as u16), lane) as u32);
    (0..32).map(lane).collect()
}

#[test]
fn it_reads_what_goes_lane_by_lane_reads() {
    use TexelKind::*;
    for (kind, bits, normalized) in [
        (Unsigned, 8, false),
        (Signed, 8, false),
        (Unsigned, 16, true),
        (Signed, 16, true),
        (Float, 16, false),
        (Unsigned, 32, false),
        (Float, 32, false),
    ] {
        for channels in [1, 2, 4] {
            // Some lanes are outside, on either side.
            let place = |lane: usize| lane as i32 % 9 - 2;
            let mut bench = bench(channels, bits, kind, normalized);
            let short = fetched(&mut bench, true, place);
            let long = fetched(&mut bench, false, place);
            assert_eq!(short, long, "{channels} x {bits} bits, {kind:?}");
            assert_eq!(short[0], [0; 4], "at {}", place(0));
            assert_eq!(short[5], [0xdead; 4], "lane 5 does not execute");
            assert_ne!(short[2][0], 0xdead);
        }
    }
}

#[test]
fn components_lie_side_by_side_in_memory() {
    let mut bench = bench(2, 16, TexelKind::Unsigned, false);
    let got = fetched(&mut bench, true, |_| 1);
    let byte = |k: u32| (k * 37) & 0xff;
    let component = |k: u32| byte(k) | byte(k + 1) << 8;
    assert_eq!(got[0], [component(4), component(6), 0, 0]);
}
