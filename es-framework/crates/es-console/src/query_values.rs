//! The values in the query of an address.

use std::{fmt::Display, str::FromStr};

use serde::Deserialize;

use crate::notice::NoticePage;

/// The values in the query of an address or in a form, as they were entered.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct AddressValues(Vec<(String, String)>);

impl AddressValues {
    /// Reads the query of an address.
    pub(crate) fn parse(query: &str) -> Self {
        Self(serde_urlencoded::from_str(query).unwrap_or_default())
    }

    /// Returns the first value of this name without the spaces around it. A missing value is empty.
    pub(crate) fn value_or_empty(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(key, _)| key == name);
        found.map_or("", |(_, value)| value.trim())
    }

    /// Parses the first value of this name.
    ///
    /// # Errors
    /// The value is missing or not valid.
    pub(crate) fn required<T: FromStr<Err: Display>>(&self, name: &str) -> Result<T, NoticePage> {
        parse_value(self.value_or_empty(name))
    }

    /// Parses the first value of this name. Returns `None` if it is missing or not valid.
    pub(crate) fn parsed<T: FromStr>(&self, name: &str) -> Option<T> {
        self.value_or_empty(name).parse().ok()
    }
}

/// Parses a value of an address or a form.
pub(crate) fn parse_value<T: FromStr<Err: Display>>(text: &str) -> Result<T, NoticePage> {
    let invalid = |error: T::Err| NoticePage::invalid_input(error.to_string());
    text.parse().map_err(invalid)
}

/// Returns the address of a page with these values in its query.
pub(crate) fn address(path: &str, values: &[(&str, &str)]) -> String {
    match serde_urlencoded::to_string(values) {
        Ok(query) if !query.is_empty() => format!("{path}?{query}"),
        // Texts can always be written.
        Ok(_) | Err(_) => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_of_a_name_counts() {
        let values = AddressValues::parse("a=+%C3%BC+&b=7&b=8&c");
        assert_eq!(
            [
                values.value_or_empty("a"),
                values.value_or_empty("c"),
                values.value_or_empty("d")
            ],
            ["ü", "", ""]
        );
        assert_eq!(values.parsed::<u8>("b"), Some(7));
        assert_eq!(values.parsed::<u8>("a"), None);
        assert_eq!(AddressValues::parse("%ff=&&=").value_or_empty("a"), "");
        let form: AddressValues = serde_urlencoded::from_bytes(b"a=1%0D%0A2").unwrap();
        assert_eq!(form.value_or_empty("a"), "1\r\n2");
    }
}
