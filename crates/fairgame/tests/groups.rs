//! The ratio to the highest group: its values by hand, and how often its interval has the population's ratio.

use fairgame::evaluate::{Decisions, GroupAudit, GroupResult, Interval, Verdict};
use fairgame::random::Stream;
use fairgame::table::{Column, Table, Values};

/// The groups of rows with a group and a decision.
fn groups(rows: &[(u8, bool)], confidence: f64) -> Vec<GroupResult> {
    let group = Values::Number(rows.iter().map(|(group, _)| f64::from(*group)).collect());
    let table = Table::new(vec![Column::new("group", group)]).unwrap();
    let decided: Vec<bool> = rows.iter().map(|(_, decided)| *decided).collect();
    let mut audit = GroupAudit::new(&[vec!["group".to_owned()]]).unwrap();
    audit.add(&table, None, None, Some(Decisions::Hard(&decided)), None).unwrap();
    let mut found = audit.finish(confidence).unwrap();
    assert!(found.all.ratio_to_highest.is_none() && found.all.four_fifths.is_none());
    found.groupings.remove(0).groups
}

/// So many rows of a group, of which so many are selected.
fn rows(group: u8, count: usize, selected: usize) -> impl Iterator<Item = (u8, bool)> {
    (0..count).map(move |row| (group, row < selected))
}

fn ratio(group: &GroupResult) -> (f64, Interval) {
    let found = group.ratio_to_highest.as_ref().unwrap().estimate().unwrap();
    (found.value, found.interval)
}

#[test]
fn the_four_fifths_rule_compares_with_the_highest_group() {
    // 0.85 of all rows, and less than 0.8 of the highest group.
    let all = rows(0, 5_000, 2_000).chain(rows(1, 5_000, 2_750)).collect::<Vec<_>>();
    let [low, high] = &groups(&all, 0.95)[..] else { panic!() };
    assert_eq!((low.four_fifths, low.four_fifths_of_all), (Some(Verdict::Violated), Verdict::Met));
    let (value, Interval { low: from, high: to }) = ratio(low);
    assert!((value - 0.4 / 0.55).abs() < 1e-12);
    // By the delta method: 0.7273 ± 1.96 · 0.7273 · √(0.6/2000 + 0.45/2750).
    let reach = 1.96 * value * (0.6_f64 / 2000.0 + 0.45 / 2750.0).sqrt();
    assert!((from - (value - reach)).abs() < 0.002 && (to - (value + reach)).abs() < 0.002);
    assert_eq!(ratio(high), (1.0, Interval { low: 1.0, high: 1.0 }));
    assert_eq!(high.four_fifths, Some(Verdict::Met));
}

/// The highest group is one of many, so the upper end is farther away.
#[test]
fn the_choice_of_the_highest_group_is_accounted_for() {
    let pair: Vec<_> = rows(0, 400, 120).chain(rows(1, 400, 200)).collect();
    let more = (2..6).flat_map(|group| rows(group, 400, 160));
    let six: Vec<_> = pair.iter().copied().chain(more).collect();
    let (two, six) = (groups(&pair, 0.95), groups(&six, 0.95));
    let ((value, of_two), (same, of_six)) = (ratio(&two[0]), ratio(&six[0]));
    assert_eq!(value, same);
    assert!((of_two.low - of_six.low).abs() < 1e-6);
    // Quantiles of 0.975 and 0.995.
    let wider = (of_six.high - value) / (of_two.high - value);
    assert!((1.25..1.45).contains(&wider), "{wider}");
}

#[test]
fn nothing_selected_and_small_groups() {
    let none = groups(&rows(0, 50, 0).chain(rows(1, 50, 0)).collect::<Vec<_>>(), 0.95);
    assert!(none.iter().all(|one| one.four_fifths == Some(Verdict::Undecided)));
    assert!(none[0].ratio_to_highest.as_ref().unwrap().estimate().is_none());
    let few = groups(&rows(0, 4, 1).chain(rows(1, 4, 2)).collect::<Vec<_>>(), 0.95);
    let (_, interval) = ratio(&few[0]);
    assert!(interval.low < 0.1 && interval.high == 1.0, "{interval:?}");
    assert_eq!(few[0].four_fifths, Some(Verdict::Undecided));
    let alone = groups(&rows(0, 9, 3).collect::<Vec<_>>(), 0.95);
    assert_eq!(alone[0].four_fifths, Some(Verdict::Met));
}

/// How often, in per cent, the interval of the first group has its ratio to the group that is highest in the population; and how
/// often a ratio below 0.8 is said to be met, or one above to be violated.
fn coverage(shares: &[f64], rates: &[f64], count: usize, seed: u64) -> (f64, f64) {
    const DRAWS: usize = 1_000;
    let mut stream = Stream::new(seed, "groups");
    let (mut covered, mut wrong) = (0, 0);
    for _ in 0..DRAWS {
        let one = |stream: &mut Stream| {
            let mut at = stream.unit();
            let group = shares.iter().position(|share| {
                at -= share;
                at < 0.0
            });
            let group = group.unwrap_or(shares.len() - 1);
            (group as u8, stream.unit() < rates[group])
        };
        let rows: Vec<(u8, bool)> = (0..count).map(|_| one(&mut stream)).collect();
        let found = groups(&rows, 0.95);
        let of =
            |one: &GroupResult| rates[one.values[0].as_ref().unwrap().parse::<usize>().unwrap()];
        let wanted = of(&found[0]) / rates.iter().copied().fold(0.0, f64::max);
        let (_, interval) = ratio(&found[0]);
        covered += usize::from(interval.low <= wanted && wanted <= interval.high);
        wrong += usize::from(match found[0].four_fifths {
            Some(Verdict::Met) => wanted < 0.8,
            Some(Verdict::Violated) => wanted > 0.8,
            _ => false,
        });
    }
    [covered, wrong].map(|count| 100.0 * count as f64 / DRAWS as f64).into()
}

/// The interval at 95 % covers in 95 of 100 datasets, within the noise of 1,000 (a standard error is 0.7).
#[test]
fn intervals_cover() {
    let cases: [(&str, &[f64], &[f64], usize); 7] = [
        ("the highest is small", &[0.495, 0.495, 0.01], &[0.45, 0.5, 0.65], 1000),
        ("two groups", &[0.3, 0.7], &[0.3, 0.5], 400),
        ("equal groups", &[0.5, 0.5], &[0.4, 0.4], 400),
        ("just above the rule", &[0.4, 0.6], &[0.4004, 0.5], 1000),
        ("seldom selected", &[0.4, 0.6], &[0.04, 0.06], 1000),
        ("five of the same rate", &[0.2; 5], &[0.5; 5], 1000),
        (
            "nine are the highest",
            &[0.1; 10],
            &[0.401, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
            1500,
        ),
    ];
    for (seed, (name, shares, rates, count)) in cases.into_iter().enumerate() {
        let (covered, wrong) = coverage(shares, rates, count, seed as u64 + 1);
        assert!(covered >= 93.6, "{name}: covered {covered:.1} %");
        assert!(wrong <= 3.5, "{name}: wrong verdicts {wrong:.1} %");
    }
}
