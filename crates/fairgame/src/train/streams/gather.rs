//! A random sample of rows, as a table.
//!
//! Each row has a key, and the rows of the smallest keys are kept. So the sample is a function of the rows and their
//! keys alone: it does not depend on chunks, and samples of parts merge to the sample of the whole. With up to as many
//! rows as are kept, it is all of them, in the order of the table.
//!
//! Where keys are hashes of row numbers, a sample of k rows has every quantile to within √(ln(2/δ) / 2k) of the rows' own
//! with probability 1 − δ (Dvoretzky, Kiefer and Wolfowitz): .004 with k = 2¹⁸ and δ = .0005.

use crate::Result;
use crate::table::Table;

/// So many pieces are held beside each other: of more, small as they are, the memory would not be given back.
const MOST_PIECES: usize = 32;

/// The rows of the smallest keys so far.
pub(super) struct Gather {
    most: usize,
    /// Only rows of smaller keys are taken.
    below: Option<u64>,
    keys: Vec<u64>,
    pieces: Vec<Table>,
}

impl Gather {
    /// At most so many rows; those that share the last key are left out together.
    pub(super) fn new(most: usize) -> Self {
        Gather { most, below: None, keys: Vec::new(), pieces: Vec::new() }
    }

    /// Takes rows of a table, of which `key` gives the key, or none.
    pub(super) fn add(&mut self, table: &Table, key: impl Fn(usize) -> Option<u64>) -> Result<()> {
        let (mut taken, before) = (Vec::new(), self.keys.len());
        for row in 0..table.rows() {
            if let Some(key) = key(row)
                && self.below.is_none_or(|below| key < below)
            {
                taken.push(row);
                self.keys.push(key);
            }
        }
        if self.keys.len() > before {
            self.pieces.push(table.take(&taken));
        }
        if self.keys.len() > self.most + self.most.max(1024) / 2 {
            self.prune()?;
        }
        Ok(())
    }

    /// Drops all rows but those of the smallest keys.
    fn prune(&mut self) -> Result<()> {
        if self.keys.len() <= self.most {
            return Ok(());
        }
        let mut sorted = self.keys.clone();
        let below = *sorted.select_nth_unstable(self.most).1;
        // Piece by piece: a table of all of them would be held beside them.
        let mut first = 0;
        for piece in &mut self.pieces {
            let keys = &self.keys[first..first + piece.rows()];
            let kept: Vec<usize> = (0..keys.len()).filter(|&row| keys[row] < below).collect();
            first += keys.len();
            *piece = piece.take(&kept);
        }
        self.pieces.retain(|piece| piece.rows() > 0);
        self.keys.retain(|&key| key < below);
        self.below = Some(below);
        if self.pieces.len() > MOST_PIECES {
            self.pieces = vec![Table::concat(&self.pieces)?];
        }
        Ok(())
    }

    /// The rows in the order of their table, with their keys.
    pub(super) fn finish(mut self) -> Result<(Table, Vec<u64>)> {
        self.prune()?;
        let table = Table::concat(&self.pieces)?;
        Ok((table, self.keys))
    }
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
                gather.add(&part, |row| Some(mix((first + row) as u64))).unwrap();
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
        gather.add(&part, |row| Some(mix(row as u64 / 5))).unwrap();
        let (kept, keys) = gather.finish().unwrap();
        assert!(kept.rows() <= 100 && kept.rows() > 90, "{}", kept.rows());
        assert!(keys.chunk_by(|a, b| a == b).all(|same| same.len() == 5));
    }
}
