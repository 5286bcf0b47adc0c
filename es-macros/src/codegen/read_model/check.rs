//! Checks the declaration of a read model and derives its columns.

use syn::{DeriveInput, Ident, LitInt, LitStr, Meta};

use super::{
    attr::{self, ReadModelAttr},
    search_attr::{self, SearchForm},
    visible_attr::{self, Viewers},
};
use crate::codegen::{
    attribute, column,
    declaration_kind::DeclarationKind,
    errors::Errors,
    fields::{self, Field},
    naming, serde_attr, serde_words,
    template::{self, Template},
};

/// A read model that passed the checks.
pub(crate) struct CheckedReadModel {
    pub(crate) ident: Ident,
    pub(crate) table: LitStr,
    /// The template of the subjects whose events change a row; empty if there is none.
    pub(crate) subject: String,
    pub(crate) version: Option<LitInt>,
    pub(crate) fields: Vec<Field>,
    /// The fields that are the key.
    pub(crate) key: Vec<Field>,
    /// The fields that are prepared for searches.
    pub(crate) searched: Vec<(Field, SearchForm)>,
    /// The indexes of the fields that only some callers see, and these callers.
    pub(crate) visibility: Vec<(usize, Viewers)>,
}

/// The messages for attributes of fields above the struct.
const ABOVE_FIELDS: [(&str, &str); 4] = [
    (
        "key",
        "`#[key]` stands above each field that tells the rows apart",
    ),
    (
        "index",
        "`#[index]` stands above the field that rows are found by",
    ),
    (
        "search",
        "`#[search]` stands above the field that is searched",
    ),
    (
        "visible",
        "`#[visible(…)]` stands above the field that only some callers see; `role` of a query says who may send it",
    ),
];

/// The messages for attributes with arguments that have none.
const ALONE: [(&str, &str); 2] = [
    (
        "index",
        "rows are found by this field: write `#[index]` alone",
    ),
    (
        "key",
        "the key of a row is this field: write `#[key]` alone; `#[key(with = month_of)]` stands above the functions of the projection",
    ),
];

/// Checks everything and reports all mistakes.
pub(crate) fn check_read_model(
    item: &DeriveInput,
    errors: &mut Errors,
) -> Option<CheckedReadModel> {
    serde_attr::check_struct(&item.attrs, DeclarationKind::ReadModel, errors);
    let (ident, attr) = (&item.ident, attr::parse_attributes(&item.attrs, errors));
    let fields = fields::parse_fields(item, DeclarationKind::ReadModel, errors);
    let known = fields.as_deref().unwrap_or_default();
    fields::check_placement(known, &["read_model", "es"], errors);
    for (name, message) in ABOVE_FIELDS {
        attribute::refuse(&item.attrs, name, message, errors);
    }
    for attrs in known.iter().map(|field| &field.attrs) {
        for (name, message) in ALONE {
            let attrs = attrs.iter();
            let with_arguments = attrs.filter(|attr| !matches!(attr.meta, Meta::Path(_)));
            attribute::refuse(with_arguments, name, message, errors);
        }
    }
    check_table(ident, &attr, errors);
    let key = fields.as_deref().and_then(|fields| {
        column::check_columns(fields, errors);
        check_key(ident, fields, errors)
    });
    let searched = searched(known, errors);
    let visibility = visibility(known, errors);
    let subject = match &attr.subject {
        None => String::new(),
        Some(text) => subject(text, key.as_deref(), fields.as_deref(), errors)?,
    };
    Some(CheckedReadModel {
        ident: ident.clone(),
        table: attr.table?,
        subject,
        version: attr.version,
        key: key?.into_iter().cloned().collect(),
        searched,
        visibility,
        fields: fields?,
    })
}

fn check_table(ident: &Ident, attr: &ReadModelAttr, errors: &mut Errors) {
    match &attr.table {
        Some(table) => column::check_table_name(table, errors),
        // An invalid table is already reported.
        None if attr.has_table => {}
        None => errors.record(
            ident,
            "a read model is a table: name it with `#[read_model(table = \"book_copies\")]`",
        ),
    }
}

/// The most fields of a key, for which there are types.
const MOST_KEY_FIELDS: usize = 4;

/// Returns the fields with `#[key]`.
fn check_key<'a>(
    ident: &Ident,
    fields: &'a [Field],
    errors: &mut Errors,
) -> Option<Vec<&'a Field>> {
    let key: Vec<_> = fields
        .iter()
        .filter(|field| attribute::has(&field.attrs, "key"))
        .collect();
    if key.is_empty() {
        errors.record(
            ident,
            "nothing tells the rows of this read model apart: write `#[key]` above the field that does",
        );
        return None;
    }
    for field in key.iter().skip(MOST_KEY_FIELDS) {
        let message = format!("a key has at most {MOST_KEY_FIELDS} fields: remove this `#[key]`");
        errors.record(&field.ident, message);
    }
    for field in &key {
        if let Some(name @ ("Option" | "Vec" | "BTreeMap" | "bool" | "f32" | "f64")) =
            field.type_name().as_deref()
        {
            let message = format!(
                "a key tells rows apart, which `{name}` does not: take a text, a UUID or a whole number"
            );
            errors.record(&field.ty, message);
        }
    }
    Some(key)
}

/// Returns the fields with `#[search]`.
fn searched(fields: &[Field], errors: &mut Errors) -> Vec<(Field, SearchForm)> {
    let mut searched = Vec::new();
    for field in fields {
        let Some(form) = search_attr::parse_form(field, errors) else {
            continue;
        };
        if form == SearchForm::Alphanumeric && attribute::has(&field.attrs, "key") {
            let message = "two keys can have the same letters and digits, so a key is compared as it is: write `#[search]` alone";
            let attr = attribute::named(&field.attrs, "search").next();
            errors.record(attr, message);
        }
        searched.push((field.clone(), form));
    }
    searched
}

/// Returns the fields with `#[visible(…)]`.
fn visibility(fields: &[Field], errors: &mut Errors) -> Vec<(usize, Viewers)> {
    let mut restricted = Vec::new();
    for (index, field) in fields.iter().enumerate() {
        let Some(attr) = attribute::named(&field.attrs, "visible").next() else {
            continue;
        };
        if attribute::has(&field.attrs, "key") {
            let message = "everybody who sees a row sees its key: remove `#[visible(…)]`, or let the query name a role";
            errors.record(attr, message);
        }
        if serde_words::has_word(&field.attrs, "skip_serializing_if") {
            let message = "`#[visible(…)]` leaves the member out for those who do not see it: remove `skip_serializing_if`";
            errors.record(attr, message);
        }
        if let Some(viewers) = visible_attr::parse_viewers(index, fields, errors) {
            restricted.push((index, viewers));
        }
    }
    restricted
}

fn subject(
    text: &LitStr,
    key: Option<&[&Field]>,
    fields: Option<&[Field]>,
    errors: &mut Errors,
) -> Option<String> {
    let template =
        Template::parse_or_record(&text.value(), template::TemplateKind::Subject, text, errors)?;
    let (key, fields) = (key?, fields?);
    let key: Vec<_> = key.iter().map(|field| field.name()).collect();
    let mut named: Vec<_> = template.fields().collect();
    named.sort_unstable();
    let mut expected: Vec<_> = key.iter().map(String::as_str).collect();
    expected.sort_unstable();
    if named == expected {
        return Some(template.render(naming::snake_case));
    }
    let names = fields.iter().map(Field::name);
    let message = match (named.as_slice(), key.as_slice()) {
        ([only], _) if names.clone().all(|name| name != *only) => {
            naming::no_such_field("the read model", only, names)
        }
        ([_], [key]) => format!(
            "the subject gives the key of its row, which is `{key}`: write `{{{key}}}` in it, or move `#[key]`"
        ),
        (_, [key]) => format!(
            "the subject gives the key of its row: write `{{{key}}}` in it, and nothing else in braces"
        ),
        _ => {
            let fields: Vec<_> = key.iter().map(|field| format!("`{{{field}}}`")).collect();
            format!(
                "the subject gives the whole key of its row: write {} in it, and nothing else in braces; or remove the subject, and write `#[key({})]` above each function of the projection",
                fields.join(" and "),
                key.join(", ")
            )
        }
    };
    errors.record(text, message);
    None
}
