//! Results as pages: tables beside the paper's, figures, theory, and how to read them.

use std::path::Path;

use fairgame::player::Start;
use fairgame::{Error, ErrorKind, Result, table};
use fairgame_report::{Chart, ChartCurve, Spot};

use crate::document::{Document, Part, Picture};
use crate::experiment::{Experiment, Settings, Way};
use crate::run::UNITS;
use crate::summary::{
    Cell, Claim, Curve, DELTA, EPSILON, Figure, Mean, Nearness, Promise, Results, Row, Table,
    model, three,
};

impl Results {
    /// Writes `index.html`, `README.md`, `results.json` and the figures to a folder; `facts` are further lines
    /// on how the results were made, such as the command and the time it took.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self, folder: &Path, facts: &[String]) -> Result<()> {
        std::fs::create_dir_all(folder).map_err(|error| {
            Error::new(ErrorKind::Io, format!("the folder cannot be made: {error}"))
                .at(folder.display())
        })?;
        let document = self.document(facts);
        for picture in document.pictures() {
            table::write_text(&folder.join(&picture.file), &picture.svg)?;
        }
        table::write_text(&folder.join("index.html"), &document.html())?;
        table::write_text(&folder.join("README.md"), &document.markdown())?;
        let mut json = serde_json::to_string_pretty(self).map_err(|error| {
            Error::new(ErrorKind::Value, format!("no JSON can be made: {error}"))
        })?;
        json.push('\n');
        table::write_text(&folder.join("results.json"), &json)
    }

    fn document(&self, facts: &[String]) -> Document {
        let mut parts = vec![Part::Text(
            "The experiments of Cotter et al. 2018, “Training Well-Generalizing Classifiers for Fairness Metrics \
             and Other Data-Dependent Constraints”, run again by fairgame, with the paper's numbers beside ours. \
             One dataset: both players have all training rows. Two: each has half of them. A violation is the \
             largest loss of a constraint: at most 0 where all are met."
                .to_owned(),
        )];
        if !facts.is_empty() {
            parts.push(Part::List(facts.to_vec()));
        }
        if let Some(turns) = self.turns {
            parts.push(Part::Text(format!(
                "Trainings were cut short, at {turns} turns: a quick look, and not the paper's numbers."
            )));
        }
        parts.push(Part::Heading("In short".to_owned()));
        parts.push(Part::List(self.in_short()));
        for table in &self.tables {
            parts.extend(of_table(table));
        }
        if !self.figures.is_empty() {
            parts.extend(of_figures(&self.figures));
        }
        if !self.promises.is_empty() {
            parts.extend(theory(&self.promises));
        }
        parts.extend(of_claims(&self.claims));
        parts.push(Part::Heading("How it was done".to_owned()));
        parts.push(Part::List(self.how()));
        Document { title: "The paper, reproduced".to_owned(), parts }
    }

    fn in_short(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for table in &self.tables {
            let all: Vec<Cell> = table.rows.iter().flat_map(|row| row.cells.list()).collect();
            let count = |nearness| all.iter().filter(|cell| cell.nearness == nearness).count();
            let title = table.experiment.title();
            lines.push(match table.experiment {
                Experiment::Entities => {
                    format!("{title}: a stand-in for data that are proprietary, compared in kind only.")
                }
                _ => format!(
                    "{title}: of {} means, before rounding, {} are within .006 of the paper's numbers, {} within .012, {} \
                     farther.",
                    all.len(),
                    count(Nearness::Agrees),
                    count(Nearness::Near),
                    count(Nearness::Apart)
                ),
            });
        }
        let count = |simulated: bool, holds: Option<Option<bool>>| {
            let own = self.claims.iter().filter(|claim| {
                claim.of_paper && (claim.experiment == Experiment::Simulated) == simulated
            });
            own.filter(|claim| holds.is_none_or(|holds| claim.holds == holds)).count()
        };
        let told = |data: &str, simulated: bool| {
            format!(
                "Of {} claims of the paper on {data} data, {} hold in our numbers by two standard errors, {} do not, and {} \
                 cannot be told.",
                count(simulated, None),
                count(simulated, Some(Some(true))),
                count(simulated, Some(Some(false))),
                count(simulated, Some(None))
            )
        };
        if count(false, None) > 0 {
            lines.push(told("real", false));
        }
        if count(true, None) > 0 {
            let runs = self.figures.first().map_or(0, |figure| figure.runs);
            lines.push(format!(
                "{} Each σ is a claim, since the paper says “consistently”. There are {runs} runs of each. With 10 runs, two \
                 standard errors cover about 92 %, and with 100 runs 95 %: of claims that are neither true nor false, about \
                 one in 12 is then told as one or the other by chance.",
                told("simulated", true)
            ));
        }
        lines
    }

    fn how(&self) -> Vec<String> {
        let mut lines = vec![
            "Both players take steps of Adam on minibatches of 100 rows of their own; \
             100 evenly spaced models are kept, and shrinking mixes at most one more of them than there are \
             constraints. The objective and the proxies are hinges; constraints are enforced as they are. \
             Unconstrained training takes its last model. What the paper does not say (batches, numbers of turns) was \
             found to fit its table. The floor of .001/(m + 1) under the matrix of Algorithm 3, and its start with all \
             other weight on the objective, are those of the authors' library, TensorFlow Constrained Optimization."
                .to_owned(),
            "Encoders, and the medians that groups are cut at, are taken on all training rows, also where these are then \
             halved. Simulated data and the stand-in are drawn anew in each run; the paper splits one dataset."
                .to_owned(),
            "Training numbers of one dataset are of all training rows; of two, errors are of the model's half, \
             violations of the other, as in the paper."
                .to_owned(),
            format!(
                "Each run has a seed of its own, {} and on, which draws the halves, the start, the minibatches, and \
                 the test rows where there are no official ones. Numbers are means over runs with their standard \
                 errors, and do not depend on the number of threads. Runs share the rows of one dataset, of Adult even \
                 the test rows: a standard error says how sure the mean over splits is, not that in the population.",
                self.seed
            ),
        ];
        for table in &self.tables {
            let settings = &table.settings;
            let model = match &settings.model {
                fairgame::model::ModelSpec::Auto | fairgame::model::ModelSpec::Linear => {
                    "linear".to_owned()
                }
                fairgame::model::ModelSpec::Mlp { units } => format!("{units} hidden units"),
                fairgame::model::ModelSpec::Lattice(_) => {
                    "an ensemble of calibrated lattices".to_owned()
                }
                fairgame::model::ModelSpec::Trees(_) => "boosted trees".to_owned(),
                fairgame::model::ModelSpec::Scores { .. } => "scores of another model".to_owned(),
            };
            lines.push(format!(
                "{}: {model}; {} turns, {} unconstrained, with a step of {}; Algorithm 3 begins with {}; {} runs.",
                table.experiment.title(),
                settings.turns,
                settings.unconstrained_turns,
                settings.step,
                match settings.start {
                    Start::Uniform => "a uniform matrix, as in its pseudocode",
                    Start::Objective => "all weight on the objective, as in the authors' library",
                },
                table.runs
            ));
        }
        if let Some(figure) = self.figures.first() {
            let turns = |units: usize| {
                let settings = Settings::of(Experiment::Simulated).with_units(units);
                let turns = settings.shortened(self.turns).turns;
                format!("{turns} of {}", model(units))
            };
            lines.push(format!(
                "Simulated: 1,000 points in random thirds, two Gaussians of unit covariance 2.5 apart, a distance \
                 that the paper does not give; a step of {}; turns: {}; {} runs.",
                Settings::of(Experiment::Simulated).step,
                UNITS.map(turns).join(", "),
                figure.runs
            ));
        }
        lines
    }
}

const COLUMNS: [&str; 4] = ["train error", "train violation", "test error", "test violation"];

fn of_table(table: &Table) -> Vec<Part> {
    let experiment = table.experiment;
    let header = COLUMNS.iter().flat_map(|column| [(*column).to_owned(), "paper".to_owned()]);
    let row = |row: &Row| {
        let cells = row.cells.list().into_iter().flat_map(|cell| {
            let mark = if experiment == Experiment::Entities { "" } else { cell.nearness.mark() };
            let space = if mark.is_empty() { "" } else { " " };
            [format!("{}{space}{mark}", cell.ours), three(cell.paper)]
        });
        std::iter::once(row.way.title().to_owned()).chain(cells).collect()
    };
    let mut parts = vec![
        Part::Heading(experiment.title().to_owned()),
        Part::Table {
            caption: match experiment {
                Experiment::Entities => {
                    format!(
                        "Means of {} runs with standard errors; the paper's are of other data.",
                        table.runs
                    )
                }
                _ => format!(
                    "Means of {} runs with standard errors; ≈ is off by more than .006, ≠ by more than .012, before \
                     rounding.",
                    table.runs
                ),
            },
            header: std::iter::once(String::new()).chain(header).collect(),
            rows: table.rows.iter().map(row).collect(),
        },
    ];
    parts.extend(reading(experiment).iter().map(|text| Part::Text((*text).to_owned())));
    if experiment != Experiment::Entities {
        let apart: Vec<String> = table.rows.iter().flat_map(outside).collect();
        if !apart.is_empty() {
            parts.push(Part::Text(
                "Off by more than .012, for reasons that we know no more of than is said above:"
                    .to_owned(),
            ));
            parts.push(Part::List(apart));
        }
    }
    parts
}

/// The cells of a row that are far from the paper's.
fn outside(row: &Row) -> Vec<String> {
    let cells = row.cells.list().into_iter().zip(COLUMNS);
    let apart = cells.filter(|(cell, _)| cell.nearness == Nearness::Apart);
    apart
        .map(|(cell, column)| {
            format!("{}, {column}: {} against {}.", row.way.title(), cell.ours, three(cell.paper))
        })
        .collect()
}

/// What is to be known when reading a table.
fn reading(experiment: Experiment) -> &'static [&'static str] {
    match experiment {
        Experiment::Simulated => &[],
        Experiment::Communities => &[
            "The paper's negative violations are impossible as it words them: the low and the high half of one \
             attribute are everyone together, so one of them has at least the overall false positive rate, and the \
             largest of the eight losses is never below 0. A classifier that is perfectly fair in the population shows \
             about .02 on 500 test rows by chance alone.",
            "The file that we ship lacks 23 of the paper's 140 features, columns on police that are mostly missing, \
             and one of UCI's 1,994 rows (docs/datasets.md). The paper does not say on which rows groups were cut, and \
             does not publish its split. We draw test rows anew in each run.",
        ],
        Experiment::Entities => &[
            "The paper's data are proprietary. These are generated listings of invented businesses in 16 countries, \
             chains and others, with 37 similarities of real string metrics (docs/entities.md), as many pairs as in \
             the paper, and its 19 constraints. Only the kind of what happens can be compared: how far unconstrained \
             training is from the recall asked for, what enforcing it costs, and how it carries over. One missed pair \
             of the smallest country is .06 on test rows.",
        ],
        Experiment::Adult => &[
            "Rows are the paper's, 32,561 for training and the official 16,281 for testing, and so is the number of \
             binary features, 122; where numbers are cut into buckets it does not say.",
            "All runs have the same test rows. Which way has the smaller violation here is a fact about these rows: splits \
             of which the test rows are drawn anew are in `fairgame reproduce beyond`.",
        ],
        Experiment::Compas => &[
            "Rows are the paper's, the 6,172 that ProPublica's filter leaves, and so are the numbers of training rows, \
             test rows and features. Which features these are is our guess (docs/datasets.md), and the paper does not \
             publish its split. We draw test rows anew in each run, which moves violations; the standard errors say by how \
             much the means.",
        ],
    }
}

fn of_figures(figures: &[Figure]) -> Vec<Part> {
    let runs = figures.first().map_or(0, |figure| figure.runs);
    let mut parts = vec![
        Part::Heading("Simulated data".to_owned()),
        Part::Text(format!(
            "Recall is to be at least 97 %, by Algorithm 3. The smaller σ, the more a model can overfit. Blue: one \
             dataset; red: two. Dashed: where it was trained and enforced; solid: test rows. Means of {runs} runs \
             with standard errors. Networks have half the turns of the linear model."
        )),
    ];
    parts.extend(figures.iter().map(charts));
    parts.push(numbers(figures));
    parts
}

/// The error and the violation of one model, by σ.
fn charts(figure: &Figure) -> Part {
    let name = match figure.units {
        0 => "Linear".to_owned(),
        units => format!("{units} hidden units"),
    };
    let file = |kind: &str| match figure.units {
        0 => format!("simulated-linear-{kind}.svg"),
        units => format!("simulated-{units}-{kind}.svg"),
    };
    let chart = |kind: &str, pick: fn(&Curve) -> &[Mean], rule| Chart {
        title: format!("{name}: {kind}"),
        x: "σ".to_owned(),
        y: kind.to_owned(),
        curves: figure.curves.iter().map(|one| drawn(one, &figure.sigmas, pick(one))).collect(),
        rule,
    };
    let picture = |file: String, chart: Chart| Picture {
        file,
        title: chart.title.clone(),
        svg: chart.to_svg(),
    };
    Part::Figures(vec![
        picture(file("error"), chart("0/1 error", |one| &one.error, None)),
        picture(file("violation"), chart("constraint violation", |one| &one.violation, Some(0.0))),
    ])
}

/// One way on the rows of train or test, as a curve over σ.
fn drawn(one: &Curve, sigmas: &[f64], means: &[Mean]) -> ChartCurve {
    let two = one.way == Way::PracticalTwo;
    let points = sigmas.iter().zip(means);
    ChartCurve {
        name: format!(
            "{}, {}",
            if two { "two datasets" } else { "one dataset" },
            if one.test { "test" } else { "train" }
        ),
        colour: usize::from(two),
        dashed: !one.test,
        points: points.map(|(&x, mean)| Spot { x, y: mean.mean, error: mean.error }).collect(),
    }
}

/// What the figures show, as a table.
fn numbers(figures: &[Figure]) -> Part {
    let rows = figures.iter().flat_map(|figure| {
        figure.sigmas.iter().enumerate().map(move |(at, sigma)| {
            let [one_train, one_test, two_train, two_test] =
                [0, 1, 2, 3].map(|curve| figure.curves[curve].violation[at].to_string());
            let [one, two] = [1, 3].map(|curve| figure.curves[curve].error[at].to_string());
            vec![
                format!("{}, σ = {sigma}", model(figure.units)),
                one_train,
                one_test,
                two_train,
                two_test,
                one,
                two,
            ]
        })
    });
    let columns = [
        "",
        "one: train violation",
        "one: test violation",
        "two: train violation",
        "two: test violation",
        "one: test error",
        "two: test error",
    ];
    Part::Table {
        caption: "The numbers of the figures.".to_owned(),
        header: columns.map(str::to_owned).to_vec(),
        rows: rows.collect(),
    }
}

fn theory(promises: &[Promise]) -> Vec<Part> {
    let row = |promise: &Promise| {
        let known = &promise.constants;
        vec![
            promise.experiment.title().to_owned(),
            known.constraints.to_string(),
            known.rows.to_string(),
            format!("{:.2}", known.loss),
            format!("{:.3}", promise.theorem_1),
            format!("{:.1}", promise.theorem_2),
            promise.one.to_string(),
            promise.two.to_string(),
            three(promise.two_most),
        ]
    };
    let columns = [
        "",
        "m",
        "validation rows",
        "B_ℓ",
        "Theorem 1",
        "Theorem 2",
        "gap, one dataset",
        "gap, two",
        "largest, two",
    ];
    let notes = vec![
        "B_ℓ is the width of the range of a single row's loss: a rate over a small group moves by much for one of \
         its rows, and no bound over all rows knows better. A bound above the width of a loss's own range says \
         nothing."
            .to_owned(),
        "Theorem 1 is stated for ramps in place of hinges, which bounds B_ℓ̃ for any model. Theorem 2 needs convex \
         proxies and Lipschitz constraints: it is stated for a linear model in a ball of radius 1 with μ = 1, hinges \
         as proxies and ramps as constraints, since decisions are not Lipschitz. L says how fast the loss of a single \
         validation row changes, as B_ℓ and as in `fairgame bounds`."
            .to_owned(),
        "Simulated: a linear model at σ = 0.5.".to_owned(),
    ];
    vec![
        Part::Heading("The theorems, and what happened".to_owned()),
        Part::Text(format!(
            "Theorems 1 and 2 bound how far a constraint's loss in the population may be from its loss on the \
             validation rows, for Algorithms 1 and 2, at δ = {DELTA} and ε = {EPSILON}. Beside them: the largest \
             difference, over the constraints, between test rows and the rows they were enforced on, for Algorithm 3, \
             which the theorems do not cover. The difference has the noise of both samples in it."
        )),
        Part::Table {
            caption: "Bounds, and gaps as means over runs with standard errors.".to_owned(),
            header: columns.map(str::to_owned).to_vec(),
            rows: promises.iter().map(row).collect(),
        },
        Part::List(notes),
    ]
}

/// The paper's claims, and what can be said of the same kind on the stand-in.
fn of_claims(claims: &[Claim]) -> Vec<Part> {
    let mut parts = Vec::new();
    let kinds = [
        (true, "The paper's claims"),
        (false, "The same of the stand-in, of which the paper claims no advantage"),
    ];
    for (of_paper, heading) in kinds {
        let row = |claim: &Claim| {
            vec![claim.text.clone(), claim.difference.to_string(), claim.verdict().to_owned()]
        };
        let rows: Vec<_> =
            claims.iter().filter(|claim| claim.of_paper == of_paper).map(row).collect();
        if !rows.is_empty() {
            parts.push(Part::Heading(heading.to_owned()));
            parts.push(Part::Table {
                caption: "It holds if the difference that it speaks of, paired by run, is above 0 by two standard \
                          errors."
                    .to_owned(),
                header: ["", "difference", "holds"].map(str::to_owned).to_vec(),
                rows,
            });
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::Four;

    /// What is said in short is counted: means by how near they are, and claims on real and on simulated data apart.
    #[test]
    fn in_short_counts() {
        let cell = |ours: f64| Cell::new(Mean { mean: ours, error: Some(0.001) }, 0.1);
        let row = |way: Way, last: f64| {
            let [train_error, train_worst, test_error] = [0.1, 0.105, 0.111].map(cell);
            Row {
                way,
                cells: Four { train_error, train_worst, test_error, test_worst: cell(last) },
            }
        };
        let table = |experiment: Experiment| Table {
            experiment,
            settings: Settings::of(experiment),
            runs: 7,
            rows: vec![row(Way::Unconstrained, 0.2), row(Way::PracticalOne, 0.09)],
        };
        let claim = |experiment: Experiment, holds: Option<bool>| Claim {
            text: String::new(),
            experiment,
            of_paper: experiment != Experiment::Entities,
            difference: Mean { mean: 0.0, error: None },
            holds,
        };
        let (adult, simulated) = (Experiment::Adult, Experiment::Simulated);
        let mut results = Results {
            version: 1,
            seed: 1,
            runs: 7,
            turns: None,
            tables: vec![table(adult), table(Experiment::Entities)],
            figures: vec![Figure { units: 0, sigmas: vec![0.1], runs: 10, curves: Vec::new() }],
            promises: Vec::new(),
            claims: vec![
                claim(adult, Some(true)),
                claim(adult, None),
                claim(Experiment::Compas, Some(true)),
                claim(Experiment::Entities, Some(false)),
                claim(simulated, Some(false)),
                claim(simulated, Some(true)),
                claim(simulated, None),
                claim(simulated, None),
            ],
        };
        let lines = results.in_short();
        assert_eq!(lines.len(), 4, "{lines:?}");
        // Of each row .1 and .105 agree and .111 is near; of the last column .09 is near and .2 is not.
        assert!(
            lines[0].contains("of 8 means") && lines[0].contains("4 are within .006"),
            "{lines:?}"
        );
        assert!(lines[0].contains("3 within .012, 1 farther"), "{lines:?}");
        assert!(lines[1].contains("compared in kind only"), "{lines:?}");
        let real = "Of 3 claims of the paper on real data, 2 hold in our numbers by two standard errors, 0 do not, and 1";
        assert!(lines[2].starts_with(real), "{lines:?}");
        let simulated = "Of 4 claims of the paper on simulated data, 1 hold in our numbers by two standard errors, 1 do not, \
                         and 2";
        assert!(lines[3].starts_with(simulated), "{lines:?}");
        assert!(lines[3].contains("10 runs of each"), "{lines:?}");
        results.claims.clear();
        assert_eq!(results.in_short().len(), 2);
    }
}
