//! The parameters of a query: pairs from the query string and the path.

use std::collections::BTreeMap;

use super::QueryError;
use crate::projection::{ColumnType, column};

/// Follows the error of a value with a comma, which may be meant as a list.
const REPEAT_HINT: &str = "; repeat the parameter for each of several values";

/// The parameters that a client sent. Each method removes the parameter that it reads, so that unknown
/// parameters remain.
///
/// ```
/// use es_framework::query::QueryParameters;
///
/// let pairs = [("title", "ring"), ("author", "Tolkien, J. R. R."), ("author", "Austen")];
/// let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
/// let mut parameters = QueryParameters::new(pairs)?;
/// assert_eq!(parameters.take_optional::<String>("title")?.as_deref(), Some("ring"));
/// assert_eq!(parameters.take_multi_valued::<String>("author")?, ["Tolkien, J. R. R.", "Austen"]);
/// assert!(parameters.take_required::<i64>("minPages").is_err());
/// # Ok::<_, es_framework::query::QueryError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct QueryParameters {
    values: BTreeMap<String, Vec<String>>,
    known: Vec<&'static str>,
}

impl QueryParameters {
    /// The largest number of values of a parameter that takes several.
    pub const MAX_VALUES: usize = 100;
    /// The largest number of characters of a value.
    pub const MAX_LENGTH: usize = 1_000;

    /// Collects the parameters from pairs of name and value.
    ///
    /// # Errors
    /// A value is too long or not UTF-8.
    pub fn new(pairs: impl IntoIterator<Item = (String, String)>) -> Result<Self, QueryError> {
        let mut parameters = Self::default();
        for (name, value) in pairs {
            if value.chars().count() > Self::MAX_LENGTH {
                let message = format!("has more than {} characters", Self::MAX_LENGTH);
                return Err(QueryError::invalid(&name, message));
            }
            parameters = parameters.with_path_values([(name, value)])?;
        }
        Ok(parameters)
    }

    /// Adds values from the URL's path. They have no limit of their own, because the key of a row can have any
    /// length.
    ///
    /// # Errors
    /// A value is not UTF-8.
    #[doc(hidden)]
    pub fn with_path_values(
        mut self,
        pairs: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, QueryError> {
        for (name, value) in pairs {
            // The replacement character stands for bytes that are not UTF-8. PostgreSQL stores no zero.
            if value.contains([char::REPLACEMENT_CHARACTER, '\0']) {
                return Err(QueryError::invalid(&name, "is no text in UTF-8"));
            }
            self.values.entry(name).or_default().push(value);
        }
        Ok(self)
    }

    /// Takes a parameter that has to be present.
    ///
    /// # Errors
    /// It is missing, given twice or malformed.
    pub fn take_required<T: ColumnType>(&mut self, name: &'static str) -> Result<T, QueryError> {
        self.take_optional(name)?
            .ok_or_else(|| QueryError::invalid(name, "is missing"))
    }

    /// Takes a parameter that may be absent.
    ///
    /// # Errors
    /// It is given twice or malformed.
    pub fn take_optional<T: ColumnType>(
        &mut self,
        name: &'static str,
    ) -> Result<Option<T>, QueryError> {
        let Some(text) = self.take_text(name)? else {
            return Ok(None);
        };
        let value =
            column::parse_value(&text).map_err(|message| QueryError::invalid(name, message))?;
        Ok(Some(value))
    }

    /// Takes the values of a parameter that may be present several times, each time with one value. A comma
    /// is part of a value.
    ///
    /// # Errors
    /// One of its values is malformed, or there are too many.
    pub fn take_multi_valued<T: ColumnType>(
        &mut self,
        name: &'static str,
    ) -> Result<Vec<T>, QueryError> {
        self.known.push(name);
        let values = self.values.remove(name).unwrap_or_default();
        if values.len() > Self::MAX_VALUES {
            let message = format!("has more than {} values", Self::MAX_VALUES);
            return Err(QueryError::invalid(name, message));
        }
        let value = |text: &String| {
            column::parse_value(text).map_err(|message| {
                let is_list = text.contains(',');
                let hint = if is_list { REPEAT_HINT } else { "" };
                QueryError::invalid(name, format!("{message}{hint}"))
            })
        };
        values.iter().map(value).collect()
    }

    /// Takes the text of a parameter that may be absent.
    pub(super) fn take_text(&mut self, name: &'static str) -> Result<Option<String>, QueryError> {
        self.known.push(name);
        match self.values.remove(name).unwrap_or_default().as_slice() {
            [] => Ok(None),
            [only] => Ok(Some(only.clone())),
            _ => Err(QueryError::invalid(name, "is given twice")),
        }
    }

    /// Refuses a parameter that nothing took.
    pub(crate) fn check_all_taken(&self) -> Result<(), QueryError> {
        let Some(name) = self.values.keys().next() else {
            return Ok(());
        };
        let message = match self.known.as_slice() {
            [] => "is unknown: there are no parameters".to_owned(),
            known => format!("is unknown: there are {}", known.join(", ")),
        };
        Err(QueryError::invalid(name, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters(pairs: &[(&str, &str)]) -> QueryParameters {
        let pairs = pairs
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into()));
        QueryParameters::new(pairs).unwrap()
    }

    #[test]
    fn parameters_are_read_as_their_fields() {
        let mut given = parameters(&[("pages", "7"), ("kind", "oak"), ("ids", "1"), ("ids", "3")]);
        assert_eq!(given.take_optional::<i64>("pages").unwrap(), Some(7));
        assert_eq!(given.take_required::<String>("kind").unwrap(), "oak");
        assert_eq!(given.take_multi_valued::<i64>("ids").unwrap(), [1, 3]);
        assert_eq!(given.take_optional::<i64>("age").unwrap(), None);
        assert!(given.check_all_taken().is_ok());
    }

    #[test]
    fn what_is_wrong_is_named() {
        let message = |error: QueryError| match error {
            QueryError::Invalid { parameter, message } => format!("{parameter} {message}"),
            other => panic!("{other}"),
        };
        let mut given = parameters(&[("a", "x"), ("b", "1"), ("b", "2"), ("c", "1")]);
        let malformed = given.take_optional::<i64>("a").unwrap_err();
        assert_eq!(message(malformed), "a must be a whole number");
        let twice = given.take_optional::<i64>("b").unwrap_err();
        assert_eq!(message(twice), "b is given twice");
        let missing = given.take_required::<i64>("d").unwrap_err();
        assert_eq!(message(missing), "d is missing");
        let unknown = given.check_all_taken().unwrap_err();
        assert_eq!(message(unknown), "c is unknown: there are a, b, d");
    }

    #[test]
    fn a_parameter_has_bounds() {
        let long = ("a".to_owned(), "x".repeat(QueryParameters::MAX_LENGTH + 1));
        assert!(QueryParameters::new([long.clone()]).is_err());
        let mut in_path = QueryParameters::default().with_path_values([long]).unwrap();
        let key = in_path.take_required::<String>("a").unwrap();
        assert_eq!(key.len(), QueryParameters::MAX_LENGTH + 1);
        let mut given = parameters(&[("ids", "1"); QueryParameters::MAX_VALUES + 1]);
        assert!(given.take_multi_valued::<i64>("ids").is_err());
    }

    #[test]
    fn a_comma_is_part_of_a_value() {
        let mut given = parameters(&[("author", "Tolkien, J. R. R."), ("author", "")]);
        let authors = given.take_multi_valued::<String>("author").unwrap();
        assert_eq!(authors, ["Tolkien, J. R. R.", ""]);
        let mut given = parameters(&[("ids", "1,2")]);
        let error = given.take_multi_valued::<i64>("ids").unwrap_err();
        let message = "must be a whole number; repeat the parameter for each of several values";
        assert_eq!(error.to_string(), message);
    }
}
