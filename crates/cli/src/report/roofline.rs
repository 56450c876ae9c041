//! The roofline: how much the launches did per byte that went to or from DRAM, how fast, and what the machine
//! could do at best. In thread instructions, whatever they compute.

use super::panels::dram_bytes_per_cycle;
use std::fmt::Write;
use warpsim_present::mangled::shown;
use warpsim_present::palette::{self, Hue};
use warpsim_present::svg::Svg;
use warpsim_sim::config::Machine;
use warpsim_sim::stats::LaunchReport;

const SIZE: [f64; 2] = [560.0, 340.0];
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 44.0;
/// Launches that are shown: those with the most cycles.
const MOST: usize = 12;

/// What a launch did.
pub struct Point {
    /// Kernel.
    pub name: String,
    /// The kernel's number, which its colour goes by.
    pub kernel: usize,
    /// Thread instructions per byte; none if nothing went to DRAM.
    pub intensity: Option<f64>,
    /// Thread instructions per cycle.
    pub speed: f64,
    /// Share of what the machine could do at that intensity.
    pub of_roof: f64,
}

/// What the machine can do at best.
pub struct Roof {
    /// Thread instructions per cycle.
    pub issue: f64,
    /// Bytes per cycle.
    pub dram: f64,
}

impl Roof {
    /// Of a machine: each scheduler issues an instruction for 32 threads per cycle.
    pub fn of(machine: &Machine) -> Roof {
        Roof {
            issue: f64::from(machine.gpu.sms) * f64::from(machine.sm.schedulers) * 32.0,
            dram: dram_bytes_per_cycle(machine),
        }
    }

    fn at(&self, intensity: Option<f64>) -> f64 {
        let memory = intensity.map_or(f64::INFINITY, |i| i * self.dram);
        memory.min(self.issue)
    }
}

/// The launches with the most cycles, most first, and how many others there are.
pub fn points<'a>(launches: &'a [LaunchReport], roof: &Roof) -> (Vec<Point>, usize) {
    let mut sorted: Vec<&'a LaunchReport> = launches.iter().collect();
    sorted.retain(|l| l.totals.cycles > 0 && l.totals.sm.counters.thread_instructions > 0);
    sorted.sort_by_key(|l| std::cmp::Reverse(l.totals.cycles));
    let others = sorted.len().saturating_sub(MOST);
    let mut kernels: Vec<&str> = Vec::new();
    let point = |launch: &'a LaunchReport| {
        let known = kernels.iter().position(|k| *k == launch.kernel);
        let kernel = known.unwrap_or_else(|| {
            kernels.push(&launch.kernel);
            kernels.len() - 1
        });
        let (totals, memory) = (&launch.totals, &launch.totals.memory);
        let bytes = memory.dram_read_bytes + memory.dram_write_bytes;
        let instructions = totals.sm.counters.thread_instructions as f64;
        let intensity = (bytes > 0).then(|| instructions / bytes as f64);
        let speed = instructions / totals.cycles as f64;
        Point {
            name: shown(&launch.kernel),
            kernel,
            intensity,
            speed,
            of_roof: speed / roof.at(intensity),
        }
    };
    (sorted.into_iter().take(MOST).map(point).collect(), others)
}

/// A scale of powers of ten.
struct Scale {
    /// Exponents of its ends.
    low: i32,
    high: i32,
    from: f64,
    to: f64,
}

impl Scale {
    fn over(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Scale {
        let (low, high) = values
            .filter(|v| *v > 0.0 && v.is_finite())
            .fold((f64::INFINITY, 0.0f64), |(l, h), v| (l.min(v), h.max(v)));
        let (low, high) = match low.is_finite() {
            true => (low.log10().floor() as i32, high.log10().ceil() as i32),
            false => (0, 1),
        };
        let high = high.max(low + 1);
        Scale {
            low,
            high,
            from,
            to,
        }
    }

    fn place(&self, value: f64) -> f64 {
        let ends = (f64::from(self.low), f64::from(self.high));
        let share = (value.log10() - ends.0) / (ends.1 - ends.0);
        self.from + (self.to - self.from) * share.clamp(0.0, 1.0)
    }

    fn ticks(&self) -> impl Iterator<Item = (f64, String)> + '_ {
        (self.low..=self.high).map(|power| {
            let value = 10f64.powi(power);
            let text = match power {
                0.. => format!("{value:.0}"),
                _ => format!("{value:.*}", power.unsigned_abs() as usize),
            };
            (value, text)
        })
    }
}

/// The picture, in colours of the page it stands on.
pub fn draw(points: &[Point], roof: &Roof) -> String {
    let ridge = roof.issue / roof.dram.max(1e-9);
    let intensities = points.iter().filter_map(|p| p.intensity);
    let intensities = intensities.chain([ridge / 10.0, ridge * 10.0]);
    let across = Scale::over(intensities, LEFT, SIZE[0] - RIGHT);
    let speeds = points.iter().map(|p| p.speed);
    let speeds = speeds.chain([roof.issue, roof.at(Some(10f64.powi(across.low)))]);
    let up = Scale::over(speeds, SIZE[1] - BOTTOM, TOP);
    let [width, height] = SIZE;
    Svg::document(
        &[
            ("viewBox", &format_args!("0 0 {width} {height}")),
            ("width", &width),
            ("height", &height),
            ("role", &"img"),
            ("font-family", &"system-ui,sans-serif"),
            ("font-size", &12),
        ],
        |svg| {
            svg.element("title").text("roofline");
            axes(svg, &across, &up);
            // Up with what DRAM delivers, then along what can be issued.
            let mut path = String::new();
            for (sign, x) in [('M', 10f64.powi(across.low)), ('L', ridge), ('L', f64::MAX)] {
                let (x, y) = (across.place(x), up.place(roof.at(Some(x))));
                // Writing to a string cannot fail.
                let _ = write!(path, "{sign}{x:.1} {y:.1}");
            }
            let line = svg.element("path").attr("d", path).attr("fill", "none");
            line.attr("stroke", Hue("ink").paint())
                .attr("stroke-width", 1.6)
                .empty();
            for (i, point) in points.iter().enumerate() {
                let x = point.intensity.map_or(SIZE[0] - RIGHT, |i| across.place(i));
                dot(svg, i, point, [x, up.place(point.speed)]);
            }
        },
    )
}

fn axes(svg: &mut Svg, across: &Scale, up: &Scale) {
    let [width, height] = SIZE;
    let (left, right) = (LEFT, width - RIGHT);
    let (top, bottom) = (TOP, height - BOTTOM);
    let line = |svg: &mut Svg, [x1, y1, x2, y2]: [f64; 4]| {
        let line = svg.element("line").fixed("x1", x1, 1).fixed("y1", y1, 1);
        let line = line.fixed("x2", x2, 1).fixed("y2", y2, 1);
        line.attr("stroke", Hue("faint").paint()).empty();
    };
    let text = |svg: &mut Svg, [x, y]: [f64; 2], anchor: &str, text: &str| {
        let label = svg.element("text").fixed("x", x, 1).fixed("y", y, 1);
        let label = label.attr("text-anchor", anchor);
        label.attr("fill", Hue("soft").paint()).text(text);
    };
    for (value, label) in across.ticks() {
        let x = across.place(value);
        line(svg, [x, top, x, bottom]);
        text(svg, [x, bottom + 16.0], "middle", &label);
    }
    for (value, label) in up.ticks() {
        let y = up.place(value);
        line(svg, [left, y, right, y]);
        text(svg, [left - 6.0, y + 4.0], "end", &label);
    }
    let middle = (left + right) / 2.0;
    let what = "thread instructions per byte of DRAM traffic";
    text(svg, [middle, height - 8.0], "middle", what);
    let (x, y) = (14.0, (top + bottom) / 2.0);
    let label = svg.element("text").fixed("x", x, 1).fixed("y", y, 1);
    let label = label.attr("text-anchor", "middle");
    let turned = format_args!("rotate(-90 {x:.1} {y:.1})");
    label
        .attr("transform", turned)
        .attr("fill", Hue("soft").paint())
        .text("thread instructions per cycle");
}

fn dot(svg: &mut Svg, index: usize, point: &Point, [x, y]: [f64; 2]) {
    svg.element("g").content(|svg| {
        svg.element("title").text(&point.name);
        let dot = svg.element("circle").fixed("cx", x, 1).fixed("cy", y, 1);
        dot.attr("r", 5)
            .attr("fill", palette::series(point.kernel).paint())
            .empty();
        // On the left of what is at the right edge.
        let (x, anchor) = match x > SIZE[0] - 40.0 {
            true => (x - 8.0, "end"),
            false => (x + 8.0, "start"),
        };
        let number = svg.element("text").fixed("x", x, 1).fixed("y", y - 4.0, 1);
        let number = number.attr("text-anchor", anchor);
        number.attr("fill", Hue("ink").paint()).text(index + 1);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpsim_sim::stats::{MemoryCounters, SmCounters, SmStats, Totals};

    fn launch(kernel: &str, cycles: u64, instructions: u64, bytes: u64) -> LaunchReport {
        LaunchReport {
            kernel: kernel.into(),
            totals: Totals {
                cycles,
                sm: SmStats {
                    counters: SmCounters {
                        thread_instructions: instructions,
                        ..SmCounters::default()
                    },
                    ..SmStats::default()
                },
                memory: MemoryCounters {
                    dram_read_bytes: bytes,
                    ..MemoryCounters::default()
                },
                ..Totals::default()
            },
            ..LaunchReport::default()
        }
    }

    #[test]
    fn launches_are_held_against_the_lower_roof() {
        let roof = Roof {
            issue: 100.0,
            dram: 10.0,
        };
        let launches = [
            // One instruction per byte: 10 per cycle at best.
            launch("streams", 100, 500, 500),
            launch("computes", 200, 10_000, 10),
            launch("nothing", 0, 0, 0),
            launch("cached", 50, 100, 0),
        ];
        let (points, others) = points(&launches, &roof);
        let seen: Vec<(&str, f64)> = points
            .iter()
            .map(|p| (p.name.as_str(), p.of_roof))
            .collect();
        assert_eq!(
            seen,
            [("computes", 0.5), ("streams", 0.5), ("cached", 0.02)]
        );
        assert_eq!(points[2].intensity, None);
        assert_eq!(others, 0);
        let picture = draw(&points, &roof);
        assert_eq!(picture.matches("<circle").count(), 3);
        assert!(!picture.contains("NaN"), "{picture}");
    }

    #[test]
    fn scales_cover_their_values() {
        let scale = Scale::over([0.02, 30.0].into_iter(), 0.0, 40.0);
        let ticks: Vec<String> = scale.ticks().map(|t| t.1).collect();
        assert_eq!(ticks, ["0.01", "0.1", "1", "10", "100"]);
        assert_eq!(scale.place(1.0), 20.0);
        assert_eq!(scale.place(0.0), 0.0);
        assert_eq!(Scale::over([].into_iter(), 0.0, 1.0).ticks().count(), 2);
    }
}
