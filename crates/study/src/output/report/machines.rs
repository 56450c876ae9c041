//! The end of the report: failed runs, machines and settings, how to repeat it.

use super::Report;
use crate::format::Configuration;
use crate::results::key::SIMULATOR;
use maud::{Markup, html};

impl Report<'_> {
    pub(super) fn failed_section(&self) -> Markup {
        let plan = self.results.plan();
        let failed = self.results.failures();
        html! {
            @if !failed.is_empty() {
                section id="failed" {
                    h2 { "Runs that failed" }
                    div class="wide" {
                        table {
                            thead {
                                tr {
                                    @for title in ["workload", "configuration", "how", "why"] {
                                        th { (title) }
                                    }
                                }
                            }
                            tbody {
                                @for (subject, setup, run, record) in failed {
                                    tr {
                                        th { (plan.subjects.workload(subject)) }
                                        th {
                                            (plan.setups[setup].title)
                                            @if !run.varied.is_empty() { ", " (run.varied) }
                                        }
                                        td class="bad" { (record.status.name()) }
                                        td class="text" { (record.reason) }
                                    }
                                    "\n"
                                }
                            }
                        }
                    }
                }
                "\n"
            }
        }
    }

    pub(super) fn machine_section(&self) -> Markup {
        let plan = self.results.plan();
        let beside = plan.setups.iter().any(|s| s.base.is_some());
        html! {
            section id="machines" {
                h2 { "Machines and settings" }
                div class="wide" { (self.machine_table(false)) }
                @if beside {
                    details {
                        summary { "configurations of experiments and sensitivities" }
                        div class="wide" { (self.machine_table(true)) }
                    }
                }
                @if let Some(machine) = plan.setups.iter().find_map(|s| s.machine.as_ref()) {
                    details {
                        summary { "every number of " (machine.name) " (the first configuration's)" }
                        pre { (serde_json::to_string_pretty(machine.as_ref()).unwrap_or_default()) }
                    }
                }
            }
            "\n"
        }
    }

    /// The configurations of the figures, or those that are run beside them.
    fn machine_table(&self, beside: bool) -> Markup {
        let plan = self.results.plan();
        let study = &plan.study;
        let titles = [
            "configuration",
            "machine",
            "issue",
            "fetch",
            "divergence",
            "settings",
        ];
        let all = plan.setups.iter().zip(&study.configurations);
        html! {
            table {
                thead { tr { @for title in titles { th { (title) } } } }
                tbody {
                    @for (setup, configuration) in all.filter(|(s, _)| s.base.is_some() == beside) {
                        tr {
                            th { (setup.title) }
                            td { (configuration.machine.as_ref().unwrap_or(&study.machine).value) }
                            @match &setup.machine {
                                Some(m) => {
                                    td { (m.scheduler.name) }
                                    td { (m.fetch.policy.name) }
                                    td { (m.divergence.name) }
                                }
                                None => td class="absent" colspan="3" { "not in this build" },
                            }
                            td { (settings(configuration)) }
                        }
                        "\n"
                    }
                }
            }
        }
    }

    pub(super) fn repeat_section(&self) -> Markup {
        let seed = self.results.plan().study.seed;
        html! {
            section id="repeat" {
                h2 { "Repeat it" }
                pre { (self.command) }
                p class="note" {
                    "warpsim " (env!("CARGO_PKG_VERSION")) " with sources "
                    code { (&SIMULATOR[..16]) }
                    @if let Some(seed) = seed { "; seed " (seed) }
                    ". Results beside this file: " code { "results.csv" } ", "
                    code { "results.parquet" } ", pictures in " code { "figures/" }
                    ", every run in " code { "runs/" } "."
                }
            }
            "\n"
        }
    }
}

/// What a configuration sets, without what stands in columns of its own.
fn settings(configuration: &Configuration) -> String {
    let told = ["scheduler=", "fetch.policy=", "divergence="];
    let all = configuration
        .settings
        .iter()
        .chain(&configuration.parameters);
    let settings: Vec<&str> = all
        .map(|s| s.value.as_str())
        .filter(|s| !told.iter().any(|t| s.starts_with(t)))
        .collect();
    let seed = configuration
        .seed
        .map(|s| format!(" seed={s}"))
        .unwrap_or_default();
    settings.join(" ") + &seed
}
