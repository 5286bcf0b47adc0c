//! Checks the declaration of a query.

use syn::{DeriveInput, Ident, Path};

use super::attr::{self, Filter, FilterKind, Order, QueryAttr};
use crate::codegen::{
    attribute,
    caller_rules::{self, CheckedCallerRules},
    declaration_kind::DeclarationKind,
    doc_comment::{self, DocText},
    errors::Errors,
    fields::{self, Field},
    template::{self, Template},
};

/// A query that passed the checks.
pub(crate) struct CheckedQuery {
    pub(crate) ident: Ident,
    pub(crate) path: String,
    pub(crate) summary: DocText,
    /// The rest of the query's doc comment after the summary.
    pub(crate) description: DocText,
    pub(crate) caller: CheckedCallerRules,
    /// True if the query's output is a page.
    pub(crate) is_paged: bool,
    /// The rows that are the query's output, unless the query has a hand-written handler.
    pub(crate) source: Option<RowSource>,
    pub(crate) parameters: Vec<CheckedQueryField>,
}

/// The read model whose rows are the output of a query.
pub(crate) struct RowSource {
    pub(crate) model: Path,
    /// True if the output is one row instead of a page.
    pub(crate) is_one: bool,
    pub(crate) order: Option<Order>,
    /// The fields among which clients choose the sort order.
    pub(crate) sort: Vec<Ident>,
}

/// A field of a query.
pub(crate) struct CheckedQueryField {
    pub(crate) field: Field,
    pub(crate) is_in_path: bool,
    /// True if the macro knows how many values the type holds.
    pub(crate) is_sure: bool,
    pub(crate) filter: Option<Filter>,
}

/// The message for a field that is taken from the URL's path, but is not exactly one value.
pub(super) const IN_PATH: &str =
    "what stands in the path is always there, and once: take the type without `Option` or `Vec`";
/// The message for `one_of` with one value.
pub(super) const SEVERAL: &str = "`one_of` compares with several values: write `Vec<…>`";
/// The message for another filter with several values.
pub(super) const NOT_SEVERAL: &str =
    "a `Vec` holds several values: write `#[filter(one_of)]` above it";

/// The number of values that a parameter takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ValueCount {
    Required,
    Optional,
    Several,
}

impl ValueCount {
    /// Returns the number as the type is written, or `None` for a type that may be an alias.
    fn as_written(field: &Field) -> Option<Self> {
        match field.type_name()?.as_str() {
            "Option" => Some(Self::Optional),
            "Vec" => Some(Self::Several),
            "String" | "Uuid" | "Timestamp" | "Date" | "bool" | "f32" | "f64" | "i8" | "i16"
            | "i32" | "i64" | "u8" | "u16" | "u32" => Some(Self::Required),
            _ => None,
        }
    }
}

/// The parameters of every query whose output is a page.
const PAGING: [&str; 3] = ["limit", "cursor", "total"];

/// Checks everything and reports all mistakes.
pub(crate) fn check_query(item: &DeriveInput, errors: &mut Errors) -> Option<CheckedQuery> {
    let (ident, attr) = (&item.ident, attr::parse_attributes(&item.attrs, errors));
    let fields = fields::parse_fields(item, DeclarationKind::Query, errors);
    let known = fields.as_deref().unwrap_or_default();
    fields::check_placement(known, &["query", "es"], errors);
    let message = "`#[filter(…)]` stands above a field of the query";
    attribute::refuse(&item.attrs, "filter", message, errors);
    let template = template(ident, &attr, errors);
    let is_paged = attr.paged.is_some() || attr.rows.is_some();
    let source = row_source(&attr, errors);
    let references: Vec<_> = known.iter().collect();
    let caller = caller_rules::check_caller_rules(&attr.caller, "the query", &references, errors);
    if let (Some(template), Some(text), Some(_)) = (&template, &attr.path, &fields) {
        fields::fields_of_template(template, text, "query", &references, errors);
    }
    let in_path: Vec<_> = template.iter().flat_map(Template::fields).collect();
    let to_parameter = |field| parameter(field, &in_path, source.as_ref(), is_paged, errors);
    let parameters: Vec<_> = fields?.into_iter().map(to_parameter).collect();
    check_owner_filter(&caller, &parameters, errors);
    // Clients see the names of JSON, in the path as in the query string.
    let path = template?.render(|name| {
        let mut fields = parameters.iter().map(|parameter| &parameter.field);
        fields::member_name(fields.find(|field| field.name() == name), name)
    });
    let summary = doc_comment::summary_or_name(ident, attr.summary.as_ref(), &item.attrs);
    let description = doc_comment::text_after_summary(&item.attrs);
    Some(CheckedQuery {
        path,
        ident: ident.clone(),
        summary,
        description,
        caller,
        is_paged,
        source,
        parameters,
    })
}

/// Refuses a comparison of the owner id that also finds rows of others.
fn check_owner_filter(
    caller: &CheckedCallerRules,
    parameters: &[CheckedQueryField],
    errors: &mut Errors,
) {
    for CheckedQueryField { field, filter, .. } in parameters {
        if caller.owner_field() == Some(&field.ident)
            && filter
                .as_ref()
                .is_some_and(|filter| filter.kind != FilterKind::Equal)
        {
            let message = format!(
                "`{}` holds the id of the owner, and only equality finds no row of anybody else: write `#[filter(eq)]` above it",
                field.name()
            );
            errors.record(&field.ident, message);
        }
    }
}

/// Returns the read model whose rows are the output, and checks what needs one.
fn row_source(attr: &QueryAttr, errors: &mut Errors) -> Option<RowSource> {
    let QueryAttr {
        rows,
        row,
        order,
        sort,
        paged,
        ..
    } = attr;
    if let (Some(_), Some(row)) = (rows, row) {
        let message =
            "a query is answered with a page of `rows` or with one `row`: remove one of them";
        errors.record(row, message);
    }
    if let (None, Some(order)) = (rows, order) {
        let message = "what is sorted are the `rows` of a read model: name it, or remove `order`";
        errors.record(&order.field, message);
    }
    if let (None, Some(field)) = (rows, sort.first()) {
        let message = "what clients sort are the `rows` of a read model: name it, or remove `sort`";
        errors.record(field, message);
    }
    if let (Some(paged), true) = (paged, rows.is_some() || row.is_some()) {
        let message = "`rows` are answered a page at a time by themselves, and one `row` is no page: remove `paged`";
        errors.record(paged, message);
    }
    rows.as_ref().or(row.as_ref()).map(|model| RowSource {
        model: model.clone(),
        is_one: rows.is_none(),
        order: order.clone(),
        sort: sort.clone(),
    })
}

fn template(ident: &Ident, attr: &QueryAttr, errors: &mut Errors) -> Option<Template> {
    let Some(text) = &attr.path else {
        // An invalid path is already reported.
        if !attr.has_path {
            let message = "a query is asked somewhere: write `#[query(path = \"/books\")]`";
            errors.record(ident, message);
        }
        return None;
    };
    Template::parse_or_record(&text.value(), template::TemplateKind::Path, text, errors)
}

fn parameter(
    field: Field,
    in_path: &[&str],
    source: Option<&RowSource>,
    is_paged: bool,
    errors: &mut Errors,
) -> CheckedQueryField {
    let is_in_path = in_path.contains(&field.name().as_str());
    let written = ValueCount::as_written(&field);
    if is_in_path && written.is_some_and(|count| count != ValueCount::Required) {
        errors.record(&field.ty, IN_PATH);
    }
    if source.is_some_and(|source| !source.sort.is_empty()) && field.member == "sort" {
        let message = "`sort` says in which order the rows are asked for: give this field another name, or remove `sort` from `#[query]`";
        errors.record(&field.ident, message);
    }
    if is_paged && PAGING.contains(&field.member.as_str()) {
        let message = format!(
            "`{}` says which page is asked for: give this field another name",
            field.member
        );
        errors.record(&field.ident, message);
    }
    let attrs: Vec<_> = attribute::named(&field.attrs, "filter").collect();
    let filter = match (attrs.as_slice(), source) {
        ([], Some(_)) if is_in_path => Some(Filter {
            kind: FilterKind::Equal,
            field: None,
        }),
        ([], Some(_)) => {
            let message = "say how this field is compared with that of a row: write `#[filter(eq)]` above it, or another one of `contains`, `at_least`, `at_most` and `one_of`";
            errors.record(&field.ident, message);
            None
        }
        ([], None) => None,
        ([only], Some(_)) => attr::read_filter(only, errors),
        ([first, ..], None) => {
            let message = "this query is answered by hand, so nothing compares the field: remove the filter, or name a read model with `rows = BookCopy`";
            errors.record(first, message);
            None
        }
        ([_, second, ..], Some(_)) => {
            errors.record(second, "a field is compared once: remove this filter");
            None
        }
    };
    if let Some(filter) = &filter {
        let takes_several = filter.kind == FilterKind::OneOf;
        if written.is_some_and(|count| takes_several != (count == ValueCount::Several)) {
            let message = if takes_several { SEVERAL } else { NOT_SEVERAL };
            errors.record(&field.ty, message);
        }
    }
    CheckedQueryField {
        field,
        is_in_path,
        is_sure: written.is_some(),
        filter,
    }
}
