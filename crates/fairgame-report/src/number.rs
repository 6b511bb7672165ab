//! Numbers in and out of text that has no NaN and no ∞: these are written as `"NaN"`, `"inf"`, `"-inf"`.
//!
//! `null` is read as NaN, because that is how others write it.

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number that survives JSON.
struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            x if x.is_finite() => serializer.serialize_f64(x),
            x if x.is_nan() => serializer.serialize_str("NaN"),
            x if x > 0.0 => serializer.serialize_str("inf"),
            _ => serializer.serialize_str("-inf"),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("a number, null, \"NaN\", \"inf\" or \"-inf\"")
    }

    fn visit_f64<E: de::Error>(self, x: f64) -> Result<Number, E> {
        Ok(Number(x))
    }

    fn visit_i64<E: de::Error>(self, x: i64) -> Result<Number, E> {
        Ok(Number(x as f64))
    }

    fn visit_u64<E: de::Error>(self, x: u64) -> Result<Number, E> {
        Ok(Number(x as f64))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Number, E> {
        Ok(Number(f64::NAN))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Number, E> {
        match text {
            "NaN" => Ok(Number(f64::NAN)),
            "inf" => Ok(Number(f64::INFINITY)),
            "-inf" => Ok(Number(f64::NEG_INFINITY)),
            _ => Err(E::invalid_value(de::Unexpected::Str(text), &self)),
        }
    }
}

pub(crate) fn serialize<S: Serializer>(x: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    Number(*x).serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Number::deserialize(deserializer)?.0)
}

/// `Option<f64>`, absent as `null`.
pub(crate) mod option {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(
        x: &Option<f64>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        x.map(Number).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<f64>, D::Error> {
        Ok(Option::<Number>::deserialize(deserializer)?.map(|x| x.0))
    }
}

/// `Vec<f64>`.
pub(crate) mod list {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(xs: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(xs.iter().map(|&x| Number(x)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<f64>, D::Error> {
        Ok(Vec::<Number>::deserialize(deserializer)?.into_iter().map(|x| x.0).collect())
    }
}

/// `Option<Vec<f64>>`, absent as `null`.
pub(crate) mod option_list {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(
        xs: &Option<Vec<f64>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        xs.as_ref()
            .map(|xs| xs.iter().map(|&x| Number(x)).collect::<Vec<_>>())
            .serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Vec<f64>>, D::Error> {
        let xs = Option::<Vec<Number>>::deserialize(deserializer)?;
        Ok(xs.map(|xs| xs.into_iter().map(|x| x.0).collect()))
    }
}
