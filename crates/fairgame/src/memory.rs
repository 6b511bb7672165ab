//! Memory that is known to be needed, asked for before it is.
//!
//! Where an allocation fails, a program ends at once, and hours of training with it. Sizes of what a training will hold are
//! known before its first turn, so a block of that size is allocated and given back. A system that promises more than it
//! has may still run out later; what is beyond all bounds, or beyond a limit that was set, is an error with the number.

use crate::{Error, ErrorKind, Result};

/// Refuses what needs more bytes than there are.
pub(crate) fn check(bytes: u128, what: &str, help: &str) -> Result<()> {
    if fits(bytes) {
        return Ok(());
    }
    let message = format!("{what} would take {}, and there is less memory", shown(bytes));
    Err(Error::new(ErrorKind::Settings, message).help(help.to_owned()))
}

/// Whether a block of so many bytes can be had.
pub(crate) fn fits(bytes: u128) -> bool {
    usize::try_from(bytes).is_ok_and(|bytes| {
        let mut block: Vec<u8> = Vec::new();
        block.try_reserve_exact(bytes).is_ok()
    })
}

/// The bytes of memory that are free, where the system says.
pub(crate) fn free() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// A number of bytes, at least one, perhaps in K, M or G (or KB, MB, GB) of 1,024 times as many: `64M`, `4GB`.
///
/// # Errors
/// If it is none.
///
/// ```
/// assert_eq!(fairgame::bytes_of("4GB").unwrap(), 4 << 30);
/// assert_eq!(fairgame::bytes_of("200 MiB").unwrap(), 200 << 20);
/// ```
pub fn bytes_of(text: &str) -> Result<usize> {
    let text = text.trim().strip_suffix(['B', 'b']).unwrap_or(text.trim());
    let text = text.strip_suffix(['i', 'I']).unwrap_or(text);
    let (number, scale) = match text.as_bytes().last() {
        Some(b'K' | b'k') => (&text[..text.len() - 1], 1 << 10),
        Some(b'M' | b'm') => (&text[..text.len() - 1], 1 << 20),
        Some(b'G' | b'g') => (&text[..text.len() - 1], 1 << 30),
        _ => (text, 1),
    };
    let bytes =
        number.trim_end().parse::<usize>().ok().and_then(|number| number.checked_mul(scale));
    bytes.filter(|bytes| *bytes > 0).ok_or_else(|| {
        Error::new(ErrorKind::Settings, "a number of bytes above 0 is needed, as in `64M`")
    })
}

/// A number of bytes in a unit that suits it.
pub(crate) fn shown(bytes: u128) -> String {
    match bytes as f64 {
        few if few < 1e6 => format!("{bytes} bytes"),
        some if some < 1e9 => format!("{:.0} MB", some / 1e6),
        many if many < 1e13 => format!("{:.1} GB", many / 1e9),
        beyond => format!("{:.0} TB", beyond / 1e12),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_all_memory() {
        check(1 << 20, "it", "").unwrap();
        for (bytes, number) in [(1_u128 << 62, "4611686 TB"), (1 << 90, "TB")] {
            let error = check(bytes, "the matrix", "use less").unwrap_err().to_string();
            assert!(error.contains("the matrix would take") && error.contains(number), "{error}");
        }
        assert_eq!(shown(3_600_000_000), "3.6 GB");
        assert_eq!(shown(48_000_000), "48 MB");
        assert_eq!(shown(12), "12 bytes");
    }
}
