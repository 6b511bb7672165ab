//! Trainings whose rows are with others: shards on the machines of a cluster.
//!
//! A [`Shard`] has some of the rows, as files or as tables in memory. It reads them in the same two passes as one machine
//! does, and answers questions, which are bytes, with bytes. The [`Driver`] asks, adds the answers up, and goes the one road
//! of every training: what it trains is the same to the bit as on one machine, however rows are cut into shards. How
//! questions get there and answers back is the business of an [`Engine`], such as Dask or Ray.
//!
//! What stays with the shards are the rows that trees grow on: for these only sums are needed, which are integers. The
//! driver has the rows that judge, those that are set aside, a sample of the others, and for games of steps the blocks of
//! rows that minibatches are drawn from.
//!
//! A shard is a function of its rows and of the questions that it was asked. So a lost one is rebuilt from its rows, and is
//! asked again what was asked before; the driver says which of these questions still matter.

mod driver;
mod shard;
mod wire;

pub use driver::{Driver, Engine};
pub use shard::Shard;
