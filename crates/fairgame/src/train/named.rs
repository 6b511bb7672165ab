//! Settings that are one of several kinds, by name alone or with settings of their own.
//!
//! `"practical"` and `{ practical = { turns = 1000 } }` say both which algorithm it is.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::{MapAccessDeserializer, MapDeserializer, StrDeserializer};
use serde::de::{DeserializeOwned, Deserializer, IntoDeserializer, MapAccess, Visitor};

/// Reads an enum from a name, whose variant is then all defaults, or from a map with one entry.
pub(super) fn named<'de, T: DeserializeOwned, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    deserializer.deserialize_any(Named(PhantomData))
}

struct Named<T>(PhantomData<T>);

/// No settings of its own.
#[derive(Clone, Copy)]
struct Nothing;

impl<'de, E: serde::de::Error> IntoDeserializer<'de, E> for Nothing {
    type Deserializer = MapDeserializer<'de, std::iter::Empty<(&'de str, &'de str)>, E>;

    fn into_deserializer(self) -> Self::Deserializer {
        MapDeserializer::new(std::iter::empty())
    }
}

impl<'de, T: DeserializeOwned> Visitor<'de> for Named<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name, or a name with settings")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<T, E> {
        let bare: Result<T, E> = T::deserialize(StrDeserializer::new(name));
        bare.or_else(|_| {
            let entry = std::iter::once((name, Nothing));
            T::deserialize(MapAccessDeserializer::new(MapDeserializer::new(entry)))
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let one = T::deserialize(MapAccessDeserializer::new(&mut map))?;
        match map.next_key::<String>()? {
            None => Ok(one),
            Some(other) => Err(serde::de::Error::custom(format!(
                "only one can be meant, and `{other}` is a second"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::algorithm::{Algorithm, Practical};
    use crate::classifier::{Selection, ShrinkSpec};
    use crate::model::ModelSpec;
    use crate::train::{Datasets, Recipe, Spec};

    fn spec(json: &str) -> Result<Spec, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }

    #[test]
    fn names_alone_and_with_settings() {
        let bare = spec(
            r#"{"label": "y", "algorithm": "practical", "selection": "shrink", "model": "mlp",
                "datasets": "one"}"#,
        );
        let bare = bare.unwrap();
        assert_eq!(bare.algorithm, Algorithm::Practical(Practical::default()));
        assert_eq!(bare.selection, Recipe::Recommended.selection());
        let paper = spec(r#"{"label": "y", "selection": "shrink", "recipe": "paper"}"#).unwrap();
        assert_eq!(paper.selection, Selection::Shrink(ShrinkSpec::default()));
        assert_eq!(bare.model, ModelSpec::Mlp { units: 50 });
        assert_eq!(bare.datasets, Datasets::One);
        let some = spec(
            r#"{"label": "y", "model": "linear", "selection": "last", "datasets": "two",
                "algorithm": {"practical": {"turns": 7, "model": {"adam": {"step": 0.01}}}}}"#,
        );
        let Algorithm::Practical(practical) = some.unwrap().algorithm else { panic!() };
        assert_eq!((practical.turns, practical.batch), (7, 100));
        for wrong in [
            r#"{"label": "y", "algorithm": "practicle"}"#,
            r#"{"label": "y", "algorithm": {"practical": {"turnz": 7}}}"#,
            r#"{"label": "y", "algorithm": 3}"#,
        ] {
            let error = spec(wrong).unwrap_err();
            assert!(error.contains("expected"), "{error}");
        }
        let both = spec(r#"{"label": "y", "algorithm": {"practical": {}, "lagrangian": {}}}"#);
        assert!(both.unwrap_err().contains("`lagrangian` is a second"));
    }

    /// All that a spec says, it says again.
    #[test]
    fn specs_are_read_as_they_are_written() {
        for algorithm in
            ["discrete", "continuous", "practical", "lagrangian", "baseline", "unconstrained"]
        {
            let one = spec(&format!(r#"{{"label": "y", "algorithm": "{algorithm}"}}"#)).unwrap();
            assert_eq!(one.algorithm.name(), algorithm);
            let text = serde_json::to_string(&one).unwrap();
            assert_eq!(spec(&text).unwrap(), one);
        }
    }
}
