//! Parses `#[query(…)]` and `#[filter(…)]`.

use syn::{Attribute, Expr, Ident, LitStr, Meta, Path};

use crate::codegen::{
    attribute::{self, SeenKeys},
    caller_rules::CallerKeys,
    errors::Errors,
    naming,
};

/// The content of `#[query(…)]`.
#[derive(Default)]
pub(crate) struct QueryAttr {
    pub(crate) path: Option<LitStr>,
    /// The read model whose rows are the pages of the output.
    pub(crate) rows: Option<Path>,
    /// The read model of which the output is one row.
    pub(crate) row: Option<Path>,
    pub(crate) order: Option<Order>,
    /// The fields among which clients choose the sort order.
    pub(crate) sort: Vec<Ident>,
    /// Present if the output of a hand-written handler is a page.
    pub(crate) paged: Option<Ident>,
    pub(crate) caller: CallerKeys,
    pub(crate) summary: Option<LitStr>,
    /// True if there is a path, even an invalid one.
    pub(crate) has_path: bool,
}

/// The sort order of the rows.
#[derive(Clone)]
pub(crate) struct Order {
    pub(crate) field: Ident,
    pub(crate) descending: bool,
}

const KEYS: [&str; 11] = [
    "path",
    "rows",
    "row",
    "order",
    "sort",
    "paged",
    "role",
    "role_without_token",
    "owner",
    "owner_except",
    "summary",
];

/// Parses all `#[query(…)]` attributes of the struct as one.
pub(crate) fn parse_attributes(attrs: &[Attribute], errors: &mut Errors) -> QueryAttr {
    let mut keys = SeenKeys::new("query", &KEYS);
    let mut read = QueryAttr::default();
    keys.visit_keys(attrs, errors, |key, meta, errors| {
        read.take(key, meta, errors)
    });
    read.has_path = keys.contains("path");
    read
}

impl QueryAttr {
    /// Sets the value of a key.
    fn take(&mut self, key: &str, meta: &Meta, errors: &mut Errors) {
        match key {
            "path" => self.path = attribute::parse_text(meta, "path = \"/books\"", errors),
            "rows" => self.rows = model(meta, "rows = BookCopy", errors),
            "row" => self.row = model(meta, "row = BookCopy", errors),
            "order" => self.order = order(meta, errors),
            "sort" => self.sort = sort_choices(meta, errors),
            "paged" => self.paged = flag(meta, errors),
            "summary" => {
                self.summary =
                    attribute::parse_text(meta, "summary = \"Browses the stock.\"", errors);
            }
            _ => self.caller.take(key, meta, errors),
        }
    }
}

fn model(meta: &Meta, example: &str, errors: &mut Errors) -> Option<Path> {
    let value = attribute::parse_value(meta, example, errors)?;
    if let Expr::Path(path) = value {
        return Some(path.path.clone());
    }
    let message = format!(
        "`{}` is a struct with `#[derive(ReadModel)]`, without quotation marks: write `{example}`",
        attribute::key_name(meta)
    );
    errors.record(value, message);
    None
}

fn flag(meta: &Meta, errors: &mut Errors) -> Option<Ident> {
    if let Meta::Path(path) = meta {
        return path.get_ident().cloned();
    }
    errors.record(meta, "`paged` has no value: write `paged` alone");
    None
}

fn order(meta: &Meta, errors: &mut Errors) -> Option<Order> {
    let example = "order = due_at";
    let value = attribute::parse_value(meta, example, errors)?;
    let field = |expr: &Expr| attribute::word_of(expr).cloned();
    let order = match value {
        Expr::Call(call) if field(&call.func).is_some_and(|name| name == "descending") => {
            let mut arguments = call.args.iter();
            let only = arguments.next().filter(|_| call.args.len() == 1);
            only.and_then(field).map(|field| Order {
                field,
                descending: true,
            })
        }
        value => field(value).map(|field| Order {
            field,
            descending: false,
        }),
    };
    if order.is_none() {
        let message =
            "rows are sorted by one field: write `order = due_at` or `order = descending(due_at)`";
        errors.record(value, message);
    }
    order
}

/// Parses the fields among which clients choose the sort order.
fn sort_choices(meta: &Meta, errors: &mut Errors) -> Vec<Ident> {
    let example = "sort = [title, due_at]";
    let several = attribute::parse_one_or_several(meta, example, errors);
    let Some((value, elements)) = several else {
        return Vec::new();
    };
    if elements.is_empty() {
        let message = format!("name the fields that clients may sort by: write `{example}`");
        errors.record(value, message);
    }
    let mut fields: Vec<Ident> = Vec::new();
    for element in elements {
        match attribute::word_of(element) {
            Some(field) if fields.contains(field) => {
                errors.record(field, "this field is given twice: remove one of them");
            }
            Some(field) => fields.push(field.clone()),
            None => {
                let message = format!(
                    "clients choose a field of the row, in both directions: write `{example}`"
                );
                errors.record(element, message);
            }
        }
    }
    fields
}

/// A filter above a field.
pub(crate) struct Filter {
    pub(crate) kind: FilterKind,
    /// The field of the row that is compared, if it has another name.
    pub(crate) field: Option<Ident>,
}

/// The comparison of a parameter with a field of the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FilterKind {
    Contains,
    Equal,
    AtLeast,
    AtMost,
    OneOf,
}

const FILTERS: [&str; 5] = ["contains", "eq", "at_least", "at_most", "one_of"];

/// Reads `#[filter(…)]`. Reports an invalid one and returns `None`.
pub(crate) fn read_filter(attr: &Attribute, errors: &mut Errors) -> Option<Filter> {
    let (elements, is_whole) = attribute::parse_readable_elements(attr, errors);
    let [meta] = elements.as_slice() else {
        if !is_whole {
            return None;
        }
        let message = match elements.as_slice() {
            [] => {
                "say how the field is compared: write `#[filter(eq)]`, or another one of `contains`, `at_least`, `at_most` and `one_of`"
            }
            _ => {
                "a field is compared once, with the field of the row in parentheses if it has another name: write `#[filter(at_least(due_at))]`"
            }
        };
        errors.record(attr, message);
        return None;
    };
    let name = attribute::key_name(meta);
    let kind = match name.as_str() {
        "contains" => FilterKind::Contains,
        "eq" => FilterKind::Equal,
        "at_least" => FilterKind::AtLeast,
        "at_most" => FilterKind::AtMost,
        "one_of" => FilterKind::OneOf,
        _ => {
            let meant = naming::known_names_hint(&name, &FILTERS, "filter");
            errors.record(meta.path(), format!("`{name}` is no filter: {meant}"));
            return None;
        }
    };
    let field = match meta {
        Meta::Path(_) => None,
        Meta::List(list) => match syn::parse2::<Ident>(list.tokens.clone()) {
            Ok(field) => Some(field),
            Err(_) => {
                let message = format!("name one field of the row: write `{name}(due_at)`");
                errors.record(meta, message);
                return None;
            }
        },
        Meta::NameValue(_) => {
            let message =
                format!("name the field of the row in parentheses: write `{name}(due_at)`");
            errors.record(meta, message);
            return None;
        }
    };
    Some(Filter { kind, field })
}
