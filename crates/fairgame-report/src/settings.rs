//! Nested settings as rows: a name, how deep it is, and a value if it is not a heading for others.

use serde_json::Value;

use crate::format;

/// Deeper settings are not taken apart.
const DEEPEST: usize = 6;

/// One row.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub(crate) depth: usize,
    pub(crate) name: String,
    pub(crate) value: Option<String>,
}

/// All rows of these settings, in their order. Nothing at all where there are none.
pub(crate) fn rows(settings: &Value) -> Vec<Setting> {
    let mut rows = Vec::new();
    match settings {
        Value::Null => {}
        Value::Object(_) | Value::Array(_) => below(settings, 0, &mut rows),
        single => rows.push(Setting { depth: 0, name: "value".into(), value: Some(text(single)) }),
    }
    rows
}

fn below(value: &Value, depth: usize, rows: &mut Vec<Setting>) {
    match value {
        Value::Object(map) => {
            map.iter().for_each(|(name, value)| row(name.clone(), value, depth, rows))
        }
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(i, value)| row((i + 1).to_string(), value, depth, rows));
        }
        _ => {}
    }
}

fn row(name: String, value: &Value, depth: usize, rows: &mut Vec<Setting>) {
    if depth < DEEPEST && is_nested(value) {
        rows.push(Setting { depth, name, value: None });
        below(value, depth + 1, rows);
    } else {
        rows.push(Setting { depth, name, value: Some(text(value)) });
    }
}

/// Whether a value needs rows of its own: lists of plain numbers and short texts do not.
fn is_nested(value: &Value) -> bool {
    match value {
        Value::Object(map) => !map.is_empty(),
        Value::Array(items) => {
            let long = |item: &Value| item.as_str().is_some_and(|s| s.len() > 24);
            items.iter().any(|item| item.is_object() || item.is_array() || long(item))
        }
        _ => false,
    }
}

/// A value on one line. Settings keep all of their digits: they are what was asked for.
fn text(value: &Value) -> String {
    match value {
        Value::Null => "none".into(),
        Value::Bool(true) => "yes".into(),
        Value::Bool(false) => "no".into(),
        Value::String(text) if text.is_empty() => "(empty)".into(),
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_u64().filter(|&n| n >= 10_000) {
            Some(n) => format::count(n),
            None => number.to_string().replace('-', "−"),
        },
        Value::Array(items) if items.is_empty() => "none".into(),
        Value::Array(items) if !is_nested(value) => {
            items.iter().map(text).collect::<Vec<_>>().join(", ")
        }
        Value::Object(map) if map.is_empty() => "none".into(),
        nested => nested.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nested_settings_are_rows_and_plain_lists_are_lines() {
        let found = rows(
            &json!({"model": {"kind": "mlp", "hidden": [16, 8]}, "turns": 50_000, "rate": -1e-3}),
        );
        let found: Vec<_> =
            found.iter().map(|r| (r.depth, r.name.as_str(), r.value.as_deref())).collect();
        let mut expected = vec![
            (0, "model", None),
            (1, "hidden", Some("16, 8")),
            (1, "kind", Some("mlp")),
            (0, "rate", Some("−0.001")),
            (0, "turns", Some("50,000")),
        ];
        // serde_json keeps the order of keys or sorts them, by a feature that others may switch on.
        let mut sorted = found.clone();
        sorted.sort_by_key(|r| r.1);
        expected.sort_by_key(|r| r.1);
        assert_eq!(sorted, expected);
    }

    #[test]
    fn nothing_gives_nothing_and_deep_settings_stay_whole() {
        assert!(rows(&Value::Null).is_empty());
        assert!(rows(&json!({})).is_empty());
        assert_eq!(rows(&json!("x"))[0].value.as_deref(), Some("x"));
        let deep = (0..20).fold(json!(1), |inner, _| json!({"a": inner}));
        assert_eq!(rows(&deep).len(), DEEPEST + 1);
    }
}
