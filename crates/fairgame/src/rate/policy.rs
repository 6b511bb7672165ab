//! The problems of the paper, by name.

use super::Problem;
use crate::{Error, ErrorKind, Result, nearest};

/// A problem with a name, as text of the language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// The name after the `@`.
    pub name: &'static str,
    /// What it asks, in a line.
    pub about: &'static str,
    /// The label's condition.
    pub label: &'static str,
    /// What is minimised.
    pub objective: &'static str,
    /// What must hold.
    pub constraints: &'static [&'static str],
}

/// Every named policy: those of the paper's experiments first, then those of its appendix of examples.
pub const POLICIES: [Policy; 7] = [
    Policy {
        name: "adult",
        about: "the 80 % rule: each of four groups is accepted at 80 % of the overall rate or more",
        label: "income == \">50K\"",
        objective: "error()",
        constraints: &[
            "positive_rate(race == \"Black\") >= 0.8 * positive_rate()",
            "positive_rate(race == \"White\") >= 0.8 * positive_rate()",
            "positive_rate(sex == \"Female\") >= 0.8 * positive_rate()",
            "positive_rate(sex == \"Male\") >= 0.8 * positive_rate()",
        ],
    },
    Policy {
        name: "compas",
        about: "equal opportunity: each of four groups is within 5 % above the overall recall",
        label: "two_year_recid == 1",
        objective: "error()",
        constraints: &[
            "tpr(race == \"African-American\") <= tpr() + 0.05",
            "tpr(race == \"Caucasian\") <= tpr() + 0.05",
            "tpr(sex == \"Female\") <= tpr() + 0.05",
            "tpr(sex == \"Male\") <= tpr() + 0.05",
        ],
    },
    Policy {
        name: "communities",
        about: "both halves of four racial percentages have at most the overall false positive rate",
        label: "ViolentCrimesPerPop > quantile(ViolentCrimesPerPop, 0.7)",
        objective: "error()",
        constraints: &[
            "fpr(racePctAsian <= median(racePctAsian)) <= fpr()",
            "fpr(racePctAsian > median(racePctAsian)) <= fpr()",
            "fpr(racepctblack <= median(racepctblack)) <= fpr()",
            "fpr(racepctblack > median(racepctblack)) <= fpr()",
            "fpr(racePctHisp <= median(racePctHisp)) <= fpr()",
            "fpr(racePctHisp > median(racePctHisp)) <= fpr()",
            "fpr(racePctWhite <= median(racePctWhite)) <= fpr()",
            "fpr(racePctWhite > median(racePctWhite)) <= fpr()",
        ],
    },
    Policy {
        name: "entities",
        about: "entity resolution: recall of 95 % in each country, for chains and for others, and \
                accuracy on others at most 10 % above that on chains",
        label: "same",
        objective: "error()",
        constraints: &[
            "recall(each country) >= 0.95",
            "recall(chain) >= 0.95",
            "recall(not chain) >= 0.95",
            "accuracy(not chain) <= accuracy(chain) + 0.1",
        ],
    },
    Policy {
        name: "simulated",
        about: "the simulated data: recall of 97 %",
        label: "label",
        objective: "error()",
        constraints: &["recall() >= 0.97"],
    },
    Policy {
        name: "neyman-pearson",
        about: "the least false positive rate with at most 10 % false negatives",
        label: "label",
        objective: "fpr()",
        constraints: &["fnr() <= 0.1"],
    },
    Policy {
        name: "equal-opportunity",
        about: "each group's false negative rate is at most 110 % of the overall one",
        label: "label",
        objective: "error()",
        constraints: &["fnr(each group) <= 1.1 * fnr()"],
    },
];

impl Policy {
    /// The policy of that name, with or without the `@`.
    pub fn find(name: &str) -> Result<Self> {
        let name = name.strip_prefix('@').unwrap_or(name);
        let names = POLICIES.map(|policy| policy.name);
        POLICIES.into_iter().find(|policy| policy.name == name).ok_or_else(|| {
            let error = Error::new(ErrorKind::Settings, format!("there is no policy `@{name}`"));
            match nearest(name, names) {
                Some(near) => error.help(format!("did you mean `@{near}`?")),
                None => error.help(format!("the policies are @{}", names.join(", @"))),
            }
        })
    }

    /// The policy as a problem.
    pub fn problem(&self) -> Result<Problem> {
        Problem::parse(self.label, self.objective, self.constraints)
    }
}
