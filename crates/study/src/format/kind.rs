//! What a claim says: who wins, in which order, by how much, or something beside these.

use super::model::{Chain, On, Order, Term};

/// What a claim says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Who wins, over all that the figure shows.
    Direction,
    /// In which order three or more come, over all that the figure shows.
    Order,
    /// By how much, with the tolerance that is meant, over all that the figure shows.
    Size,
    /// Something of single workloads.
    Detail,
}

impl Kind {
    /// Every kind, in the order they are counted.
    pub const ALL: [Kind; 4] = [Kind::Direction, Kind::Order, Kind::Size, Kind::Detail];

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Direction => "direction",
            Kind::Order => "order",
            Kind::Size => "size",
            Kind::Detail => "detail",
        }
    }

    /// In words, of several claims.
    pub fn plural(self) -> &'static str {
        match self {
            Kind::Direction => "directions",
            Kind::Order => "orders",
            Kind::Size => "sizes",
            Kind::Detail => "details",
        }
    }

    /// Whether a chain can say this: a size has a number or a tolerance, an order at least three places.
    pub fn fits(self, chain: &Chain) -> bool {
        let measured = chain.terms().any(|t| matches!(t, Term::Number(_))) || chain.tolerates();
        match self {
            Kind::Direction => !chain.tolerates(),
            Kind::Order => chain.rest.len() > 1,
            Kind::Size => measured,
            Kind::Detail => true,
        }
    }

    /// What a chain that is looked at there says. `normalised`: the number 1 is what everything is compared with.
    pub fn of(chain: &Chain, on: &On, normalised: bool) -> Kind {
        if !matches!(on, On::Mean | On::Every) {
            return Kind::Detail;
        }
        let number =
            |t: &Term| matches!(t, Term::Number(n) if *n != 1.0 || !normalised && !chain.divides());
        if chain.terms().any(number) || chain.tolerates() {
            Kind::Size
        } else if chain.rest.len() > 1 {
            Kind::Order
        } else {
            Kind::Direction
        }
    }
}

impl Chain {
    /// Whether one of its comparisons has a tolerance.
    pub fn tolerates(&self) -> bool {
        let near = |(order, _): &(Order, Term)| matches!(order, Order::About | Order::Within(_));
        self.rest.iter().any(near)
    }

    /// Whether one of its terms is a quotient: 1 then says that both are alike.
    fn divides(&self) -> bool {
        self.terms().any(|t| matches!(t, Term::Quotient(..)))
    }
}
