//! What a declaration says of a setting beside its name: default, range, flag.

use serde_json::{Map, Value};

use super::{Absent, Declared, Fault, Field, Numeric, Place, Recipe, Wrong};

type Check<T> = Box<dyn Fn(&T) -> Result<(), Fault>>;

/// What a declaration says of a setting beside its name and help.
pub(crate) struct Of<T> {
    default: Option<Box<dyn Fn(Recipe) -> T>>,
    /// The value that is not set, and its word.
    pub(super) absent: Option<(Absent, T)>,
    checks: Vec<Check<T>>,
    range: Option<String>,
    flag: Option<&'static str>,
    inner: Option<&'static str>,
    group: Option<&'static str>,
    chooses: bool,
    carried: usize,
    bare: Option<&'static str>,
    adds: bool,
    only: Option<(&'static str, &'static [&'static str])>,
}

/// A setting that must be given.
pub(crate) fn needed<T>() -> Of<T> {
    Of {
        default: None,
        absent: None,
        checks: Vec::new(),
        range: None,
        flag: None,
        inner: Some(""),
        group: None,
        chooses: false,
        carried: 0,
        bare: None,
        adds: false,
        only: None,
    }
}

/// A setting with this default.
pub(crate) fn with<T: Clone + 'static>(default: T) -> Of<T> {
    by(move |_| default.clone())
}

/// A setting whose default depends on the recipe.
pub(crate) fn by<T>(default: impl Fn(Recipe) -> T + 'static) -> Of<T> {
    Of { default: Some(Box::new(default)), ..needed() }
}

impl<T> Of<T> {
    /// The flag of the command line, without dashes.
    pub(crate) fn flag(mut self, flag: &'static str) -> Self {
        self.flag = Some(flag);
        self
    }

    /// What comes before the flags of the settings inside.
    pub(crate) fn inner(mut self, prefix: &'static str) -> Self {
        self.inner = Some(prefix);
        self
    }

    /// The settings inside have no flags.
    pub(crate) fn no_flags(mut self) -> Self {
        self.inner = None;
        self
    }

    /// Where the setting, and those inside, are shown in help texts.
    pub(crate) fn group(mut self, group: &'static str) -> Self {
        self.group = Some(group);
        self
    }

    /// The flag chooses the variant that the setting is in.
    pub(crate) fn chooses(mut self) -> Self {
        self.chooses = true;
        self
    }

    /// A flag that chooses another variant, of the so many nearest choices, carries the value over.
    pub(crate) fn carried(mut self, choices: usize) -> Self {
        self.carried = choices;
        self
    }

    /// The flag may stand without a value, and then means this one.
    pub(crate) fn bare(mut self, value: &'static str) -> Self {
        self.bare = Some(value);
        self
    }

    /// The flag adds to the list.
    pub(crate) fn adds(mut self) -> Self {
        self.adds = true;
        self
    }

    /// The flag is only for these words of another choice.
    pub(crate) fn only(mut self, choice: &'static str, words: &'static [&'static str]) -> Self {
        self.only = Some((choice, words));
        self
    }

    /// Refuses values: the check says what was found, and what to give instead.
    pub(crate) fn check(mut self, check: impl Fn(&T) -> Result<(), Fault> + 'static) -> Self {
        self.checks.push(Box::new(check));
        self
    }

    /// The default, if there is one.
    pub(crate) fn default(&self, recipe: Recipe) -> Option<T> {
        self.default.as_ref().map(|default| default(recipe))
    }
}

impl<T> Of<Option<T>> {
    /// Not set, the value follows from the data by this rule.
    pub(crate) fn auto(self, rule: &'static str) -> Self {
        self.unset("auto", rule)
    }

    /// The word for a value that is not set, and what it means.
    pub(crate) fn unset(mut self, word: &'static str, rule: &'static str) -> Self {
        self.absent = Some((Absent { word, rule }, None));
        self
    }
}

impl<T: Numeric + 'static> Of<T> {
    fn range(mut self, range: String, holds: impl Fn(f64) -> bool + 'static) -> Self {
        let told = range.clone();
        self.range = Some(range);
        self.check(move |value| match value.number() {
            Some(number) if !(number.is_finite() && holds(number)) => Err(Fault::new(
                format!("{number} is out of range"),
                format!("give a number {told}"),
            )),
            _ => Ok(()),
        })
    }

    /// Greater than this number.
    pub(crate) fn above(self, least: f64) -> Self {
        self.range(format!("above {least}"), move |number| number > least)
    }

    /// This number or a greater one.
    pub(crate) fn at_least(self, least: f64) -> Self {
        self.range(format!("from {least} up"), move |number| number >= least)
    }

    /// From the first number to the second, both included.
    pub(crate) fn between(self, least: f64, most: f64) -> Self {
        let holds = move |number: f64| (least..=most).contains(&number);
        self.range(format!("from {least} to {most}"), holds)
    }

    /// Above 0 and below 1.
    pub(crate) fn share(self) -> Self {
        self.range("above 0 and below 1".to_owned(), |number| number > 0.0 && number < 1.0)
    }

    /// From the first number to below the second.
    pub(crate) fn below(self, least: f64, most: f64) -> Self {
        let holds = move |number: f64| (least..most).contains(&number);
        self.range(format!("from {least} to below {most}"), holds)
    }
}

impl<T: Declared> Of<T> {
    /// The value in the shape that is read; `None` where there is nothing to write.
    fn written(&self, value: &T) -> Option<Value> {
        match &self.absent {
            Some((absent, unset)) if value == unset => Some(absent.word.into()),
            _ => Some(value.write()).filter(|written| !written.is_null()),
        }
    }

    /// Writes a setting of a record.
    pub(crate) fn write(&self, name: &str, value: &T, into: &mut Map<String, Value>) {
        into.extend(self.written(value).map(|value| (name.to_owned(), value)));
    }

    /// Refuses a value that is out of range, here or inside.
    pub(crate) fn verify(&self, name: &str, value: &T, at: &Place) -> Result<(), Wrong> {
        let at = at.key(name);
        for check in &self.checks {
            check(value)
                .map_err(|Fault { message, help }| Wrong::value(&at, message).help(help))?;
        }
        value.verify(&at)
    }

    /// The setting as a part of a schema; its help is the doc comment.
    pub(crate) fn described(self, name: &'static str, doc: &str) -> Field {
        let default = |recipe| self.default(recipe).map(|value| self.written(&value));
        let [recommended, paper] = Recipe::ALL.map(default);
        let defaults = recommended
            .zip(paper)
            .map(|(one, other)| [one.unwrap_or_default(), other.unwrap_or_default()]);
        Field {
            name,
            help: sentence(doc),
            schema: T::schema(),
            defaults,
            absent: self.absent.map(|(absent, _)| absent),
            range: self.range,
            flag: self.flag,
            inner: self.inner,
            group: self.group,
            chooses: self.chooses,
            carried: self.carried,
            bare: self.bare,
            adds: self.adds,
            only: self.only,
        }
    }
}

/// A doc comment as one line without its full stop.
pub(crate) fn sentence(doc: &str) -> String {
    let words: Vec<&str> = doc.split_whitespace().collect();
    words.join(" ").trim_end_matches('.').to_owned()
}
