//! Sums as bytes: rows that several processes hold are summed where they are, and the sums are added up elsewhere.
//!
//! The sums are exact, so what is added up comes to what all rows come to in one place, to the bit. Bytes are JSON. They grow
//! with the number of kinds of rows that a problem tells apart, and with units also with their number.

use serde::{Deserialize, Serialize};

use super::accumulate::Accumulator;
use super::audit::Audit;
use super::sums::RowSums;
use super::units::Units;
use crate::rate::Partition;
use crate::table::{Column, Held, Table};
use crate::{Error, ErrorKind, Result};

/// Of the shape of the bytes.
const VERSION: u32 = 2;

/// Sums, each over rows of one kind.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Carried<K> {
    version: u32,
    /// What the rows of each sum are like.
    pub(super) kinds: K,
    pub(super) sums: Vec<RowSums>,
    pub(super) units: Option<Units>,
    pub(super) rows: u64,
}

impl<K: Serialize + for<'a> Deserialize<'a>> Carried<K> {
    pub(super) fn new(kinds: K, sums: Vec<RowSums>, units: Option<Units>, rows: u64) -> Self {
        Carried { version: VERSION, kinds, sums, units, rows }
    }

    fn to_bytes(&self) -> Result<Vec<u8>> {
        serde_json::to_vec(self).map_err(|error| {
            Error::new(ErrorKind::Format, format!("sums cannot be written: {error}"))
        })
    }

    fn from_bytes(bytes: &[u8], count: impl Fn(&K) -> usize) -> Result<Self> {
        let broken = |why: String| {
            Error::new(ErrorKind::Format, format!("these are no sums of rows: {why}"))
                .help("give bytes that the same version of fairgame has made")
        };
        let carried: Carried<K> =
            serde_json::from_slice(bytes).map_err(|error| broken(error.to_string()))?;
        if carried.version != VERSION {
            return Err(broken(format!("their version is {}, not {VERSION}", carried.version)));
        }
        let (kinds, sums) = (count(&carried.kinds), carried.sums.len());
        if kinds != sums || !carried.units.as_ref().is_none_or(|units| units.are_of(kinds)) {
            return Err(broken(format!("there are {sums} of {kinds} kinds of rows")));
        }
        Ok(carried)
    }
}

impl Accumulator {
    /// The sums as bytes, for [`Accumulator::merge_bytes`] of another process.
    ///
    /// ```
    /// use fairgame::evaluate::{Accumulator, Decisions};
    /// use fairgame::rate::Problem;
    /// use fairgame::table::{ReadOptions, Source, read};
    ///
    /// let people = read([Source::stream("people.csv", "able\nyes\nno\nno\n".as_bytes())], &ReadOptions::default())?;
    /// let (bound, _) = Problem::parse("able == \"yes\"", "error()", &["recall() >= 0.9"])?.bind(&people, &[])?;
    /// let mut here = Accumulator::new(&bound);
    /// here.add(&people, None, Decisions::Hard(&[true, true, false]))?;
    /// let mut there = Accumulator::new(&bound);
    /// there.merge_bytes(&here.to_bytes()?)?;
    /// assert_eq!(there.finish(0.95)?, here.finish(0.95)?);
    /// # Ok::<(), fairgame::Error>(())
    /// ```
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let (classes, sums, units, rows) = self.sorted()?;
        Carried::new(classes, sums, units, rows).to_bytes()
    }

    /// Adds the rows whose sums are these bytes.
    ///
    /// # Errors
    /// If they are not sums, or those of another problem.
    pub fn merge_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let carried = Carried::from_bytes(bytes, Partition::classes)?;
        self.merge_carried(carried)
    }
}

impl Audit {
    /// The sums as bytes, for [`Audit::merge_bytes`] of another process.
    ///
    /// # Errors
    /// If the problem asks for quantiles, which are those of all rows and no sums; or if nothing can be written.
    pub fn to_bytes(&mut self) -> Result<Vec<u8>> {
        let (table, sums, units, rows) = self.surveyed_rows()?;
        let columns: Vec<Held> = table.columns().iter().map(Held::from).collect();
        Carried::new(columns, sums, units, rows).to_bytes()
    }

    /// Adds the rows whose sums are these bytes.
    ///
    /// # Errors
    /// If they are not sums, or of rows with other columns.
    pub fn merge_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let rows = |columns: &Vec<Held>| columns.first().map_or(0, Held::rows);
        let carried: Carried<Vec<Held>> = Carried::from_bytes(bytes, rows)?;
        let Carried { kinds, sums, units, rows, .. } = carried;
        let table = Table::new(kinds.into_iter().map(Column::from).collect())?;
        self.merge_summed(&table, &sums, units, rows)
    }
}
