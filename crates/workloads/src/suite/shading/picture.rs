//! Pictures with depth, and their shading on the CPU.

use crate::input::random::Random;

/// Side of a tile of lights, as in the kernel.
const TILE: u32 = 32;
const MATERIALS: u64 = 16;
/// Texels around the planes that are read around a pixel.
pub const MARGIN: u32 = 4;
/// The direction to the sun.
pub const SUN: [f32; 3] = [-0.48, -0.6, -0.64];

/// The two variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Few,
    Many,
}

impl Kind {
    pub fn kernel(self) -> &'static str {
        match self {
            Kind::Few => "shade_few",
            Kind::Many => "shade_many",
        }
    }

    /// How far around a pixel texels are read.
    fn around(self) -> i64 {
        match self {
            Kind::Few => 2,
            Kind::Many => 1,
        }
    }
}

/// A plane of which texels are read around a pixel.
#[derive(Clone, Debug, PartialEq)]
pub struct Plane {
    width: i64,
    texels: Vec<f32>,
}

impl Plane {
    /// The texel at a place; beyond the border the nearest one.
    fn at(&self, x: i64, y: i64) -> f32 {
        let height = self.texels.len() as i64 / self.width;
        let (x, y) = (x.clamp(0, self.width - 1), y.clamp(0, height - 1));
        self.texels[(y * self.width + x) as usize]
    }

    /// With a margin.
    pub fn wide(&self) -> Vec<f32> {
        let margin = i64::from(MARGIN);
        let height = self.texels.len() as i64 / self.width;
        let rows = -margin..height + margin;
        rows.flat_map(|y| (-margin..self.width + margin).map(move |x| self.at(x, y)))
            .collect()
    }
}

/// A picture's planes, and the lights.
pub struct Picture {
    width: u32,
    height: u32,
    /// Size of a pixel at distance one.
    pub step: f32,
    kind: Kind,
    pub depths: Plane,
    /// How much of the sun reaches a pixel.
    pub suns: Plane,
    pub normals_x: Vec<f32>,
    pub normals_y: Vec<f32>,
    /// Red, green and blue from the lowest byte on.
    pub colours: Vec<u32>,
    pub surfaces: Vec<u32>,
    /// Exponent of the glint, and its colour.
    pub materials: Vec<[f32; 4]>,
    /// Place and one over the square of the reach; colour.
    pub lights: Vec<[f32; 8]>,
    /// Where each tile's list begins.
    pub first: Vec<u32>,
    pub listed: Vec<u32>,
    /// How much of each light reaches each pixel, 255 for all; empty with few lights.
    pub shadows: Vec<u8>,
}

/// A ball as it appears in the picture.
struct Ball {
    x: f64,
    y: f64,
    radius: f64,
    depth: f64,
    material: u32,
    colour: [f64; 3],
}

impl Picture {
    /// Balls before a tiled wall that leans back; each tile lists the `listed` nearest of four times as many lights.
    pub fn new([width, height]: [u32; 2], listed: u32, kind: Kind, random: &mut Random) -> Picture {
        let (w, h) = (f64::from(width), f64::from(height));
        let step = 1.2 / w.max(h);
        let balls: Vec<Ball> = (0..24)
            .map(|_| Ball {
                x: random.float(0.0, w),
                y: random.float(0.0, h),
                radius: w.min(h) * random.float(0.04, 0.2),
                depth: random.float(2.0, 5.0),
                material: random.below(MATERIALS) as u32,
                colour: [0; 3].map(|_| random.float(60.0, 255.0)),
            })
            .collect();
        let materials = (0..MATERIALS)
            .map(|_| {
                [
                    random.float(4.0, 60.0),
                    random.unit(),
                    random.unit(),
                    random.unit(),
                ]
            })
            .map(|m| m.map(|x| x as f32))
            .collect();
        let count = (width * height) as usize;
        let plane = || Plane {
            width: i64::from(width),
            texels: Vec::with_capacity(count),
        };
        let mut picture = Picture {
            width,
            height,
            step: step as f32,
            kind,
            depths: plane(),
            suns: plane(),
            normals_x: Vec::with_capacity(count),
            normals_y: Vec::with_capacity(count),
            colours: Vec::with_capacity(count),
            surfaces: Vec::with_capacity(count),
            materials,
            lights: Vec::new(),
            first: vec![0],
            listed: Vec::new(),
            shadows: Vec::new(),
        };
        for pixel in 0..width * height {
            let (x, y) = (f64::from(pixel % width), f64::from(pixel / width));
            picture.draw(&balls, x, y, random);
        }
        picture.place_lights(listed, random);
        if kind == Kind::Many {
            picture.cast_shadows(random);
        }
        picture
    }

    fn draw(&mut self, balls: &[Ball], x: f64, y: f64, random: &mut Random) {
        let h = f64::from(self.height);
        // The wall, with a tile of another material here and there.
        let (mut depth, mut normal) = (7.0 - 2.0 * y / h, [0.0, -0.3]);
        let square = (x / 40.0) as u32 + 7 * (y / 40.0) as u32;
        let (mut surface, mut colour) = (square % 5, [150.0 + 10.0 * f64::from(square % 5); 3]);
        for ball in balls {
            let (dx, dy) = ((x - ball.x) / ball.radius, (y - ball.y) / ball.radius);
            // Not quite to its edge, where the normal has no part towards the eye.
            let bulge = 1.0 - dx * dx - dy * dy;
            let there = ball.depth - 0.5 * bulge.max(0.0).sqrt();
            if bulge > 0.04 && there < depth {
                (depth, normal) = (there, [dx, dy]);
                (surface, colour) = (ball.material, ball.colour);
            }
        }
        let grain = random.float(0.8, 1.0);
        let [r, g, b] = colour.map(|c| (c * grain) as u32);
        // Shadows fall in stripes across the picture, with hard edges.
        let shadow = ((x + 0.7 * y + 8.0 * depth) as u32 / 24).is_multiple_of(3);
        self.suns.texels.push(if shadow { 0.0 } else { 1.0 });
        self.depths.texels.push(depth as f32);
        self.normals_x.push(normal[0] as f32);
        self.normals_y.push(normal[1] as f32);
        self.colours.push(r | g << 8 | b << 16);
        self.surfaces.push(surface);
    }

    fn place_lights(&mut self, listed: u32, random: &mut Random) {
        let (w, h) = (f64::from(self.width), f64::from(self.height));
        let mut seen = Vec::new();
        for _ in 0..4 * listed {
            let (x, y, z) = (
                random.float(0.0, w),
                random.float(0.0, h),
                random.float(0.5, 6.0),
            );
            seen.push((x, y));
            let across = |at: f64, of: f64| (at - 0.5 * of) * f64::from(self.step) * z;
            let reach = random.float(2.0, 5.0);
            let bright = 4.0 / f64::from(listed).sqrt();
            let mut shine = || bright * random.float(0.2, 1.0);
            let light = [across(x, w), across(y, h), z, 1.0 / (reach * reach)];
            let colour = [shine(), shine(), shine(), 0.0];
            let words: Vec<f32> = light.iter().chain(&colour).map(|v| *v as f32).collect();
            self.lights.push(std::array::from_fn(|i| words[i]));
        }
        for ty in 0..self.height.div_ceil(TILE) {
            for tx in 0..self.width.div_ceil(TILE) {
                let middle = |t: u32| (f64::from(t) + 0.5) * f64::from(TILE);
                let away = |i: &u32| {
                    let (x, y) = seen[*i as usize];
                    (x - middle(tx)).powi(2) + (y - middle(ty)).powi(2)
                };
                let mut order: Vec<u32> = (0..self.lights.len() as u32).collect();
                order.sort_by(|a, b| away(a).total_cmp(&away(b)));
                self.listed.extend(&order[..listed as usize]);
                self.first.push(self.listed.len() as u32);
            }
        }
    }

    /// Every light has a beam that some of the picture's columns are in the shadow of.
    fn cast_shadows(&mut self, random: &mut Random) {
        for _ in 0..self.lights.len() {
            let (slant, stripe) = (random.float(-1.0, 1.0), random.float(16.0, 64.0));
            for pixel in 0..self.width * self.height {
                let (x, y) = (f64::from(pixel % self.width), f64::from(pixel / self.width));
                let across = (x + slant * y + 4096.0) / stripe;
                self.shadows
                    .push((255.0 * (2.0 * across.fract()).min(1.0)) as u8);
            }
        }
    }

    /// Red, green and blue of all pixels.
    pub fn shaded(&self) -> [Vec<f32>; 3] {
        let mut planes = [const { Vec::new() }; 3];
        for y in 0..self.height {
            for x in 0..self.width {
                let colour = self.pixel(x, y);
                for (plane, c) in planes.iter_mut().zip(colour) {
                    plane.push(c as f32);
                }
            }
        }
        planes
    }

    /// Share of the neighbourhood that is open, and how much of the sun reaches what is as deep.
    fn around(&self, x: u32, y: u32) -> (f64, f64) {
        let (x, y, far) = (i64::from(x), i64::from(y), self.kind.around());
        let depth = f64::from(self.depths.at(x, y));
        let (mut covered, mut lit, mut total, mut texels) = (0.0, 0.0, 0.0, 0.0);
        for ty in y - far..=y + far {
            for tx in x - far..=x + far {
                let before = depth - f64::from(self.depths.at(tx, ty));
                covered += before.clamp(0.0, 1.0);
                let like = (1.0 - 4.0 * before.abs()).clamp(0.0, 1.0);
                lit += like * f64::from(self.suns.at(tx, ty));
                total += like;
                texels += 1.0;
            }
        }
        (1.0 - 0.7 * covered / texels, lit / total)
    }

    fn pixel(&self, x: u32, y: u32) -> [f64; 3] {
        let at = (y * self.width + x) as usize;
        let depth = f64::from(self.depths.texels[at]);
        let (nx, ny) = (f64::from(self.normals_x[at]), f64::from(self.normals_y[at]));
        let normal = [nx, ny, -(1.0 - nx * nx - ny * ny).max(0.0).sqrt()];
        let across =
            |at: u32, of: u32| (f64::from(at) - 0.5 * f64::from(of)) * f64::from(self.step) * depth;
        let place = [across(x, self.width), across(y, self.height), depth];
        let eye = unit(place.map(|p| -p), 0.0);
        let (open, lit) = self.around(x, y);
        let sun = dot(normal, SUN.map(f64::from)).clamp(0.0, 1.0) * lit;
        let material = self.materials[self.surfaces[at] as usize].map(f64::from);
        let mut matt = [
            0.1 * open + sun,
            0.1 * open + 0.9 * sun,
            0.12 * open + 0.8 * sun,
        ];
        let mut gloss = [0.0; 3];
        let tile = (y / TILE * self.width.div_ceil(TILE) + x / TILE) as usize;
        for number in &self.listed[self.first[tile] as usize..self.first[tile + 1] as usize] {
            let light = self.lights[*number as usize].map(f64::from);
            let to: [f64; 3] = std::array::from_fn(|i| light[i] - place[i]);
            let square = dot(to, to);
            let to = unit(to, 0.0);
            let mut fade = (1.0 - square * light[3]).clamp(0.0, 1.0);
            if self.kind == Kind::Many {
                let plane = *number as usize * (self.width * self.height) as usize;
                fade *= f64::from(self.shadows[plane + at]) / 255.0;
            }
            let straight = dot(to, normal).clamp(0.0, 1.0);
            let half = unit(std::array::from_fn(|i| to[i] + eye[i]), 1e-6);
            let facing = dot(half, normal).clamp(0.0, 1.0);
            let glint = (8.0 * straight).min(1.0) * (facing + 1e-6).powf(material[0]);
            for c in 0..3 {
                matt[c] += light[4 + c] * straight * fade;
                gloss[c] += light[4 + c] * glint * fade;
            }
        }
        std::array::from_fn(|c| {
            let own = f64::from(self.colours[at] >> (8 * c) & 255) / 255.0;
            let light = matt[c] * own + gloss[c] * material[1 + c];
            light / (1.0 + light)
        })
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The same direction with length one; `least` is added to the square of its length.
fn unit(v: [f64; 3], least: f64) -> [f64; 3] {
    let length = (dot(v, v) + least).sqrt();
    v.map(|x| x / length)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(seed: u64) -> Picture {
        Picture::new([96, 64], 3, Kind::Many, &mut Random::new(seed, "shading"))
    }

    #[test]
    fn pictures_repeat_and_have_depth() {
        let picture = make(1);
        assert_eq!(picture.depths, make(1).depths);
        assert_ne!(picture.depths, make(2).depths);
        let near = picture.depths.texels.iter().filter(|d| **d < 5.0).count();
        assert!((600..6000).contains(&near), "{near}");
        assert_eq!(picture.first.len(), 7);
        assert!(picture.first.windows(2).all(|f| f[1] - f[0] == 3));
    }

    #[test]
    fn light_makes_bright_and_edges_make_dark() {
        let mut picture = make(1);
        let lit = picture.shaded();
        for light in &mut picture.lights {
            light[4..].fill(0.0);
        }
        let sun = picture.shaded();
        picture.suns.texels.fill(0.0);
        let dark = picture.shaded();
        let sum = |p: &[Vec<f32>; 3]| p.iter().flatten().sum::<f32>();
        assert!(sum(&lit) > 1.2 * sum(&sun) && sum(&sun) > 1.2 * sum(&dark));
        let open: Vec<f64> = (0..96).map(|x| picture.around(x, 30).0).collect();
        assert!(open.iter().any(|o| *o < 0.95) && open.iter().all(|o| *o >= 0.3));
        assert_eq!(picture.depths.wide().len(), (96 + 8) * (64 + 8));
    }
}
