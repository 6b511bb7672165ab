//! What an encoder learns from training rows.

use std::collections::{BTreeMap, HashSet};

use super::encoder::{FAR, Feature, Map};
use super::{Coding, Cuts, Encoder, EncoderSpec, Notice, Steps};
use crate::table::{Column, Kind, MISSING, Table, Values, no_such_column, quantile};
use crate::{Error, ErrorKind, Result};

impl Encoder {
    /// Learns an encoder from the training table.
    ///
    /// Columns come in the table's order. Constant columns are left out, with a notice.
    pub fn fit(spec: &EncoderSpec, train: &Table) -> Result<(Encoder, Vec<Notice>)> {
        spec.check()?;
        for name in spec.ignore.iter().chain(spec.columns.keys()) {
            if train.find(name).is_none() {
                return Err(no_such_column(name, train.columns().iter().map(|c| c.name.as_str())));
            }
        }
        let mut notices = Vec::new();
        let mut features = Vec::new();
        let ignored: HashSet<&String> = spec.ignore.iter().collect();
        for column in train.columns().iter().filter(|column| !ignored.contains(&column.name)) {
            let default = match column.values {
                Values::Number(_) => spec.numbers.clone(),
                _ => Coding::Values,
            };
            let default = [default];
            let codings = spec.columns.get(&column.name).map_or(default.as_slice(), Vec::as_slice);
            for coding in codings {
                let map = fit(column, coding, spec, &mut notices)
                    .map_err(|error| error.at(format!("column `{}`", column.name)))?;
                features.extend(map.map(|map| Feature {
                    column: column.name.clone(),
                    kind: column.values.kind(),
                    map,
                }));
            }
        }
        let encoder = Encoder::new(features)?;
        if encoder.width() == 0 {
            return Err(Error::new(ErrorKind::Settings, "no column is left to be a feature")
                .help("ignore fewer columns; a column with a single value is not a feature"));
        }
        notices.dedup();
        Ok((encoder, notices))
    }
}

fn fit(
    column: &Column,
    coding: &Coding,
    spec: &EncoderSpec,
    notices: &mut Vec<Notice>,
) -> Result<Option<Map>> {
    match (&column.values, coding) {
        (_, Coding::Values) => Ok(fit_values(column, spec, notices)),
        (Values::Number(numbers), coding) => {
            let sorted = sorted(numbers);
            let missing = sorted.len() < numbers.len();
            let (Some(min), Some(max)) = (sorted.first(), sorted.last()) else {
                notices.push(Notice::Constant { column: column.name.clone() });
                return Ok(None);
            };
            if min == max {
                if !missing {
                    notices.push(Notice::Constant { column: column.name.clone() });
                    return Ok(None);
                }
                // Only whether it is missing tells anything.
                return Ok(Some(Map::Buckets { cuts: Vec::new(), steps: Steps::Single, missing }));
            }
            fit_number(&sorted, missing, coding).map(Some)
        }
        (values, _) => Err(Error::new(
            ErrorKind::Column,
            format!("is a {}, and only a number can be {}", values.kind(), describe(coding)),
        )),
    }
}

fn describe(coding: &Coding) -> &'static str {
    match coding {
        Coding::Standardise => "standardised",
        Coding::AsIs => "taken as it is",
        Coding::Distinct => "kept in order",
        Coding::Buckets { .. } => "put into buckets",
        Coding::Values => "taken by value",
    }
}

fn sorted(numbers: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = numbers.iter().copied().filter(|number| !number.is_nan()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// The map of a number column whose present values are `sorted` and not all equal.
fn fit_number(sorted: &[f64], missing: bool, coding: &Coding) -> Result<Map> {
    // Within the range, so that neither large nor small values leave the numbers' own range; in
    // ascending order, so that the sums do not depend on the order of the rows.
    let (low, range) = (sorted[0], sorted[sorted.len() - 1] - sorted[0]);
    let count = sorted.len() as f64;
    let share = |x: &f64| (x - low) / range;
    let middle = sorted.iter().map(share).sum::<f64>() / count;
    let spread = sorted.iter().map(|x| (share(x) - middle).powi(2)).sum::<f64>() / count;
    let mean = low + range * middle;
    let scale = 1.0 / (range * spread.sqrt());
    let standard = (mean.is_finite() && scale.is_finite() && scale > 0.0).then_some((mean, scale));
    let as_is = mean.is_finite().then_some((0.0, 1.0));
    let chosen = match coding {
        Coding::Buckets { cuts, steps } => {
            let cuts = fit_cuts(sorted, cuts)?;
            return Ok(Map::Buckets { cuts, steps: *steps, missing });
        }
        Coding::Standardise => standard,
        Coding::AsIs => as_is,
        // Where both keep as many apart, the last: standardised.
        Coding::Distinct => {
            [as_is, standard].into_iter().flatten().max_by_key(|&map| distinct(sorted, map))
        }
        Coding::Values => None,
    };
    let Some((shift, scale)) = chosen else {
        let message = "its values are too far apart or too close to average";
        return Err(Error::new(ErrorKind::Value, message).help("put it into buckets, or ignore it"));
    };
    let fill = (mean - shift) * scale;
    Ok(Map::Number { shift, scale, fill, missing })
}

/// How many different f32 numbers ascending values become.
fn distinct(sorted: &[f64], (shift, scale): (f64, f64)) -> usize {
    let coded = |x: &f64| ((x - shift) * scale).clamp(-FAR, FAR) as f32;
    1 + sorted.windows(2).filter(|pair| coded(&pair[0]) < coded(&pair[1])).count()
}

fn fit_cuts(sorted: &[f64], cuts: &Cuts) -> Result<Vec<f64>> {
    cuts.check()?;
    let levels = match cuts {
        Cuts::Points(points) => return Ok(points.clone()),
        Cuts::Levels(levels) => levels.clone(),
        Cuts::Quantiles(buckets) => (1..*buckets).map(|cut| cut as f64 / *buckets as f64).collect(),
    };
    let mut cuts: Vec<f64> = levels.iter().filter_map(|&level| quantile(sorted, level)).collect();
    cuts.sort_unstable_by(f64::total_cmp);
    cuts.dedup();
    // Above the greatest value lies nothing; where it is most of the column, cut it off from the rest.
    cuts.retain(|cut| Some(cut) < sorted.last());
    if cuts.is_empty() {
        cuts.extend(sorted.iter().rev().find(|x| Some(*x) < sorted.last()));
    }
    Ok(cuts)
}

fn fit_values(column: &Column, spec: &EncoderSpec, notices: &mut Vec<Notice>) -> Option<Map> {
    let name = || column.name.clone();
    let missing = column.values.missing() > 0;
    let counts = count(&column.values);
    if counts.len() + usize::from(missing) < 2 {
        notices.push(Notice::Constant { column: name() });
        return None;
    }
    let (distinct, rows) = (counts.len(), column.values.len());
    let singles = counts.values().filter(|&&count| count == 1).count();
    if column.values.kind() == Kind::Category && rows >= 100 && singles * 2 > rows {
        notices.push(Notice::Identifier { column: name(), values: distinct });
    }

    // The most frequent first; equally frequent ones by their text.
    let mut ranked: Vec<(String, usize)> = counts.into_iter().collect();
    ranked.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    // Both truth values are worth a code, however rare.
    let least = if column.values.kind() == Kind::Boolean { 1 } else { spec.min_count };
    let kept = ranked.iter().take(spec.max_values).take_while(|(_, count)| *count >= least).count();
    let rare = ranked.split_off(kept);
    let pooled = !rare.is_empty();
    if pooled {
        let rows = rare.iter().map(|(_, count)| count).sum();
        notices.push(Notice::Pooled { column: name(), values: rare.len(), rows });
    }
    if ranked.is_empty() && !missing {
        // That says it all of this column.
        notices.retain(|notice| match notice {
            Notice::Pooled { column, .. } | Notice::Identifier { column, .. } => *column != name(),
            _ => true,
        });
        notices.push(Notice::AllRare { column: name(), values: distinct });
        return None;
    }
    let mut values: Vec<String> = ranked.into_iter().map(|(value, _)| value).collect();
    values.sort_unstable();
    Some(Map::Values { values, pooled, missing })
}

/// How often each value comes.
fn count(values: &Values) -> BTreeMap<String, usize> {
    match values {
        Values::Number(numbers) => sorted(numbers)
            .chunk_by(|a, b| a == b)
            .map(|equal| (equal[0].to_string(), equal.len()))
            .collect(),
        Values::Category(category) => {
            let mut counts = vec![0; category.dictionary.len()];
            for &code in category.codes.iter().filter(|&&code| code != MISSING) {
                counts[code as usize] += 1;
            }
            let texts = category.dictionary.texts().map(str::to_owned);
            texts.zip(counts).filter(|(_, count)| *count > 0).collect()
        }
        Values::Boolean(truths) => [false, true]
            .map(|truth| (truth.to_string(), truths.iter().filter(|&&t| t == Some(truth)).count()))
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .collect(),
    }
}
