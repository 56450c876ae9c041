//! Claims: `a > b > c`, in words and to be checked.

use super::Kind;
use super::model::*;
use super::reason;
use super::table::{Table, number};
use std::ops::RangeInclusive;
use warpsim_present::{Node, Source, SourceError};

const KEYS: &[&str] = &[
    "claim",
    "untested",
    "text",
    "kind",
    "headline",
    "paper",
    "on",
    "except",
    "group",
    "part",
    "within",
    "reason",
    "by",
    "experiment",
    "changed",
];

const HELP: &str = "for example `claim = \"mwf+cff > gto > lrr\"`, `\"gto ~ lrr\"`, \
                    `\"a / b >= c / d\"`, `\"gto < 1\"` or `\"gto = 1.22 \u{b1} 0.05\"`, with blanks \
                    around every sign";

/// The kinds of claims by their names.
const KINDS: [(&str, Kind); 4] = [
    ("direction", Kind::Direction),
    ("order", Kind::Order),
    ("size", Kind::Size),
    ("detail", Kind::Detail),
];

/// Reads a claim of a figure of this shape; `normalised` says whether 1 is what all is compared with.
pub fn one(
    source: &Source,
    node: &Node,
    shape: &Shape,
    normalised: bool,
) -> Result<Claim, SourceError> {
    let fields = Table::new(source, node, "a claim", KEYS)?;
    let untested = fields.text("untested")?.map(|t| t.value);
    let written = fields.text("claim")?;
    let words = fields.text("text")?.map(|t| t.value);
    let text = match (&words, &written) {
        (Some(words), _) => words.clone(),
        (None, Some(written)) => written.value.clone(),
        (None, None) if untested.is_some() => {
            return Err(fields.missing("text", "say in words what is not tested"));
        }
        (None, None) => String::new(),
    };
    if written.is_none() && untested.is_none() {
        let help = format!("{HELP}; or `untested = \"why\"`");
        return Err(fields.missing("claim", &help));
    }
    let read = |text: At<String>| {
        let value = chain(&text.value).map_err(|message| {
            let error = source.error(text.place.clone(), message);
            error.with_help(HELP)
        })?;
        let place = text.place;
        Ok::<_, SourceError>(At { value, place })
    };
    let chain = written.map(read).transpose()?;
    let part = fields.text("part")?;
    match (shape, &part) {
        (Shape::Stack { parts }, Some(p)) => {
            if !parts.iter().any(|known| known.title == p.value) {
                let names: Vec<&str> = parts.iter().map(|p| p.title.as_str()).collect();
                return Err(source
                    .error(p.place.clone(), format!("no part is called `{}`", p.value))
                    .with_help(format!("there are: {}", names.join(", "))));
            }
        }
        (Shape::Bars { .. }, Some(p)) => {
            return Err(source.error(p.place.clone(), "only a figure with parts has parts"));
        }
        (_, None) => {}
    }
    let within = match fields.node("within") {
        Some(node) => number(source, node, "within")?,
        None => 0.02,
    };
    let on = on(&fields)?;
    let except = fields.texts("except")?;
    if let (Some(first), true) = (except.first(), on != On::Every) {
        return Err(source
            .error(first.place.clone(), "only `on = \"every\"` has exceptions")
            .with_help("say `on = \"every\"`, or take the workloads out of the list"));
    }
    let plain = |texts: Vec<At<String>>| texts.into_iter().map(|t| t.value).collect();
    let experiments = fields.texts("experiment")?;
    Ok(Claim {
        kind: kind(&fields, chain.as_ref(), &on, normalised)?,
        headline: fields.switch("headline")?,
        reason: reason::read(&fields, &experiments)?,
        text,
        chain,
        untested,
        paper: fields.text("paper")?.map(|t| t.value),
        on,
        except,
        group: fields.text("group")?,
        part,
        within,
        experiments,
        changed: plain(fields.texts("changed")?),
    })
}

/// What the claim says it is, else what follows from its test.
fn kind(
    fields: &Table,
    chain: Option<&At<Chain>>,
    on: &On,
    normalised: bool,
) -> Result<Kind, SourceError> {
    let follows = chain.map_or(Kind::Detail, |c| Kind::of(&c.value, on, normalised));
    let Some(said) = fields.choice("kind", &KINDS)? else {
        return Ok(follows);
    };
    match (chain, fields.text("kind")?) {
        (Some(chain), Some(word)) if !said.fits(&chain.value) => Err(fields
            .source
            .error(word.place, format!("this claim is no {}", said.name()))
            .with_help(
                "a size has a number or a tolerance, an order compares three or more, and a direction has no \
                 tolerance",
            )),
        _ => Ok(said),
    }
}

fn on(fields: &Table) -> Result<On, SourceError> {
    let mut words = fields.texts("on")?;
    let single = match words.as_slice() {
        [] => Some(On::Mean),
        [word] => match word.value.as_str() {
            "mean" => Some(On::Mean),
            "best" => Some(On::Best),
            "worst" => Some(On::Worst),
            "every" => Some(On::Every),
            "some" => Some(On::Some),
            word => numbers(word).map(On::Count),
        },
        _ => None,
    };
    Ok(single.unwrap_or_else(|| On::Workloads(std::mem::take(&mut words))))
}

/// Reads `7`, or `7 to 8`.
fn numbers(word: &str) -> Option<RangeInclusive<u64>> {
    let (low, high) = word.split_once(" to ").unwrap_or((word, word));
    let (low, high) = (low.parse().ok()?, high.parse().ok()?);
    (low <= high).then_some(low..=high)
}

const NO_CLAIM: &str = "this is no claim";

/// Reads `a > b / c ~ 1.5`, or says what is wrong.
fn chain(text: &str) -> Result<Chain, &'static str> {
    let mut words = text.split_whitespace().peekable();
    let first = term(&mut words).ok_or(NO_CLAIM)?;
    let mut rest = Vec::new();
    while let Some(word) = words.next() {
        let order = match word {
            ">" => Order::Above,
            ">=" => Order::NotBelow,
            "<" => Order::Below,
            "<=" => Order::NotAbove,
            "~" => Order::About,
            "=" => {
                let second = term(&mut words).ok_or(NO_CLAIM)?;
                let sign = words.next_if(|w| ["\u{b1}", "+-"].contains(w));
                let off = sign.and_then(|_| words.next()?.parse::<f64>().ok());
                let off = off.filter(|o| o.is_finite() && *o > 0.0);
                let off = off.ok_or("a claim with `=` says how far off is still equal")?;
                rest.push((Order::Within(off), second));
                continue;
            }
            _ => return Err(NO_CLAIM),
        };
        rest.push((order, term(&mut words).ok_or(NO_CLAIM)?));
    }
    if rest.is_empty() {
        return Err(NO_CLAIM);
    }
    Ok(Chain { first, rest })
}

fn term<'a>(words: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>) -> Option<Term> {
    const SIGNS: [&str; 9] = [">", ">=", "<", "<=", "~", "/", "=", "\u{b1}", "+-"];
    let name = words.next().filter(|w| !SIGNS.contains(w))?;
    if words.next_if_eq(&"/").is_some() {
        let below = words.next().filter(|w| !SIGNS.contains(w))?;
        return Some(Term::Quotient(name.to_string(), below.to_string()));
    }
    match name.parse::<f64>() {
        Ok(n) if n.is_finite() => Some(Term::Number(n)),
        _ => Some(Term::Configuration(name.to_string())),
    }
}

impl Chain {
    /// Its terms, in order.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        std::iter::once(&self.first).chain(self.rest.iter().map(|(_, t)| t))
    }

    /// The configurations it names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.terms().flat_map(|t| match t {
            Term::Configuration(name) => vec![name.as_str()],
            Term::Quotient(a, b) => vec![a.as_str(), b.as_str()],
            Term::Number(_) => Vec::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_are_read_word_by_word() {
        let read = chain("mwf-gto+cff / gto >= 1.05 > lrr").unwrap();
        assert_eq!(
            read,
            Chain {
                first: Term::Quotient("mwf-gto+cff".into(), "gto".into()),
                rest: vec![
                    (Order::NotBelow, Term::Number(1.05)),
                    (Order::Above, Term::Configuration("lrr".into())),
                ],
            }
        );
        assert_eq!(
            read.names().collect::<Vec<_>>(),
            ["mwf-gto+cff", "gto", "lrr"]
        );
        for bad in ["", "a", "a >", "> a", "a b", "a > > b", "a / > b", "a>b"] {
            assert_eq!(chain(bad), Err(NO_CLAIM), "{bad}");
        }
    }

    #[test]
    fn an_equality_says_how_far_off_is_still_equal() {
        for sign in ["\u{b1}", "+-"] {
            let read = chain(&format!("tbc / pdom = 1.22 {sign} 0.05")).unwrap();
            let rest = vec![(Order::Within(0.05), Term::Number(1.22))];
            assert_eq!(read.rest, rest);
        }
        for bad in [
            "a = 1",
            "a = 1 \u{b1}",
            "a = 1 \u{b1} b",
            "a = 1 \u{b1} -1",
            "a = 1 \u{b1} 0",
        ] {
            let message = chain(bad).unwrap_err();
            assert!(message.contains("how far off"), "{bad}: {message}");
        }
        assert_eq!(chain("a = \u{b1} 1"), Err(NO_CLAIM));
    }
}
