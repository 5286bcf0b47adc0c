//! Hexadecimal digits.

use std::fmt::Write as _;

/// Returns two lowercase hexadecimal digits for each byte.
///
/// ```
/// assert_eq!(es_event::hex(&[0x0a, 0xff]), "0aff");
/// ```
#[must_use]
pub fn hex<'a>(bytes: impl IntoIterator<Item = &'a u8>) -> String {
    let mut digits = String::new();
    for byte in bytes {
        // Writing to memory cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}
