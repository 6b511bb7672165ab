//! A random sample of rows, as a table.
//!
//! Each row has a key, and the rows of the smallest keys are kept. So the sample is a function of the rows and their
//! keys alone: it does not depend on chunks, and samples of parts merge to the sample of the whole. With up to as many
//! rows as are kept, it is all of them, in the order of the table.
//!
//! Where keys are hashes of row numbers, a sample of k rows has every quantile to within √(ln(2/δ) / 2k) of the rows' own
//! with probability 1 − δ (Dvoretzky, Kiefer and Wolfowitz): .004 with k = 2¹⁸ and δ = .0005.

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::table::{HeldTable, Table};

/// So many pieces are held beside each other: of more, small as they are, the memory would not be given back.
const MOST_PIECES: usize = 32;

/// The rows of the smallest keys so far.
pub(super) struct Gather {
    most: usize,
    /// Only rows of smaller keys are taken.
    below: Option<u64>,
    /// The key and the number of each row.
    rows: Vec<(u64, u64)>,
    pieces: Vec<Table>,
}

impl Gather {
    /// At most so many rows; those that share the last key are left out together.
    pub(super) fn new(most: usize) -> Self {
        Gather { most, below: None, rows: Vec::new(), pieces: Vec::new() }
    }

    /// Takes rows of a table, of which `key` gives the key, or none. The first of the table has the number `first`.
    pub(super) fn add(
        &mut self,
        table: &Table,
        first: u64,
        key: impl Fn(usize) -> Option<u64>,
    ) -> Result<()> {
        let (mut taken, before) = (Vec::new(), self.rows.len());
        for row in 0..table.rows() {
            if let Some(key) = key(row)
                && self.below.is_none_or(|below| key < below)
            {
                taken.push(row);
                self.rows.push((key, first + row as u64));
            }
        }
        if self.rows.len() > before {
            self.pieces.push(table.take(&taken));
        }
        if self.rows.len() > self.most + self.most.max(1024) / 2 {
            self.prune()?;
        }
        Ok(())
    }

    /// Drops all rows but those of the smallest keys.
    fn prune(&mut self) -> Result<()> {
        if self.rows.len() <= self.most {
            return Ok(());
        }
        let mut sorted: Vec<u64> = self.keys().collect();
        let below = *sorted.select_nth_unstable(self.most).1;
        self.keep_below(below)
    }

    /// Drops all rows but those of smaller keys.
    fn keep_below(&mut self, below: u64) -> Result<()> {
        // Piece by piece: a table of all of them would be held beside them.
        let mut first = 0;
        for piece in &mut self.pieces {
            let rows = &self.rows[first..first + piece.rows()];
            let kept: Vec<usize> = (0..rows.len()).filter(|&row| rows[row].0 < below).collect();
            first += rows.len();
            *piece = piece.take(&kept);
        }
        self.pieces.retain(|piece| piece.rows() > 0);
        self.rows.retain(|&(key, _)| key < below);
        self.below = Some(below);
        if self.pieces.len() > MOST_PIECES {
            self.pieces = vec![Table::concat(&self.pieces)?];
        }
        Ok(())
    }

    /// The key from which on rows were dropped, if some were.
    pub(super) fn dropped_from(&self) -> Option<u64> {
        self.below
    }

    /// The keys of the rows.
    pub(super) fn keys(&self) -> impl Iterator<Item = u64> {
        self.rows.iter().map(|&(key, _)| key)
    }

    /// The rows in the order of their table, with their keys.
    pub(super) fn finish(mut self) -> Result<(Table, Vec<u64>)> {
        self.prune()?;
        let table = Table::concat(&self.pieces)?;
        Ok((table, self.keys().collect()))
    }

    /// The rows whose keys are below, if there is a limit: what a sample of more rows than these needs of them.
    pub(super) fn part(mut self, below: Option<u64>) -> Result<Gathered> {
        self.prune()?;
        if let Some(below) = below {
            self.keep_below(below)?;
        }
        Ok(Gathered { table: Table::concat(&self.pieces)?.into(), rows: self.rows })
    }

    /// The limit for [`Gather::part`], from the keys of all parts, and from which on parts have dropped rows. A part drops
    /// rows that share a key together, and others may still have rows of that key.
    pub(super) fn limit(
        mut keys: Vec<u64>,
        dropped: impl Iterator<Item = Option<u64>>,
        most: usize,
    ) -> Option<u64> {
        let own = (keys.len() > most).then(|| *keys.select_nth_unstable(most).1);
        dropped.flatten().chain(own).min()
    }

    /// The sample that parts make together, in the order of the row numbers.
    pub(super) fn merge(parts: Vec<Gathered>) -> Result<(Table, Vec<u64>)> {
        let (mut tables, mut rows) = (Vec::with_capacity(parts.len()), Vec::new());
        for part in parts.into_iter().filter(|part| !part.rows.is_empty()) {
            tables.push(Table::try_from(part.table)?);
            rows.extend(part.rows);
        }
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_unstable_by_key(|&row| rows[row].1);
        let keys = order.iter().map(|&row| rows[row].0).collect();
        // Once more, so that texts stand in the order in which they first come.
        let table = Table::concat(&[Table::concat(&tables)?.take(&order)])?;
        Ok((table, keys))
    }
}

/// Some rows of a sample, as they travel.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Gathered {
    table: HeldTable,
    rows: Vec<(u64, u64)>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::mix;
    use crate::table::{Category, Column, Values};

    fn table(rows: std::ops::Range<usize>) -> Table {
        let numbers = rows.clone().map(|row| row as f64).collect();
        let texts: Vec<String> = rows.map(|row| format!("t{}", row % 7)).collect();
        let texts = Category::from_texts(texts.iter().map(|text| Some(text.as_str())));
        Table::new(vec![
            Column::new("a", Values::Number(numbers)),
            Column::new("b", Values::Category(texts)),
        ])
        .unwrap()
    }

    /// The sample does not depend on chunks; up to its size it is all rows.
    #[test]
    fn the_same_rows_whatever_the_chunks() {
        let sample = |rows: usize, chunk: usize, most: usize| {
            let mut gather = Gather::new(most);
            for first in (0..rows).step_by(chunk) {
                let part = table(first..rows.min(first + chunk));
                gather.add(&part, first as u64, |row| Some(mix((first + row) as u64))).unwrap();
            }
            gather.finish().unwrap()
        };
        let (all, keys) = sample(20_000, 20_000, 500);
        assert_eq!((all.rows(), keys.len()), (500, 500));
        for chunk in [1, 97, 4096] {
            let other = sample(20_000, chunk, 500);
            assert_eq!((&other.0, &other.1), (&all, &keys), "{chunk}");
        }
        assert_eq!(sample(400, 97, 500).0, table(0..400));
    }

    /// Rows that share a key stay together.
    #[test]
    fn copies_are_kept_or_left_out_together() {
        let mut gather = Gather::new(100);
        let part = table(0..5000);
        gather.add(&part, 0, |row| Some(mix(row as u64 / 5))).unwrap();
        let (kept, keys) = gather.finish().unwrap();
        assert!(kept.rows() <= 100 && kept.rows() > 90, "{}", kept.rows());
        assert!(keys.chunk_by(|a, b| a == b).all(|same| same.len() == 5));
    }

    /// Parts that travelled, in any order, make the sample of all rows.
    #[test]
    fn parts_make_the_whole() {
        let (rows, most) = (20_000, 500);
        let gather = |range: std::ops::Range<usize>| {
            let mut gather = Gather::new(most);
            let key = |row: usize| Some(mix((range.start + row) as u64));
            gather.add(&table(range.clone()), range.start as u64, key).unwrap();
            gather
        };
        let whole = gather(0..rows).finish().unwrap();
        for cuts in [vec![0, rows], vec![0, 3, 9_000, rows], vec![0, 19_999, rows]] {
            let parts = || cuts.windows(2).rev().map(|cut| gather(cut[0]..cut[1]));
            let keys = parts().flat_map(|part| part.keys().collect::<Vec<_>>()).collect();
            let dropped: Vec<_> = parts().map(|part| part.dropped_from()).collect();
            let below = Gather::limit(keys, dropped.into_iter(), most);
            let travelled = parts().map(|part| {
                let bytes = postcard::to_allocvec(&part.part(below).unwrap()).unwrap();
                postcard::from_bytes(&bytes).unwrap()
            });
            let merged = Gather::merge(travelled.collect()).unwrap();
            assert_eq!(merged, whole, "{cuts:?}");
        }
    }
}
