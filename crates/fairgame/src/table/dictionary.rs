//! Texts and their codes, each text stored once.

use std::fmt;
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// Distinct texts, numbered in the order in which they first came.
///
/// All texts lie in one string, and the index holds codes only, so a dictionary of n texts costs
/// their bytes plus about 14 bytes each.
///
/// ```
/// use fairgame::table::Dictionary;
/// let mut jobs = Dictionary::default();
/// assert_eq!((jobs.intern("clerk"), jobs.intern("nurse"), jobs.intern("clerk")), (0, 1, 0));
/// assert_eq!(jobs.text(1), "nurse");
/// assert_eq!(jobs.code("pilot"), None);
/// ```
#[derive(Clone, Default)]
pub struct Dictionary {
    arena: String,
    /// Where in the arena the text of each code ends.
    ends: Vec<usize>,
    index: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl Dictionary {
    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no texts.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The text of a code.
    ///
    /// # Panics
    /// If `code` is not below [`Dictionary::len`].
    pub fn text(&self, code: u32) -> &str {
        text(&self.arena, &self.ends, code)
    }

    /// The code of a text, if the dictionary has it.
    pub fn code(&self, text: &str) -> Option<u32> {
        self.find(text.as_bytes())
    }

    /// All texts, in the order of their codes.
    pub fn texts(&self) -> impl Iterator<Item = &str> + Clone {
        (0..self.len() as u32).map(|code| self.text(code))
    }

    /// The code of a text, which is added if it is new.
    pub fn intern(&mut self, text: &str) -> u32 {
        self.find(text.as_bytes()).unwrap_or_else(|| self.add(text))
    }

    /// The code of a text given as bytes; only a new text is checked to be UTF-8.
    pub(super) fn intern_bytes(&mut self, bytes: &[u8]) -> Result<u32, std::str::Utf8Error> {
        match self.find(bytes) {
            Some(code) => Ok(code),
            None => Ok(self.add(std::str::from_utf8(bytes)?)),
        }
    }

    fn find(&self, bytes: &[u8]) -> Option<u32> {
        let hash = self.hasher.hash_one(bytes);
        self.index.find(hash, |&code| self.text(code).as_bytes() == bytes).copied()
    }

    fn add(&mut self, new: &str) -> u32 {
        let code = self.ends.len() as u32;
        self.arena.push_str(new);
        self.ends.push(self.arena.len());
        let (arena, ends, hasher) = (&self.arena, &self.ends, &self.hasher);
        self.index.insert_unique(hasher.hash_one(new.as_bytes()), code, |&code| {
            hasher.hash_one(text(arena, ends, code).as_bytes())
        });
        code
    }

    pub(super) fn shrink(&mut self) {
        self.arena.shrink_to_fit();
        self.ends.shrink_to_fit();
    }
}

fn text<'a>(arena: &'a str, ends: &[usize], code: u32) -> &'a str {
    let code = code as usize;
    let start = if code == 0 { 0 } else { ends[code - 1] };
    &arena[start..ends[code]]
}

impl fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.texts()).finish()
    }
}
