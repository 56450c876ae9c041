//! Colours of states are told apart by people who see fewer of them: as far apart, in CIE Lab, as one step of a legend is.

use super::{Hue, state};

/// What a screen's red, green and blue come to for the eye: linear light in, linear light out.
type Vision = [[f64; 3]; 3];

/// Full vision; without the cones for long, middle and short waves (Machado, Oliveira and Fernandes, 2009).
const VISIONS: [(&str, Vision); 4] = [
    ("full", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
    (
        "protanopia",
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ],
    ),
    (
        "deuteranopia",
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ],
    ),
    (
        "tritanopia",
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ],
    ),
];

/// A colour as written, `#rrggbb`, in linear light.
fn linear(colour: &str) -> [f64; 3] {
    let part = |at: usize| u8::from_str_radix(&colour[at..at + 2], 16).expect("a colour");
    [1, 3, 5].map(|at| match f64::from(part(at)) / 255.0 {
        dark if dark <= 0.04045 => dark / 12.92,
        light => ((light + 0.055) / 1.055).powf(2.4),
    })
}

/// Linear light in CIE Lab.
fn lab(light: [f64; 3]) -> [f64; 3] {
    let [r, g, b] = light.map(|part| part.clamp(0.0, 1.0));
    let x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047;
    let y = 0.2126 * r + 0.7152 * g + 0.0722 * b;
    let z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883;
    let [x, y, z] = [x, y, z].map(|t| match t > 0.008856 {
        true => t.cbrt(),
        false => 7.787 * t + 16.0 / 116.0,
    });
    [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
}

/// A colour in CIE Lab, as a vision perceives it.
fn seen(colour: &str, vision: &Vision) -> [f64; 3] {
    let light = linear(colour);
    lab(vision.map(|row| row.iter().zip(light).map(|(a, b)| a * b).sum()))
}

fn distance(a: [f64; 3], b: [f64; 3]) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
    squares.sum::<f64>().sqrt()
}

#[test]
fn states_are_told_apart_by_everybody() {
    let names = [
        "issued",
        "eligible",
        "fetch",
        "control",
        "data_memory",
        "data_alu",
        "structural",
        "barrier",
        "exit",
    ];
    let hues: Vec<Hue> = names.iter().map(|n| state(n).expect("a state")).collect();
    for (vision, matrix) in &VISIONS {
        for page in [0, 1] {
            for (i, a) in hues.iter().enumerate() {
                for b in &hues[i + 1..] {
                    let [first, second] = [a, b].map(|hue| seen(hue.colours()[page], matrix));
                    let apart = distance(first, second);
                    assert!(apart > 14.0, "{vision}: {} and {}: {apart:.1}", a.0, b.0);
                }
            }
        }
    }
}
