//! The experiments of Cotter et al. 2018, "Training Well-Generalizing Classifiers for Fairness Metrics and
//! Other Data-Dependent Constraints".
//!
//! - [`entities`]: a stand-in for the paper's entity resolution data, which are proprietary.

pub mod entities;
