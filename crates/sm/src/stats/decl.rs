//! How counters are declared.

/// What a statistic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatInfo {
    /// Name in its group.
    pub name: &'static str,
    /// Unit.
    pub unit: &'static str,
    /// What it counts.
    pub description: &'static str,
}

/// A group of counters that can be listed and added up.
pub trait Visit {
    /// Calls `f` with every counter in declaration order.
    fn visit(&self, f: &mut dyn FnMut(StatInfo, u64));
    /// Adds another group of the same kind.
    fn add(&mut self, other: &Self);
}

/// Declares a struct of `u64` counters: `name: "unit", "description";`.
macro_rules! counters {
    ($(#[$meta:meta])* pub struct $name:ident { $($field:ident: $unit:literal, $text:literal;)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $name { $(#[doc = $text] pub $field: u64,)* }

        impl $crate::stats::Visit for $name {
            fn visit(&self, f: &mut dyn FnMut($crate::stats::StatInfo, u64)) {
                $(f($crate::stats::StatInfo { name: stringify!($field), unit: $unit, description: $text }, self.$field);)*
            }
            fn add(&mut self, other: &Self) { $(self.$field += other.$field;)* }
        }

        impl $name {
            /// What was counted since `before`.
            pub fn since(&self, before: &Self) -> Self { $name { $($field: self.$field - before.$field,)* } }
        }
    };
}

/// Declares a set of states that cycles are counted in, and the array that counts them.
macro_rules! states {
    ($(#[$meta:meta])* pub enum $name:ident counted by $array:ident in $unit:literal { $($variant:ident $text:literal $doc:literal;)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $(#[doc = $doc] $variant),* }

        impl $name {
            /// Every state in declaration order.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];
            /// Name in statistics.
            pub fn name(self) -> &'static str { match self { $($name::$variant => $text),* } }
            /// What it means.
            pub fn description(self) -> &'static str { match self { $($name::$variant => $doc),* } }
        }

        #[doc = concat!("Counts for each [`", stringify!($name), "`].")]
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $array([u64; $name::ALL.len()]);

        impl $array {
            /// Adds `n` to a state.
            #[inline]
            pub fn count(&mut self, state: $name, n: u64) { self.0[state as usize] += n; }
            /// Takes `n` back from a state.
            pub fn uncount(&mut self, state: $name, n: u64) { self.0[state as usize] -= n; }
            /// The count of a state.
            pub fn get(&self, state: $name) -> u64 { self.0[state as usize] }
            /// Sum over all states.
            pub fn sum(&self) -> u64 { self.0.iter().sum() }
        }

        impl $crate::stats::Visit for $array {
            fn visit(&self, f: &mut dyn FnMut($crate::stats::StatInfo, u64)) {
                for &state in $name::ALL {
                    f($crate::stats::StatInfo { name: state.name(), unit: $unit, description: state.description() }, self.get(state));
                }
            }
            fn add(&mut self, other: &Self) {
                for (a, b) in self.0.iter_mut().zip(&other.0) { *a += b; }
            }
        }
    };
}

pub(crate) use {counters, states};
