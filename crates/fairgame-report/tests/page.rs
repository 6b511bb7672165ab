//! What is on the page, by its markup: figures with their tables, landmarks, escaping, and what is left
//! out where there is nothing to show.

mod fixtures;

use fairgame_report::*;

fn count(html: &str, part: &str) -> usize {
    html.matches(part).count()
}

/// Every start tag of the page has its end, in order. (The style and the script are cut out first.)
fn assert_balanced(html: &str) {
    let void = ["meta", "path", "rect", "circle"];
    let style = html.find("<style>").unwrap()..html.find("</style>").unwrap();
    let script = html.rfind("<script>").unwrap()..html.rfind("</script>").unwrap();
    let html = [&html[..style.start + 7], &html[style.end..script.start + 8], &html[script.end..]]
        .concat();
    let mut open = Vec::new();
    for tag in html.split('<').skip(2) {
        let inside = &tag[..tag.find('>').unwrap_or_else(|| panic!("unfinished <{tag}"))];
        let name = inside.split([' ', '/']).find(|s| !s.is_empty()).unwrap();
        if inside.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "at </{name}>");
        } else if !void.contains(&name) {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

fn everything() -> Vec<Report> {
    let mut all = fixtures::sparse();
    all.extend([fixtures::adult(), fixtures::two(), fixtures::many(200), fixtures::hostile()]);
    all
}

#[test]
fn every_page_is_well_formed_with_one_heading_and_unique_ids() {
    for report in everything() {
        let html = report.to_html();
        assert_balanced(&html);
        assert_eq!(count(&html, "<h1"), 1);
        for landmark in
            ["<header>", "<main id=\"main\"", "<footer>", "class=\"skip\" href=\"#main\""]
        {
            assert_eq!(count(&html, landmark), 1, "{landmark}");
        }
        let mut ids: Vec<&str> =
            html.split(" id=\"").skip(1).map(|rest| &rest[..rest.find('"').unwrap()]).collect();
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all, "an id occurs twice");
        for link in html.split("href=\"#").skip(1) {
            assert!(ids.contains(&&link[..link.find('"').unwrap()]), "a link leads nowhere");
        }
        assert_eq!(count(&html, "<table"), count(&html, "<caption>"));
        assert_eq!(count(&html, "style="), 0, "the policy would not let it");
        assert!(!html.contains("−0.0000") && !html.contains("-0.0000"));
        assert_eq!(html, report.to_html(), "the same report is the same page");
    }
}

#[test]
fn a_full_report_has_six_figures_and_their_tables() {
    let html = fixtures::adult().to_html();
    assert_eq!(count(&html, "role=\"img\""), 6);
    assert_eq!(count(&html, "</title><desc"), 6);
    for caption in [
        "The samples",
        "What training says of each constraint.",
        "Losses.",
        "Rates of constraint 4",
        "Rows of each group",
        "Models of the mixture",
        "Kept models",
    ] {
        assert_eq!(count(&html, &format!("<caption>{caption}")), 1, "{caption}");
    }
    assert!(html.contains("at 95 % confidence"));
    assert!(html.contains("<strong>violated</strong>"));
    assert_eq!(
        count(&html, "class=\"mk member\" d=") - 1,
        4,
        "four members, and one in the legend"
    );
    assert_eq!(count(&html, "class=\"mk mixture\" d=") - 1, 1);
    assert!(html.len() < 100_000, "{} bytes", html.len());
}

/// The words are in the page, so that nobody has to tell colours apart; a file that says nothing has no table.
#[test]
fn what_is_promised_stands_in_words() {
    let html = fixtures::adult().to_html();
    let start = html.find("<h2 id=\"m1-promise\">What is promised</h2>").unwrap();
    assert!(start < html.find("id=\"m1-con\"").unwrap());
    let table = &html[start..start + html[start..].find("</section>").unwrap()];
    let badge = |word: &str| format!("<td><span class=\"badge {word}\">{word}</span></td>");
    // Each word is also explained once.
    for (word, rows) in [("promised", 2), ("enforced", 1), ("violated", 1)] {
        assert_eq!(count(table, &badge(word)), rows, "{word}");
        assert_eq!(count(table, &format!("<dt><span class=\"badge {word}\">")), 1);
    }
    assert!(table.contains("raise the objective by 0.0021"));
    assert!(
        table.contains("<span class=\"v\">0.0040</span> <span class=\"iv\">of 0.0100 asked</span>")
    );
    assert!(table.contains("<span class=\"iv\">[−0.0160, 0.0080]</span>"));
    for word in ["met", "promised", "enforced", "violated"] {
        assert!(html.contains(&format!(".badge.{word}::before")), "{word} has a sign of its own");
    }

    let two = fixtures::two().to_html();
    assert_eq!(count(&two, "What is promised</h3>"), 1, "the second is of an earlier version");
    let many = fixtures::many(200).to_html();
    assert!(many.contains("Table of 200 constraints, violated first"));
    let part = &many[many.find("m1-promise").unwrap()..many.find("m1-con").unwrap()];
    let last = part.rfind(&badge("violated")).unwrap();
    assert!(last < part.find(&badge("enforced")).unwrap());
}

#[test]
fn warnings_come_before_all_results() {
    let html = fixtures::adult().to_html();
    assert!(html.find("has 34 rows in val").unwrap() < html.find("<article").unwrap());
    assert!(!fixtures::many(3).to_html().contains("<section class=\"warnings\""));
}

#[test]
fn texts_of_users_are_never_markup() {
    let html = fixtures::hostile().to_html();
    assert_eq!(count(&html, "<script"), 1, "our own");
    assert_eq!(count(&html, "<img"), 0);
    assert!(html.contains("&#60;script&#62;alert(1)"));
    assert!(html.contains("&#38;amp; {{ x }}"), "an entity is a text, and so is a template");
    assert_eq!(
        count(&html, "<bdi>&#60;/title&#62;"),
        count(&html, "<bdi>&#60;/title&#62;&#60;script")
    );
}

#[test]
fn several_models_are_compared_first() {
    let html = fixtures::two().to_html();
    let comparison = html.find("id=\"comparison\"").unwrap();
    assert!(comparison < html.find("<article id=\"m1\"").unwrap());
    assert!(html.contains("<article id=\"m2\""));
    assert!(html.contains("1 of 4 on test"));
    assert!(html.contains("0 of 4 on test"));
    assert!(!fixtures::adult().to_html().contains("id=\"comparison\""));
}

#[test]
fn absent_parts_leave_no_trace() {
    let html = Report { models: vec![Model::default()], ..Report::default() }.to_html();
    for absent in ["<figure", "<table", "<section", "<nav", "confidence"] {
        assert_eq!(count(html.split("</style>").nth(1).unwrap(), absent), 0, "{absent}");
    }
    assert!(html.contains("<h1>fairgame report</h1>"));
    assert!(html.contains("undecided"));

    let mut report = fixtures::adult();
    for constraint in &mut report.models[0].constraints {
        constraint.on.test = None;
        constraint.rates.clear();
    }
    report.models[0].objective = None;
    let html = report.to_html();
    assert!(!html.contains(
        "<th scope=\"col\" class=\"num\">test</th></tr></thead>\n<tbody><tr><td class=\"num\">1"
    ));
    assert!(html.contains("worst loss on val"));
}

#[test]
fn a_thousand_constraints_draw_the_worst_and_list_all() {
    let html = fixtures::many(1000).to_html();
    assert_balanced(&html);
    assert!(html.contains("The 200 worst of 1,000 constraints on test"));
    assert_eq!(
        count(&html, "<g class=\"row\""),
        407,
        "200 constraints, 200 groups, and the first page"
    );
    assert_eq!(count(&html, "<caption>Rates of constraint "), 1000);
    assert!(html.contains("Table of 1,000 constraints, worst on test first"));
    assert!(html.contains("Not drawn: the 955 multipliers"));
    assert!(html.len() < 4_000_000, "{} bytes", html.len());
}

#[test]
fn figures_hold_only_finite_numbers() {
    for report in everything() {
        let html = report.to_html();
        for svg in html.split("<svg").skip(1) {
            let svg = &svg[..svg.find("</svg>").unwrap()];
            for attribute in
                [" d=\"", " x=\"", " y=\"", " cx=\"", " cy=\"", " height=\"", " width=\""]
            {
                for value in svg.split(attribute).skip(1) {
                    let value = &value[..value.find('"').unwrap()];
                    assert!(!value.contains("NaN") && !value.contains("inf"), "{attribute}{value}");
                }
            }
        }
    }
}

#[test]
fn undecided_and_unmeasured_are_told_apart() {
    let on = On { val: Some(Measured::exactly(f64::NAN)), ..On::default() };
    let constraints = vec![
        Constraint { text: "nan".into(), on, rates: vec![] },
        Constraint { text: "absent".into(), ..Constraint::default() },
    ];
    let html =
        Report { models: vec![Model { constraints, ..Model::default() }], ..Report::default() }
            .to_html();
    assert!(
        html.contains(
            "<span class=\"v\">NaN</span> <span class=\"badge undecided\">undecided</span>"
        )
    );
    assert_eq!(count(&html, "<td class=\"num none\">–</td>"), 1);
}

/// Who must sign reads first what was asked, who is affected, what it costs and what was not checked; how it was trained comes
/// last, and is folded.
#[test]
fn the_first_page_is_for_those_who_sign() {
    let html = fixtures::adult().to_html();
    let order = [
        "What was asked</h2>",
        "Who is affected</h2>",
        "What the policy costs</h2>",
        "What was not checked</h2>",
        "What is promised</h2>",
        "Objective and constraints</h2>",
        "Data checks and features</h2>",
        "What other bounds would cost</h2>",
        "Decisions by label, in each group</h2>",
        "How it was trained</h2>",
        "<details class=\"inside\">",
        "Models and their mixture</h3>",
    ];
    let places: Vec<usize> =
        order.iter().map(|part| html.find(part).unwrap_or_else(|| panic!("{part}"))).collect();
    assert!(places.is_sorted(), "{places:?}");
    for part in [
        "the true positive rate where sex is &#34;Female&#34; is at least 0.95 times the true positive rate of everyone",
        "8.3 % of the rows are decided by a draw",
        "The price is +0.0072",
        "<th scope=\"row\">all rows decided negative</th><td>0.2362</td><td>4</td>",
        "infeasible",
        "fnlwgt &#60;b&#62;",
    ] {
        assert!(html.contains(part), "{part}");
    }
}

/// Names and values that would turn text around or drive a terminal are shown as escapes, wherever they stand.
#[test]
fn nothing_hidden_is_on_the_page() {
    let strange = "a\u{202e}b\u{1b}[31m\u{200b}";
    let mut report = fixtures::two();
    report.title = strange.to_owned();
    report.warnings.push(strange.to_owned());
    for model in &mut report.models {
        model.name = strange.to_owned();
        model.settings = serde_json::json!({ "label": strange });
        model.constraints.iter_mut().for_each(|one| one.text = strange.to_owned());
    }
    let page = report.to_html();
    assert!(page.contains(r"a\u{202e}b\u{1b}[31m\u{200b}"));
    assert!(!page.contains(['\u{202e}', '\u{1b}', '\u{200b}']));
}
