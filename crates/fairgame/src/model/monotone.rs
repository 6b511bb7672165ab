//! Which way a score may go, for the models that can promise it.

use crate::settings::declare;

declare! {
    /// Which way a score may go as a column rises.
    #[derive(Copy, Eq)]
    pub enum Monotone {
        /// The score does not fall.
        Increasing = "increasing",
        /// The score does not rise.
        Decreasing = "decreasing",
    }
}
