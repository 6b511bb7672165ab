//! A document of a few kinds of parts, as Markdown and as one HTML page.

use askama::Template;

/// A part of a document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    /// A heading of a section.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// Short paragraphs in a list.
    List(Vec<String>),
    /// A table: its header, and its rows, of which the first cell names the row.
    Table {
        /// What it shows.
        caption: String,
        header: Vec<String>,
        rows: Vec<Vec<String>>,
    },
    /// Figures side by side.
    Figures(Vec<Picture>),
}

/// An SVG in a file of its own.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Picture {
    pub(crate) file: String,
    pub(crate) title: String,
    pub(crate) svg: String,
}

/// A title and its parts.
#[derive(Debug, Clone, PartialEq, Template)]
#[template(path = "document.html")]
pub(crate) struct Document {
    pub(crate) title: String,
    pub(crate) parts: Vec<Part>,
}

impl Document {
    /// The page, complete in itself.
    pub(crate) fn html(&self) -> String {
        // A template of ours, written to memory, has nothing to fail at.
        self.render().unwrap_or_default()
    }

    /// The same as Markdown, with figures in files beside it.
    pub(crate) fn markdown(&self) -> String {
        let mut text = format!("# {}\n", self.title);
        for part in &self.parts {
            text.push('\n');
            match part {
                Part::Heading(heading) => text += &format!("## {heading}\n"),
                Part::Text(paragraph) => text += &format!("{paragraph}\n"),
                Part::List(items) => items.iter().for_each(|item| text += &format!("- {item}\n")),
                Part::Table { caption, header, rows } => {
                    text += &format!("{caption}\n\n");
                    let line = |cells: &[String]| {
                        let cells: Vec<String> =
                            cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
                        format!("| {} |\n", cells.join(" | "))
                    };
                    text += &line(header);
                    text += &format!("|---|{}\n", "---:|".repeat(header.len().saturating_sub(1)));
                    rows.iter().for_each(|row| text += &line(row));
                }
                Part::Figures(pictures) => {
                    let picture = |one: &Picture| format!("![{}]({})", one.title, one.file);
                    let all: Vec<String> = pictures.iter().map(picture).collect();
                    text += &format!("{}\n", all.join(" "));
                }
            }
        }
        text
    }

    /// The figures, each to be a file.
    pub(crate) fn pictures(&self) -> impl Iterator<Item = &Picture> {
        self.parts.iter().flat_map(|part| match part {
            Part::Figures(pictures) => pictures.as_slice(),
            _ => &[],
        })
    }
}
