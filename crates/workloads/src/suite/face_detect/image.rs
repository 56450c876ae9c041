//! Grey pictures with faces in front of a structured background.

use crate::input::random::Random;

/// Side of the window a face fills.
pub const WINDOW: u32 = 24;

/// A grey picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    pub width: u32,
    pub height: u32,
    pub pixels: Vec<u8>,
}

impl Image {
    /// All of one grey.
    fn flat(width: u32, height: u32, grey: u8) -> Image {
        Image {
            width,
            height,
            pixels: vec![grey; width as usize * height as usize],
        }
    }

    /// Changes the pixels of a rectangle, as far as it lies inside.
    fn paint(&mut self, at: [i32; 2], size: [i32; 2], mut grey: impl FnMut(i32, i32, i32) -> i32) {
        for y in at[1].max(0)..(at[1] + size[1]).min(self.height as i32) {
            for x in at[0].max(0)..(at[0] + size[0]).min(self.width as i32) {
                let pixel = &mut self.pixels[(y * self.width as i32 + x) as usize];
                let new = grey(x - at[0], y - at[1], i32::from(*pixel));
                *pixel = new.clamp(0, 255) as u8;
            }
        }
    }

    /// Sensor noise.
    fn noise(&mut self, strength: i32, random: &mut Random) {
        let size = [self.width as i32, self.height as i32];
        self.paint([0, 0], size, |_, _, old| {
            let bits = random.next_u32();
            let bell = (bits & 15) + (bits >> 8 & 15) + (bits >> 16 & 15) + (bits >> 24 & 15);
            old + (bell as i32 - 30) * strength / 16
        });
    }

    /// A face in the window at this place: a bright oval with dark eyes under dark brows, a
    /// bright nose, a dark mouth, lit from one side.
    fn face(&mut self, at: [i32; 2], random: &mut Random) {
        let skin = random.between(140, 210) as i32;
        let dark = random.between(50, 90) as i32;
        let light = random.between(-2, 2) as i32;
        let eyes = random.between(8, 10) as i32;
        let mouth = random.between(17, 18) as i32;
        let size = WINDOW as i32;
        self.paint(at, [size, size], |x, y, old| {
            // From the middle of the window, in half pixels.
            let (dx, dy) = (2 * x - size + 1, 2 * y - size + 1);
            if dx * dx * 5 + dy * dy * 3 > 3 * size * size {
                return old;
            }
            let side = dx.abs();
            let feature = (y - eyes).abs() <= 1 && (5..=13).contains(&side)
                || y == eyes - 3 && (4..=14).contains(&side)
                || (y - mouth).abs() <= 1 && side <= 8
                || y < 4;
            let nose = side <= 2 && y > eyes - 2 && y < mouth - 2;
            let lit = skin + light * dx + if nose { 25 } else { 0 };
            if feature { lit - dark } else { lit }
        });
    }
}

/// A window that is a face.
pub fn portrait(random: &mut Random) -> Image {
    let mut image = Image::flat(WINDOW, WINDOW, random.between(30, 220) as u8);
    image.face([0, 0], random);
    image.noise(6, random);
    image
}

/// A scene: a wall lit unevenly, furniture and stripes, `faces` people.
pub fn scene(width: u32, height: u32, faces: u32, random: &mut Random) -> Image {
    let mut image = Image::flat(width, height, 110);
    let (w, h) = (width as i32, height as i32);
    let slope = [
        random.between(-40, 40) as i32,
        random.between(-40, 40) as i32,
    ];
    image.paint([0, 0], [w, h], |x, y, old| {
        old + slope[0] * x / w + slope[1] * y / h
    });
    let spot = |random: &mut Random, size: [i32; 2]| {
        [
            random.between(0, i128::from((w - size[0]).max(0))) as i32,
            random.between(0, i128::from((h - size[1]).max(0))) as i32,
        ]
    };
    for piece in 0..(w * h / 1200).max(4) {
        let size = [random.between(6, 50) as i32, random.between(6, 50) as i32];
        let at = spot(random, size);
        let grey = random.between(-70, 70) as i32;
        let period = random.between(2, 7) as i32;
        match piece % 4 {
            // Solid, striped (curtains, shelves), shaded round (lamps, plants).
            0 | 1 => image.paint(at, size, |_, _, old| old + grey),
            2 => image.paint(at, size, |x, y, old| {
                let along = if size[0] > size[1] { x } else { y };
                if along / period % 2 == 0 {
                    old + grey
                } else {
                    old
                }
            }),
            _ => image.paint(at, size, |x, y, old| {
                let (dx, dy) = (2 * x - size[0], 2 * y - size[1]);
                let far = 100 * dx * dx / (size[0] * size[0]) + 100 * dy * dy / (size[1] * size[1]);
                if far < 100 {
                    old + grey * (100 - far) / 100
                } else {
                    old
                }
            }),
        }
    }
    for _ in 0..faces {
        let at = spot(random, [WINDOW as i32; 2]);
        image.face(at, random);
    }
    image.noise(6, random);
    image
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenes_repeat_and_have_structure() {
        let make = |seed| scene(96, 64, 2, &mut Random::new(seed, "image"));
        let image = make(1);
        assert_eq!(image, make(1));
        assert_ne!(image, make(2));
        let mean = image.pixels.iter().map(|p| u64::from(*p)).sum::<u64>() / 6144;
        let far = image
            .pixels
            .iter()
            .filter(|p| u64::from(**p).abs_diff(mean) > 30)
            .count();
        assert!(far > 600, "{far} of 6144 pixels differ from the mean");
    }

    #[test]
    fn portraits_have_eyes() {
        let image = portrait(&mut Random::new(4, "image"));
        let mean = |x0: u32, x1: u32, y0: u32, y1: u32| {
            let all = (y0..y1).flat_map(|y| (x0..x1).map(move |x| (x, y)));
            let sum: u32 = all
                .map(|(x, y)| u32::from(image.pixels[(y * WINDOW + x) as usize]))
                .sum();
            sum / ((x1 - x0) * (y1 - y0))
        };
        assert!(mean(6, 9, 8, 10) + 20 < mean(5, 19, 12, 15));
    }
}
