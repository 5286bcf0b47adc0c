//! Whether what was written makes sense, and what follows from it.

use syn::{Attribute, Ident, LitStr};

use super::{
    ast::Declared,
    event_type::{self, EventType},
};
use crate::codegen::{column, errors::Errors, fields::Field, manifest::Manifest};

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
        column::check_table(table, errors);
        if let Some(fields) = &fields {
            if fields.is_empty() {
                errors.at(
                    table,
                    "the fields of the event are the columns of its read model, but it has none",
                );
            }
            column::check_columns(fields, errors);
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
