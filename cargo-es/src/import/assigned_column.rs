//! A field of a command and the column of the file that it comes from, as the command line has them.

use std::str::FromStr;

/// `field=Column`, or `field` alone.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AssignedColumn {
    pub(super) field: String,
    pub(super) column: Option<String>,
}

impl FromStr for AssignedColumn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (field, column) = match text.split_once('=') {
            Some((field, column)) => (field, Some(column.to_owned())),
            None => (text, None),
        };
        if field.is_empty() || column.as_deref() == Some("") {
            return Err("write a field, `=` and the name of a column".to_owned());
        }
        let field = field.to_owned();
        Ok(Self { field, column })
    }
}
