//! Maxwell's equations by a discontinuous Galerkin method.
//!
//! Stands for DG (gpuDG) of the compaction paper: elements of sixth order with 84 nodes and four faces
//! of 28. A stage of a time step has three kernels: derivatives inside an element (84 threads per
//! block), what flows through its faces (112 threads, of which 84 then distribute it), and the step
//! (256 threads). Matrices, geometry and neighbours' values are textures. The paper's table gives 4, 5 and
//! 6 blocks per SM and the block sizes in the opposite order: its machine has 1,024 threads per SM,
//! which four blocks of 256 fill. The mesh is a block of space in tetrahedra with corners off their
//! places, the border a perfect conductor.
//!
//! First measurement (small, `lrr`, gtx480-v3): 310.7 million thread instructions, SIMD efficiency
//! 88.0%, 0.2% of warp time at barriers.

mod element;
mod matrix;
mod mesh;

use super::host::{arguments, check_f32, float};
use super::{Info, Parameter, Parameters, Set, Workload, kernel};
use crate::host::args::Arg;
use crate::host::compare::{Outcome, Tolerance};
use crate::host::device::DeviceError;
use crate::host::session::{Session, Shape};
use crate::input::random::Random;
use element::{Element, FACE, NODES};
use mesh::Mesh;

/// Floats of a field of an element, fields, threads of the last kernel.
const PADDED: usize = 96;
const FIELDS: usize = 6;
const BLOCK: u32 = 256;
/// The first coefficients of a low-storage Runge-Kutta method of five stages.
const STAGES: [(f32, f32); 5] = [
    (0.0, 0.149_659_02),
    (-0.417_890_5, 0.379_210_31),
    (-1.192_151_7, 0.822_955),
    (-1.697_784_7, 0.699_450_46),
    (-1.514_183_4, 0.153_057_25),
];
const DT: f32 = 1e-3;
/// Derivatives are a few hundred in size, and sums of 84 products with signs.
const TOLERANCE: Tolerance = Tolerance {
    absolute: 1e-5,
    relative: 1e-4,
    ulp: 0,
};

static INFO: Info = Info {
    name: "dg",
    algorithm: "Maxwell's equations by a discontinuous Galerkin method: derivatives in each element, flow through its faces, a step",
    known_for: "small dense matrices through textures, blocks of 84 and 112 threads, the last warps partly filled",
    shape: "84, 112 and 256 threads per block, one block per element in the first two kernels",
    papers: &["tbc: DG (coherent; texture traffic grows 2.67 times under compaction)"],
    comparison: "within 1e-5 or 1e-4 of the value, against double precision",
    parameters: &[
        Parameter::new(
            "width",
            "cubes along x and y, six elements each",
            [1, 5, 6],
            (1, 12),
        ),
        Parameter::new("height", "cubes along z", [1, 6, 6], (1, 12)),
        Parameter::new("stages", "stages of the time step", [1, 1, 5], (1, 5)),
    ],
    sets: &[Set::Coherent],
    exceptions: &[],
    kernel: kernel!("dg"),
};

/// The workload.
pub struct Dg;

/// The index of an element's node in a field.
fn at(element: usize, field: usize, node: usize) -> usize {
    (element * FIELDS + field) * PADDED + node
}

/// Smooth waves in every field.
fn waves(mesh: &Mesh, element: &Element, random: &mut Random) -> Vec<f32> {
    let numbers: Vec<[f64; 4]> = (0..FIELDS)
        .map(|_| [(); 4].map(|()| random.float(-2.0, 2.0)))
        .collect();
    let mut fields = vec![0.0; mesh.elements.len() * FIELDS * PADDED];
    for (k, corners) in mesh.elements.iter().enumerate() {
        for (n, weights) in element.nodes.iter().enumerate() {
            let axis = |a: usize| (0..4).map(|c| corners[c][a] * weights[c]).sum::<f64>();
            let place = [axis(0), axis(1), axis(2)];
            for (f, w) in numbers.iter().enumerate() {
                let phase = w[0] * place[0] + w[1] * place[1] + w[2] * place[2] + w[3];
                fields[at(k, f, n)] = phase.sin() as f32;
            }
        }
    }
    fields
}

fn rounded(values: &[f64]) -> Vec<f64> {
    values.iter().map(|v| f64::from(*v as f32)).collect()
}

/// The rates of change of all fields.
fn rates(mesh: &Mesh, element: &Element, fields: &[f64]) -> Vec<f64> {
    let mut rates = vec![0.0; fields.len()];
    let d: Vec<Vec<f64>> = element
        .derivatives
        .iter()
        .map(|m| rounded(&m.values))
        .collect();
    let lift = rounded(&element.lift.values);
    for (k, gradient) in mesh.gradients.iter().enumerate() {
        for n in 0..NODES {
            // Of each field, along each axis.
            let slopes: Vec<[f64; 3]> = (0..FIELDS)
                .map(|f| {
                    let local = [0, 1, 2].map(|i| {
                        let row = &d[i][n * NODES..][..NODES];
                        let values = &fields[at(k, f, 0)..][..NODES];
                        row.iter().zip(values).map(|(d, v)| d * v).sum::<f64>()
                    });
                    gradient.map(|g| (0..3).map(|i| f64::from(g[i] as f32) * local[i]).sum())
                })
                .collect();
            let curl = |f: usize, axis: usize| {
                let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
                slopes[f + c][b] - slopes[f + b][c]
            };
            for axis in 0..3 {
                rates[at(k, axis, n)] = -curl(3, axis);
                rates[at(k, axis + 3, n)] = curl(0, axis);
            }
        }
        let surfaces = &mesh.surfaces[k * 4 * FACE..][..4 * FACE];
        for (j, s) in surfaces.iter().enumerate() {
            let border = s.here.0 == s.there.0;
            let jump = |f: usize| {
                let sign = if border && f >= 3 { -1.0 } else { 1.0 };
                let scale = f64::from((s.scale / 2.0) as f32);
                scale * (sign * fields[at(s.there.0, f, s.there.1)] - fields[at(k, f, s.here.1)])
            };
            let normal = s.normal.map(|v| f64::from(v as f32));
            let (h, e) = ([0, 1, 2].map(jump), [3, 4, 5].map(jump));
            let through = |v: [f64; 3]| (0..3).map(|i| v[i] * normal[i]).sum::<f64>();
            let turned = |v: [f64; 3], axis: usize| {
                let (b, c) = ((axis + 1) % 3, (axis + 2) % 3);
                normal[b] * v[c] - normal[c] * v[b]
            };
            for axis in 0..3 {
                let flux_h = -turned(e, axis) + h[axis] - through(h) * normal[axis];
                let flux_e = turned(h, axis) + e[axis] - through(e) * normal[axis];
                for n in 0..NODES {
                    let by = lift[n * 4 * FACE + j];
                    rates[at(k, axis, n)] += by * flux_h;
                    rates[at(k, axis + 3, n)] += by * flux_e;
                }
            }
        }
    }
    rates
}

/// What the kernels read through textures: derivatives, geometry, surfaces, lift; texels of four.
fn tables(mesh: &Mesh, element: &Element) -> [Vec<u32>; 4] {
    let bits = |v: f64| (v as f32).to_bits();
    let [r, s, t] = &element.derivatives;
    let pairs = (0..NODES).flat_map(|m| (0..NODES).map(move |n| (m, n)));
    let derivatives =
        pairs.flat_map(|(m, n)| [r, s, t].map(|d| bits(d.at(n, m))).into_iter().chain([0]));
    let axes = mesh.gradients.iter().flatten();
    let geometry = axes.flat_map(|g| g.map(bits).into_iter().chain([0]));
    let mut surfaces = Vec::new();
    for group in mesh.surfaces.chunks(4 * FACE) {
        for s in group {
            let place = |(k, n): (usize, usize)| at(k, 0, n) as u32;
            let sign = if s.here.0 == s.there.0 { -1.0 } else { 1.0 };
            let words = [
                place(s.here),
                place(s.there),
                bits(s.scale / 2.0),
                bits(sign),
            ];
            surfaces.extend(words);
        }
        for s in group {
            surfaces.extend(s.normal.map(bits).into_iter().chain([0]));
        }
    }
    let quads = (0..FACE).flat_map(|m| (0..NODES).map(move |n| (m, n)));
    let lift = quads.flat_map(|(m, n)| [0, 1, 2, 3].map(|i| bits(element.lift.at(n, 4 * m + i))));
    [
        derivatives.collect(),
        geometry.collect(),
        surfaces,
        lift.collect(),
    ]
}

impl Workload for Dg {
    fn info(&self) -> &'static Info {
        &INFO
    }

    fn run(
        &self,
        parameters: &Parameters,
        seed: u64,
        session: &mut Session<'_>,
    ) -> Result<Outcome, DeviceError> {
        let [width, height] = ["width", "height"].map(|name| parameters.get(name) as usize);
        let mut random = Random::new(seed, "dg");
        let element = Element::new();
        let mesh = Mesh::new([width, width, height], &element, &mut random);
        let start = waves(&mesh, &element, &mut random);
        let elements = mesh.elements.len() as u32;

        let module = session.load(&INFO.kernel)?;
        let mut handles = Vec::new();
        let labels = ["derivatives", "geometry", "surfaces", "lift"];
        for (label, words) in labels.into_iter().zip(tables(&mesh, &element)) {
            let address = session.upload_u32(label, &words)?;
            let texels = words.len() as u32 / 4;
            handles.push(session.linear_texture(&module, address, texels, (4, 32))?);
        }
        let [derivatives, geometry, surfaces, lift] = [0, 1, 2, 3].map(|i: usize| handles[i]);
        let fields = session.upload_f32("fields", &start)?;
        let count = start.len() as u32;
        let field_texture = session.linear_texture(&module, fields, count, (1, 32))?;
        let rate = session.zeroed("rates", 4 * u64::from(count))?;
        let kept = session.zeroed("kept", 4 * u64::from(count))?;

        let mut expected: Vec<f64> = start.iter().map(|v| f64::from(*v)).collect();
        let mut carried = vec![0.0; expected.len()];
        for (a, b) in STAGES.into_iter().take(parameters.get("stages") as usize) {
            let shape = Shape::linear(elements, NODES as u32);
            let args = arguments(&[derivatives, geometry, fields, rate], &[]);
            session.launch(&module, "dg_volume", shape, &args)?;
            let shape = Shape::linear(elements, 4 * FACE as u32);
            let args = arguments(&[field_texture, surfaces, lift, rate], &[]);
            session.launch(&module, "dg_surface", shape, &args)?;
            let scalars = [Arg::u32(count), float(a), float(b), float(DT)];
            let args = arguments(&[fields, kept, rate], &scalars);
            session.launch(&module, "dg_step", Shape::cover(count, BLOCK), &args)?;

            let rates = rates(&mesh, &element, &expected);
            for ((value, kept), rate) in expected.iter_mut().zip(&mut carried).zip(rates) {
                *kept = f64::from(a) * *kept + f64::from(DT) * rate;
                *value += f64::from(b) * *kept;
            }
        }
        let single = |values: Vec<f64>| values.into_iter().map(|v| v as f32).collect::<Vec<_>>();
        // The last change is compared too: it is small beside the fields.
        Ok(Outcome::of([
            check_f32(session, "fields", fields, &single(expected), &TOLERANCE)?,
            check_f32(session, "kept", kept, &single(carried), &TOLERANCE)?,
        ]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn energy_does_not_grow() {
        let element = Element::new();
        let mesh = Mesh::new([2, 1, 2], &element, &mut Random::new(3, "dg"));
        let start = waves(&mesh, &element, &mut Random::new(3, "waves"));
        let fields: Vec<f64> = start.iter().map(|v| f64::from(*v)).collect();
        let rates = rates(&mesh, &element, &fields);
        let mass = element.mass();
        // How fast the energy in all elements changes, and how much it would without signs.
        let (mut change, mut scale) = (0.0, 0.0);
        for k in 0..mesh.elements.len() {
            // Volume is the inverse of the determinant of the gradients.
            let [x, y, z] = mesh.gradients[k];
            let part = |i: usize, j: usize| y[i] * z[j] - y[j] * z[i];
            let volume = 1.0 / (x[0] * part(1, 2) + x[1] * part(2, 0) + x[2] * part(0, 1));
            for f in 0..FIELDS {
                for n in 0..NODES {
                    for m in 0..NODES {
                        let power = fields[at(k, f, n)] * mass.at(n, m) * rates[at(k, f, m)];
                        change += volume * power;
                        scale += (volume * power).abs();
                    }
                }
            }
        }
        assert!(change < 1e-5 * scale, "{change} of {scale}");
        assert!(scale > 1.0);
    }
}
