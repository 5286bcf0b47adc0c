//! Whether what was written makes sense, and what follows from it.

use std::collections::BTreeMap;

use syn::{Attribute, Ident, LitStr};

use super::{
    ast::Declared,
    event_type::{self, EventType},
};
use crate::codegen::{errors::Errors, fields::Field, manifest::Manifest, naming};

/// An event that can be written out.
pub(crate) struct Event {
    pub(crate) ident: Ident,
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) event_type: EventType,
    /// The table that holds a row for each event.
    pub(crate) read_model: Option<LitStr>,
    pub(crate) fields: Vec<Field>,
}

/// Checks everything, so that all mistakes are noted.
pub(crate) fn check(declared: Declared, manifest: &Manifest, errors: &mut Errors) -> Option<Event> {
    let Declared {
        ident,
        attrs,
        attr,
        fields,
    } = declared;
    let event_type = event_type::resolve(&ident, &attr, manifest, errors);
    if let Some(table) = &attr.read_model {
        check_table(table, errors);
        if let Some(fields) = &fields {
            check_columns(table, fields, errors);
        }
    }
    Some(Event {
        ident,
        attrs,
        event_type: event_type?,
        read_model: attr.read_model,
        fields: fields?,
    })
}

fn check_table(table: &LitStr, errors: &mut Errors) {
    let name = table.value();
    if !is_sql_name(&name) {
        let message = format!(
            "`{name}` cannot name a read model: start with a letter and write lower-case ASCII letters, digits and `_`, such as `books`"
        );
        errors.at(table, message);
    }
}

fn check_columns(table: &LitStr, fields: &[Field], errors: &mut Errors) {
    if fields.is_empty() {
        errors.at(
            table,
            "the fields of the event are the columns of its read model, but it has none",
        );
    }
    let mut columns = BTreeMap::new();
    for field in fields {
        let column = naming::snake_case(&field.name());
        if !is_sql_name(&column) {
            let message = format!(
                "`{column}` cannot name a column: start the field's name with a letter and write ASCII letters, digits and `_`"
            );
            errors.at(&field.ident, message);
        }
        if let Some(earlier) = columns.insert(column.clone(), &field.ident) {
            let message = format!(
                "`{earlier}` and `{}` are both the column `{column}`: rename one of them",
                field.ident
            );
            errors.at(&field.ident, message);
        }
    }
}

fn is_sql_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}
