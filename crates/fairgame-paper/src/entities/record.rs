//! A listing of a business, as one source has it.

use std::fmt;

/// What a directory, a map or a web page says of a business; `None` is a field left empty.
///
/// ```
/// use fairgame_paper::entities::Record;
/// let record = Record {
///     name: "Alder Bakery".to_owned(),
///     street: Some("12 Hill St".to_owned()),
///     city: Some("Brookton".to_owned()),
///     ..Record::default()
/// };
/// assert_eq!(record.to_string(), "Alder Bakery | 12 Hill St | Brookton | - | - | - | -");
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// What it is called.
    pub name: String,
    /// Number, street, and what else leads to the door.
    pub street: Option<String>,
    /// City or district.
    pub city: Option<String>,
    /// Post code.
    pub postcode: Option<String>,
    /// Phone number, in any of many formats.
    pub phone: Option<String>,
    /// Web site.
    pub site: Option<String>,
    /// What the source files it under.
    pub category: Option<String>,
}

impl Record {
    /// The fields beside the name.
    pub fn fields(&self) -> [Option<&str>; 6] {
        let Record { street, city, postcode, phone, site, category, .. } = self;
        [street, city, postcode, phone, site, category].map(Option::as_deref)
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.fields().iter().try_for_each(|field| write!(f, " | {}", field.unwrap_or("-")))
    }
}
