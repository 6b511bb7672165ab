//! Expressions as linear forms of rates.
//!
//! A constraint a ⋈ b becomes a form e ≤ 0, with e = β + Σ_k a_k·rate_k. A ratio (precision, F1, or one
//! rate divided by another) is no such thing, but r = N/D with D ≥ 0 can be cleared where it stands
//! alone beside constants: a·N/D + b ≤ 0 iff a·N + b·D ≤ 0, which is linear. Where D is 0, as precision
//! is when nothing is decided positive, the cleared form is 0 ≤ 0: met.

use super::language::{Expression, Factor, Inequality, Rate, Relation, Sign, Span};
use super::problem::Source;
use crate::table::Predicate;
use crate::{ErrorKind, Result};

/// A share of rows that every other rate is made of.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Measure {
    /// P(g) / W(g)
    Positive,
    /// P(g ∧ y) / W(g ∧ y)
    TruePositive,
    /// P(g ∧ ¬y) / W(g ∧ ¬y)
    FalsePositive,
    /// The share of g whose decision is not y.
    Error,
    /// The share of g whose decision is not the older one.
    Churn(Predicate),
    /// P(g ∧ y) / W(g): decided positive, and rightly.
    RightlyPositive,
    /// W(g ∧ y) / W(g): does not depend on the model.
    Label,
}

/// A measure over a group, and where it was written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Atom {
    pub(super) measure: Measure,
    /// `None` is all rows.
    pub(super) group: Option<Predicate>,
    /// The group as written.
    pub(super) shown: String,
    pub(super) span: Span,
}

/// β + Σ_k a_k·atom_k.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Form {
    pub(super) constant: f64,
    pub(super) terms: Vec<(f64, Atom)>,
}

impl Form {
    fn constant(constant: f64) -> Self {
        Form { constant, terms: Vec::new() }
    }

    fn atom(constant: f64, factor: f64, atom: Atom) -> Self {
        Form { constant, terms: vec![(factor, atom)] }
    }

    fn add(&mut self, factor: f64, other: &Form) {
        self.constant += factor * other.constant;
        self.terms.extend(other.terms.iter().map(|(by, atom)| (factor * by, atom.clone())));
    }

    fn is_finite(&self) -> bool {
        self.constant.is_finite() && self.terms.iter().all(|(by, _)| by.is_finite())
    }

    /// Whether it is at least 0 whatever the decisions: every atom lies between 0 and 1.
    fn is_nonnegative(&self) -> bool {
        self.constant + self.terms.iter().map(|(by, _)| by.min(0.0)).sum::<f64>() >= 0.0
    }
}

/// A form plus at most one multiple of a ratio of forms.
#[derive(Debug, Clone)]
struct Affine {
    form: Form,
    ratio: Option<Ratio>,
}

#[derive(Debug, Clone)]
struct Ratio {
    factor: f64,
    over: Form,
    under: Form,
    /// Where the quotient lies, whatever the decisions.
    range: (f64, f64),
    span: Span,
}

impl Ratio {
    fn is_finite(&self) -> bool {
        self.factor.is_finite() && self.over.is_finite() && self.under.is_finite()
    }
}

/// Turns the group of a rate, as written, into a predicate.
pub(super) type Lower<'a> = dyn Fn(&Expression) -> Result<Lowered> + 'a;

/// What a rate is about, once bound to a table.
pub(super) struct Lowered {
    pub(super) group: Option<Predicate>,
    pub(super) old: Option<Predicate>,
    pub(super) shown: String,
}

/// The form that an inequality asks to be at most 0.
pub(super) fn constraint(
    inequality: &Inequality,
    source: &Source,
    lower: &Lower<'_>,
) -> Result<Form> {
    let context = Context { source, lower };
    let left = context.affine(&inequality.left)?;
    let right = context.affine(&inequality.right)?;
    let (low, high) = match inequality.relation {
        Relation::AtMost => (left, right),
        Relation::AtLeast => (right, left),
    };
    let all = Span::whole(&source.text);
    let difference = context.finite(context.add(low, -1.0, high)?, all)?;
    let Some(Ratio { factor, over, under, range, span }) = difference.ratio else {
        return Ok(difference.form);
    };
    if !difference.form.terms.is_empty() {
        return Err(source.fail(
            ErrorKind::Problem,
            span,
            "a ratio beside another rate is not linear",
            "a ratio such as precision, f1 or a quotient can only be bounded by a number",
        ));
    }
    // Cleared, such a bound would ask that nothing be decided positive.
    let ends = [range.0, range.1].map(|end| if factor == 0.0 { 0.0 } else { factor * end });
    if difference.form.constant + ends[0].min(ends[1]) > 0.0 {
        return Err(source.fail(
            ErrorKind::Problem,
            span,
            format!("no classifier can meet `{inequality}`"),
            "this ratio never comes so far",
        ));
    }
    let mut cleared = Form::default();
    cleared.add(factor, &over);
    cleared.add(difference.form.constant, &under);
    Ok(context.finite(Affine { form: cleared, ratio: None }, all)?.form)
}

/// The form that an objective asks to be small.
pub(super) fn objective(
    expression: &Expression,
    source: &Source,
    lower: &Lower<'_>,
) -> Result<Form> {
    let affine = Context { source, lower }.affine(expression)?;
    match affine.ratio {
        None => Ok(affine.form),
        Some(ratio) => Err(source.fail(
            ErrorKind::Problem,
            ratio.span,
            "a ratio cannot be an objective: it is not linear in the decisions",
            "bound it in a constraint instead, as in `precision() >= 0.9`",
        )),
    }
}

/// A rate as it is written, and the forms it is the quotient of.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Written {
    pub(super) text: String,
    pub(super) over: Form,
    /// `None` is 1.
    pub(super) under: Option<Form>,
}

/// The rates of some expressions, each once, in the order in which they are written.
pub(super) fn rates<'a>(
    expressions: impl IntoIterator<Item = &'a Expression>,
    source: &Source,
    lower: &Lower<'_>,
) -> Result<Vec<Written>> {
    let context = Context { source, lower };
    let mut found = Vec::new();
    expressions.into_iter().for_each(|tree| tree.rates(&mut |rate| found.push(rate)));
    let mut rates: Vec<Written> = Vec::new();
    for rate in found {
        let text = rate.to_string();
        if rates.iter().any(|earlier| earlier.text == text) {
            continue;
        }
        let Affine { form, ratio } = context.affine(rate)?;
        rates.push(match ratio {
            None => Written { text, over: form, under: None },
            Some(Ratio { factor, over, under, .. }) => {
                let mut scaled = Form::default();
                scaled.add(factor, &over);
                Written { text, over: scaled, under: Some(under) }
            }
        });
    }
    Ok(rates)
}

struct Context<'a> {
    source: &'a Source,
    lower: &'a Lower<'a>,
}

impl Context<'_> {
    fn affine(&self, expression: &Expression) -> Result<Affine> {
        match expression {
            Expression::Number(number, _) => {
                Ok(Affine { form: Form::constant(*number), ratio: None })
            }
            Expression::Rate { rate, span, .. } => self.rate(*rate, *span, expression),
            Expression::Negate(part, _) => Ok(scale(-1.0, self.affine(part)?)),
            Expression::Sum(parts, span) => {
                let mut total = Affine { form: Form::default(), ratio: None };
                for (sign, part) in parts {
                    let factor = if *sign == Sign::Plus { 1.0 } else { -1.0 };
                    total = self.add(total, factor, self.affine(part)?)?;
                }
                self.finite(total, *span)
            }
            Expression::Product(parts, span) => {
                let mut total = Affine { form: Form::constant(1.0), ratio: None };
                for (factor, part) in parts {
                    let next = self.affine(part)?;
                    total = match factor {
                        Factor::Times => self.multiply(total, next, *span)?,
                        Factor::Over => self.divide(total, next, *span, part.span())?,
                    };
                }
                self.finite(total, *span)
            }
        }
    }

    fn rate(&self, rate: Rate, span: Span, expression: &Expression) -> Result<Affine> {
        let Lowered { group, old, shown } = (self.lower)(expression)?;
        let atom = |measure| Atom { measure, group: group.clone(), shown: shown.clone(), span };
        let plain = |form| Ok(Affine { form, ratio: None });
        let share = |measure| plain(Form::atom(0.0, 1.0, atom(measure)));
        let rest = |measure| plain(Form::atom(1.0, -1.0, atom(measure)));
        let ratio = |factor: f64, under: Form| {
            let over = Form::atom(0.0, 1.0, atom(Measure::RightlyPositive));
            // Both ratios end at 1, with their factor.
            let range = (0.0, 1.0 / factor);
            let ratio = Some(Ratio { factor, over, under, range, span });
            Ok(Affine { form: Form::default(), ratio })
        };
        match rate {
            Rate::Error => share(Measure::Error),
            Rate::Accuracy => rest(Measure::Error),
            Rate::PositiveRate => share(Measure::Positive),
            Rate::NegativeRate => rest(Measure::Positive),
            Rate::Tpr | Rate::Recall => share(Measure::TruePositive),
            Rate::Fnr => rest(Measure::TruePositive),
            Rate::Fpr => share(Measure::FalsePositive),
            Rate::Tnr => rest(Measure::FalsePositive),
            Rate::Churn => match old {
                Some(old) => share(Measure::Churn(old)),
                None => Err(self.fail(span, "churn lacks the older decision", "")),
            },
            // TP / (TP + FP)
            Rate::Precision => ratio(1.0, Form::atom(0.0, 1.0, atom(Measure::Positive))),
            // 2 TP / (2 TP + FP + FN): decided positive plus labelled positive
            Rate::F1 => {
                let mut under = Form::atom(0.0, 1.0, atom(Measure::Positive));
                under.add(1.0, &Form::atom(0.0, 1.0, atom(Measure::Label)));
                ratio(2.0, under)
            }
        }
    }

    fn add(&self, mut total: Affine, factor: f64, other: Affine) -> Result<Affine> {
        total.form.add(factor, &other.form);
        total.ratio = match (total.ratio, other.ratio) {
            (ratio, None) => ratio,
            (None, Some(ratio)) => Some(Ratio { factor: factor * ratio.factor, ..ratio }),
            (Some(_), Some(second)) => {
                return Err(self.fail(
                    second.span,
                    "two ratios in one constraint are not linear",
                    "bound each by a number, in a constraint of its own",
                ));
            }
        };
        Ok(total)
    }

    /// Refuses numbers that only their arithmetic made too large.
    fn finite(&self, affine: Affine, span: Span) -> Result<Affine> {
        let ratio = affine.ratio.as_ref().is_none_or(Ratio::is_finite);
        if affine.form.is_finite() && ratio {
            return Ok(affine);
        }
        Err(self.fail(span, "the numbers here grow too large", "numbers end near 1.8e308"))
    }

    fn multiply(&self, a: Affine, b: Affine, span: Span) -> Result<Affine> {
        match (constant(&a), constant(&b)) {
            (Some(factor), _) => Ok(scale(factor, b)),
            (_, Some(factor)) => Ok(scale(factor, a)),
            (None, None) => Err(self.fail(
                span,
                "a product of two rates is not linear",
                "multiply a rate by numbers only",
            )),
        }
    }

    fn divide(&self, over: Affine, under: Affine, span: Span, divisor: Span) -> Result<Affine> {
        if let Some(number) = constant(&under) {
            if number == 0.0 {
                return Err(self.fail(divisor, "a division by zero", "divide by another number"));
            }
            return Ok(scale(1.0 / number, over));
        }
        if over.ratio.is_some() || under.ratio.is_some() {
            return Err(self.fail(
                span,
                "a ratio within a quotient is not linear",
                "precision, f1 and quotients are ratios: bound each by a number",
            ));
        }
        if !under.form.is_nonnegative() {
            return Err(self.fail(
                divisor,
                "a divisor that may be negative",
                "divide by a rate, or by a sum of rates with positive factors",
            ));
        }
        let least = if over.form.is_nonnegative() { 0.0 } else { f64::NEG_INFINITY };
        let range = (least, f64::INFINITY);
        let ratio = Ratio { factor: 1.0, over: over.form, under: under.form, range, span };
        Ok(Affine { form: Form::default(), ratio: Some(ratio) })
    }

    fn fail(&self, span: Span, message: &str, label: &str) -> crate::Error {
        self.source.fail(ErrorKind::Problem, span, message, label)
    }
}

fn scale(factor: f64, mut affine: Affine) -> Affine {
    affine.form.constant *= factor;
    affine.form.terms.iter_mut().for_each(|(by, _)| *by *= factor);
    affine.ratio = affine.ratio.map(|ratio| Ratio { factor: factor * ratio.factor, ..ratio });
    affine
}

fn constant(affine: &Affine) -> Option<f64> {
    let alone = affine.form.terms.iter().all(|(by, _)| *by == 0.0) && affine.ratio.is_none();
    alone.then_some(affine.form.constant)
}
