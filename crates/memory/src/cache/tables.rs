//! What the tables of a machine's caches take of the host's memory. Each range of a setting is
//! sensible by itself; together they can ask for more than any computer has.

use super::mshr::BYTES_PER_ENTRY;
use super::tags::BYTES_PER_LINE;
use warpsim_machine::check::validate::Problem;
use warpsim_machine::{Cache, Machine};

/// The most that all of them may take. The largest GPUs take a hundredth of it.
pub const MOST_BYTES: u64 = 2 << 30;

/// The tables of one kind of cache, on the whole machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tables {
    /// The key that has most to do with their size.
    pub key: &'static str,
    /// Bytes.
    pub bytes: u64,
}

/// The tables of every kind of cache.
pub fn of(machine: &Machine) -> [Tables; 5] {
    let sms = u64::from(machine.gpu.sms);
    let slices = u64::from(machine.dram.channels) * u64::from(machine.l2.slices_per_channel);
    let cache = |keys, c: &Cache| tables(keys, [c.sets, c.ways, c.mshrs], sms);
    let l2 = &machine.l2;
    // A line of 256 bytes counts as two.
    let l2_ways = l2.ways * (l2.line / 128).max(1);
    [
        cache(["l1d.sets", "l1d.mshrs"], &machine.l1d.cache),
        cache(["l1i.sets", "l1i.mshrs"], &machine.l1i),
        cache(["constant.sets", "constant.mshrs"], &machine.constant),
        cache(["texture.sets", "texture.mshrs"], &machine.texture),
        tables(
            ["l2.sets", "l2.mshrs"],
            [l2.sets, l2_ways, l2.mshrs],
            slices,
        ),
    ]
}

fn tables(keys: [&'static str; 2], size: [u32; 3], caches: u64) -> Tables {
    let [sets, ways, mshrs] = size.map(u64::from);
    let lines = sets * ways * BYTES_PER_LINE;
    let misses = mshrs * BYTES_PER_ENTRY;
    Tables {
        key: if lines >= misses { keys[0] } else { keys[1] },
        bytes: (lines + misses) * caches,
    }
}

/// All of them together.
pub fn total(machine: &Machine) -> u64 {
    of(machine).iter().map(|t| t.bytes).sum()
}

/// The tables of all caches are no larger than a host can be asked for.
pub fn check(machine: &Machine) -> Result<(), Problem> {
    let total = total(machine);
    let largest = of(machine).into_iter().max_by_key(|t| t.bytes);
    let Some(largest) = largest.filter(|_| total > MOST_BYTES) else {
        return Ok(());
    };
    let mib = |bytes: u64| bytes.div_ceil(1 << 20);
    Err(Problem::said(
        largest.key,
        format!(
            "the tables of the machine's caches would take {} MiB of the host's memory, and {} MiB are \
             the most: most of it is for `{}` and its neighbours, on {} SMs and {} memory channels",
            mib(total),
            mib(MOST_BYTES),
            largest.key,
            machine.gpu.sms,
            machine.dram.channels
        ),
    ))
}
