//! Settings that are single values, and lists and maps of settings.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Declared, Kind, Place, Schema, Wrong};

/// A number, or a number that may not be set.
pub(crate) trait Numeric {
    /// The number, if it is set.
    fn number(&self) -> Option<f64>;
}

impl<T: Numeric> Numeric for Option<T> {
    fn number(&self) -> Option<f64> {
        self.as_ref().and_then(Numeric::number)
    }
}

impl Numeric for f64 {
    fn number(&self) -> Option<f64> {
        Some(*self)
    }
}

impl Declared for f64 {
    fn schema() -> Schema {
        Kind::Number.into()
    }

    fn read(given: &Value, at: &Place, _: Option<&Self>) -> Result<Self, Wrong> {
        given.as_f64().ok_or_else(|| Wrong::expected(at, "a number", given))
    }

    fn write(&self) -> Value {
        // JSON has no infinities: these stay what they are, and are refused when read.
        serde_json::Number::from_f64(*self)
            .map_or_else(|| Value::String(self.to_string()), Value::Number)
    }
}

macro_rules! whole {
    ($($type:ty)*) => { $(
        impl Numeric for $type {
            fn number(&self) -> Option<f64> {
                Some(*self as f64)
            }
        }

        impl Declared for $type {
            fn schema() -> Schema {
                Kind::Whole.into()
            }

            fn read(given: &Value, at: &Place, _: Option<&Self>) -> Result<Self, Wrong> {
                let found = given.as_u64().and_then(|number| <$type>::try_from(number).ok());
                found.ok_or_else(|| Wrong::expected(at, "a whole number from 0 up", given))
            }

            fn write(&self) -> Value {
                Value::from(*self)
            }
        }
    )* };
}

whole!(u64 usize);

impl Declared for bool {
    fn schema() -> Schema {
        Kind::Truth.into()
    }

    fn read(given: &Value, at: &Place, _: Option<&Self>) -> Result<Self, Wrong> {
        given.as_bool().ok_or_else(|| Wrong::expected(at, "`true` or `false`", given))
    }

    fn write(&self) -> Value {
        Value::Bool(*self)
    }
}

impl Declared for String {
    fn schema() -> Schema {
        Kind::Text.into()
    }

    fn read(given: &Value, at: &Place, _: Option<&Self>) -> Result<Self, Wrong> {
        let text = given.as_str().ok_or_else(|| Wrong::expected(at, "a text", given))?;
        Ok(text.to_owned())
    }

    fn write(&self) -> Value {
        Value::String(self.clone())
    }
}

macro_rules! optional {
    ($($type:ty)*) => { $(
        impl Declared for Option<$type> {
            fn schema() -> Schema {
                <$type>::schema()
            }

            fn read(given: &Value, at: &Place, _: Option<&Self>) -> Result<Self, Wrong> {
                <$type>::read(given, at, None).map(Some)
            }

            fn write(&self) -> Value {
                self.as_ref().map_or(Value::Null, Declared::write)
            }
        }
    )* };
}

optional!(u64 usize f64 String);

impl<T: Declared> Declared for Vec<T> {
    fn schema() -> Schema {
        Kind::List(Box::new(T::schema())).into()
    }

    fn read(given: &Value, at: &Place, _: Option<&Self>) -> Result<Self, Wrong> {
        let items = given.as_array().ok_or_else(|| Wrong::expected(at, "a list", given))?;
        let items = items.iter().enumerate();
        items.map(|(i, item)| T::read(item, &at.key(&i.to_string()), None)).collect()
    }

    fn write(&self) -> Value {
        self.iter().map(Declared::write).collect()
    }

    fn verify(&self, at: &Place) -> Result<(), Wrong> {
        self.iter().enumerate().try_for_each(|(i, item)| item.verify(&at.key(&i.to_string())))
    }
}

impl<T: Declared> Declared for BTreeMap<String, T> {
    fn schema() -> Schema {
        Kind::Map(Box::new(T::schema())).into()
    }

    /// What is given joins what is there.
    fn read(given: &Value, at: &Place, base: Option<&Self>) -> Result<Self, Wrong> {
        let given = given.as_object().ok_or_else(|| Wrong::expected(at, "a table", given))?;
        let mut all = base.cloned().unwrap_or_default();
        for (name, value) in given {
            all.insert(name.clone(), T::read(value, &at.key(name), None)?);
        }
        Ok(all)
    }

    fn write(&self) -> Value {
        self.iter().map(|(name, value)| (name.clone(), value.write())).collect()
    }

    fn verify(&self, at: &Place) -> Result<(), Wrong> {
        self.iter().try_for_each(|(name, value)| value.verify(&at.key(name)))
    }
}
