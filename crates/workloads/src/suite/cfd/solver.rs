//! The same equations on the CPU, in double precision.

use super::mesh::{FAR, Mesh, WALL};

/// Stages of a step.
pub const STAGES: u32 = 3;
const GAMMA: f64 = 1.4;
const SMOOTHING: f64 = 0.2;

/// Density, momentum and energy.
type State = [f64; 5];

/// The undisturbed flow: faster than sound, and a little from below.
pub fn undisturbed() -> State {
    let (density, pressure, mach, angle) = (1.4f64, 1.0f64, 1.2f64, 3.0f64.to_radians());
    let speed = mach * (GAMMA * pressure / density).sqrt();
    let energy = pressure / (GAMMA - 1.0) + 0.5 * density * speed * speed;
    let (sin, cos) = angle.sin_cos();
    [
        density,
        density * speed * cos,
        0.0,
        density * speed * sin,
        energy,
    ]
}

/// Velocity, its square, pressure and speed of sound.
fn derived(s: &State) -> ([f64; 3], f64, f64, f64) {
    let u = [1, 2, 3].map(|k| s[k] / s[0]);
    let square = u.iter().map(|x| x * x).sum::<f64>();
    let pressure = (GAMMA - 1.0) * (s[4] - 0.5 * s[0] * square);
    (u, square, pressure, (GAMMA * pressure / s[0]).sqrt())
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// What a state carries through a face.
fn carried(s: &State, normal: [f64; 3]) -> State {
    let (u, _, pressure, _) = derived(s);
    let through = dot(normal, u);
    let mut flux = s.map(|v| v * through);
    for (part, n) in flux[1..4].iter_mut().zip(normal) {
        *part += n * pressure;
    }
    flux[4] += pressure * through;
    flux
}

/// What leaves an element through its faces.
fn flux(mesh: &Mesh, states: &[State], i: usize) -> State {
    let me = &states[i];
    let (_, square, pressure, sound) = derived(me);
    let mut sum = [0.0; 5];
    for face in 0..4 {
        let n: [f64; 3] =
            std::array::from_fn(|k| f64::from(mesh.normals[(3 * face + k) * mesh.count + i]));
        let beyond = match mesh.neighbours[face * mesh.count + i] {
            WALL => {
                for (part, n) in sum[1..4].iter_mut().zip(n) {
                    *part += n * pressure;
                }
                continue;
            }
            FAR => undisturbed().map(|v| f64::from(v as f32)),
            j => {
                let there = states[j as usize];
                let (_, square_there, _, sound_there) = derived(&there);
                let fastest = square.sqrt() + square_there.sqrt() + sound + sound_there;
                let smooth = 0.5 * SMOOTHING * dot(n, n).sqrt() * fastest;
                for k in 0..5 {
                    sum[k] += smooth * (me[k] - there[k]);
                }
                there
            }
        };
        let (own, other) = (carried(me, n), carried(&beyond, n));
        for k in 0..5 {
            sum[k] += 0.5 * (own[k] + other[k]);
        }
    }
    sum
}

/// The state of all elements after some steps, in planes.
pub fn solve(mesh: &Mesh, steps: u32) -> Vec<f32> {
    let mut states = vec![undisturbed(); mesh.count];
    for _ in 0..steps {
        let before = states.clone();
        let factors: Vec<f64> = states
            .iter()
            .zip(&mesh.volumes)
            .map(|(s, volume)| {
                let (_, square, _, sound) = derived(s);
                0.5 / (f64::from(*volume).sqrt() * (square.sqrt() + sound))
            })
            .collect();
        for stage in 0..STAGES {
            let share = 1.0 / f64::from(STAGES - stage);
            states = (0..mesh.count)
                .map(|i| {
                    let flux = flux(mesh, &states, i);
                    std::array::from_fn(|k| before[i][k] - share * factors[i] * flux[k])
                })
                .collect();
        }
    }
    (0..5)
        .flat_map(|k| states.iter().map(move |s| s[k] as f32))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::random::Random;

    #[test]
    fn the_flow_stays_undisturbed_away_from_the_body() {
        let mesh = Mesh::new([8, 8, 6], &mut Random::new(1, "cfd"));
        let n = mesh.count;
        let after = solve(&mesh, 1);
        let changed = |i: usize| (f64::from(after[i]) - undisturbed()[0]).abs() > 1e-4;
        let touched = (0..n).filter(|i| changed(*i)).count();
        assert!(touched > 0 && touched < n * 3 / 4, "{touched} of {n}");
        // Densities stay sensible.
        assert!(after[..n].iter().all(|d| (0.5..3.0).contains(d)));
    }
}
