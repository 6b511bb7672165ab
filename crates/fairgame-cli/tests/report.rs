//! What the page says of a model: other ways to decide the same rows, and what was not checked.

mod common;

use common::Folder;
use common::applicants::{applicants, folder};

fn page(folder: &Folder, constraint: &str, more: &[&str]) -> String {
    let train = ["train", "people.csv", "--label", "hired == \"yes\"", "--ignore", "id"];
    let rule = ["--constraint", constraint, "--report", "r.html"];
    let run = folder.fairgame(&[&train[..], &rule, more].concat());
    assert!(matches!(run.code, Some(0 | 1)), "{run:?}");
    String::from_utf8(folder.bytes("r.html")).unwrap()
}

/// The cells of the line of a table that begins with a text.
fn cells(page: &str, first: &str) -> Vec<String> {
    let (_, rest) = page.split_once(&format!("<th scope=\"row\">{first}</th>")).expect(first);
    let (line, _) = rest.split_once("</tr>").unwrap();
    let cells = line.split("<td>").skip(1);
    cells.map(|cell| cell.trim_end_matches("</td>").to_owned()).collect()
}

/// All rows decided alike stand beside the price, on the same rows.
#[test]
fn other_ways_to_decide() {
    let folder = folder();
    // Of 1,500 new applicants, so many are hired.
    let new = applicants(1500, 2);
    let hired = new.lines().filter(|line| line.ends_with(",yes")).count() as f64 / 1500.0;
    let page = page(&folder, "recall() >= 0.7", &["--test", "new.csv"]);
    let negative = cells(&page, "all rows decided negative");
    let positive = cells(&page, "all rows decided positive");
    let near = |text: &str, wanted: f64| {
        let found: f64 = text.replace('−', "-").parse().unwrap();
        assert!((found - wanted).abs() < 5e-4, "{text} {wanted}");
    };
    near(&negative[0], hired);
    near(&positive[0], 1.0 - hired);
    assert_eq!((&negative[1][..], &positive[1][..]), ("1", "0"));
    near(&negative[2], 0.7);
    near(&positive[2], -0.3);
    assert_eq!(cells(&page, "the same kind of model without constraints").len(), 3);
    assert_eq!(cells(&page, "this classifier")[1], "0");
    assert!(page.contains("Training minimises <bdi>the error rate of everyone</bdi>, subject to:"));
}

/// Where a constraint names a combination of groups, not all combinations are unchecked.
#[test]
fn combinations_that_a_constraint_names() {
    let folder = folder();
    let found = page(&folder, "positive_rate(each group) >= 0.1", &["--one-dataset"]);
    assert!(found.contains("Groups that no constraint names, and combinations of groups."));
    let found = page(&folder, "positive_rate(each [group, city]) >= 0.1", &["--one-dataset"]);
    assert!(found.contains("Groups, and combinations of groups, that no constraint names."));
}
