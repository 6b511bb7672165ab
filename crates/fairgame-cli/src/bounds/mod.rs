//! `fairgame bounds`: what the paper's theorems promise, and what they ask for.

use clap::Args;
use comfy_table::CellAlignment;
use fairgame::algorithm::{Algorithm, Discrete, Scales};
use fairgame::bounds::{self, Smoothness};
use fairgame::model::ModelSpec;
use fairgame::model::Region;
use fairgame::train::{Data, Datasets, Recipe, Sheet};
use fairgame::{Error, ErrorKind, Result};
use serde_json::json;

use crate::output;
use crate::policy::{PolicyArguments, Typed};
use crate::read::FormatArguments;
use crate::verdict::Verdict;

pub(crate) const EXAMPLES: &str = "\
Examples:
  fairgame bounds --constraints 4 --rows 16000 --epsilon 0.05
  fairgame bounds @adult --policy @adult --radius 5 --convexity 0.01
  fairgame bounds --constraints 2 --rows 1000 --convexity 0.1 --subgradient 2 --proxy 3 --lipschitz 1

With DATA the constants are those of the problem on its rows, half of which are the constraint player's, and
ε and μ those of the policy; without, constants are 1 and ε is 0.05. What is given wins.";

#[derive(Args)]
#[command(mut_arg("epsilon", |epsilon| epsilon.help("ε: how far from an equilibrium the game may end").help_heading("Numbers")))]
#[command(mut_arg("convexity", |mu| mu.help("μ: how strongly convex the losses are; (X/2)·‖θ‖² makes them so").help_heading("Numbers")))]
pub(crate) struct Bounds {
    /// Rows to take the constants from; as for `train`
    #[arg(value_name = "DATA")]
    data: Vec<String>,

    #[command(flatten)]
    policy: Typed<PolicyArguments>,

    /// m: how many constraints there are
    #[arg(long = "constraints", id = "m", value_name = "N", help_heading = "Numbers")]
    constraints: Option<usize>,

    /// |S_val|: how many rows the constraint player has
    #[arg(long, value_name = "N", help_heading = "Numbers")]
    rows: Option<usize>,

    /// δ: how likely a bound may fail
    #[arg(long, value_name = "X", default_value_t = 0.05, help_heading = "Numbers")]
    delta: f64,

    /// B_Δ: the most that a constraint's loss can be, either way
    #[arg(long, value_name = "X", help_heading = "Numbers")]
    gradient: Option<f64>,

    /// B_ℓ: the width of the range of a single row's constraint loss
    #[arg(long, value_name = "X", help_heading = "Numbers")]
    loss: Option<f64>,

    /// B_ℓ̃: the most that a proxy loss can be, either way
    #[arg(long, value_name = "X", help_heading = "Numbers")]
    proxy: Option<f64>,

    /// B_Δ̌: the most that the model player's slope can be
    #[arg(long, value_name = "X", help_heading = "Numbers")]
    subgradient: Option<f64>,

    /// L: how fast a constraint's loss can change with the parameters (Theorem 2)
    #[arg(long, value_name = "X", help_heading = "Numbers")]
    lipschitz: Option<f64>,

    #[command(flatten)]
    format: Typed<FormatArguments>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Say nothing but the result
    #[arg(long, short)]
    quiet: bool,
}

/// A symbol, what it is, and its number if it has one.
struct Line {
    symbol: &'static str,
    key: &'static str,
    what: &'static str,
    value: Option<f64>,
    /// Whether something is counted.
    counts: bool,
}

fn line(symbol: &'static str, key: &'static str, what: &'static str, value: Option<f64>) -> Line {
    Line { symbol, key, what, value, counts: false }
}

/// A line of a whole number.
fn count(symbol: &'static str, key: &'static str, what: &'static str, value: Option<f64>) -> Line {
    Line { symbol, key, what, value, counts: true }
}

impl Line {
    fn json(&self) -> serde_json::Value {
        match self.value {
            // More than that is a whole number, but not one of JSON.
            Some(value) if self.counts && value < u64::MAX as f64 => json!(value as u64),
            value => json!(value),
        }
    }
}

pub(crate) fn run(arguments: &Bounds) -> Result<Verdict> {
    let known = arguments.known()?;
    let (given, promised) = (known.given(), known.promised());
    if arguments.json {
        let object = |lines: &[Line]| {
            lines
                .iter()
                .map(|line| (line.key.to_owned(), line.json()))
                .collect::<serde_json::Map<_, _>>()
        };
        output::print_json(&json!({
            "version": output::VERSION, "given": object(&given), "bounds": object(&promised),
        }))?;
        return Ok(Verdict::Met);
    }
    let mut text = String::new();
    for (title, lines) in [("Given", &given), ("It follows", &promised)] {
        let mut table = output::table(&[title, "", ""]);
        for line in lines {
            let value = line.value.map_or("–".to_owned(), output::short);
            table.add_row([line.symbol.to_owned(), value, line.what.to_owned()]);
        }
        if let Some(column) = table.column_mut(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        text += &format!("{table}\n\n");
    }
    text += match arguments.data.is_empty() {
        true => "– is not known: give the number.\n",
        false => {
            "– has no bound for this problem: give the number, or hold a linear model in a ball (--radius).\n"
        }
    };
    text += "A generalization bound above the range of the losses says nothing.\n";
    output::print(&text)?;
    Ok(Verdict::Met)
}

impl Bounds {
    /// What the theorems need: what is given, or else what data and a policy say.
    fn known(&self) -> Result<Known> {
        let found = if self.data.is_empty() { self.no_data()? } else { Some(self.found()?) };
        let needed = |given: Option<usize>, found: Option<usize>, flag: &str| {
            given.or(found).ok_or_else(|| {
                settings(format!("{flag} is not known"))
                    .help(format!("give {flag} N, or DATA with a policy"))
            })
        };
        let constraints =
            needed(self.constraints, found.as_ref().map(|f| f.constraints), "--constraints")?;
        let rows = needed(self.rows, found.as_ref().map(|f| f.rows), "--rows")?;
        if constraints == 0 || rows == 0 {
            return Err(settings("without constraints or rows nothing is promised")
                .help("give at least one of each"));
        }
        let scales = found.as_ref().map(|found| found.scales);
        let one = |given: Option<f64>, of: Option<Option<f64>>| given.or(of.unwrap_or(Some(1.0)));
        let gradient = one(self.gradient, scales.map(|s| Some(s.gradient)));
        let loss = one(self.loss, scales.map(|s| Some(s.loss)));
        let proxy = one(self.proxy, scales.map(|s| s.proxy));
        let subgradient = one(self.subgradient, scales.map(|s| s.subgradient));
        let policy = &self.policy.arguments;
        let epsilon = policy.number("epsilon")?.or(found.as_ref().and_then(|found| found.epsilon));
        let epsilon = epsilon.unwrap_or(Discrete::default().epsilon);
        let given = Region { radius: None, convexity: policy.number("convexity")?.unwrap_or(0.0) };
        given.check()?;
        let convexity = found.as_ref().map_or(given.convexity, |found| found.convexity);
        let known = Known {
            constraints,
            rows,
            epsilon,
            delta: self.delta,
            gradient,
            loss,
            proxy,
            subgradient,
            convexity: (convexity > 0.0).then_some(convexity),
            lipschitz: self.lipschitz,
        };
        known.check()?;
        Ok(known)
    }

    /// Refuses what is about data where there is none.
    fn no_data(&self) -> Result<Option<Found>> {
        let own = ["epsilon", "convexity"];
        let typed = self.policy.flags.iter().chain(&self.format.flags);
        match typed.into_iter().find(|flag| !own.contains(&flag.as_str())) {
            Some(flag) => Err(settings(format!("--{flag} says nothing without DATA"))
                .help("give DATA, or leave it out and give the constants themselves")),
            None => Ok(None),
        }
    }

    /// The constants of a problem on data.
    fn found(&self) -> Result<Found> {
        let mut spec = self.policy.arguments.layered(&["epsilon"])?;
        let epsilon = match spec.algorithm {
            Algorithm::Discrete(discrete) => Some(discrete.epsilon),
            Algorithm::Continuous(continuous) => Some(continuous.epsilon),
            _ => None,
        };
        // Nothing else depends on the algorithm, and nothing is to be played.
        spec.algorithm = Algorithm::default();
        if let ModelSpec::Trees(_) | ModelSpec::Scores { .. } = spec.model {
            spec.model = ModelSpec::Linear;
        }
        let format = &self.format.arguments;
        let table = format.read(&self.data, format.options(&spec.missing))?;
        // The theorems are about two datasets, of which the constraint player has all of the second.
        spec.aside = 0.0;
        if let Datasets::Cross { .. } = spec.datasets {
            spec.datasets = Recipe::Paper.datasets();
        }
        let data = Data::from(Sheet::owned(table, self.data.join(", ")));
        let training = spec.plan(&data.shape())?.prepare(data)?;
        if !self.quiet {
            training.notices().iter().for_each(output::notice);
        }
        let setting = training.setting(0);
        Ok(Found {
            constraints: setting.val.losses().constraints(),
            rows: setting.val.rows(),
            scales: Scales::of(&setting)?,
            epsilon,
            convexity: spec.region.convexity,
        })
    }
}

/// The numbers that the theorems are about; those that are not known say nothing.
struct Known {
    constraints: usize,
    rows: usize,
    epsilon: f64,
    delta: f64,
    gradient: Option<f64>,
    loss: Option<f64>,
    proxy: Option<f64>,
    subgradient: Option<f64>,
    convexity: Option<f64>,
    lipschitz: Option<f64>,
}

impl Known {
    /// Refuses numbers that the theorems say nothing about.
    fn check(&self) -> Result<()> {
        if !(self.delta > 0.0 && self.delta < 1.0) {
            return Err(settings(format!("a delta of {} is no probability", self.delta))
                .help("give --delta a number between 0 and 1"));
        }
        for (flag, number) in [
            ("epsilon", Some(self.epsilon)),
            ("gradient", self.gradient),
            ("loss", self.loss),
            ("proxy", self.proxy),
            ("subgradient", self.subgradient),
            ("lipschitz", self.lipschitz),
        ] {
            if let Some(number) = number.filter(|number| !(*number > 0.0 && number.is_finite())) {
                return Err(settings(format!("the theorems say nothing where {flag} is {number}"))
                    .help(format!("give --{flag} a number above 0")));
            }
        }
        Ok(())
    }

    fn given(&self) -> Vec<Line> {
        vec![
            count("m", "constraints", "constraints", Some(self.constraints as f64)),
            count("|S_val|", "rows", "rows of the constraint player", Some(self.rows as f64)),
            line(
                "ε",
                "epsilon",
                "how far from an equilibrium the game may end",
                Some(self.epsilon),
            ),
            line("δ", "delta", "how likely a bound may fail", Some(self.delta)),
            line(
                "B_Δ",
                "gradient",
                "the most that a constraint's loss can be, either way",
                self.gradient,
            ),
            line("B_ℓ", "loss", "the width of the range of a single row's loss", self.loss),
            line("B_ℓ̃", "proxy", "the most that a proxy loss can be, either way", self.proxy),
            line(
                "B_Δ̌",
                "subgradient",
                "the most that the model player's slope can be",
                self.subgradient,
            ),
            line(
                "μ",
                "convexity",
                "strong convexity of the objective and the proxies",
                self.convexity,
            ),
            line("L", "lipschitz", "how fast constraint losses change with θ", self.lipschitz),
        ]
    }

    fn promised(&self) -> Vec<Line> {
        let &Known { constraints, rows, epsilon, delta, loss, proxy, convexity, .. } = self;
        let turns = self.gradient.map(|most| bounds::swap_regret_turns(constraints, epsilon, most));
        let step = self
            .gradient
            .zip(turns)
            .map(|(most, turns)| bounds::swap_regret_step(constraints, turns, most));
        let radius = proxy.map(|size| bounds::covering_radius(epsilon, size));
        let ln_size = radius.map(|radius| bounds::ln_covering_size(constraints, radius));
        let first = loss
            .zip(proxy)
            .map(|(range, size)| bounds::theorem_1(constraints, rows, delta, epsilon, range, size));
        let inner = self
            .subgradient
            .zip(convexity)
            .map(|(most, mu)| bounds::inner_turns(epsilon, most, mu));
        let second = loss.zip(proxy).zip(convexity.zip(self.lipschitz)).map(
            |((loss_range, proxy_size), (convexity, lipschitz))| {
                let smooth = Smoothness { convexity, lipschitz, loss_range, proxy_size };
                bounds::theorem_2(constraints, rows, delta, epsilon, smooth)
            },
        );
        vec![
            count("T", "turns", "turns (Theorems 1 and 2)", turns),
            line("η_λ", "step", "the constraint player's step (Theorems 1 and 2)", step),
            line("r", "radius", "the covering's radius (Theorem 1)", radius),
            line("ln |C_r|", "ln_covering", "the logarithm of its size, at most", ln_size),
            line("G̃_val (1)", "theorem_1", "how far val may be from the truth (Theorem 1)", first),
            count("T_θ", "inner_turns", "inner turns (Theorem 2)", inner),
            line("G̃_val (2)", "theorem_2", "how far val may be from the truth (Theorem 2)", second),
        ]
    }
}

fn settings(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Settings, message)
}

/// What data and a policy say.
struct Found {
    constraints: usize,
    rows: usize,
    scales: Scales,
    epsilon: Option<f64>,
    convexity: f64,
}
