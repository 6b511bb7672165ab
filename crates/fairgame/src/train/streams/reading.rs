//! Where the rows of a training are read: here, or by shards elsewhere.

use super::scan::{By, Look, Scanned};
use super::shards::Driver;
use super::storing::{AllStored, Storing};
use super::{Stream, Streams, tell};
use crate::Result;
use crate::rate::Unnamed;
use crate::train::{Pass, Watch};

/// Rows that are read in passes.
pub(in crate::train) enum Reading<'a> {
    Here(Box<Streams<'a>>),
    There(Box<Driver>),
}

impl<'a> Reading<'a> {
    fn sources<'s>(streams: &'s Streams<'a>) -> Vec<&'s Stream<'a>> {
        std::iter::once(&streams.train).chain(&streams.val).collect()
    }

    /// What messages call the rows to learn from.
    pub(super) fn name(&self) -> &str {
        match self {
            Reading::Here(streams) => streams.train.feed.name(),
            Reading::There(driver) => driver.name(),
        }
    }

    /// What messages call rows that were given to enforce constraints on, if some were.
    pub(super) fn name_of_val(&self) -> Option<&str> {
        match self {
            Reading::Here(streams) => streams.val.as_ref().map(|val| val.feed.name()),
            Reading::There(_) => None,
        }
    }

    /// The first pass.
    pub(super) fn scan(
        &mut self,
        look: &Look<'_>,
        by: By,
        watch: &mut dyn Watch,
    ) -> Result<Scanned> {
        let mut told = |rows: u64| tell(watch, Pass { name: "reading", rows, of: None });
        match self {
            Reading::Here(streams) => look.scan(by, &Self::sources(streams), &mut told),
            Reading::There(driver) => driver.scan(look, by, watch),
        }
    }

    /// How many of the rows that were given to test on are training rows, and how many there are.
    pub(super) fn tested_again(&self, scanned: &Scanned) -> Result<Option<(usize, usize)>> {
        match self {
            Reading::Here(streams) => match &streams.test {
                Some(test) => scanned.among(&test.feed),
                None => Ok(None),
            },
            Reading::There(_) => Ok(None),
        }
    }

    /// The second pass.
    pub(super) fn store(
        &mut self,
        storing: &Storing<'_>,
        scanned: &mut Scanned,
        strange: &mut [Unnamed; 2],
        watch: &mut dyn Watch,
    ) -> Result<AllStored> {
        match self {
            Reading::Here(streams) => storing.run(&Self::sources(streams), scanned, strange, watch),
            Reading::There(driver) => driver.store(storing, scanned, strange, watch),
        }
    }
}
