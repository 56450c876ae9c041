//! Values computed from declared statistics: `(warp_states.barrier + 1) / warp_cycles`.

use std::collections::BTreeMap;
use std::sync::OnceLock;
use warpsim_present::nearest;
use warpsim_sim::stats::all_statistics;

/// The statistics of a run by their declared names, without the leading `totals.`.
pub type Statistics = BTreeMap<String, f64>;

/// Every statistic there is, in declaration order.
pub fn statistic_names() -> &'static [String] {
    static NAMES: OnceLock<Vec<String>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let full = |(group, name): (&str, &str)| match group.strip_prefix("totals.") {
            Some(table) => format!("{table}.{name}"),
            None => name.to_string(),
        };
        let all = all_statistics();
        all.iter().map(|(g, i)| full((g, i.name))).collect()
    })
}

/// What a launch's size comes to, computed from what is kept of a run.
pub const SIZE_STATISTICS: [(&str, &str); 2] = [
    (
        "sizes.waves",
        "waves of blocks: blocks over what all SMs hold at once, averaged over launches by their \
         cycles",
    ),
    ("sizes.idle", "share of SM-cycles without a resident warp"),
];

/// What a statistic counts.
pub fn meaning(name: &str) -> String {
    let full = |group: &str, info: &str| match group.strip_prefix("totals.") {
        Some(table) => format!("{table}.{info}"),
        None => info.to_string(),
    };
    let all = all_statistics();
    let declared = all.iter().find(|(g, i)| full(g, i.name) == name);
    let size = || {
        SIZE_STATISTICS
            .iter()
            .find(|(n, _)| *n == name)
            .map(|(_, text)| *text)
    };
    let text = declared.map(|(_, i)| i.description).or_else(size);
    text.unwrap_or_default().to_string()
}

/// The unit of a statistic; none for what has no unit.
pub fn unit(name: &str) -> &'static str {
    let place = statistic_names().iter().position(|n| n == name);
    place.map_or("", |place| all_statistics()[place].1.unit)
}

/// An expression over statistics.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// A number.
    Number(f64),
    /// A statistic.
    Statistic(String),
    /// Two expressions and a sign.
    Binary(Box<Expression>, char, Box<Expression>),
}

/// Why a text is no expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// It cannot be read: what is wrong.
    Syntax(String),
    /// This build has no such statistic.
    Unknown {
        /// The name.
        name: String,
        /// What may have been meant.
        hint: Option<String>,
    },
}

impl Expression {
    /// Reads an expression and checks its names.
    pub fn parse(text: &str) -> Result<Expression, Problem> {
        let mut reader = Reader {
            rest: text.trim(),
            terms: 0,
        };
        let expression = reader.sum(0)?;
        if !reader.rest.is_empty() {
            return Err(Problem::Syntax(format!("unexpected `{}`", reader.rest)));
        }
        Ok(expression)
    }

    /// The statistics it names, in order.
    pub fn names(&self) -> Vec<&str> {
        match self {
            Expression::Number(_) => Vec::new(),
            Expression::Statistic(name) => vec![name],
            Expression::Binary(a, _, b) => {
                let mut names = a.names();
                names.extend(b.names());
                names
            }
        }
    }

    /// Whether it is a statistic, or adds and subtracts some: it has their unit.
    pub fn is_sum(&self) -> bool {
        match self {
            Expression::Number(_) => false,
            Expression::Statistic(_) => true,
            Expression::Binary(a, sign, b) => matches!(sign, '+' | '-') && a.is_sum() && b.is_sum(),
        }
    }

    /// Its value for a run; nothing where it is undefined (a division by zero).
    pub fn value(&self, statistics: &Statistics) -> Option<f64> {
        let value = match self {
            Expression::Number(n) => *n,
            Expression::Statistic(name) => *statistics.get(name)?,
            Expression::Binary(a, sign, b) => {
                let (a, b) = (a.value(statistics)?, b.value(statistics)?);
                match sign {
                    '+' => a + b,
                    '-' => a - b,
                    '*' => a * b,
                    _ => a / b,
                }
            }
        };
        value.is_finite().then_some(value)
    }
}

/// Deeper nesting is refused rather than left to the stack.
const DEEPEST: u32 = 64;
/// So are expressions with more numbers and statistics: a tree of them is as deep.
const MOST_TERMS: u32 = 1000;

struct Reader<'a> {
    rest: &'a str,
    /// Numbers and statistics so far.
    terms: u32,
}

impl Reader<'_> {
    fn sum(&mut self, depth: u32) -> Result<Expression, Problem> {
        let mut left = self.product(depth)?;
        while let Some(sign) = self.sign("+-") {
            let right = self.product(depth)?;
            left = Expression::Binary(Box::new(left), sign, Box::new(right));
        }
        Ok(left)
    }

    fn product(&mut self, depth: u32) -> Result<Expression, Problem> {
        let mut left = self.atom(depth)?;
        while let Some(sign) = self.sign("*/") {
            let right = self.atom(depth)?;
            left = Expression::Binary(Box::new(left), sign, Box::new(right));
        }
        Ok(left)
    }

    fn sign(&mut self, signs: &str) -> Option<char> {
        let sign = self.rest.chars().next().filter(|c| signs.contains(*c))?;
        self.skip(1);
        Some(sign)
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest[bytes..].trim_start();
    }

    fn atom(&mut self, depth: u32) -> Result<Expression, Problem> {
        if depth > DEEPEST {
            return Err(Problem::Syntax("too many parentheses".into()));
        }
        self.terms += 1;
        if self.terms > MOST_TERMS {
            return Err(Problem::Syntax(format!(
                "more than {MOST_TERMS} numbers and statistics"
            )));
        }
        if self.rest.starts_with('(') {
            self.skip(1);
            let inner = self.sum(depth + 1)?;
            if !self.rest.starts_with(')') {
                return Err(Problem::Syntax("a `)` is missing".into()));
            }
            self.skip(1);
            return Ok(inner);
        }
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        let end = self.rest.find(|c| !fits(c)).unwrap_or(self.rest.len());
        let word = &self.rest[..end];
        if word.is_empty() {
            let found = self.rest.chars().next();
            let found = found.map_or("the end".into(), |c| format!("`{c}`"));
            return Err(Problem::Syntax(format!(
                "expected a statistic, found {found}"
            )));
        }
        let atom = match word.parse::<f64>() {
            Ok(n) if n.is_finite() => Expression::Number(n),
            _ => statistic(word)?,
        };
        self.skip(end);
        Ok(atom)
    }
}

fn statistic(word: &str) -> Result<Expression, Problem> {
    let name = word.strip_prefix("totals.").unwrap_or(word);
    let names = statistic_names();
    let size = SIZE_STATISTICS.iter().any(|(n, _)| *n == name);
    if size || names.iter().any(|n| n == name) {
        return Ok(Expression::Statistic(name.to_string()));
    }
    Err(Problem::Unknown {
        name: name.to_string(),
        hint: nearest(name, names.iter().map(String::as_str)).map(str::to_string),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<f64> {
        let statistics = [
            ("cycles", 10.0),
            ("warp_states.barrier", 4.0),
            ("blocks", 0.0),
        ];
        let statistics = statistics.map(|(k, v)| (k.to_string(), v)).into();
        Expression::parse(text).unwrap().value(&statistics)
    }

    #[test]
    fn expressions_follow_the_usual_rules() {
        assert_eq!(value("cycles"), Some(10.0));
        assert_eq!(value("totals.cycles - 1 - 2"), Some(7.0));
        assert_eq!(value("1 + warp_states.barrier/cycles*5"), Some(3.0));
        assert_eq!(value("(1+warp_states.barrier) / cycles"), Some(0.5));
        assert_eq!(value("cycles / blocks"), None);
        assert_eq!(value("ipc"), None, "not recorded in this run");
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        let problem = |t: &str| Expression::parse(t).unwrap_err();
        let syntax = |t: &str| Problem::Syntax(t.to_string());
        assert_eq!(problem(""), syntax("expected a statistic, found the end"));
        assert_eq!(
            problem("cycles +"),
            syntax("expected a statistic, found the end")
        );
        assert_eq!(problem("(cycles"), syntax("a `)` is missing"));
        assert_eq!(problem("cycles cycles"), syntax("unexpected `cycles`"));
        assert_eq!(problem("cycles ! 2"), syntax("unexpected `! 2`"));
        assert_eq!(problem(&"(".repeat(500)), syntax("too many parentheses"));
        let many = vec!["1"; 100_000].join("+");
        assert_eq!(
            problem(&many),
            syntax("more than 1000 numbers and statistics")
        );
        assert!(Expression::parse(&vec!["cycles"; 1000].join("/")).is_ok());
        assert_eq!(
            problem("cycels"),
            Problem::Unknown {
                name: "cycels".into(),
                hint: Some("cycles".into())
            }
        );
    }
}
