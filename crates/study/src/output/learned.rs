//! What a study found, at the top of its report and at the end of what the terminal shows: three sentences at
//! most, and the averages that matter beside the paper's. All of it is made of the results.

use super::grid::Grid;
use super::terminal::{is, mean_title};
use crate::evaluate::{MeanRow, Results, Shown};
use crate::format::{Display, Figure, Kind, Shape};
use crate::values::behind::BehindText;
use crate::values::sample::Sample;
use crate::values::sensitivity::{Range, ranges};
use crate::verdict::{Judged, Tally, Verdict};
use crate::words;

/// An average that matters.
pub struct Headline<'a> {
    /// The figure it is from.
    pub figure: &'a Figure,
    /// Of which workloads.
    pub over: String,
    /// The configuration.
    pub title: String,
    /// What the paper has.
    pub paper: Option<f64>,
    /// What came out.
    pub ours: Sample,
    /// The median and the worst workload.
    pub behind: Option<BehindText>,
    /// What it comes to over what the paper leaves open.
    pub ranges: Vec<Range>,
}

impl Headline<'_> {
    /// A value as its figure writes it.
    pub fn text(&self, value: f64) -> String {
        words::value(self.figure.display, value)
    }

    /// From the lowest to the highest repeat; nothing for a single one.
    pub fn spread(&self) -> Option<String> {
        let (low, high) = self.ours.range();
        let ends = || format!("{} to {}", self.text(low), self.text(high));
        (self.ours.count() > 1).then(ends)
    }

    /// From where to where it goes over what the paper leaves open.
    pub fn open(&self) -> Vec<String> {
        let text = |r: &Range| {
            let (low, high) = (self.text(r.low), self.text(r.high));
            format!("{low} to {high} over {}", r.what)
        };
        self.ranges.iter().map(text).collect()
    }

    /// How far ours is from the paper's, for finding the farthest.
    fn distance(&self) -> Option<f64> {
        let (ours, paper) = (self.ours.total(), self.paper?);
        Some(match self.figure.display {
            Display::Percent => (ours - paper).abs(),
            _ => (ours / paper - 1.0).abs(),
        })
    }
}

/// More averages than this of one figure are cut down: to those over everything, or to the highest.
const MOST: usize = 10;

/// The averages that matter: of the figures that the study names, else of those for which the paper has some,
/// else of the first figure with one value each.
pub fn headlines<'a>(results: &Results<'a>, figures: &[(Shown, Vec<Judged>)]) -> Vec<Headline<'a>> {
    let study = &results.plan().study;
    let bars = |f: &&Figure| matches!(f.shape, Shape::Bars { .. });
    let named = study.headlines.iter().map(|n| n.value.as_str());
    let mut ids: Vec<&str> = named.collect();
    if ids.is_empty() {
        let printed = study.figures.iter().filter(|f| !f.paper.means.is_empty());
        ids = printed.map(|f| f.id.value.as_str()).collect();
    }
    if ids.is_empty() {
        let first = study.figures.iter().find(bars);
        ids = first.map(|f| f.id.value.as_str()).into_iter().collect();
    }
    let all = study.figures.iter().zip(figures);
    let wanted = all.filter(|(f, _)| bars(f) && ids.contains(&f.id.value.as_str()));
    let found = wanted.flat_map(|(figure, (shown, _))| of_figure(results, figure, shown));
    found.collect()
}

fn of_figure<'a>(results: &Results<'a>, figure: &'a Figure, shown: &Shown) -> Vec<Headline<'a>> {
    let printed = !figure.paper.means.is_empty();
    let count = |row: &MeanRow| row.paper.iter().flatten().count();
    let many = shown.means.iter().map(count).sum::<usize>() > MOST;
    let last = shown.means.len().saturating_sub(1);
    // Where there are many, or none of the paper's, the average over all is what counts.
    let all = !printed || many && shown.means.last().is_some_and(|row| count(row) > 0);
    let rows = shown.means.iter().enumerate();
    let rows = rows.filter(|(i, _)| *i == last || !all);
    let mut found = Vec::new();
    for (_, row) in rows {
        let over = mean_title(results, figure, row);
        let behind = row.told(results.plan(), figure).unwrap_or_default();
        for (title, paper, ours, place) in columns(results, shown, row) {
            if paper.is_none() && printed {
                continue;
            }
            let range = |p: usize| ranges(results, &figure.id.value, &row.group, shown.setups[p]);
            let ranges = place.map(range);
            found.push(Headline {
                figure,
                over: over.clone(),
                title,
                paper,
                ours,
                behind: place.and_then(|p| behind.get(p).cloned().flatten()),
                ranges: ranges.unwrap_or_default(),
            });
        }
    }
    found
}

/// Those that a table shows: of a figure without the paper's averages, and with many, the highest.
pub fn listed<'h, 'a>(headlines: &'h [Headline<'a>]) -> Vec<&'h Headline<'a>> {
    let mut listed = Vec::new();
    for of_one in headlines.chunk_by(|a, b| a.figure.id.value == b.figure.id.value) {
        let mut all: Vec<&Headline> = of_one.iter().collect();
        if all.len() > MOST && all.iter().all(|h| h.paper.is_none()) {
            all.sort_by(|a, b| b.ours.total().total_cmp(&a.ours.total()));
            all.truncate(MOST);
        }
        listed.extend(all);
    }
    listed
}

/// What it is called, the paper's average and ours, and its place in the figure unless it is several.
type Column = (String, Option<f64>, Sample, Option<usize>);

/// Configurations with their averages; of a grid its choices, seeds put together.
fn columns(results: &Results, shown: &Shown, row: &MeanRow) -> Vec<Column> {
    let plan = results.plan();
    if let Some(grid) = Grid::of(plan, shown) {
        let value = |choice: &super::grid::Choice| {
            let (sample, _) = choice.mean(&row.cells)?;
            let chosen = grid.axes.iter().zip(&choice.values);
            let chosen = chosen.map(|(axis, value)| format!("{axis}={value}"));
            Some((chosen.collect::<Vec<_>>().join(", "), None, sample, None))
        };
        return grid.rows.iter().filter_map(value).collect();
    }
    let columns = shown.setups.iter().zip(&row.cells).zip(&row.paper);
    let mut found = Vec::new();
    for (place, ((&setup, cell), paper)) in columns.enumerate() {
        if let Some((sample, _)) = cell {
            let title = plan.setups[setup].title.clone();
            found.push((title, *paper, sample.clone(), Some(place)));
        }
    }
    found
}

/// A figure's title with its number.
pub fn titled(figure: &Figure) -> String {
    match figure.number.as_str() {
        "" => figure.title.clone(),
        number => format!("{} ({number})", figure.title),
    }
}

/// What was learned, in three sentences at most.
pub fn sentences(
    results: &Results,
    figures: &[(Shown, Vec<Judged>)],
    headlines: &[Headline],
) -> Vec<String> {
    let plan = results.plan();
    let (ran, all) = plan.subjects.taken();
    let whole = plan.too_small().is_none() && ran == all;
    let mut said = Vec::new();
    said.extend(tested(results, figures));
    said.extend(extremes(headlines, whole));
    if whole {
        said.extend(farthest(headlines));
    }
    said
}

/// What became of the claims, or why nothing did.
fn tested(results: &Results, figures: &[(Shown, Vec<Judged>)]) -> Option<String> {
    let tally = Tally::of(figures);
    if tally.all() == 0 {
        return None;
    }
    let plan = results.plan();
    if let Some((here, own)) = plan.too_small() {
        return Some(format!(
            "Nothing was tested: at size {here} kernels are too short for what a study of size {own} claims."
        ));
    }
    let of = |wanted: Verdict| tally.of_verdict(wanted);
    let untested = of(Verdict::Untested);
    let others = [Verdict::Scatter, Verdict::Vacuous].map(|v| (of(v), v.name()));
    let others = others.into_iter().filter(|(n, _)| *n > 0);
    let others: String = others.map(|(n, name)| format!(", {n} {name}")).collect();
    let (holds, fails) = (of(Verdict::Holds), of(Verdict::Fails));
    let found = match tally.tested() {
        0 => "no claim was tested".to_string(),
        1 => {
            let mut all = tally
                .counts()
                .filter(|(v, n)| *v != Verdict::Untested && *n > 0);
            let verdict = all.next().map_or(Verdict::Untested, |(v, _)| v);
            format!("one claim was tested: it {}", is(verdict))
        }
        tested => format!(
            "of {tested} claims that were tested {holds} hold, {fails} fail{others} ({})",
            held(&Tally::by_kind(&plan.study, figures))
        ),
    };
    let (ran, all) = plan.subjects.taken();
    Some(if ran < all {
        format!(
            "Only {ran} of the {all} workloads ran, so nothing is said about averages; {found}."
        )
    } else if untested > 0 {
        format!(
            "{}; {untested} more {} not tested.",
            capital(&found),
            match untested {
                1 => "was",
                _ => "were",
            }
        )
    } else {
        format!("{}.", capital(&found))
    })
}

/// How many of each kind hold: "3 of 4 directions, 1 of 9 sizes hold".
pub fn held(kinds: &[(Kind, Tally)]) -> String {
    let tested = kinds.iter().filter(|(_, t)| t.tested() > 0);
    let told = tested.map(|(kind, tally)| {
        let (holds, of) = (tally.of_verdict(Verdict::Holds), tally.tested());
        let name = if of == 1 { kind.name() } else { kind.plural() };
        format!("{holds} of {of} {name}")
    });
    format!("{} hold", told.collect::<Vec<_>>().join(", "))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// The lowest and the highest of the first figure's headlines.
fn extremes(headlines: &[Headline], whole: bool) -> Option<String> {
    let first = headlines.first()?;
    let same = |h: &&Headline| h.figure.id.value == first.figure.id.value && h.over == first.over;
    let by = |a: &&Headline, b: &&Headline| a.ours.total().total_cmp(&b.ours.total());
    let low = headlines.iter().filter(same).min_by(by)?;
    let high = headlines.iter().filter(same).max_by(by)?;
    let told = |h: &Headline| format!("{} under {}", h.text(h.ours.total()), h.title);
    let title = titled(first.figure);
    let paper = high.paper.filter(|_| whole);
    let paper = paper.map_or(String::new(), |paper| {
        format!(" (the paper: {})", high.text(paper))
    });
    let over = &first.over;
    Some(match low.title == high.title {
        true => format!("{title}: {}{paper}, {over}.", told(high)),
        false => format!(
            "{title}: from {} to {}{paper}, {over}.",
            told(low),
            told(high)
        ),
    })
}

/// How many averages are as the paper has them, and which is farthest from it.
fn farthest(headlines: &[Headline]) -> Option<String> {
    const ABOUT: f64 = 0.02;
    let distances = headlines.iter().filter_map(|h| Some((h.distance()?, h)));
    let distances: Vec<(f64, &Headline)> = distances.collect();
    // Of a single one all has been said.
    if distances.len() < 2 {
        return None;
    }
    let (_, far) = distances.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let near = distances.iter().filter(|(d, _)| *d <= ABOUT).count();
    let (ours, paper) = (far.text(far.ours.total()), far.text(far.paper?));
    Some(format!(
        "Of the {} averages that the paper prints here, ours are within 2% on {near}; farthest off is {} in {}, with \
         {ours} where the paper has {paper}.",
        distances.len(),
        far.title,
        match far.figure.number.as_str() {
            "" => &far.figure.title,
            number => number,
        }
    ))
}
