//! The cascade: features, votes, stages; trained on generated faces and background.

use super::image::{Image, WINDOW, portrait};
use crate::input::random::Random;

/// A rectangle within the window with the weight of its pixels; corners exclusive at the far end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rect {
    pub low: [u32; 2],
    pub high: [u32; 2],
    pub weight: i32,
}

/// A weak classifier: which way a weighted sum of rectangles lies decides its vote.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feature {
    pub rects: [Rect; 3],
    pub threshold: f32,
    pub below: f32,
    pub above: f32,
}

/// Features that vote together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stage {
    pub first: usize,
    pub count: usize,
    pub threshold: f32,
}

/// The whole classifier.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cascade {
    pub features: Vec<Feature>,
    pub stages: Vec<Stage>,
}

/// Features of each stage: few at first, so that most windows cost little.
pub const COUNTS: [usize; 10] = [3, 5, 8, 12, 16, 20, 24, 28, 32, 36];

/// A window of a picture.
#[derive(Clone, Copy)]
pub struct Window<'a> {
    pub image: &'a Image,
    pub x: u32,
    pub y: u32,
}

impl Window<'_> {
    fn sum(&self, rect: &Rect, of: impl Fn(i64) -> i64) -> i64 {
        let mut sum = 0;
        for y in rect.low[1]..rect.high[1] {
            let start = ((self.y + y) * self.image.width + self.x + rect.low[0]) as usize;
            let row = &self.image.pixels[start..start + (rect.high[0] - rect.low[0]) as usize];
            sum += row.iter().map(|p| of(i64::from(*p))).sum::<i64>();
        }
        sum
    }

    /// Standard deviation times the number of pixels, at least that number.
    pub fn spread(&self) -> f32 {
        let whole = Rect {
            low: [0, 0],
            high: [WINDOW, WINDOW],
            weight: 1,
        };
        let n = (WINDOW * WINDOW) as f32;
        let sum = self.sum(&whole, |p| p) as f32;
        let square = self.sum(&whole, |p| p * p) as f32;
        let variance = n * square - sum * sum;
        if variance > n * n { variance.sqrt() } else { n }
    }

    fn value(&self, rects: &[Rect; 3]) -> f32 {
        let parts = rects.iter().filter(|r| r.weight != 0);
        parts
            .map(|r| self.sum(r, |p| p) * i64::from(r.weight))
            .sum::<i64>() as f32
    }
}

impl Cascade {
    /// The votes of a stage.
    fn vote(&self, stage: &Stage, window: &Window<'_>, spread: f32) -> f32 {
        self.features[stage.first..stage.first + stage.count]
            .iter()
            .map(|f| {
                let low = window.value(&f.rects) < f.threshold * spread;
                if low { f.below } else { f.above }
            })
            .sum()
    }

    /// The first stage a window fails; their number when it is a face.
    pub fn failed(&self, window: &Window<'_>) -> usize {
        let spread = window.spread();
        self.stages
            .iter()
            .position(|s| self.vote(s, window, spread) < s.threshold)
            .unwrap_or(self.stages.len())
    }

    /// Learns to tell generated faces from the windows of a picture: each stage takes the best
    /// of some random features for the windows that passed the stages before, and is as strict
    /// as it can be without losing more than one in twenty faces.
    pub fn train(background: &Image, random: &mut Random) -> Cascade {
        let portraits: Vec<Image> = (0..40).map(|_| portrait(random)).collect();
        let faces: Vec<Window<'_>> = portraits
            .iter()
            .map(|image| Window { image, x: 0, y: 0 })
            .collect();
        let mut others: Vec<Window<'_>> = (0..300)
            .map(|_| Window {
                image: background,
                x: random.below(u64::from(background.width - WINDOW + 1)) as u32,
                y: random.below(u64::from(background.height - WINDOW + 1)) as u32,
            })
            .collect();
        let mut cascade = Cascade::default();
        for count in COUNTS {
            let mut found: Vec<(f32, Feature)> = (0..5 * count)
                .map(|_| weigh(shape(random), &faces, &others))
                .collect();
            found.sort_by(|a, b| b.0.total_cmp(&a.0));
            let first = cascade.features.len();
            cascade.features.extend(found[..count].iter().map(|f| f.1));
            let mut stage = Stage {
                first,
                count,
                threshold: 0.0,
            };
            let mut votes: Vec<f32> = faces
                .iter()
                .map(|w| cascade.vote(&stage, w, w.spread()))
                .collect();
            votes.sort_by(f32::total_cmp);
            stage.threshold = votes[faces.len() / 20];
            cascade.stages.push(stage);
            let passed: Vec<Window<'_>> = others
                .iter()
                .filter(|w| cascade.vote(&stage, w, w.spread()) >= stage.threshold)
                .copied()
                .collect();
            // With too few examples left to learn from, go on with those there are.
            if passed.len() >= 20 {
                others = passed;
            }
        }
        cascade
    }
}

/// A random feature: two halves, three thirds, or a centre against its surroundings.
fn shape(random: &mut Random) -> [Rect; 3] {
    let mut pick = |low: u32, high: u32| random.between(low.into(), high.into()) as u32;
    let kind = pick(0, 4);
    let (across, down) = match kind {
        0 => (2, 1),
        1 => (1, 2),
        2 => (3, 1),
        3 => (1, 3),
        _ => (3, 3),
    };
    let (w, h) = (pick(2, WINDOW / across - 1), pick(2, WINDOW / down - 1));
    let (x, y) = (pick(0, WINDOW - across * w), pick(0, WINDOW - down * h));
    let rect = |x0: u32, y0: u32, nx: u32, ny: u32, weight: i32| Rect {
        low: [x + x0 * w, y + y0 * h],
        high: [x + (x0 + nx) * w, y + (y0 + ny) * h],
        weight,
    };
    let none = Rect::default();
    match kind {
        0 => [rect(0, 0, 1, 1, 1), rect(1, 0, 1, 1, -1), none],
        1 => [rect(0, 0, 1, 1, 1), rect(0, 1, 1, 1, -1), none],
        2 => [
            rect(0, 0, 1, 1, 1),
            rect(1, 0, 1, 1, -2),
            rect(2, 0, 1, 1, 1),
        ],
        3 => [
            rect(0, 0, 1, 1, 1),
            rect(0, 1, 1, 1, -2),
            rect(0, 2, 1, 1, 1),
        ],
        _ => [rect(0, 0, 3, 3, 1), rect(1, 1, 1, 1, -9), none],
    }
}

/// How well a shape separates faces from others, and the feature it makes.
fn weigh(rects: [Rect; 3], faces: &[Window<'_>], others: &[Window<'_>]) -> (f32, Feature) {
    let moments = |windows: &[Window<'_>]| {
        let values: Vec<f32> = windows
            .iter()
            .map(|w| w.value(&rects) / w.spread())
            .collect();
        let n = values.len() as f32;
        let mean = values.iter().sum::<f32>() / n;
        let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f32>() / n;
        (mean, variance.sqrt() + 1e-6)
    };
    let ((face, face_sd), (other, other_sd)) = (moments(faces), moments(others));
    let separation = (face - other).abs() / (face_sd + other_sd);
    // In eighths, so that sums of votes are exact in any order.
    let strength = (separation * 8.0).clamp(1.0, 64.0).floor() / 8.0;
    let faces_below = face < other;
    let feature = Feature {
        rects,
        threshold: (face * other_sd + other * face_sd) / (face_sd + other_sd),
        below: if faces_below { strength } else { 0.0 },
        above: if faces_below { 0.0 } else { strength },
    };
    (separation, feature)
}

#[cfg(test)]
mod tests {
    use super::super::image::scene;
    use super::*;

    #[test]
    fn most_faces_pass_and_little_else() {
        let mut random = Random::new(1, "cascade");
        let background = scene(96, 96, 0, &mut random);
        let cascade = Cascade::train(&background, &mut random);
        assert_eq!(cascade.stages.len(), COUNTS.len());
        let all = cascade.stages.len();
        let found = (0..100)
            .filter(|_| {
                let image = portrait(&mut random);
                let window = Window {
                    image: &image,
                    x: 0,
                    y: 0,
                };
                cascade.failed(&window) == all
            })
            .count();
        let mut early = 0;
        let mut passed = 0;
        for y in 0..=96 - WINDOW {
            for x in 0..=96 - WINDOW {
                let window = Window {
                    image: &background,
                    x,
                    y,
                };
                match cascade.failed(&window) {
                    0..3 => early += 1,
                    n if n == all => passed += 1,
                    _ => {}
                }
            }
        }
        let windows = 73 * 73;
        assert!(found > 50, "{found} of 100 faces found");
        assert!(passed * 50 < windows, "{passed} of {windows} windows pass");
        assert!(
            early * 2 > windows,
            "{early} of {windows} windows fail early"
        );
    }

    #[test]
    fn features_lie_within_the_window() {
        let mut random = Random::new(2, "cascade");
        for _ in 0..500 {
            for rect in shape(&mut random) {
                assert!(rect.high[0] <= WINDOW && rect.high[1] <= WINDOW);
                assert!(rect.weight == 0 || rect.low[0] < rect.high[0]);
            }
        }
    }
}
