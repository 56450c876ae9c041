//! Names inside functions.

pub(in crate::lower) mod recent;

use crate::ast::Ident;
use crate::isa::Type;
use crate::kernel::RegId;
use crate::name::NameTable;
use recent::Recent;

/// What a name inside a function stands for.
#[derive(Clone, Debug)]
pub(in crate::lower) enum Entity {
    /// A register.
    Register(RegId),
    /// A vector register: its components.
    Vector(Vec<RegId>),
    /// A scalar parameter of a device function or call, kept in a register.
    ParamRegister(RegId, Type),
    /// A variable in shared memory at this offset.
    Shared(u64),
    /// A variable in local memory at this offset.
    Local(u64),
    /// A variable or parameter of a function that is not inlined: in local memory, from where the
    /// register says.
    InFrame(RegId, u64),
    /// A parameter of a device function or call in local memory: offset and size.
    ParamMemory(u64, u64),
    /// A kernel parameter at this offset.
    KernelParam(u64),
    /// A label.
    Label(u32),
    /// The targets of a `.branchtargets` list.
    Targets(Vec<Ident>),
    /// A `.callprototype` label: bytes of the parameters and results of indirect calls.
    Prototype(Vec<Option<u64>>, Vec<Option<u64>>),
    /// A `.calltargets` label: the functions that an indirect call may be to.
    Callees(Vec<Ident>),
}

/// `%r<64>`: registers that exist once they are named.
#[derive(Clone, Debug)]
struct Range {
    count: u32,
    ty: Type,
    vector: u8,
}

/// One level of names.
#[derive(Debug, Default)]
pub(in crate::lower) struct Scope {
    names: NameTable<String, Entity>,
    ranges: NameTable<String, Range>,
    /// Registers that were found from here, in this scope or in one around it.
    pub recent: Recent,
}

/// What a lookup in one scope found.
pub(in crate::lower) enum Found {
    /// A name that is there.
    Entity(Entity),
    /// A register of a range that has not been named before: type and vector width.
    Fresh(Type, u8),
    /// Nothing.
    Nothing,
}

impl Scope {
    /// Whether nothing has been declared in it.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.ranges.is_empty()
    }
    /// Enters a name; false when it is taken.
    pub fn declare(&mut self, name: &str, entity: Entity) -> bool {
        // It may hide one from a scope around this one.
        self.recent.forget();
        self.enter(name, entity)
    }
    /// Enters a register of a range, now that it has been named: what the name means stays the same.
    pub fn enter(&mut self, name: &str, entity: Entity) -> bool {
        self.names.insert(name.to_string(), entity).is_none()
    }
    /// Enters a range of registers; false when the prefix is taken.
    pub fn declare_range(&mut self, prefix: &str, count: u32, ty: Type, vector: u8) -> bool {
        self.recent.forget();
        let range = Range { count, ty, vector };
        self.ranges.insert(prefix.to_string(), range).is_none()
    }
    /// Looks a name up.
    pub fn find(&self, name: &str) -> Found {
        if let Some(entity) = self.names.get(name) {
            return Found::Entity(entity.clone());
        }
        let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        // `%r10` may be 10 of `%r` or 0 of `%r1`: every split is a candidate.
        for split in (name.len() - digits..name.len()).rev() {
            let (prefix, number) = name.split_at(split);
            let canonical = number == "0" || !number.starts_with('0');
            if let Some(range) = self.ranges.get(prefix)
                && canonical
                && number.parse::<u32>().is_ok_and(|n| n < range.count)
            {
                return Found::Fresh(range.ty, range.vector);
            }
        }
        Found::Nothing
    }
    /// Names that `wanted` may have been meant to be: every one spelled out, and of each
    /// range the register with the same number.
    pub fn spellings(&self, wanted: &str) -> impl Iterator<Item = String> + '_ {
        let number = number_in(wanted);
        let ranges = self.ranges.iter().map(move |(prefix, range)| {
            format!("{prefix}{}", number.min(range.count.saturating_sub(1)))
        });
        self.names.keys().cloned().chain(ranges)
    }
    /// The range a name would belong to if it were long enough.
    pub fn short_range(&self, name: &str) -> Option<(String, u32)> {
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        (prefix.len() < name.len())
            .then(|| self.ranges.get(prefix))
            .flatten()
            .map(|range| (prefix.to_string(), range.count))
    }
}

/// The number in a register's name: `%r10` is 10, `%SP` 0, `%v.x` the vector's.
pub(in crate::lower) fn number_in(name: &str) -> u32 {
    let base = name.split('.').next().unwrap_or(name);
    let digits = base.trim_start_matches(|c: char| !c.is_ascii_digit());
    let tail: &str = match digits.rfind(|c: char| !c.is_ascii_digit()) {
        Some(at) => &digits[at + digits[at..].chars().next().map_or(1, char::len_utf8)..],
        None => digits,
    };
    tail.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_from_the_end_of_the_name() {
        assert_eq!(number_in("%r10"), 10);
        assert_eq!(number_in("%rd7"), 7);
        assert_eq!(number_in("%SP"), 0);
        assert_eq!(number_in("%v3.x"), 3);
        assert_eq!(number_in("%t1é2"), 2);
        assert_eq!(number_in("%r99999999999"), 0);
    }

    #[test]
    fn ranges_hold_exactly_their_registers() {
        let mut scope = Scope::default();
        assert!(scope.declare_range("%r", 12, Type::B32, 0));
        assert!(matches!(scope.find("%r11"), Found::Fresh(Type::B32, 0)));
        assert!(matches!(scope.find("%r12"), Found::Nothing));
        assert!(matches!(scope.find("%r01"), Found::Nothing));
        assert!(matches!(scope.find("%r"), Found::Nothing));
        assert!(scope.declare_range("%x1", 4, Type::B32, 0));
        assert!(matches!(scope.find("%x13"), Found::Fresh(..)));
    }
}
