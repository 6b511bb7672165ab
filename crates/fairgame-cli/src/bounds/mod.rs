//! `fairgame bounds`: what the paper's theorems promise, and what they ask for.

mod known;

use clap::Args;
use comfy_table::CellAlignment;
use fairgame::algorithm::{Algorithm, Discrete, Scales};
use fairgame::bounds;
use fairgame::model::ModelSpec;
use fairgame::model::Region;
use fairgame::train::{Data, Datasets, Recipe, Sheet};
use fairgame::{Error, ErrorKind, Result};
use serde_json::json;

use crate::output;
use crate::policy::{PolicyArguments, Typed};
use crate::read::FormatArguments;
use crate::verdict::Verdict;
use known::{Kind, Known, Line};

pub(crate) const EXAMPLES: &str = "\
Examples:
  fairgame bounds --constraints 4 --rows 16000 --epsilon 0.05
  fairgame bounds @adult --policy @adult --radius 5 --convexity 0.01
  fairgame bounds --constraints 2 --rows 1000 --convexity 0.1 --subgradient 2 --proxy 3 --lipschitz 1
  fairgame bounds --constraints 1 --rows 100000 --epsilon 0.01 --g-train 0.01 --gamma 0.3

With DATA, the constants are computed from the problem on these rows, and ε and μ come from the policy. Half of
the rows count as validation rows. Without DATA, all constants are 1 and ε is 0.05. A number on the command line
overrides both.";

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

    /// δ: failure probability of one generalization bound; results that combine two may fail with 2δ
    #[arg(long, value_name = "X", default_value_t = 0.05, help_heading = "Numbers")]
    delta: f64,

    /// B_Δ: the most that a constraint's loss can be, either way
    #[arg(long, value_name = "X", help_heading = "Numbers")]
    gradient: Option<f64>,

    /// B_ℓ: the width of the range of a single row's constraint loss
    #[arg(long, value_name = "X", help_heading = "Numbers")]
    loss: Option<f64>,

    /// B_ℓ̃: the most that a proxy loss can be, either way, of a single row too
    #[arg(long, value_name = "X", help_heading = "Numbers")]
    proxy: Option<f64>,

    /// B_Δ̌: the most that the model player's slope can be
    #[arg(long, value_name = "X", help_heading = "Numbers")]
    subgradient: Option<f64>,

    /// L: how fast a single row's constraint loss can change with the parameters (Theorem 2). With DATA, it is that of the
    /// proxy losses, which the constraint player then sees
    #[arg(long, value_name = "X", help_heading = "Numbers")]
    lipschitz: Option<f64>,

    /// ρ: how far the oracle of Algorithm 1 is from the best
    #[arg(long, value_name = "X", default_value_t = 0.01, help_heading = "Numbers")]
    rho: f64,

    /// γ: the margin by which some model meets every proxy constraint
    #[arg(long, value_name = "X", help_heading = "Numbers")]
    gamma: Option<f64>,

    /// B_ℓ₀: the width of the range of the objective
    #[arg(long, value_name = "X", help_heading = "Numbers")]
    objective_range: Option<f64>,

    /// λ̄₁: the mean weight of the objective in a game that was played [default: the least that γ allows]
    #[arg(long, value_name = "X", help_heading = "Numbers")]
    objective_weight: Option<f64>,

    /// |S_train|: how many rows the model player has [default: the same as --rows]
    #[arg(long, value_name = "N", help_heading = "Numbers")]
    train_rows: Option<usize>,

    /// R_n: the Rademacher complexity of the objective and the proxies on the model player's rows
    #[arg(long, value_name = "X", help_heading = "Numbers")]
    rademacher: Option<f64>,

    /// G̃_train: how far train may be from the truth, for every model [default: by R_n]
    #[arg(long, value_name = "X", help_heading = "Numbers")]
    g_train: Option<f64>,

    /// R: the bound on the multipliers of the one-dataset baseline, ‖λ‖₁ ≤ R
    #[arg(long, value_name = "X", default_value_t = 10.0, help_heading = "Numbers")]
    multiplier_bound: f64,

    /// ‖λ̄‖₁: the mean multipliers of a baseline that was played [default: R, or the smaller bound that γ implies]
    #[arg(long, value_name = "X", help_heading = "Numbers")]
    multiplier_norm: Option<f64>,

    #[command(flatten)]
    format: Typed<FormatArguments>,

    /// Print JSON
    #[arg(long)]
    json: bool,

    /// Say nothing but the result
    #[arg(long, short)]
    quiet: bool,
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
            let value = match (line.kind, line.value) {
                (_, None) => "–".to_owned(),
                (Kind::Holds, Some(holds)) => if holds > 0.0 { "yes" } else { "no" }.to_owned(),
                (_, Some(value)) => output::short(value),
            };
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
    text += "A generalization bound above the range of the losses says nothing. Each generalization bound fails with \
             probability δ at most; what is made of both, with 2δ. Violations and suboptimality are of the mixture of every turn (`selection = \"theorem\"`).\n";
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
        let proxy_row = one(self.proxy, scales.map(|s| s.proxy_row));
        let subgradient = one(self.subgradient, scales.map(|s| s.subgradient));
        let policy = &self.policy.arguments;
        let epsilon = policy.number("epsilon")?.or(found.as_ref().and_then(|found| found.epsilon));
        let epsilon = epsilon.unwrap_or(Discrete::default().epsilon);
        let given = Region { radius: None, convexity: policy.number("convexity")?.unwrap_or(0.0) };
        given.check()?;
        let convexity = found.as_ref().map_or(given.convexity, |found| found.convexity);
        // Theorem 2 is of losses that are Lipschitz: on data, of the proxies in place of the decisions.
        let shown = scales.and_then(|scales| scales.shown);
        let train_rows = self.train_rows.or(found.as_ref().map(|found| found.train_rows));
        let train_rows = train_rows.unwrap_or(rows);
        let of_model = scales
            .and_then(|scales| scales.slope)
            .zip(found.as_ref().and_then(|found| found.radius));
        let known = Known {
            constraints,
            rows,
            epsilon,
            delta: self.delta,
            gradient,
            loss,
            proxy,
            proxy_row,
            subgradient,
            convexity: (convexity > 0.0).then_some(convexity),
            smooth_loss: self
                .loss
                .or(shown.map(|shown| shown.loss))
                .or(loss.filter(|_| found.is_none())),
            lipschitz: self.lipschitz.or(shown.and_then(|shown| shown.lipschitz)),
            rho: self.rho,
            gamma: self.gamma,
            objective_range: one(self.objective_range, scales.map(|s| s.objective)),
            objective_weight: self.objective_weight,
            train_rows,
            rademacher: self.rademacher.or(of_model
                .map(|(slope, radius)| bounds::linear_rademacher(slope, radius, train_rows))),
            g_train: self.g_train,
            multiplier_bound: self.multiplier_bound,
            multiplier_norm: self.multiplier_norm,
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
        if let Datasets::Auto | Datasets::Cross { .. } = spec.datasets {
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
            train_rows: setting.train.rows(),
            radius: spec.region.radius,
            scales: Scales::of(&setting)?,
            epsilon,
            convexity: spec.region.convexity,
        })
    }
}

fn settings(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Settings, message)
}

/// What data and a policy say.
struct Found {
    constraints: usize,
    rows: usize,
    train_rows: usize,
    /// Of the ball that θ is in.
    radius: Option<f64>,
    scales: Scales,
    epsilon: Option<f64>,
    convexity: f64,
}
