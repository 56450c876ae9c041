//! The top of the report: what it is, and which claims hold.

use super::Report;
use crate::format::SIZES;
use crate::output::picture::escaped;
use crate::verdict::Verdict;

impl Report<'_> {
    pub(super) fn head(&self) -> String {
        let plan = self.results.plan();
        let study = &plan.study;
        let size = SIZES.iter().find(|(_, s)| *s == plan.size);
        let mut out = format!("<header>\n<h1>{}</h1>\n", escaped(&study.title));
        if let Some(paper) = &study.paper {
            out += &format!("<p class=\"paper\">{}</p>\n", escaped(paper));
        }
        if let Some(text) = &study.description {
            out += &format!("<p>{}</p>\n", escaped(text));
        }
        out += &format!(
            "<p class=\"facts\"><span>machine <b>{}</b></span><span>size <b>{}</b></span>\
             <span><b>{}</b> runs</span><span><b>{}</b> configurations</span></p>\n</header>\n",
            escaped(&study.machine.value),
            size.map_or("", |(name, _)| name),
            plan.runs.len(),
            plan.setups.iter().filter(|s| s.machine.is_some()).count()
        );
        out
    }

    pub(super) fn summary(&self) -> String {
        let count = |verdict: Verdict| {
            let all = self.figures.iter().flat_map(|(_, j)| j);
            all.filter(|j| j.verdict == verdict).count()
        };
        let mut out = String::from("<section id=\"summary\"><h2>Summary</h2>\n");
        let claims = self.figures.iter().any(|(_, j)| !j.is_empty());
        if claims {
            out += "<div class=\"tiles\">\n";
            for (verdict, class, text) in [
                (Verdict::Holds, "holds", "claims hold"),
                (Verdict::Fails, "fails", "do not hold"),
                (Verdict::Open, "open", "not measured"),
            ] {
                out += &format!(
                    "<div class=\"tile {class}\"><b>{}</b><span>{text}</span></div>\n",
                    count(verdict)
                );
            }
            out += "</div>\n<ul class=\"claims\">\n";
            for (index, (_, judged)) in self.figures.iter().enumerate() {
                let figure = &self.results.plan().study.figures[index];
                for (claim, judged) in figure.claims.iter().zip(judged) {
                    out += &format!(
                        "<li class=\"{}\"><span>{}</span><a href=\"#{}\">{}</a></li>\n",
                        class(judged.verdict),
                        escaped(&claim.text),
                        escaped(&figure.id.value),
                        escaped(&figure.number)
                    );
                }
            }
            out += "</ul>\n";
        }
        if let (true, Some(own)) = (claims, self.results.plan().foreign_size()) {
            out += &format!(
                "<p class=\"note\">The study asks for size <b>{own}</b>: at this one an SM may hold \
                 other numbers of blocks, and claims can come out otherwise. Reasons below speak of \
                 size {own}.</p>\n"
            );
        }
        let figures = &self.results.plan().study.figures;
        if figures.len() > 1 {
            out += "<nav>";
            for figure in figures {
                let name = match figure.number.as_str() {
                    "" => &figure.title,
                    _ => &figure.number,
                };
                let (id, name) = (escaped(&figure.id.value), escaped(name));
                out += &format!("<a href=\"#{id}\">{name}</a>");
            }
            if !self.timelines.is_empty() {
                out += "<a href=\"#timelines\">Timelines</a>";
            }
            out += "<a href=\"#machines\">Machines</a></nav>\n";
        }
        let missing = &self.results.plan().missing;
        if !missing.is_empty() {
            out += &format!(
                "<details class=\"missing\"><summary>{} things the study names are not in this \
                 build</summary><ul>\n",
                missing.len()
            );
            for line in missing {
                out += &format!("<li>{}</li>\n", escaped(line));
            }
            out += "</ul></details>\n";
        }
        out + "</section>\n"
    }
}

/// The class of a claim's list item.
pub fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Holds => "holds",
        Verdict::Fails => "fails",
        Verdict::Open => "open",
    }
}
