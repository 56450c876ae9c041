//! Texture fetches.
//!
//! Coordinates and filtering are in [`filter`] and [`weigh`]. As on
//! an H200, channels that a texel does not have read as 0, the fourth too; whole coordinates
//! outside the texture read as 0, whatever the addressing mode; and the 1-D fetch with a whole
//! coordinate, which is for plain memory, reads 0 from any other texture.
//!
//! Textures have one level: `tex.level` and `tex.grad` read it whatever level or gradients they
//! give.

use warpsim_ptx::isa::{Geometry, Mode, Op, Space, Type};
use warpsim_ptx::kernel::{Instr, Operand};

use super::bound::texture_on;
use super::{filter, plain, weigh};
use crate::access::spaces::fault;
use crate::fault::Fault;
use crate::grid::{TexelKind, Texture};
use crate::op::{Decoded, Plan, Regs, Width, World};
use crate::state::{Access, EffectKind, LANES, lanes_of};

pub(crate) fn decode(i: &Instr) -> Option<Plan> {
    let fetches = matches!(i.op, Op::Tex | Op::TexLevel | Op::TexGrad | Op::Tld4);
    if !fetches || i.mods.types[0]?.bytes() != 4 {
        return None;
    }
    let dimensions = coordinates(i.mods.geometry?)?;
    if i.src.len() < 1 + dimensions || !matches!(i.src[0], Operand::Texture(_)) {
        return None;
    }
    let n = Width::Narrow;
    Some(Plan::full(fetch, &[Width::Wide, n, n, n, n], &[n; 4]))
}

/// How many coordinates a geometry takes, the layer included.
fn coordinates(geometry: Geometry) -> Option<usize> {
    Some(match geometry {
        Geometry::D1 => 1,
        Geometry::D2 | Geometry::A1d => 2,
        Geometry::D3 | Geometry::A2d => 3,
        Geometry::Cube => return None,
    })
}

fn fetch(d: &Decoded, r: &mut Regs<'_>, w: &mut World<'_, '_>) -> Result<(), Fault> {
    let instr = &w.cold.instr;
    let integer = matches!(instr.mods.types[1], Some(Type::S32 | Type::U32 | Type::B32));
    let geometry = instr.mods.geometry.unwrap_or(Geometry::D1);
    let layered = matches!(geometry, Geometry::A1d | Geometry::A2d);
    let axes = coordinates(geometry).unwrap_or(1) - usize::from(layered);
    let gathered = (instr.op == Op::Tld4).then_some(match instr.mods.mode {
        Some(Mode::G) => 1,
        Some(Mode::B) => 2,
        Some(Mode::A) => 3,
        _ => 0,
    });
    if integer
        && geometry == Geometry::D1
        && gathered.is_none()
        && let Some(element) = plain::fetch(d, r, w, instr.dst.len())
    {
        w.effect.kind = access(element);
        return Ok(());
    }
    let mut out = [[0u32; LANES]; 4];
    let mut element = 4;
    for lane in lanes_of(r.mask) {
        let texture = texture_on(d, r, w, lane)?;
        element = texture.channels * texture.bits / 8;
        let raw: [u32; 4] = std::array::from_fn(|k| {
            if k + 1 < instr.src.len() {
                r.lane::<u32>(d.src[k + 1], lane)
            } else {
                0
            }
        });
        let (layer, first) = if layered { (raw[0], 1) } else { (0, 0) };
        let position: [f32; 3] = std::array::from_fn(|axis| {
            if axis >= axes {
                0.0
            } else if integer {
                raw[first + axis] as i32 as f32
            } else {
                f32::from_bits(raw[first + axis])
            }
        });
        let whole: [i64; 3] = std::array::from_fn(|axis| {
            if axis < axes && integer {
                i64::from(raw[first + axis] as i32)
            } else {
                0
            }
        });
        let sampler = Sampler {
            texture,
            axes,
            layered,
            layer,
        };
        let texel = match gathered {
            Some(channel) => sampler.gather(w, lane, position, channel)?,
            None => sampler.sample(w, lane, position, integer.then_some(whole))?,
        };
        for (out, value) in out.iter_mut().zip(texel) {
            out[lane] = value;
        }
    }
    for (k, out) in out.iter().enumerate().take(instr.dst.len()) {
        r.commit::<u32>(d.dst[k], out);
    }
    w.effect.kind = access(element);
    Ok(())
}

/// What the access was, for timing: texels of so many bytes.
fn access(element: u8) -> EffectKind {
    EffectKind::Access(Access {
        store: false,
        shared_atomic: false,
        steps: None,
        element,
        count: 1,
        shared: 0,
        global: 0,
        local: 0,
        other: Space::Tex,
    })
}

struct Sampler<'a> {
    texture: &'a Texture,
    axes: usize,
    layered: bool,
    layer: u32,
}

impl Sampler<'_> {
    fn sample(
        &self,
        w: &mut World<'_, '_>,
        lane: usize,
        position: [f32; 3],
        whole: Option<[i64; 3]>,
    ) -> Result<[u32; 4], Fault> {
        let t = self.texture;
        if t.linear_memory {
            let index = whole.map_or_else(|| position[0].floor() as i64, |p| p[0]);
            if index < 0 || index >= i64::from(t.size[0]) {
                return Ok(self.border());
            }
            return self.texel(w, lane, [index, 0, 0], true);
        }
        if let Some(index) = whole {
            let inside = (0..self.axes).all(|k| (0..i64::from(t.size[k])).contains(&index[k]));
            if !inside || self.axes == 1 && !self.layered {
                return Ok(self.border());
            }
            return self.texel(w, lane, index, true);
        }
        let mut scaled = [0f64; 3];
        for axis in 0..self.axes {
            scaled[axis] = filter::scaled(t, axis, position[axis]);
        }
        let floats = t.kind == TexelKind::Float || t.read_normalized;
        if !t.filter_linear || !floats {
            let index = std::array::from_fn(|axis| scaled[axis].floor() as i64);
            return self.texel(w, lane, self.addressed(index), true);
        }
        self.filtered(w, lane, scaled)
    }

    /// One component of the four texels that would be weighed: those of the row below, then of the
    /// row above, counter-clockwise from the lower left.
    fn gather(
        &self,
        w: &mut World<'_, '_>,
        lane: usize,
        position: [f32; 3],
        channel: usize,
    ) -> Result<[u32; 4], Fault> {
        let mut base = [0i64; 3];
        for axis in 0..self.axes {
            let scaled = filter::scaled(self.texture, axis, position[axis]);
            base[axis] = filter::first(scaled);
        }
        let mut out = [0; 4];
        for (k, [x, y]) in [[0, 1], [1, 1], [1, 0], [0, 0]].into_iter().enumerate() {
            let index = self.addressed([base[0] + x, base[1] + y, 0]);
            out[k] = self.texel(w, lane, index, k == 0)?[channel];
        }
        Ok(out)
    }

    /// Weighs the 2, 4 or 8 nearest texels.
    fn filtered(
        &self,
        w: &mut World<'_, '_>,
        lane: usize,
        scaled: [f64; 3],
    ) -> Result<[u32; 4], Fault> {
        let mut base = [0i64; 3];
        let mut second = [0u32; 3];
        for axis in 0..self.axes {
            (base[axis], second[axis]) = filter::between(self.texture, axis, scaled[axis]);
        }
        let weights = filter::weights(second);
        let mut texels = [[(0, 0); 8]; 4];
        let corners = 1usize << self.axes;
        for corner in 0..corners {
            let index = std::array::from_fn(|axis| base[axis] + (corner >> axis & 1) as i64);
            let raw = self.raw(w, lane, self.addressed(index), corner == 0)?;
            for (channel, raw) in texels.iter_mut().zip(raw) {
                channel[corner] = (weights[corner], raw);
            }
        }
        let mut out = [0; 4];
        for (out, texels) in (out.iter_mut().zip(&texels)).take(self.texture.channels.into()) {
            *out = weigh::weigh(self.texture, &texels[..corners]);
        }
        Ok(out)
    }

    /// Wraps or clamps indices into the texture.
    fn addressed(&self, index: [i64; 3]) -> [i64; 3] {
        let t = self.texture;
        std::array::from_fn(|axis| {
            if axis >= self.axes {
                return 0;
            }
            let n = i64::from(t.size[axis].max(1));
            if t.wrap && t.normalized {
                index[axis].rem_euclid(n)
            } else {
                index[axis].clamp(0, n - 1)
            }
        })
    }

    fn border(&self) -> [u32; 4] {
        [0; 4]
    }

    /// What an instruction returns for one texel.
    fn texel(
        &self,
        w: &mut World<'_, '_>,
        lane: usize,
        index: [i64; 3],
        record: bool,
    ) -> Result<[u32; 4], Fault> {
        let mut texel = self.raw(w, lane, index, record)?;
        for raw in texel.iter_mut().take(self.texture.channels.into()) {
            *raw = filter::component(self.texture, *raw);
        }
        Ok(texel)
    }

    /// Reads one texel's components as they lie in memory; `record` leaves its address in the
    /// effect.
    fn raw(
        &self,
        w: &mut World<'_, '_>,
        lane: usize,
        index: [i64; 3],
        record: bool,
    ) -> Result<[u32; 4], Fault> {
        let t = self.texture;
        let bytes = usize::from(t.bits) / 8;
        let pixel = bytes * usize::from(t.channels);
        let mut z = index[2] as u64;
        let mut y = index[1] as u64;
        if self.layered {
            let layers = t.size[self.axes.min(2)].max(1);
            let layer = u64::from(self.layer.min(layers - 1));
            if self.axes == 1 { y = layer } else { z = layer }
        }
        let (nx, ny) = (u64::from(t.size[0]), u64::from(t.size[1].max(1)));
        let number = (z * ny + y) * nx + index[0] as u64;
        let address = t.address + number * pixel as u64;
        let previous = std::mem::replace(&mut w.effect.address[lane], address);
        let mut data = [0u8; 16];
        let data = &mut data[..pixel.min(16)];
        if let Err(cause) = w.memory.load(address, data) {
            return Err(fault(w, lane, Space::Tex, pixel, false, cause));
        }
        if !record {
            w.effect.address[lane] = previous;
        }
        let mut out = [0; 4];
        for (out, raw) in out.iter_mut().zip(data.chunks_exact(bytes)) {
            let mut word = [0u8; 4];
            word[..bytes].copy_from_slice(raw);
            *out = u32::from_le_bytes(word);
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, instr, n};
    use warpsim_ptx::isa::Mods;
    use warpsim_ptx::kernel::TexBase;

    /// A 4x2 texture of one channel holding 0..8.
    fn texture(bench: &mut Bench, change: impl Fn(&mut Texture)) {
        let address = bench.image.alloc(32, 256, "texels").unwrap();
        let mut t = Texture {
            address,
            size: [4, 2, 1],
            dimensions: 2,
            channels: 1,
            bits: 32,
            kind: TexelKind::Float,
            linear_memory: false,
            filter_linear: false,
            wrap: false,
            normalized: false,
            read_normalized: false,
        };
        change(&mut t);
        let size = usize::from(t.bits / 8);
        for k in 0..8usize {
            let bits = if t.kind == TexelKind::Float {
                (k as f32).to_bits()
            } else {
                30 * k as u32
            };
            let at = address + (k * size) as u64;
            bench.image.write(at, &bits.to_le_bytes()[..size]).unwrap();
        }
        bench.grid.texrefs = vec![Some(t)];
    }

    fn fetch(
        change: impl Fn(&mut Texture),
        geometry: Geometry,
        to: Type,
        at: [u32; 2],
        coords: Type,
    ) -> [u32; 4] {
        let mut bench = Bench::new();
        texture(&mut bench, change);
        for lane in 0..32 {
            bench.set(n(5), lane, u64::from(at[0]));
            bench.set(n(6), lane, u64::from(at[1]));
        }
        let m = Mods {
            types: [Some(to), Some(coords), None],
            geometry: Some(geometry),
            vector: 4,
            ..Mods::default()
        };
        let mut src = vec![Operand::Texture(TexBase::Texref(0)), n(5)];
        if geometry == Geometry::D2 {
            src.push(n(6));
        }
        bench
            .step(instr(Op::Tex, m, &[n(0), n(1), n(2), n(3)], &src), u32::MAX)
            .unwrap();
        std::array::from_fn(|k| bench.get(n(k as u16), 9) as u32)
    }

    fn at(change: impl Fn(&mut Texture), x: f32, y: f32) -> f32 {
        let r = fetch(
            change,
            Geometry::D2,
            Type::F32,
            [x.to_bits(), y.to_bits()],
            Type::F32,
        );
        assert_eq!(r[1..], [0, 0, 0]);
        f32::from_bits(r[0])
    }

    #[test]
    fn nearest_clamps_and_wraps() {
        assert_eq!(at(|_| {}, 2.9, 1.2), 6.0);
        assert_eq!(at(|_| {}, -3.0, 0.5), 0.0);
        assert_eq!(at(|_| {}, 99.0, 99.0), 7.0);
        assert_eq!(at(|t| t.normalized = true, 0.3, 0.6), 5.0);
        let wrapping = |t: &mut Texture| {
            t.normalized = true;
            t.wrap = true;
        };
        assert_eq!(at(wrapping, 1.3, -0.4), 5.0);
    }

    #[test]
    fn linear_filtering_has_eight_bits_of_fraction() {
        let linear = |t: &mut Texture| t.filter_linear = true;
        assert_eq!(at(linear, 1.0, 0.5), 0.5);
        assert_eq!(at(linear, 1.5, 1.0), 3.0);
        assert_eq!(at(linear, 0.1, 0.5), 0.0);
        // A fraction below half of 1/256 is lost.
        assert_eq!(at(linear, 1.5 + 0.001, 0.5), 1.0);
        assert_eq!(at(linear, 1.5 + 1.0 / 256.0, 0.5), 1.0 + 1.0 / 256.0);
        let wrapping = |t: &mut Texture| {
            t.filter_linear = true;
            t.normalized = true;
            t.wrap = true;
        };
        assert_eq!(at(wrapping, 0.0, 0.25), 1.5);
    }

    #[test]
    fn integers_linear_memory_and_normalised_reads() {
        let bytes = |t: &mut Texture| {
            t.kind = TexelKind::Unsigned;
            t.bits = 8;
        };
        let r = fetch(
            bytes,
            Geometry::D2,
            Type::U32,
            [1f32.to_bits(), 1f32.to_bits()],
            Type::F32,
        );
        assert_eq!(r, [150, 0, 0, 0]);
        let signed = |t: &mut Texture| {
            t.kind = TexelKind::Signed;
            t.bits = 8;
        };
        let r = fetch(
            signed,
            Geometry::D2,
            Type::S32,
            [1f32.to_bits(), 1f32.to_bits()],
            Type::F32,
        );
        assert_eq!(r[0] as i32, 150 - 256);
        let unit = |t: &mut Texture| {
            bytes(t);
            t.read_normalized = true;
        };
        let r = fetch(
            unit,
            Geometry::D2,
            Type::F32,
            [1f32.to_bits(), 1f32.to_bits()],
            Type::F32,
        );
        assert_eq!(f32::from_bits(r[0]), 150.0 / 255.0);
        let flat = |t: &mut Texture| {
            t.linear_memory = true;
            t.size = [8, 1, 1];
        };
        let r = fetch(flat, Geometry::D1, Type::F32, [6, 0], Type::S32);
        assert_eq!(f32::from_bits(r[0]), 6.0);
        let r = fetch(flat, Geometry::D1, Type::F32, [8, 0], Type::S32);
        assert_eq!(r[0], 0);
    }

    #[test]
    fn an_unbound_texture_is_a_fault() {
        let mut bench = Bench::new();
        let m = Mods {
            types: [Some(Type::F32), Some(Type::S32), None],
            geometry: Some(Geometry::D1),
            ..Mods::default()
        };
        let src = [Operand::Texture(TexBase::Texref(0)), n(5)];
        let fault = bench.step(instr(Op::Tex, m, &[n(0)], &src), 1).unwrap_err();
        assert!(fault.kind.to_string().contains("not bound"));
    }
}
