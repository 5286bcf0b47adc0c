//! Checks a parsed event and derives its type and subject.

use syn::{DeriveInput, Ident, LitStr, Path};

use super::{attr, event_type::EventType};
use crate::codegen::{
    attribute, column,
    declaration_kind::DeclarationKind,
    errors::Errors,
    fields::{self, Field},
    manifest::Manifest,
    personal, serde_attr,
    template::{self, Template},
    unique::{self, UniqueRules},
};

/// An event without mistakes.
pub(crate) struct CheckedEvent {
    pub(crate) ident: Ident,
    pub(crate) event_type: EventType,
    /// The event's own subject. `None` stands for the command's subject.
    pub(crate) subject: Option<EventSubject>,
    /// The name of the table with one row for each event.
    pub(crate) read_model: Option<LitStr>,
    /// The commands that become the event.
    pub(crate) from: Vec<Path>,
    /// True if no declaration has to consume the event.
    pub(crate) informational: bool,
    pub(crate) unique: UniqueRules,
    pub(crate) fields: Vec<Field>,
}

/// The subject template of an event.
pub(crate) struct EventSubject {
    pub(crate) template: Template,
    /// True if the subject is a descendant of the command's subject.
    pub(crate) is_below: bool,
}

impl CheckedEvent {
    /// Returns the field with this name. The check has ensured that it exists.
    pub(crate) fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name() == name)
    }
}

/// Runs all checks, so that one compilation reports all mistakes.
pub(crate) fn check_event(
    item: &DeriveInput,
    manifest: &Manifest,
    errors: &mut Errors,
) -> Option<CheckedEvent> {
    let message =
        "`#[command(…)]` belongs to `#[derive(Command)]`: write `#[event(…)]` on an event";
    attribute::refuse(&item.attrs, "command", message, errors);
    serde_attr::check_struct(&item.attrs, DeclarationKind::Event, errors);
    let (ident, attr) = (&item.ident, attr::parse_attributes(&item.attrs, errors));
    let fields = fields::parse_fields(item, DeclarationKind::Event, errors);
    let known = fields.as_deref().unwrap_or_default();
    fields::check_placement(known, &["command", "event", "es"], errors);
    let on_fields = known.iter().flat_map(|field| &field.attrs);
    let attrs = item.attrs.iter().chain(on_fields);
    let message =
        "an event has happened and is not validated: put the rule on the command that leads to it";
    attribute::refuse(attrs, "validate", message, errors);
    let event_type = attr.build_type(ident, manifest, errors);
    if let Some(table) = &attr.read_model {
        column::check_table_name(table, errors);
        if let Some(fields) = &fields {
            if fields.is_empty() {
                errors.record(
                    table,
                    "the fields of the event are the columns of its read model, but it has none",
                );
            }
            column::check_columns(fields, errors);
        }
    }
    let subject = attr
        .subject
        .as_ref()
        .and_then(|text| subject(text, fields.as_deref(), errors));
    let unique = unique::parse_rules(&item.attrs, known, attr.releases, errors);
    Some(CheckedEvent {
        ident: ident.clone(),
        event_type: event_type?,
        subject,
        read_model: attr.read_model,
        from: attr.from,
        informational: attr.informational,
        unique,
        fields: fields?,
    })
}

/// Parses `/readers/{reader}`, or `./notes/{number}` for a descendant of the command's subject.
fn subject(text: &LitStr, fields: Option<&[Field]>, errors: &mut Errors) -> Option<EventSubject> {
    let written = text.value();
    let (path, is_below) = match written.strip_prefix('.') {
        Some(path) if !path.starts_with('/') => {
            errors.record(
                text,
                "below the command's subject lies `\"./notes/{number}\"`; what lies elsewhere starts with `/`, as in `\"/readers/{reader}\"`",
            );
            return None;
        }
        Some(path) => (path, true),
        None => (written.as_str(), false),
    };
    let template = Template::parse_or_record(path, template::TemplateKind::Subject, text, errors)?;
    if template.segments().is_empty() {
        errors.record(
            text,
            "an event is about something: write `\"/readers/{reader}\"`, or `\"./notes/{number}\"` for what lies below the command's subject",
        );
        return None;
    }
    let fields: Vec<_> = fields?.iter().collect();
    fields::check_subject(&template, text, "event", &fields, errors);
    for name in template.fields() {
        for field in fields.iter().filter(|field| field.name() == name) {
            personal::check_subject_field(&field.attrs, &field.ident, errors);
        }
    }
    Some(EventSubject { template, is_below })
}
