//! The rows of an EventQL query as a table: a column for each member of the projected objects.

use std::fmt;

use maud::{Markup, html};
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{json_view, page_parts::wide_table, text_view::shortened};

/// The highest number of columns.
const COLUMNS: usize = 40;
/// The number of characters of a value.
const VALUE: usize = 200;
/// The number of characters of a column's name.
const NAME: usize = 40;

/// The first members of a row, in the order of the projection.
#[derive(Debug, Default)]
struct RowMembers(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for RowMembers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RowVisitor)
    }
}

/// Reads the members of a row.
struct RowVisitor;

impl<'de> Visitor<'de> for RowVisitor {
    type Value = RowMembers;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RowMembers, A::Error> {
        let mut members = Vec::new();
        while members.len() < COLUMNS
            && let Some(member) = map.next_entry()?
        {
            members.push(member);
        }
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(RowMembers(members))
    }
}

/// A row with its members, or the value of a row that is no object.
enum TableRow<'a> {
    Members(RowMembers),
    Value(&'a RawValue),
}

impl<'a> TableRow<'a> {
    fn parse(row: &'a RawValue) -> Self {
        if row.get().starts_with('{') {
            Self::Members(serde_json::from_str(row.get()).unwrap_or_default())
        } else {
            Self::Value(row)
        }
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        let members = match self {
            Self::Members(RowMembers(members)) => members.as_slice(),
            Self::Value(_) => &[],
        };
        members.iter().map(|(name, _)| name.as_str())
    }

    fn value(&self, column: &str) -> Option<&RawValue> {
        let Self::Members(RowMembers(members)) = self else {
            return None;
        };
        let found = members.iter().find(|(name, _)| name == column);
        found.map(|(_, value)| &**value)
    }
}

/// Renders the rows of a query.
pub(crate) fn render_table(rows: &[Box<RawValue>]) -> Markup {
    let rows: Vec<_> = rows.iter().map(|row| TableRow::parse(row)).collect();
    let mut columns = Vec::new();
    for name in rows.iter().flat_map(TableRow::names) {
        if columns.len() < COLUMNS && !columns.contains(&name) {
            columns.push(name);
        }
    }
    let has_values = rows.iter().any(|row| matches!(row, TableRow::Value(_)));
    let names = columns.iter().map(|column| shortened(column, NAME));
    let titles: Vec<_> = names.chain(has_values.then(|| html! { "value" })).collect();
    let cells = html! {
        @for row in &rows {
            tr {
                @for column in &columns { (cell(row.value(column))) }
                @if has_values {
                    @match row {
                        TableRow::Value(value) => (cell(Some(value))),
                        TableRow::Members(_) => td {},
                    }
                }
            }
        }
    };
    html! {
        @if columns.len() == COLUMNS { p.muted { "The table has the first " (COLUMNS) " members." } }
        (wide_table("Rows", &titles, &cells))
    }
}

fn cell(value: Option<&RawValue>) -> Markup {
    html! {
        @match value.map(RawValue::get) {
            None => td {},
            Some("null") => td.muted { "null" },
            Some(value) => td { (json_view::leaf(value, VALUE)) },
        }
    }
}
