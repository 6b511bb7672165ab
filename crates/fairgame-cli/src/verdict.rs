//! How a command ended: the exit codes.

use std::process::ExitCode;

/// What a command found out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The constraints are met, or there was nothing to find out.
    Met,
    /// At least one is violated.
    Violated,
    /// It cannot be decided at the confidence asked for.
    Undecided,
    /// It was stopped by Ctrl-C.
    Interrupted,
}

impl From<Verdict> for ExitCode {
    fn from(verdict: Verdict) -> Self {
        ExitCode::from(match verdict {
            Verdict::Met => 0,
            Verdict::Violated => 1,
            Verdict::Undecided => 3,
            Verdict::Interrupted => 130,
        })
    }
}
