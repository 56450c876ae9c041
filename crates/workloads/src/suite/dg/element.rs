//! The reference tetrahedron of sixth order: its nodes, how fields given at them are differentiated,
//! and how what flows through its faces is distributed over them.

use super::matrix::Matrix;

/// Order of the polynomials.
const ORDER: usize = 6;
/// Nodes of an element and of one of its faces.
pub(super) const NODES: usize = 84;
pub(super) const FACE: usize = 28;
/// Corners of each face.
pub(super) const FACES: [[usize; 3]; 4] = [[0, 1, 2], [0, 1, 3], [1, 2, 3], [0, 2, 3]];

/// The element from (0,0,0) to (1,0,0), (0,1,0) and (0,0,1).
pub(super) struct Element {
    /// Nodes by their weights of the four corners.
    pub(super) nodes: Vec<[f64; 4]>,
    /// Nodes on each face, each a number of a node.
    pub(super) on_face: Vec<usize>,
    /// Derivatives along the three axes.
    pub(super) derivatives: [Matrix; 3],
    /// Values at the nodes that stand for values at the face nodes.
    pub(super) lift: Matrix,
}

/// Exponents of all monomials in `N` variables up to the order.
fn monomials<const N: usize>() -> Vec<[usize; N]> {
    let mut all = vec![[0; N]];
    for axis in 0..N {
        let longer = all.iter().flat_map(|m: &[usize; N]| {
            let room = ORDER - m.iter().sum::<usize>();
            let m = *m;
            (0..=room).map(move |e| {
                let mut m = m;
                m[axis] = e;
                m
            })
        });
        all = longer.collect();
    }
    all
}

fn power(x: f64, e: usize) -> f64 {
    x.powi(e as i32)
}

fn monomial<const N: usize>(m: &[usize; N], at: &[f64; N]) -> f64 {
    m.iter().zip(at).map(|(e, x)| power(*x, *e)).product()
}

/// Its derivative along an axis.
fn derivative<const N: usize>(m: &[usize; N], at: &[f64; N], axis: usize) -> f64 {
    let mut lower = *m;
    match lower[axis].checked_sub(1) {
        None => 0.0,
        Some(e) => {
            lower[axis] = e;
            m[axis] as f64 * monomial(&lower, at)
        }
    }
}

/// Integrals of products of two polynomials that are given at nodes, over the unit simplex.
fn mass<const N: usize>(nodes: &[[f64; N]]) -> Matrix {
    let all = monomials::<N>();
    let factorial = |n: usize| (1..=n).map(|i| i as f64).product::<f64>();
    let products = Matrix::of(all.len(), all.len(), |a, b| {
        let sum = |i: usize| all[a][i] + all[b][i];
        let above: f64 = (0..N).map(|i| factorial(sum(i))).product();
        above / factorial((0..N).map(sum).sum::<usize>() + N)
    });
    let to_modes =
        Matrix::of(nodes.len(), all.len(), |n, m| monomial(&all[m], &nodes[n])).inverse();
    to_modes.transposed().times(&products).times(&to_modes)
}

impl Element {
    pub(super) fn new() -> Element {
        let weights = |m: &[usize; 3]| {
            let w = m.map(|e| e as f64 / ORDER as f64);
            [1.0 - w[0] - w[1] - w[2], w[0], w[1], w[2]]
        };
        let all = monomials::<3>();
        // Nodes are as many as monomials: evenly spaced.
        let nodes: Vec<[f64; 4]> = all.iter().map(weights).collect();
        let places: Vec<[f64; 3]> = nodes.iter().map(|n| [n[1], n[2], n[3]]).collect();
        let to_modes = Matrix::of(NODES, NODES, |n, m| monomial(&all[m], &places[n])).inverse();
        let derivatives = [0, 1, 2].map(|axis| {
            Matrix::of(NODES, NODES, |n, m| derivative(&all[m], &places[n], axis)).times(&to_modes)
        });

        let mut on_face = Vec::new();
        let mut through = Matrix::of(NODES, 4 * FACE, |_, _| 0.0);
        for (f, corners) in FACES.iter().enumerate() {
            let opposite = 6 - corners.iter().sum::<usize>();
            let here: Vec<usize> = (0..NODES)
                .filter(|n| nodes[*n][opposite].abs() < 1e-9)
                .collect();
            let flat: Vec<[f64; 2]> = here
                .iter()
                .map(|n| [nodes[*n][corners[1]], nodes[*n][corners[2]]])
                .collect();
            let mass = mass(&flat);
            for (i, node) in here.iter().enumerate() {
                for j in 0..FACE {
                    through.values[node * 4 * FACE + f * FACE + j] = mass.at(i, j);
                }
            }
            on_face.extend(here);
        }
        let lift = mass(&places).inverse().times(&through);
        Element {
            nodes,
            on_face,
            derivatives,
            lift,
        }
    }
}

#[cfg(test)]
impl Element {
    /// Integrals of products of fields given at the nodes.
    pub(super) fn mass(&self) -> Matrix {
        let places: Vec<[f64; 3]> = self.nodes.iter().map(|n| [n[1], n[2], n[3]]).collect();
        mass(&places)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_are_differentiated_and_faces_lifted() {
        let element = Element::new();
        assert_eq!(
            (element.nodes.len(), element.on_face.len()),
            (NODES, 4 * FACE)
        );
        let at = |n: &[f64; 4]| (n[1], n[2], n[3]);
        let field = |n: &[f64; 4]| at(n).0.powi(4) * at(n).1 - 2.0 * at(n).2.powi(6);
        let given = Matrix::of(NODES, 1, |n, _| field(&element.nodes[n]));
        let along_r = element.derivatives[0].times(&given);
        let along_t = element.derivatives[2].times(&given);
        for (n, node) in element.nodes.iter().enumerate() {
            let (r, s, t) = at(node);
            assert!((along_r.at(n, 0) - 4.0 * r.powi(3) * s).abs() < 1e-6);
            assert!((along_t.at(n, 0) + 12.0 * t.powi(5)).abs() < 1e-6);
        }
        // What is lifted from a face integrates to what went through it: one over half a square.
        let one = Matrix::of(4 * FACE, 1, |n, _| f64::from(u8::from(n / FACE == 2)));
        let lifted = element.lift.times(&one);
        let integral = element.mass().times(&lifted).values.iter().sum::<f64>();
        assert!((integral - 0.5).abs() < 1e-6, "{integral}");
    }
}
