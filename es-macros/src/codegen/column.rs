//! The tables and columns of read models: names that every SQL database accepts, and the code for
//! columns.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Ident, LitStr, Type, TypePath};

use super::{errors::Errors, fields::Field, framework::Framework, naming, types};

/// The prefix of the framework's own columns.
const RESERVED: &str = "es_";

/// The most bytes of a name in PostgreSQL, which cuts off the rest.
const MOST_BYTES: usize = 63;

/// The prefix that the framework puts before the name of a table while it rebuilds the rows.
const SHADOW_PREFIX: &str = "es_next_";

/// The longest prefix that the framework puts before the name of a column.
const SEARCH_PREFIX: &str = "es_alphanumeric_";

/// Reports a name that no table can have.
pub(crate) fn check_table_name(table: &LitStr, errors: &mut Errors) {
    let name = table.value();
    if !is_sql_name(&name) {
        let message = format!(
            "`{name}` cannot name a read model: start with a letter and write lower-case ASCII letters, digits and `_`, such as `books`"
        );
        errors.record(table, message);
    } else if name.starts_with(RESERVED) {
        errors.record(table, reserved(&name));
    } else if let Some(message) = too_long(&name, SHADOW_PREFIX) {
        errors.record(table, message);
    }
}

/// Reports fields that cannot be columns of one table.
pub(crate) fn check_columns(fields: &[Field], errors: &mut Errors) {
    let mut columns = BTreeMap::new();
    for field in fields {
        if let Some(message) = unsuitable(types::inside_option(&field.ty).unwrap_or(&field.ty)) {
            errors.record(&field.ty, message);
        }
        let column = name_of(field);
        if !is_sql_name(&column) {
            let message = format!(
                "`{column}` cannot name a column: start the field's name with a letter and write ASCII letters, digits and `_`"
            );
            errors.record(&field.ident, message);
        } else if column.starts_with(RESERVED) {
            errors.record(&field.ident, reserved(&column));
        } else if let Some(message) = too_long(&column, SEARCH_PREFIX) {
            errors.record(&field.ident, message);
        }
        if let Some(earlier) = columns.insert(column.clone(), &field.ident) {
            let message = format!(
                "`{earlier}` and `{}` are both the column `{column}`: rename one of them",
                field.ident
            );
            errors.record(&field.ident, message);
        }
    }
}

/// Returns the remedy for a type that no column has, as far as its name shows that. The compiler reports others.
fn unsuitable(ty: &Type) -> Option<&'static str> {
    let Type::Path(TypePath { path, .. }) = ty else {
        return matches!(ty, Type::Tuple(_) | Type::Array(_)).then_some(LIST);
    };
    let mut segments = path.segments.iter().rev();
    let name = segments.next()?.ident.to_string();
    let is_qualified = segments.any(|segment| {
        let module = &segment.ident;
        module == "std" || module == "core" || module == "chrono" || module == "time"
    });
    Some(match name.as_str() {
        "u64" | "usize" | "u128" | "i128" | "isize" => {
            "a column holds whole numbers from -2^63 to 2^63 - 1: write `i64`"
        }
        "DateTime" | "NaiveDateTime" | "OffsetDateTime" | "SystemTime" | "Instant" => {
            "a column holds a point in time as a `Timestamp`: write `Timestamp`"
        }
        "NaiveDate" => "a column holds a date of the calendar as a `Date`: write `Date`",
        "Duration" if is_qualified => {
            "no column holds a length of time: write `i64` for a number of seconds"
        }
        "HashMap" => "a column holds a map in the order of its keys: write `BTreeMap<String, …>`",
        "HashSet" | "BTreeSet" | "VecDeque" => LIST,
        "char" => "a column holds a text: write `String`",
        _ => return None,
    })
}

const LIST: &str = "a column holds several values as a list: write `Vec<…>`";

fn reserved(name: &str) -> String {
    format!(
        "`{name}` is a name of the framework's own, as all that begin with `{RESERVED}`: rename it"
    )
}

/// Returns the remedy for a name that is too long with a prefix of the framework.
fn too_long(name: &str, prefix: &str) -> Option<String> {
    let most = MOST_BYTES.saturating_sub(prefix.len());
    (name.len() > most).then(|| {
        format!(
            "`{name}` has {} characters: write at most {most}, because PostgreSQL cuts off names after {MOST_BYTES} and the framework's `{prefix}` comes before this one",
            name.len()
        )
    })
}

fn is_sql_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Returns the name of a field's column.
pub(crate) fn name_of(field: &Field) -> String {
    naming::column_name(&field.ident)
}

/// Returns the descriptors of the columns.
pub(crate) fn column_descriptions(fields: &[Field], framework: &Framework) -> TokenStream {
    let projection = quote!(#framework::projection);
    let columns = fields.iter().map(|field| {
        let (name, member, ty) = (name_of(field), &field.member, &field.ty);
        quote! {
            #projection::ColumnDescriptor {
                name: #name,
                member: #member,
                kind: <#ty as #projection::ColumnType>::KIND,
            }
        }
    });
    quote!(&[#(#columns),*])
}

/// Generates an associated function for each column that returns the typed column.
pub(crate) fn column_functions(
    model: &Ident,
    fields: &[Field],
    framework: &Framework,
) -> TokenStream {
    let functions = fields.iter().map(|field| {
        let Field { vis, ident, ty, .. } = field;
        let name = name_of(field);
        let doc = format!("Returns the column `{name}`, for conditions and sort orders.");
        let column = quote!(#framework::query::Column);
        quote_spanned! {ident.span()=>
            #[doc = #doc]
            #[must_use]
            #vis const fn #ident() -> #column<Self, #ty> {
                #column::new(#name)
            }
        }
    });
    quote! {
        #[automatically_derived]
        #[allow(dead_code)]
        impl #model {
            #(#functions)*
        }
    }
}

/// Generates the method that converts a row to cells.
pub(crate) fn to_cells(fields: &[Field], framework: &Framework) -> TokenStream {
    let projection = quote!(#framework::projection);
    let cells = fields.iter().map(|field| {
        let (member, ident, ty) = (&field.member, &field.ident, &field.ty);
        quote!(<#ty as #projection::ColumnType>::to_cell(&self.#ident, #member)?)
    });
    quote! {
        fn to_cells(
            &self,
        ) -> ::core::result::Result<
            ::std::vec::Vec<#projection::Cell>,
            #projection::CellError,
        > {
            ::core::result::Result::Ok(::std::vec::Vec::from([#(#cells),*]))
        }
    }
}
