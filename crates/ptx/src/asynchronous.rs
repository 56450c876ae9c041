//! Copies that a thread starts and does not wait for (`cp.async`), and the barriers in shared memory
//! that count their ends and threads' arrivals (`mbarrier`).

/// What an instruction of these does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Async {
    /// `cp.async`: so many bytes from global to shared memory.
    Copy(u8),
    /// `cp.async.commit_group`: the copies so far are a group.
    Commit,
    /// `cp.async.wait_group`: at most so many groups are under way.
    WaitGroup,
    /// `cp.async.wait_all`.
    WaitAll,
    /// `cp.async.mbarrier.arrive`: arrives when the copies so far have ended. With `.noinc` the
    /// arrival has been counted for already.
    ArriveAfterCopies {
        #[allow(missing_docs)]
        counted: bool,
    },
    /// `mbarrier.init`.
    Init,
    /// `mbarrier.inval`.
    Invalidate,
    /// `mbarrier.arrive` and `arrive_drop`, which does not take part in further phases.
    Arrive {
        #[allow(missing_docs)]
        drop: bool,
        /// `.expect_tx`: so many more bytes are expected first.
        expects: bool,
    },
    /// `mbarrier.expect_tx`.
    Expect,
    /// `mbarrier.complete_tx`.
    Complete,
    /// `mbarrier.test_wait`, `try_wait`: of the phase of a state, or of a parity.
    Test {
        #[allow(missing_docs)]
        parity: bool,
    },
    /// `mbarrier.pending_count`.
    PendingCount,
}
