//! Claims: `a > b > c`, in words and to be checked.

use super::model::*;
use super::table::{Table, number};
use warpsim_present::{Node, Source, SourceError};

const KEYS: &[&str] = &["claim", "text", "on", "group", "part", "within", "reason"];

const HELP: &str = "for example `claim = \"mwf+cff > gto > lrr\"`, `\"gto ~ lrr\"`, \
                    `\"a / b >= c / d\"` or `\"gto < 1\"`, with blanks around every sign";

/// Reads a claim of a figure of this shape.
pub fn one(source: &Source, node: &Node, shape: &Shape) -> Result<Claim, SourceError> {
    let fields = Table::new(source, node, "a claim", KEYS)?;
    let text = fields
        .text("claim")?
        .ok_or_else(|| fields.missing("claim", HELP))?;
    let chain = chain(&text.value).ok_or_else(|| {
        source
            .error(text.place.clone(), "this is no claim")
            .with_help(HELP)
    })?;
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
    Ok(Claim {
        text: fields.text_or("text", &text.value)?,
        chain: At {
            value: chain,
            place: text.place,
        },
        on: on(&fields)?,
        group: fields.text("group")?,
        part,
        within,
        reason: fields.text("reason")?.map(|t| t.value),
    })
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
            _ => None,
        },
        _ => None,
    };
    Ok(single.unwrap_or_else(|| On::Workloads(std::mem::take(&mut words))))
}

/// Reads `a > b / c ~ 1.5`.
fn chain(text: &str) -> Option<Chain> {
    let mut words = text.split_whitespace().peekable();
    let first = term(&mut words)?;
    let mut rest = Vec::new();
    while let Some(word) = words.next() {
        let order = match word {
            ">" => Order::Above,
            ">=" => Order::NotBelow,
            "<" => Order::Below,
            "<=" => Order::NotAbove,
            "~" => Order::About,
            _ => return None,
        };
        rest.push((order, term(&mut words)?));
    }
    (!rest.is_empty()).then_some(Chain { first, rest })
}

fn term<'a>(words: &mut std::iter::Peekable<impl Iterator<Item = &'a str>>) -> Option<Term> {
    const SIGNS: [&str; 6] = [">", ">=", "<", "<=", "~", "/"];
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
            assert_eq!(chain(bad), None, "{bad}");
        }
    }
}
