//! The columns of the file that the fields of the command come from.

use es_event::foreign_text::escape_for_terminal;
use serde_json::{Map, Value};
use uuid::Uuid;

use super::{
    arguments::ImportArguments, assigned_column::AssignedColumn, command_schema::CommandSchema,
    field_value::FieldType,
};
use crate::error::ToolError;

/// The separator of a list for which the command line names none.
const SEPARATOR: char = ';';

/// The member of a line with the time at which the event happened.
const OCCURRED_AT: &str = "$occurredAt";

/// Turns the cells of a row into a command.
pub(super) struct RowMapping {
    fields: Vec<MappedField>,
}

struct MappedField {
    field: String,
    /// The index of the column. Without one, the value follows from the number of the row.
    column: Option<usize>,
    source: FieldSource,
}

enum FieldSource {
    Cell(FieldType),
    /// The UUID that follows from the text.
    Id,
    Time,
}

impl RowMapping {
    pub(super) fn new(
        arguments: &ImportArguments,
        schema: &CommandSchema,
        header: &[String],
    ) -> Result<Self, ToolError> {
        let mut fields = Vec::new();
        for AssignedColumn { field, column } in &arguments.columns {
            let schema = schema.field(field)?;
            let column = column.as_deref().unwrap_or(field);
            let (column, separator) = find_list_column(header, column)?;
            let kind = FieldType::of(schema, separator.unwrap_or(SEPARATOR));
            fields.push(MappedField {
                field: field.clone(),
                column: Some(column),
                source: FieldSource::Cell(kind),
            });
        }
        for AssignedColumn { field, column } in &arguments.ids {
            schema.field(field)?;
            let column = column.as_deref();
            fields.push(MappedField {
                field: field.clone(),
                column: column.map(|name| find_column(header, name)).transpose()?,
                source: FieldSource::Id,
            });
        }
        if let Some(name) = &arguments.occurred_at {
            fields.push(MappedField {
                field: OCCURRED_AT.to_owned(),
                column: Some(find_column(header, name)?),
                source: FieldSource::Time,
            });
        }
        if fields.is_empty() {
            return Err(ToolError::new(
                "no field has a column: say --map FIELD=COLUMN for each field of the command",
            ));
        }
        Ok(Self { fields })
    }

    /// Returns the command of a row as JSON, or the reasons why the row has none. `row_name` is unique among all rows of all
    /// files.
    pub(super) fn command(&self, cells: &[String], row_name: &str) -> Result<String, String> {
        let mut members = Map::new();
        let mut reasons = Vec::new();
        for mapped in &self.fields {
            let cell = match mapped.column {
                Some(column) => cells.get(column).map_or("", String::as_str),
                None => row_name,
            };
            // An empty cell is a value that nobody knows.
            if cell.trim().is_empty() {
                continue;
            }
            let value = match &mapped.source {
                FieldSource::Cell(kind) => kind.value(cell),
                FieldSource::Id => Ok(derived_id(cell).to_string().into()),
                FieldSource::Time => Ok(time_text(cell.trim())),
            };
            match value {
                Ok(value) => drop(members.insert(mapped.field.clone(), value)),
                Err(reason) => reasons.push(format!("{}: {reason}", mapped.field)),
            }
        }
        if reasons.is_empty() {
            Ok(Value::Object(members).to_string())
        } else {
            Err(reasons.join("; "))
        }
    }
}

/// Returns the UUID of version 5 of a text, in the name space of URLs.
fn derived_id(text: &str) -> Uuid {
    Uuid::new_v5(&Uuid::NAMESPACE_URL, text.trim().as_bytes())
}

/// A date is the begin of its day in UTC. The service checks the rest.
fn time_text(cell: &str) -> Value {
    let is_date = cell.len() == 10
        && cell
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'-');
    if is_date {
        format!("{cell}T00:00:00Z").into()
    } else {
        cell.into()
    }
}

/// Finds a column whose name may have a separator behind it.
fn find_list_column(header: &[String], text: &str) -> Result<(usize, Option<char>), ToolError> {
    let found = find_column(header, text);
    if let Ok(column) = found {
        return Ok((column, None));
    }
    let mut rest = text.chars();
    let separator = rest.next_back();
    match find_column(header, rest.as_str()) {
        Ok(column) => Ok((column, separator)),
        Err(_) => found.map(|column| (column, None)),
    }
}

fn find_column(header: &[String], name: &str) -> Result<usize, ToolError> {
    let is_named = |column: &String| column.trim() == name.trim();
    let mut columns = header
        .iter()
        .enumerate()
        .filter(|(_, column)| is_named(column));
    match (columns.next(), columns.next()) {
        (Some((column, _)), None) => Ok(column),
        (Some(_), Some(_)) => Err(ToolError::new(format!(
            "the file has several columns {name}: give each a name of its own"
        ))),
        (None, _) => Err(ToolError::new(format!(
            "the file has no column {name}. It has {}. If these are several columns in one, say --delimiter",
            escape_for_terminal(&header.join(", "))
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_separator_stands_behind_the_name_of_a_column() {
        let header = ["Title", "Authors", "Odd;"].map(str::to_owned);
        let found = |text| find_list_column(&header, text).ok();
        assert_eq!(found("Authors"), Some((1, None)));
        assert_eq!(found("Authors|"), Some((1, Some('|'))));
        assert_eq!(found("Odd;"), Some((2, None)));
        assert_eq!(found("Nobody"), None);
    }

    #[test]
    fn an_id_follows_from_the_text_of_its_cell() {
        assert_eq!(derived_id("31234000017 "), derived_id("31234000017"));
        assert_ne!(derived_id("31234000017"), derived_id("31234000018"));
    }
}
