//! The one file format of models and checkpoints: a header of JSON and named arrays of numbers.
//!
//! On disk it is a safetensors file. Its metadata has one key, `fairgame`, whose value is a JSON text
//! with the format's version, what the file is, the header, and a SHA-256 over all of it and the arrays. A header of more
//! than a megabyte is an array of bytes beside the others, since readers of the format take no metadata above 100 MB.
//! Reading runs no code, believes no length, and refuses what does not have the hash it says.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use safetensors::{Dtype, SafeTensors, View};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{Error, ErrorKind, Result};

/// The version of the format that is written, and the newest that is read.
pub const VERSION: u32 = 2;

/// A longer header is an array.
const LONG: usize = 1 << 20;

/// What that array is called.
const HEADER: &str = "header.json";

/// Numbers of one kind.
#[derive(Debug, Clone, PartialEq)]
pub enum Numbers {
    /// Parameters of models.
    F32(Vec<f32>),
    /// Weights and multipliers.
    F64(Vec<f64>),
    /// Counts.
    U64(Vec<u64>),
    /// Places in other arrays.
    U32(Vec<u32>),
}

/// Arrays of numbers by name.
///
/// ```
/// use fairgame::archive::{Arrays, Numbers};
/// let mut arrays = Arrays::default();
/// arrays.put("weights", Numbers::F64(vec![0.25, 0.75]));
/// assert!(arrays.clone().take_f64("weights", 3).is_err());
/// assert_eq!(arrays.take_f64("weights", 2)?, [0.25, 0.75]);
/// # Ok::<(), fairgame::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Arrays(BTreeMap<String, Numbers>);

impl Arrays {
    /// Puts an array under a name.
    pub fn put(&mut self, name: &str, numbers: Numbers) {
        self.0.insert(name.to_owned(), numbers);
    }

    /// The arrays and their names, in the order of the names; what is changed here is what is written.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut Numbers)> {
        self.0.iter_mut().map(|(name, array)| (name.as_str(), array))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How long an array is, if there is one of that name.
    pub fn length(&self, name: &str) -> Option<usize> {
        self.0.get(name).map(Numbers::len)
    }

    /// Puts each of `others` under its own name after `part` and a dot.
    pub fn put_part(&mut self, part: &str, others: Arrays) {
        self.0.extend(others.0.into_iter().map(|(name, array)| (format!("{part}.{name}"), array)));
    }

    /// Takes out what [`Arrays::put_part`] put in.
    pub fn take_part(&mut self, part: &str) -> Arrays {
        let prefix = format!("{part}.");
        let mut taken = BTreeMap::new();
        self.0.retain(|name, array| match name.strip_prefix(&prefix) {
            Some(rest) => {
                taken.insert(rest.to_owned(), std::mem::replace(array, Numbers::U64(Vec::new())));
                false
            }
            None => true,
        });
        Arrays(taken)
    }

    /// Takes out an array of f32 that has this length.
    pub fn take_f32(&mut self, name: &str, length: usize) -> Result<Vec<f32>> {
        match self.0.remove(name) {
            Some(Numbers::F32(numbers)) if numbers.len() == length => Ok(numbers),
            found => Err(unlike(name, length, "f32", found.as_ref())),
        }
    }

    /// Takes out an array of f64 that has this length.
    pub fn take_f64(&mut self, name: &str, length: usize) -> Result<Vec<f64>> {
        match self.0.remove(name) {
            Some(Numbers::F64(numbers)) if numbers.len() == length => Ok(numbers),
            found => Err(unlike(name, length, "f64", found.as_ref())),
        }
    }

    /// Takes out an array of u32 that has this length.
    pub fn take_u32(&mut self, name: &str, length: usize) -> Result<Vec<u32>> {
        match self.0.remove(name) {
            Some(Numbers::U32(numbers)) if numbers.len() == length => Ok(numbers),
            found => Err(unlike(name, length, "u32", found.as_ref())),
        }
    }

    /// Takes out an array of u64 that has this length.
    pub fn take_u64(&mut self, name: &str, length: usize) -> Result<Vec<u64>> {
        match self.0.remove(name) {
            Some(Numbers::U64(numbers)) if numbers.len() == length => Ok(numbers),
            found => Err(unlike(name, length, "u64", found.as_ref())),
        }
    }
}

fn unlike(name: &str, length: usize, kind: &str, found: Option<&Numbers>) -> Error {
    let found = match found {
        None => "there is none".to_owned(),
        Some(Numbers::F32(numbers)) => format!("found {} f32", numbers.len()),
        Some(Numbers::F64(numbers)) => format!("found {} f64", numbers.len()),
        Some(Numbers::U64(numbers)) => format!("found {} u64", numbers.len()),
        Some(Numbers::U32(numbers)) => format!("found {} u32", numbers.len()),
    };
    Error::new(ErrorKind::Format, format!("array `{name}` should be {length} {kind}: {found}"))
}

/// A header and arrays, of which the reader is told what they are.
#[derive(Debug, Clone, PartialEq)]
pub struct Archive {
    /// What it is: a model, a checkpoint.
    pub what: String,
    /// JSON.
    pub header: String,
    /// The arrays.
    pub arrays: Arrays,
}

/// What the metadata of the safetensors file says.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Label {
    version: u32,
    what: String,
    sha256: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    header: Option<String>,
}

/// The one key of the metadata.
const KEY: &str = "fairgame";

impl Archive {
    /// SHA-256 over the version, the header and the arrays, in hexadecimal.
    pub fn sha256(&self) -> String {
        self.hash(VERSION)
    }

    /// The hash of the archive as a file of that version has it.
    fn hash(&self, version: u32) -> String {
        let mut hash = Sha256::new();
        let mut part = |bytes: &[u8]| {
            // With its length, so that no two archives run together to the same bytes.
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        part(&version.to_le_bytes());
        part(self.what.as_bytes());
        part(self.header.as_bytes());
        for (name, numbers) in &self.arrays.0 {
            part(name.as_bytes());
            part(numbers.kind().as_bytes());
            part(&numbers.bytes());
        }
        hex(&hash.finalize())
    }

    /// The bytes of a file.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let long = self.header.len() > LONG;
        let label = Label {
            version: VERSION,
            what: self.what.clone(),
            sha256: self.sha256(),
            header: (!long).then(|| self.header.clone()),
        };
        let failed = |error: &dyn std::fmt::Display| {
            Error::new(ErrorKind::Format, format!("cannot be put in a file: {error}"))
        };
        let label = serde_json::to_string(&label).map_err(|error| failed(&error))?;
        let metadata = HashMap::from([(KEY.to_owned(), label)]);
        let arrays = self.arrays.0.iter();
        let arrays = arrays.map(|(name, numbers)| (name.as_str(), Tensor::of(numbers)));
        let header = long.then(|| (HEADER, Tensor::text(&self.header)));
        let tensors: BTreeMap<&str, Tensor<'_>> = arrays.chain(header).collect();
        safetensors::serialize(tensors, Some(metadata)).map_err(|error| failed(&error))
    }

    /// Writes a file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<()> {
        let bytes = self.to_bytes().map_err(|error| error.at(path.display()))?;
        crate::whole::write_bytes(path, &bytes)
    }

    /// Reads a file that is `what`.
    pub fn read(path: &Path, what: &str) -> Result<Archive> {
        let bytes = std::fs::read(path).map_err(|error| {
            Error::new(ErrorKind::Io, format!("the {what} cannot be read: {error}"))
                .help("check the path, and that the file may be read")
                .at(path.display())
        })?;
        Archive::from_bytes(&bytes, what).map_err(|error| error.at(path.display()))
    }

    /// The archive that these bytes hold, if it is `what`.
    pub fn from_bytes(bytes: &[u8], what: &str) -> Result<Archive> {
        let broken = |why: String| {
            Error::new(ErrorKind::Format, format!("this is not a {what} of fairgame: {why}"))
                .help(format!("give a {what} file, whole, as fairgame wrote it"))
        };
        let (_, metadata) =
            SafeTensors::read_metadata(bytes).map_err(|error| broken(error.to_string()))?;
        let label = metadata.metadata().as_ref().and_then(|all| all.get(KEY));
        let label = label.ok_or_else(|| broken("it has no header of ours".to_owned()))?;
        // The version first, alone: a later one may have other fields.
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        let Version { version } =
            serde_json::from_str(label).map_err(|error| broken(error.to_string()))?;
        if version == 0 {
            return Err(broken("there is no version 0 of the format".to_owned()));
        }
        if version > VERSION {
            let message = format!(
                "the {what} is of version {version} of the format, and this fairgame reads up to {VERSION}"
            );
            return Err(Error::new(ErrorKind::Format, message).help("use a newer fairgame"));
        }
        let label: Label =
            serde_json::from_str(label).map_err(|error| broken(error.to_string()))?;
        if label.what != what {
            return Err(broken(format!("it is a {}", label.what)));
        }
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| broken(error.to_string()))?;
        let (mut arrays, mut header) = (Arrays::default(), label.header);
        for (name, tensor) in tensors.iter() {
            if name == HEADER && tensor.dtype() == Dtype::U8 && header.is_none() {
                let text = std::str::from_utf8(tensor.data());
                header = Some(text.map_err(|error| broken(error.to_string()))?.to_owned());
                continue;
            }
            let numbers = Numbers::from_bytes(tensor.dtype(), tensor.data())
                .ok_or_else(|| broken(format!("array `{name}` is of kind {:?}", tensor.dtype())))?;
            arrays.put(name, numbers);
        }
        let header = header.ok_or_else(|| broken("it has no header of ours".to_owned()))?;
        let archive = Archive { what: label.what, header, arrays };
        if archive.hash(version) != label.sha256 {
            let message =
                format!("the {what} was changed or damaged: its hash is not the one it says");
            return Err(Error::new(ErrorKind::Format, message).help("get the file again"));
        }
        Ok(archive)
    }
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Numbers {
    fn kind(&self) -> &'static str {
        match self {
            Numbers::F32(_) => "f32",
            Numbers::F64(_) => "f64",
            Numbers::U64(_) => "u64",
            Numbers::U32(_) => "u32",
        }
    }

    fn bytes(&self) -> Vec<u8> {
        match self {
            Numbers::F32(numbers) => numbers.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Numbers::F64(numbers) => numbers.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Numbers::U64(numbers) => numbers.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Numbers::U32(numbers) => numbers.iter().flat_map(|x| x.to_le_bytes()).collect(),
        }
    }

    fn from_bytes(dtype: Dtype, bytes: &[u8]) -> Option<Numbers> {
        fn words<const N: usize, T>(bytes: &[u8], word: fn([u8; N]) -> T) -> Option<Vec<T>> {
            let (words, rest) = bytes.as_chunks::<N>();
            rest.is_empty().then(|| words.iter().map(|bytes| word(*bytes)).collect())
        }
        match dtype {
            Dtype::F32 => words(bytes, f32::from_le_bytes).map(Numbers::F32),
            Dtype::F64 => words(bytes, f64::from_le_bytes).map(Numbers::F64),
            Dtype::U64 => words(bytes, u64::from_le_bytes).map(Numbers::U64),
            Dtype::U32 => words(bytes, u32::from_le_bytes).map(Numbers::U32),
            _ => None,
        }
    }

    fn len(&self) -> usize {
        match self {
            Numbers::F32(numbers) => numbers.len(),
            Numbers::F64(numbers) => numbers.len(),
            Numbers::U64(numbers) => numbers.len(),
            Numbers::U32(numbers) => numbers.len(),
        }
    }
}

/// Numbers or a text and how long they are, as safetensors asks for them.
struct Tensor<'a> {
    content: Content<'a>,
    shape: [usize; 1],
}

enum Content<'a> {
    Numbers(&'a Numbers),
    Text(&'a str),
}

impl<'a> Tensor<'a> {
    fn of(numbers: &'a Numbers) -> Self {
        Tensor { content: Content::Numbers(numbers), shape: [numbers.len()] }
    }

    fn text(text: &'a str) -> Self {
        Tensor { content: Content::Text(text), shape: [text.len()] }
    }
}

impl View for Tensor<'_> {
    fn dtype(&self) -> Dtype {
        match self.content {
            Content::Numbers(Numbers::F32(_)) => Dtype::F32,
            Content::Numbers(Numbers::F64(_)) => Dtype::F64,
            Content::Numbers(Numbers::U64(_)) => Dtype::U64,
            Content::Numbers(Numbers::U32(_)) => Dtype::U32,
            Content::Text(_) => Dtype::U8,
        }
    }

    fn shape(&self) -> &[usize] {
        &self.shape
    }

    fn data(&self) -> Cow<'_, [u8]> {
        match self.content {
            Content::Numbers(numbers) => Cow::Owned(numbers.bytes()),
            Content::Text(text) => Cow::Borrowed(text.as_bytes()),
        }
    }

    fn data_len(&self) -> usize {
        self.shape[0]
            * match self.content {
                Content::Numbers(Numbers::F32(_) | Numbers::U32(_)) => 4,
                Content::Numbers(Numbers::F64(_) | Numbers::U64(_)) => 8,
                Content::Text(_) => 1,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    fn archive() -> Archive {
        let mut arrays = Arrays::default();
        arrays.put("theta", Numbers::F32(vec![1.0, -2.5, f32::NAN]));
        arrays.put("lambda", Numbers::F64(vec![]));
        arrays.put("turn", Numbers::U64(vec![u64::MAX]));
        Archive { what: "model".into(), header: "{\"seed\":7}".into(), arrays }
    }

    #[test]
    fn what_is_written_is_read() {
        let bytes = archive().to_bytes().unwrap();
        let read = Archive::from_bytes(&bytes, "model").unwrap();
        assert_eq!(read.to_bytes().unwrap(), bytes);
        assert_eq!(read.header, archive().header);
        let error = Archive::from_bytes(&bytes, "checkpoint").unwrap_err().to_string();
        assert!(error.contains("it is a model"), "{error}");
    }

    /// Every single changed byte, every truncation and random bytes: an error, never a panic, and never
    /// another archive.
    #[test]
    fn damage_is_found() {
        let bytes = archive().to_bytes().unwrap();
        for length in 0..bytes.len() {
            assert!(Archive::from_bytes(&bytes[..length], "model").is_err());
        }
        let mut stream = Stream::new(3, "damage");
        for at in 0..bytes.len() {
            for _ in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << stream.below(8);
                if let Ok(read) = Archive::from_bytes(&damaged, "model") {
                    // JSON has more than one way to write the same thing, spaces among them.
                    assert_eq!(read.sha256(), archive().sha256(), "byte {at}");
                }
            }
        }
        for _ in 0..20_000 {
            let mut noise: Vec<u8> = (0..stream.below(200)).map(|_| stream.bits() as u8).collect();
            assert!(Archive::from_bytes(&noise, "model").is_err());
            // With a plausible length in front, which must not be believed.
            noise.splice(0..0, stream.below(1 << 20).to_le_bytes());
            assert!(Archive::from_bytes(&noise, "model").is_err());
        }
    }

    /// A header that the metadata of a safetensors file cannot hold.
    #[test]
    fn a_header_of_any_length() {
        for length in [LONG, LONG + 1, 60_000_000] {
            // Each quote is four bytes where a JSON text is in a JSON text in a JSON text.
            let header = "\"".repeat(length);
            let long = Archive { header, ..archive() };
            let read = Archive::from_bytes(&long.to_bytes().unwrap(), "model").unwrap();
            assert_eq!(read.header.len(), length);
            assert_eq!(read.sha256(), long.sha256());
        }
    }

    #[test]
    fn a_later_version_says_so() {
        let label = "{\"version\":3,\"new\":[]}".to_owned();
        let metadata = HashMap::from([(KEY.to_owned(), label)]);
        let none: BTreeMap<String, Tensor<'_>> = BTreeMap::new();
        let bytes = safetensors::serialize(none, Some(metadata)).unwrap();
        let error = Archive::from_bytes(&bytes, "model").unwrap_err().to_string();
        assert!(error.contains("version 3") && error.contains("newer"), "{error}");
    }
}
