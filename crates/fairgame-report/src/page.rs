//! The page as a whole: its policy, its head, the comparison of models, and their sections.

use askama::Template;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

use crate::format;
use crate::section::{Cell, Section, badge};
use crate::words::role_name;
use crate::{Report, Verdict};

/// One line of the comparison of models.
pub(crate) struct Compared {
    id: String,
    name: String,
    verdict: Badge,
    objective: String,
    worst: String,
    violated: String,
    members: String,
}

/// One constraint, on every model's main sample.
pub(crate) struct Across {
    text: String,
    cells: Vec<Option<Cell>>,
}

/// A verdict as glyph, name and class.
pub(crate) struct Badge {
    pub(crate) class: &'static str,
    pub(crate) glyph: &'static str,
    pub(crate) name: &'static str,
}

/// The template of the page.
#[derive(Template)]
#[template(path = "page.html")]
pub(crate) struct Page<'a> {
    policy: String,
    style: String,
    script: String,
    title: &'a str,
    warnings: &'a [String],
    sections: Vec<Section<'a>>,
    compared: Vec<Compared>,
    across: Vec<Across>,
}

impl<'a> Page<'a> {
    pub(crate) fn new(report: &'a Report) -> Page<'a> {
        // A checkout may have changed line ends, and a browser changes them back before it hashes.
        let style = include_str!("../assets/page.css").replace("\r\n", "\n");
        let script = include_str!("../assets/page.js").replace("\r\n", "\n");
        let several = report.models.len() > 1;
        let section = |(i, model)| Section::new(model, i + 1, several);
        let sections: Vec<_> = report.models.iter().enumerate().map(section).collect();
        Page {
            policy: format!(
                "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
                hash(&style),
                hash(&script)
            ),
            style,
            script,
            title: if report.title.trim().is_empty() { "fairgame report" } else { &report.title },
            warnings: &report.warnings,
            compared: if several { sections.iter().map(compare).collect() } else { Vec::new() },
            across: if several { across(&sections) } else { Vec::new() },
            sections,
        }
    }
}

/// A text's hash, as a Content-Security-Policy has it.
fn hash(text: &str) -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(text)))
}

fn compare(section: &Section) -> Compared {
    let model = section.model;
    let on = section.main;
    let measured = || model.constraints.iter().filter_map(|c| c.on.get(on));
    let violated = measured().filter(|m| m.verdict() == Verdict::Violated).count();
    let objective = model.objective.as_ref().and_then(|o| o.on.get(on));
    Compared {
        id: section.id.clone(),
        name: section.name.clone(),
        verdict: badge(model.verdict),
        objective: objective.map_or("–".into(), |m| format::number(m.value)),
        worst: section.worst.as_ref().map_or("–".into(), |w| w.value.clone()),
        violated: match measured().count() {
            0 => "–".into(),
            all => format!("{violated} of {} on {}", format::count(all as u64), role_name(on)),
        },
        members: match &model.iterates {
            Some(iterates) if !iterates.members.is_empty() => iterates.members.len().to_string(),
            _ => "–".into(),
        },
    }
}

/// Every constraint of any model, in the order of their first mention.
fn across(sections: &[Section]) -> Vec<Across> {
    let mut places = std::collections::HashMap::new();
    let mut rows: Vec<Across> = Vec::new();
    for (i, section) in sections.iter().enumerate() {
        for constraint in &section.model.constraints {
            let place = *places.entry(constraint.text.as_str()).or_insert_with(|| {
                let cells = sections.iter().map(|_| None).collect();
                rows.push(Across { text: constraint.text.clone(), cells });
                rows.len() - 1
            });
            rows[place].cells[i] = constraint.on.get(section.main).map(Cell::loss);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_as_the_policy_wants_them() {
        // The example of the standard's own text: alert('Hello, world.');
        assert_eq!(
            hash("alert('Hello, world.');"),
            "sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng="
        );
    }

    #[test]
    fn nothing_in_the_assets_closes_its_tag_or_asks_for_anything() {
        let page = Page::new(&Report::default()).to_string();
        for asset in [include_str!("../assets/page.css"), include_str!("../assets/page.js")] {
            assert!(page.contains(&asset.replace("\r\n", "\n")));
            for bad in ["</", "url(", "@import", "fetch(", "import(", "http"] {
                assert!(!asset.contains(bad), "{bad}");
            }
        }
    }
}
