//! Expressions as linear forms of rates.
//!
//! A constraint a ⋈ b becomes a form e ≤ 0, with e = β + Σ_k a_k·rate_k. A ratio (precision, F1, or one
//! rate divided by another) is no such thing, but r = N/D with D ≥ 0 can be cleared where it stands
//! alone beside constants: a·N/D + b ≤ 0 iff a·N + b·D ≤ 0, which is linear. Where D is 0, as precision
//! is when nothing is decided positive, the cleared form is 0 ≤ 0: met.

use super::language::{Expression, Factor, Inequality, Rate, Relation, Sign, Span};
use super::lower::{LABEL, Lowered, Lowering};
use super::measure::{Atom, Measure};
use super::problem::Source;
use crate::{ErrorKind, Result};

/// β + Σ_k a_k·x_k, a linear form of means (or, once compiled, of regions).
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Form<T = Atom> {
    pub(crate) constant: f64,
    pub(crate) terms: Vec<(f64, T)>,
}

impl<T> Form<T> {
    pub(crate) fn constant(constant: f64) -> Self {
        Form { constant, terms: Vec::new() }
    }
}

impl Form {
    /// The same form with equal atoms added up, and without those of factor 0.
    pub(crate) fn collected(&self) -> Form {
        let mut collected: Form = Form::constant(self.constant);
        for (factor, atom) in &self.terms {
            match collected.terms.iter_mut().find(|(_, earlier)| earlier.is(atom)) {
                Some((total, _)) => *total += factor,
                None => collected.terms.push((*factor, atom.clone())),
            }
        }
        collected.terms.retain(|(factor, _)| *factor != 0.0);
        collected
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

/// A rate as it is written, and the forms it is the quotient of.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WrittenRate {
    pub(crate) text: String,
    pub(crate) over: Form,
    /// `None` is 1.
    pub(crate) under: Option<Form>,
}

/// A rate of the rows that meet a predicate, asked for without a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GroupRate {
    Base,
    Selection,
    TruePositive,
    FalsePositive,
    Precision,
    Error,
}

impl GroupRate {
    /// As if it were written, over the rows that meet a predicate; messages call these `shown`.
    pub(crate) fn written(self, group: Option<usize>, shown: &str) -> WrittenRate {
        let (measure, under) = match self {
            GroupRate::Base => (Measure::Label, None),
            GroupRate::Selection => (Measure::Positive, None),
            GroupRate::TruePositive => (Measure::TruePositive, None),
            GroupRate::FalsePositive => (Measure::FalsePositive, None),
            GroupRate::Precision => (Measure::RightlyPositive, Some(Measure::Positive)),
            GroupRate::Error => (Measure::Error, None),
        };
        let form = |measure| Form::atom(0.0, 1.0, Atom::over(measure, group, shown));
        WrittenRate { text: String::new(), over: form(measure), under: under.map(form) }
    }

    /// The selection rate of a group, less `factor` times that of another group, or of all rows. Each group has its name
    /// beside it.
    pub(crate) fn difference(
        (group, shown): (usize, &str),
        factor: f64,
        other: Option<(usize, &str)>,
    ) -> Form {
        let own = Atom::over(Measure::Positive, Some(group), shown);
        let other = match other {
            Some((other, shown)) => Atom::over(Measure::Positive, Some(other), shown),
            None => Atom::over(Measure::Positive, None, ""),
        };
        Form { constant: 0.0, terms: vec![(1.0, own), (-factor, other)] }
    }
}

/// What an expression or an inequality means.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BoundLoss {
    pub(crate) form: Form,
    /// The rates that it is written with, each once.
    pub(crate) rates: Vec<WrittenRate>,
    /// The text that it is from, for errors that point into it.
    pub(super) source: Source,
}

impl BoundLoss {
    /// All atoms of the form and of the rates.
    pub(super) fn atoms_mut(&mut self) -> impl Iterator<Item = &mut Atom> {
        let rates = self
            .rates
            .iter_mut()
            .flat_map(|rate| std::iter::once(&mut rate.over).chain(rate.under.as_mut()));
        std::iter::once(&mut self.form)
            .chain(rates)
            .flat_map(|form| form.terms.iter_mut().map(|(_, atom)| atom))
    }
}

/// Reads trees as forms. Each rate is lowered once, which gives its part of the form, the rate as written,
/// and the tree that needs no training table.
pub(super) struct Reader<'a, 'b> {
    lowering: &'a mut Lowering<'b>,
    rates: Vec<WrittenRate>,
}

/// The loss that an inequality asks to be at most 0, and the inequality without a training table.
pub(super) fn constraint(
    inequality: &Inequality,
    lowering: &mut Lowering<'_>,
) -> Result<(BoundLoss, Inequality)> {
    let mut reader = Reader { lowering, rates: Vec::new() };
    let (left, frozen_left) = reader.affine(&inequality.left)?;
    let (right, frozen_right) = reader.affine(&inequality.right)?;
    let (low, high) = match inequality.relation {
        Relation::AtMost => (left, right),
        Relation::AtLeast => (right, left),
    };
    let form = reader.cleared(low, high, inequality)?;
    let relation = inequality.relation;
    Ok((reader.loss(form), Inequality { left: frozen_left, relation, right: frozen_right }))
}

/// The loss that an objective asks to be small, and the objective without a training table.
pub(super) fn objective(
    expression: &Expression,
    lowering: &mut Lowering<'_>,
) -> Result<(BoundLoss, Expression)> {
    let mut reader = Reader { lowering, rates: Vec::new() };
    let (affine, frozen) = reader.affine(expression)?;
    match affine.ratio {
        None => Ok((reader.loss(affine.form), frozen)),
        Some(ratio) => Err(reader.fail(
            ratio.span,
            "a ratio cannot be an objective: it is not linear in the decisions",
            "bound it in a constraint instead, as in `precision() >= 0.9`",
        )),
    }
}

impl Reader<'_, '_> {
    fn loss(self, form: Form) -> BoundLoss {
        BoundLoss { form, rates: self.rates, source: self.lowering.source.clone() }
    }

    /// The form of low ≤ high, cleared of a ratio.
    fn cleared(&self, low: Affine, high: Affine, inequality: &Inequality) -> Result<Form> {
        let all = Span::whole(&self.lowering.source.text);
        let difference = self.finite(self.add(low, -1.0, high)?, all)?;
        let Some(Ratio { factor, over, under, range, span }) = difference.ratio else {
            return Ok(difference.form);
        };
        if !difference.form.terms.is_empty() {
            return Err(self.fail(
                span,
                "a ratio beside another rate is not linear",
                "a ratio such as precision, f1 or a quotient can only be bounded by a number",
            ));
        }
        // Cleared, such a bound would ask that nothing be decided positive.
        let ends = [range.0, range.1].map(|end| if factor == 0.0 { 0.0 } else { factor * end });
        if difference.form.constant + ends[0].min(ends[1]) > 0.0 {
            let message = format!("no classifier can meet `{inequality}`");
            return Err(self.fail(span, &message, "this ratio never comes so far"));
        }
        let mut cleared = Form::constant(0.0);
        cleared.add(factor, &over);
        cleared.add(difference.form.constant, &under);
        Ok(self.finite(Affine { form: cleared, ratio: None }, all)?.form)
    }

    /// A tree as a form with at most one ratio, and the tree that needs no training table.
    fn affine(&mut self, expression: &Expression) -> Result<(Affine, Expression)> {
        match expression {
            Expression::Number(number, _) => {
                Ok((Affine { form: Form::constant(*number), ratio: None }, expression.clone()))
            }
            Expression::Rate { .. } => self.rate(expression),
            Expression::Negate(part, span) => {
                let (affine, frozen) = self.affine(part)?;
                Ok((scale(-1.0, affine), Expression::Negate(Box::new(frozen), *span)))
            }
            Expression::Sum(parts, span) => {
                let mut total = Affine { form: Form::constant(0.0), ratio: None };
                let mut trees = Vec::with_capacity(parts.len());
                for (sign, part) in parts {
                    let factor = if *sign == Sign::Plus { 1.0 } else { -1.0 };
                    let (affine, frozen) = self.affine(part)?;
                    total = self.add(total, factor, affine)?;
                    trees.push((*sign, frozen));
                }
                Ok((self.finite(total, *span)?, Expression::Sum(trees, *span)))
            }
            Expression::Product(parts, span) => {
                let mut total = Affine { form: Form::constant(1.0), ratio: None };
                let mut trees = Vec::with_capacity(parts.len());
                for (factor, part) in parts {
                    let (next, frozen) = self.affine(part)?;
                    total = match factor {
                        Factor::Times => self.multiply(total, next, *span)?,
                        Factor::Over => self.divide(total, next, *span, part.span())?,
                    };
                    trees.push((*factor, frozen));
                }
                Ok((self.finite(total, *span)?, Expression::Product(trees, *span)))
            }
        }
    }

    fn rate(&mut self, expression: &Expression) -> Result<(Affine, Expression)> {
        let lowered = self.lowering.rate(expression)?;
        let affine = self.measured(&lowered)?;
        let text = expression.to_string();
        if self.rates.iter().all(|earlier| earlier.text != text) {
            let (over, under) = match affine.ratio.clone() {
                None => (affine.form.collected(), None),
                Some(Ratio { factor, over, under, .. }) => {
                    let mut scaled = Form::constant(0.0);
                    scaled.add(factor, &over);
                    (scaled.collected(), Some(under.collected()))
                }
            };
            self.rates.push(WrittenRate { text, over, under });
        }
        Ok((affine, lowered.frozen))
    }

    /// A rate by the measures that it is made of.
    fn measured(&self, lowered: &Lowered) -> Result<Affine> {
        let Lowered { rate, group, old, shown, span, .. } = lowered;
        let atom = |measure| {
            let told = match measure {
                Measure::Positive => None,
                Measure::Churn => *old,
                _ => Some(LABEL),
            };
            Atom { measure, group: *group, told, shown: shown.clone(), span: *span }
        };
        let plain = |form| Ok(Affine { form, ratio: None });
        let share = |measure| plain(Form::atom(0.0, 1.0, atom(measure)));
        let rest = |measure| plain(Form::atom(1.0, -1.0, atom(measure)));
        let ratio = |factor: f64, under: Form| {
            let over = Form::atom(0.0, 1.0, atom(Measure::RightlyPositive));
            // Both ratios end at 1, with their factor.
            let range = (0.0, 1.0 / factor);
            let ratio = Some(Ratio { factor, over, under, range, span: *span });
            Ok(Affine { form: Form::constant(0.0), ratio })
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
            Rate::Churn if old.is_none() => {
                Err(self.fail(*span, "churn lacks the older decision", ""))
            }
            Rate::Churn => share(Measure::Churn),
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
        Ok(Affine { form: Form::constant(0.0), ratio: Some(ratio) })
    }

    fn fail(&self, span: Span, message: &str, label: &str) -> crate::Error {
        self.lowering.source.fail(ErrorKind::Problem, span, message, label)
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
