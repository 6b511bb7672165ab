//! The page that describes the language, `docs/language.md`: its fenced blocks and its table.

use std::io::Cursor;
use std::path::Path;

use fairgame::table::{ReadOptions, Source, Table, read};

/// A fenced block of the page.
pub(crate) struct Block {
    /// The word after the opening fence.
    pub(crate) tag: String,
    /// The line of the page that the first of `lines` stands on, counted from 1.
    pub(crate) first: usize,
    pub(crate) lines: Vec<String>,
}

/// The fenced blocks, in order.
pub(crate) fn blocks() -> Vec<Block> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/language.md");
    let page = std::fs::read_to_string(path).expect("docs/language.md");
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (index, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(tag), None) => {
                open = Some(Block { tag: tag.to_owned(), first: index + 2, lines: Vec::new() });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => block.lines.push(line.to_owned()),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a fence is never closed");
    blocks
}

/// The table of the page.
pub(crate) fn table() -> Table {
    let blocks = blocks();
    let block = blocks.iter().find(|block| block.tag == "csv").expect("a table");
    let source = Source::stream("language.csv", Cursor::new(block.lines.join("\n").into_bytes()));
    read([source], &ReadOptions::default()).expect("the table of the page")
}
