//! What things are called on the page.

use crate::{Role, Standing, Verdict};

/// All samples, in the order of columns.
pub(crate) const ROLES: [Role; 3] = [Role::Train, Role::Val, Role::Test];

/// A sample's name in a running text.
pub(crate) fn role_name(role: Role) -> &'static str {
    match role {
        Role::Train => "train",
        Role::Val => "val",
        Role::Test => "test",
    }
}

/// A verdict's name.
pub(crate) fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Met => "met",
        Verdict::Violated => "violated",
        Verdict::Undecided => "undecided",
    }
}

/// What a badge of it says, for those who do not know the word.
pub(crate) fn standing_meaning(standing: Standing) -> &'static str {
    match standing {
        Standing::Promised => {
            "loss and optimism are at most 0, with the margin for the confidence that was asked for"
        }
        Standing::Enforced => "loss and optimism together are at most 0",
        Standing::Violated => "loss and optimism together are above 0",
    }
}

/// A verdict as one character, so that colour is never the only sign of it.
pub(crate) fn glyph(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Met => "✓",
        Verdict::Violated => "✕",
        Verdict::Undecided => "?",
    }
}
