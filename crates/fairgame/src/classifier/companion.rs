//! The file beside a model file with which another library gives rows their scores.

use serde::{Deserialize, Serialize};

use crate::{Error, ErrorKind, Result, shown};

/// Fitted estimators of another library, in a file beside the model file.
///
/// The model file holds the rules over their scores. It names this file and says what its bytes hash to, so that other
/// estimators are not taken for these.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Companion {
    /// Its name, in the folder of the model file.
    pub file: String,
    /// SHA-256 of its bytes.
    pub sha256: String,
    /// What wrote it, such as `joblib`.
    pub format: String,
    /// The class of each estimator.
    pub estimators: Vec<String>,
    /// The columns of the data that the estimators were fitted on, in order, and among them those that are ignored.
    pub features: Vec<String>,
    /// Whether these columns had names of their own; if not, they are found by position.
    pub named: bool,
    /// Of each probability of groups, the patterns that it is the sum of; the last estimators, one for each fold, give
    /// the probabilities of patterns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Vec<u32>>,
    /// The columns that are no features: estimators are not given them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<String>,
}

impl Companion {
    /// The columns that the estimators are given, in order.
    pub fn used(&self) -> impl Iterator<Item = &str> {
        let used = self.features.iter().filter(|name| !self.ignored.contains(name));
        used.map(String::as_str)
    }

    /// Refuses a name that leads to another folder, and what is no hash.
    pub fn check(&self) -> Result<()> {
        let wrong = |message: String| {
            Err(Error::new(ErrorKind::Format, message).help("the model file may be damaged"))
        };
        let elsewhere = self.file.contains(['/', '\\', '\0', ':']) || self.file.starts_with('.');
        if elsewhere || self.file.is_empty() {
            let name = shown(&self.file);
            return wrong(format!("`{name}` is not the name of a file beside the model file"));
        }
        if self.sha256.len() != 64 || !self.sha256.bytes().all(|one| one.is_ascii_hexdigit()) {
            return wrong(format!("`{}` is no SHA-256", shown(&self.sha256)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beside(file: &str, sha256: &str) -> Companion {
        let (estimators, features) = (vec!["LGBMClassifier".to_owned()], vec!["age".to_owned()]);
        let (file, sha256, format) = (file.to_owned(), sha256.to_owned(), "joblib".to_owned());
        let (groups, ignored) = (Vec::new(), Vec::new());
        Companion { file, sha256, format, estimators, features, named: true, groups, ignored }
    }

    #[test]
    fn its_name_stays_in_the_folder() {
        let hash = "0".repeat(64);
        assert!(beside("model.safetensors.joblib", &hash).check().is_ok());
        for name in ["", "../model.joblib", "/etc/passwd", "a/b", "a\\b", "c:b", ".hidden"] {
            assert!(beside(name, &hash).check().is_err(), "{name}");
        }
        assert!(beside("model.joblib", "abc").check().is_err());
        assert!(beside("model.joblib", &"g".repeat(64)).check().is_err());
    }
}
