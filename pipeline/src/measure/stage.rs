//! Stages: what a thread of a run spends its time on.

/// Declares the stages once, each with its name in reports.
macro_rules! stages {
    ($($(#[$meaning:meta])+ $stage:ident: $name:literal,)+) => {
        /// A stage of a thread.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Stage {
            $($(#[$meaning])+ $stage,)+
        }

        impl Stage {
            /// All stages, in declaration order.
            pub const ALL: [Stage; 13] = [$(Stage::$stage),+];

            /// Returns the name in reports.
            pub fn name(self) -> &'static str {
                match self {
                    $(Stage::$stage => $name,)+
                }
            }
        }
    };
}

stages! {
    /// Reader: reading log entries and published files from storage.
    Read: "read",
    /// Worker: waiting for the reader.
    AwaitRead: "await_read",
    /// Worker: decoding frames.
    Decode: "decode",
    /// Worker: orienting streams.
    Orient: "orient",
    /// Worker: applying operations.
    Apply: "apply",
    /// Worker: comparing a block with the streams that it depends on.
    Audit: "audit",
    // Reports keep this name, although the workload's method is called `finish`.
    /// Worker: finishing a block whose updates are complete.
    Settle: "settle",
    /// Worker: summarising and encoding the published file.
    Publish: "publish",
    /// Worker: encoding log frames.
    Encode: "encode",
    /// Worker: waiting for the writer to take a message.
    AwaitWrite: "await_write",
    /// Writer: writing runs.
    Write: "write",
    /// Committer: syncs and journal.
    Commit: "commit",
    /// Worker: no block ready.
    Idle: "idle",
}
