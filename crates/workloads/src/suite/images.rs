//! Images with structure, for workloads that filter them.

use crate::input::random::Random;

/// An ultrasound image as speckle filters see it: tissue with a few organs of other brightness, all
/// grainy. Brightness lies between 1 and 255; the upper left quarter is plain tissue. Row by row.
pub(super) fn speckled(rows: u32, columns: u32, random: &mut Random) -> Vec<f32> {
    let (height, width) = (f64::from(rows), f64::from(columns));
    struct Organ {
        centre: (f64, f64),
        radii: (f64, f64),
        brightness: f64,
    }
    let mut organ = || Organ {
        centre: (
            height * random.float(0.5, 0.9),
            width * random.float(0.5, 0.9),
        ),
        radii: (
            height * random.float(0.05, 0.25),
            width * random.float(0.05, 0.25),
        ),
        brightness: random.float(20.0, 200.0),
    };
    let organs = [organ(), organ(), organ(), organ()];
    let mut image = Vec::with_capacity((rows * columns) as usize);
    for y in 0..rows {
        for x in 0..columns {
            let within = |o: &&Organ| {
                let dy = (f64::from(y) - o.centre.0) / o.radii.0;
                let dx = (f64::from(x) - o.centre.1) / o.radii.1;
                dy * dy + dx * dx < 1.0
            };
            let brightness = organs.iter().find(within).map_or(90.0, |o| o.brightness);
            // Speckle multiplies.
            let grain = 0.6 + 0.4 * (random.unit() + random.unit());
            image.push((brightness * grain).clamp(1.0, 255.0) as f32);
        }
    }
    image
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_repeat_and_have_structure() {
        let make = |seed| speckled(64, 64, &mut Random::new(seed, "image"));
        assert_eq!(make(1), make(1));
        assert_ne!(make(1), make(2));
        let image = make(1);
        assert!(image.iter().all(|p| (1.0..=255.0).contains(p)));
        let mean = |from: usize| {
            let rows = image.chunks(64).skip(from).take(32);
            rows.map(|r| r[from..from + 32].iter().sum::<f32>())
                .sum::<f32>()
                / 1024.0
        };
        // Plain tissue in one quarter, organs in the opposite one.
        assert!((80.0..100.0).contains(&mean(0)) && (mean(32) - mean(0)).abs() > 3.0);
    }
}
