//! A run over time as panels under each other, one per quantity. Lines are drawn to be stretched, words are
//! not: they stay readable on screens of any width.

use super::series::{Sample, Series};
use crate::pictures::page::{cycles, round_step};
use crate::summary::count;
use maud::{Markup, html};
use std::fmt::Write;
use warpsim_present::palette;
use warpsim_sim::config::{DramModel, Machine};
use warpsim_sim::stats::Totals;

/// Coordinates that lines are drawn in.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 100.0;

/// A launch for each line between panels, up to so many.
const MOST_LAUNCHES: usize = 60;

/// A quantity over time.
struct Panel {
    title: &'static str,
    unit: &'static str,
    /// The whole of what there can be, where that is known.
    most: Option<f64>,
    of: fn(&Sample, &Limits) -> Option<f64>,
}

/// What there can be in a cycle.
struct Limits {
    /// Warps on all SMs.
    warps: f64,
    /// Bytes from and to DRAM.
    dram: f64,
}

const PANELS: [Panel; 5] = [
    Panel {
        title: "IPC",
        unit: "thread instructions per cycle",
        most: None,
        of: |s, _| ratio(s.sm.thread_instructions as f64, (s.to - s.from) as f64),
    },
    Panel {
        title: "Occupancy",
        unit: "% of the warps that all SMs can hold",
        most: Some(100.0),
        of: |s, limits| {
            let most = limits.warps * (s.to - s.from) as f64;
            percent(s.sm.warp_cycles as f64, most)
        },
    },
    Panel {
        title: "L1 data cache",
        unit: "% of loads that hit",
        most: Some(100.0),
        of: |s, _| percent(s.sm.l1d_hits as f64, s.sm.l1d_reads as f64),
    },
    Panel {
        title: "L2",
        unit: "% of accesses that hit",
        most: Some(100.0),
        of: |s, _| percent(s.memory.l2_hits as f64, s.memory.l2_accesses as f64),
    },
    Panel {
        title: "DRAM",
        unit: "% of its bandwidth",
        most: Some(100.0),
        of: |s, limits| {
            let bytes = s.memory.dram_read_bytes + s.memory.dram_write_bytes;
            let most = limits.dram * (s.to - s.from) as f64;
            percent(bytes as f64, most)
        },
    },
];

fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

fn percent(part: f64, whole: f64) -> Option<f64> {
    ratio(100.0 * part, whole)
}

/// What all channels move in a core cycle at most.
pub fn dram_bytes_per_cycle(machine: &Machine) -> f64 {
    let dram = &machine.dram;
    let channel = match dram.model {
        DramModel::Simple => f64::from(dram.simple_bytes_per_cycle),
        DramModel::Gddr => {
            let per_clock = f64::from(dram.burst_bytes) / f64::from(dram.burst_clocks.max(1));
            per_clock * f64::from(machine.gpu.dram_mhz) / f64::from(machine.gpu.core_mhz.max(1))
        }
    };
    channel * f64::from(dram.channels)
}

/// All panels, over one axis of cycles.
pub fn panels(series: &Series, machine: &Machine, totals: &Totals) -> Markup {
    let limits = Limits {
        warps: (totals.sms * totals.max_warps) as f64,
        dram: dram_bytes_per_cycle(machine),
    };
    let from = series.samples.first().map_or(0, |s| s.from);
    let to = series.samples.last().map_or(0, |s| s.to).max(from + 1);
    let place = |cycle: u64| (cycle - from) as f64 / (to - from) as f64;
    let launches = match series.launches.len() {
        0..=MOST_LAUNCHES => &series.launches[..],
        _ => &[],
    };
    html! {
        div class="series" {
            @for (index, panel) in PANELS.iter().enumerate() {
                @let values: Vec<(u64, u64, Option<f64>)> = series
                    .samples
                    .iter()
                    .map(|s| (s.from, s.to, (panel.of)(s, &limits)))
                    .collect();
                @let top = panel.most.unwrap_or_else(|| top(&values));
                p class="name" {
                    b { (panel.title) } " (" (panel.unit) ")"
                    @if values.iter().all(|v| v.2.is_none()) { ": nothing of it happened" }
                }
                div class="scale" { span { (short(top)) } span { (short(top / 2.0)) } span { "0" } }
                svg viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img"
                    aria-label={ (panel.title) " over time" }
                {
                    @for (kernel, cycle) in launches.iter().filter(|l| l.1 >= from && l.1 <= to) {
                        line class="launch" x1=(x(place(*cycle))) x2=(x(place(*cycle))) y1="0" y2=(HEIGHT) {
                            title { (kernel) " begins in cycle " (count(*cycle)) }
                        }
                    }
                    line class="half" x1="0" x2=(WIDTH) y1=(HEIGHT / 2.0) y2=(HEIGHT / 2.0) {}
                    path class="line" stroke=(palette::series(index).paint()) d=(outline(&values, top, &place)) {}
                }
            }
            p class="cycles" {
                @for cycle in cycles(from, to).collect::<Vec<_>>().iter().step_by(2) {
                    span style={ "left:" (format!("{:.2}", 100.0 * place(*cycle))) "%" } { (count(*cycle)) }
                }
            }
            p class="unit" { "core cycles" }
        }
    }
}

fn x(place: f64) -> String {
    format!("{:.1}", place * WIDTH)
}

/// A round number that no value is above.
fn top(values: &[(u64, u64, Option<f64>)]) -> f64 {
    let most = values.iter().filter_map(|v| v.2).fold(0.0, f64::max);
    let step = round_step(most.max(0.01), 4.0);
    (most / step).ceil().max(1.0) * step
}

/// A number at a scale.
fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// The line of a panel: a step for each sample, broken where there is no value.
fn outline(values: &[(u64, u64, Option<f64>)], top: f64, place: &dyn Fn(u64) -> f64) -> String {
    let mut path = String::new();
    let mut end = None;
    for (from, to, value) in values {
        let Some(value) = value else {
            end = None;
            continue;
        };
        let y = HEIGHT * (1.0 - (value / top).min(1.0));
        let sign = if end == Some(*from) { 'L' } else { 'M' };
        // Writing to a string cannot fail.
        let _ = write!(path, "{sign}{} {y:.1}H{}", x(place(*from)), x(place(*to)));
        end = Some(*to);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpsim_sim::config::ReadMachine;

    #[test]
    fn lines_are_broken_where_nothing_was_counted() {
        let place = |cycle: u64| cycle as f64 / 100.0;
        let values = [
            (0, 10, Some(5.0)),
            (10, 20, Some(10.0)),
            (20, 30, None),
            (30, 40, Some(0.0)),
            (60, 70, Some(0.0)),
        ];
        assert_eq!(
            outline(&values, 10.0, &place),
            "M0.0 50.0H100.0L100.0 0.0H200.0M300.0 100.0H400.0M600.0 100.0H700.0"
        );
        assert_eq!(top(&values), 10.0);
        assert!(top(&[]) > 0.0, "a scale has a height");
    }

    #[test]
    fn bandwidth_is_that_of_all_channels() {
        let machine = Machine::resolve("gtx480", &[]).expect("a preset");
        let bytes = dram_bytes_per_cycle(&machine);
        // 177.4 GB/s at 700 MHz are 253 bytes per core cycle (specification of the board).
        assert!((bytes - 253.0).abs() < 4.0, "{bytes}");
    }
}
