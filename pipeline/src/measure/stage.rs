//! Stages: what a thread of a run spends its time on.

/// A stage of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Reader: reading log entries from storage.
    Read,
    /// Worker: waiting for the reader.
    AwaitRead,
    /// Worker: decoding frames.
    Decode,
    /// Worker: orienting streams.
    Orient,
    /// Worker: applying operations.
    Apply,
    /// Worker: comparing a block with the streams that it depends on.
    Audit,
    /// Worker: finishing a block whose updates are complete.
    Settle,
    /// Worker: summarising and encoding the published file.
    Publish,
    /// Worker: encoding log frames.
    Encode,
    /// Worker: waiting for the writer to take a message.
    AwaitWrite,
    /// Writer: writing runs.
    Write,
    /// Committer: syncs and journal.
    Commit,
    /// Worker: no block ready.
    Idle,
}

impl Stage {
    /// All stages, in declaration order.
    pub const ALL: [Stage; 13] = [
        Stage::Read,
        Stage::AwaitRead,
        Stage::Decode,
        Stage::Orient,
        Stage::Apply,
        Stage::Audit,
        Stage::Settle,
        Stage::Publish,
        Stage::Encode,
        Stage::AwaitWrite,
        Stage::Write,
        Stage::Commit,
        Stage::Idle,
    ];

    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Read => "read",
            Stage::AwaitRead => "await_read",
            Stage::Decode => "decode",
            Stage::Orient => "orient",
            Stage::Apply => "apply",
            Stage::Audit => "audit",
            // Reports keep this name, although the workload's method is called `finish`.
            Stage::Settle => "settle",
            Stage::Publish => "publish",
            Stage::Encode => "encode",
            Stage::AwaitWrite => "await_write",
            Stage::Write => "write",
            Stage::Commit => "commit",
            Stage::Idle => "idle",
        }
    }
}
