//! The end of the report: failed runs, machines and settings, how to repeat it.

use super::Report;
use crate::key::SIMULATOR;
use crate::output::picture::escaped;

impl Report<'_> {
    pub(super) fn failed_section(&self) -> String {
        let plan = self.results.plan();
        let mut rows = String::new();
        for (subject, setup) in plan.pairs() {
            let Some(record) = self.results.record(subject, setup) else {
                continue;
            };
            if record.status.good() {
                continue;
            }
            rows += &format!(
                "<tr><th>{}</th><th>{}</th><td class=\"bad\">{}</td><td class=\"text\">{}</td></tr>\n",
                escaped(plan.subjects.name(subject)),
                escaped(&plan.setups[setup].title),
                record.status.name(),
                escaped(&record.reason)
            );
        }
        if rows.is_empty() {
            return String::new();
        }
        format!(
            "<section id=\"failed\"><h2>Runs that failed</h2><div class=\"wide\"><table><thead><tr>\
             <th>workload</th><th>configuration</th><th>how</th><th>why</th></tr></thead><tbody>\n\
             {rows}</tbody></table></div></section>\n"
        )
    }

    pub(super) fn machine_section(&self) -> String {
        let plan = self.results.plan();
        let study = &plan.study;
        let mut out = String::from("<section id=\"machines\"><h2>Machines and settings</h2>\n");
        out += "<div class=\"wide\"><table><thead><tr><th>configuration</th><th>machine</th>\
                <th>issue</th><th>fetch</th><th>divergence</th><th>settings</th></tr></thead><tbody>\n";
        for (setup, configuration) in plan.setups.iter().zip(&study.configurations) {
            let named = configuration.machine.as_ref().unwrap_or(&study.machine);
            out += &format!(
                "<tr><th>{}</th><td>{}</td>",
                escaped(&setup.title),
                escaped(&named.value)
            );
            out += &match &setup.machine {
                Some(m) => [&m.scheduler.name, &m.fetch.policy.name, &m.divergence.name]
                    .map(|v| format!("<td>{}</td>", escaped(v)))
                    .concat(),
                None => "<td class=\"absent\" colspan=\"3\">not in this build</td>".into(),
            };
            let settings = configuration
                .settings
                .iter()
                .chain(&configuration.parameters);
            // What stands in the columns before need not be said again.
            let told = ["scheduler=", "fetch.policy=", "divergence="];
            let settings: Vec<&str> = settings
                .map(|s| s.value.as_str())
                .filter(|s| !told.iter().any(|t| s.starts_with(t)))
                .collect();
            let seed = configuration
                .seed
                .map(|s| format!(" seed={s}"))
                .unwrap_or_default();
            out += &format!("<td>{}{seed}</td></tr>\n", escaped(&settings.join(" ")));
        }
        out += "</tbody></table></div>\n";
        let machine = plan.setups.iter().find_map(|s| s.machine.as_ref());
        if let Some(machine) = machine {
            let text = serde_json::to_string_pretty(machine.as_ref()).unwrap_or_default();
            out += &format!(
                "<details><summary>every number of {} (the first configuration's)</summary>\
                 <pre>{}</pre></details>\n",
                escaped(&machine.name),
                escaped(&text)
            );
        }
        out + "</section>\n"
    }

    pub(super) fn repeat_section(&self) -> String {
        let seed = self.results.plan().study.seed;
        format!(
            "<section id=\"repeat\"><h2>Repeat it</h2>\n<pre>{}</pre>\n<p class=\"note\">warpsim {} \
             with sources <code>{}</code>{}. Results beside this file: \
             <code>results.csv</code>, <code>results.parquet</code>, pictures in \
             <code>figures/</code>, every run in <code>runs/</code>.</p></section>\n",
            escaped(self.command),
            env!("CARGO_PKG_VERSION"),
            &SIMULATOR[..16],
            seed.map_or(String::new(), |s| format!("; seed {s}"))
        )
    }
}
