//! Suffixes of `cp` and `mbarrier`.

use crate::asynchronous::Async;
use crate::isa::{CacheOp, Mods, Op, Space};

/// What the suffixes (without dots) say, or why there is no such instruction here.
pub(crate) fn suffixes(op: Op, list: &[&str]) -> Result<Mods, String> {
    let mut mods = Mods::default();
    let has = |word: &str| list.contains(&word);
    let bulk = list
        .iter()
        .find(|w| matches!(**w, "bulk" | "tensor" | "reduce"));
    if op == Op::Cp {
        if let Some(word) = bulk {
            return Err(format!(
                "`cp` with `.{word}` (bulk and tensor copies of sm_90's copy engine) is not supported yet"
            ));
        }
        if !has("async") {
            return Err("only `cp.async` is supported".into());
        }
    }
    for word in list {
        match *word {
            "ca" => mods.cache = Some(CacheOp::Ca),
            "cg" => mods.cache = Some(CacheOp::Cg),
            "shared::cluster" => {
                return Err(
                    "barriers of other blocks (`.shared::cluster`) are not supported yet".into(),
                );
            }
            "async" | "commit_group" | "wait_group" | "wait_all" | "mbarrier" | "arrive"
            | "noinc" | "shared" | "shared::cta" | "global" | "b64" | "init" | "inval"
            | "arrive_drop" | "expect_tx" | "complete_tx" | "test_wait" | "try_wait" | "parity"
            | "pending_count" | "noComplete" | "release" | "acquire" | "relaxed" | "cta"
            | "L2::cache_hint" | "L2::64B" | "L2::128B" | "L2::256B" => {}
            other => {
                return Err(format!(
                    "`{}` with `.{other}` is not supported yet",
                    op.text()
                ));
            }
        }
    }
    let kind = match () {
        () if op == Op::Cp && has("mbarrier") => Async::ArriveAfterCopies {
            counted: has("noinc"),
        },
        () if op == Op::Cp && has("commit_group") => Async::Commit,
        () if op == Op::Cp && has("wait_group") => Async::WaitGroup,
        () if op == Op::Cp && has("wait_all") => Async::WaitAll,
        () if op == Op::Cp => Async::Copy(0),
        () if has("init") => Async::Init,
        () if has("inval") => Async::Invalidate,
        () if has("arrive") || has("arrive_drop") => Async::Arrive {
            drop: has("arrive_drop"),
            expects: has("expect_tx"),
        },
        () if has("expect_tx") => Async::Expect,
        () if has("complete_tx") => Async::Complete,
        () if has("test_wait") || has("try_wait") => Async::Test {
            parity: has("parity"),
        },
        () if has("pending_count") => Async::PendingCount,
        () => return Err("`mbarrier` needs an operation such as `.arrive`".into()),
    };
    mods.space = match kind {
        Async::Copy(_) => Some(Space::Global),
        Async::Commit | Async::WaitGroup | Async::WaitAll | Async::PendingCount => None,
        // Without a space the address is generic; a barrier always lies in shared memory.
        _ => Some(Space::Shared),
    };
    mods.asynchronous = Some(kind);
    Ok(mods)
}
