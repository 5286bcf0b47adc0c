//! Generates the code of a query that passed the checks.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::{ext::IdentExt as _, spanned::Spanned as _};

use super::{
    attr::FilterKind,
    check::{self, CheckedQuery, CheckedQueryField, RowSource},
};
use crate::codegen::{declaration, doc_comment, fields::Field, framework::Framework, naming};

/// Returns all code that the derive generates.
pub(crate) fn expand_query(query: &CheckedQuery, framework: &Framework) -> TokenStream {
    let implementation = implementation(query, framework);
    let source = query.source.as_ref();
    let handler = source.map(|source| handler(query, source, framework));
    let ident = &query.ident;
    let counts = check_counts(query, framework);
    quote! {
        #implementation

        #counts

        #handler

        #framework::__private::inventory::submit! {
            #framework::query::QueryDescriptor::of::<#ident>()
        }
    }
}

fn implementation(query: &CheckedQuery, framework: &Framework) -> TokenStream {
    let CheckedQuery {
        ident,
        path,
        summary,
        ..
    } = query;
    let module = quote!(#framework::query);
    let (name, summary) = (ident.unraw().to_string(), summary.expand(framework));
    let declaration = declaration(ident, framework);
    let is_paged = query.is_paged;
    let caller = query.caller.generate_items(framework);
    let source = query.source.as_ref();
    let tables = source.map(|source| table(source, framework));
    let indexes = source.map(|source| indexes(query, source, framework));
    let compared = source.map(|source| compared_columns(query, source, framework));
    let sort_choices = source.and_then(|source| sort_choices(source, framework));
    let fields = query.parameters.iter().map(|parameter| {
        let Field {
            ident, member, ty, ..
        } = &parameter.field;
        // The compiler reports a type that cannot be a parameter at the field.
        let path = framework.with_span(ty.span());
        let take = quote_spanned!(ty.span()=> <#ty as #path::query::QueryField>::take);
        quote!(#ident: #take(parameters, #member)?)
    });
    let description = (!query.description.is_empty()).then(|| {
        let text = query.description.expand(framework);
        quote!(const DESCRIPTION: &'static str = #text;)
    });
    let described = described(query, framework);
    let parameters = if query.parameters.is_empty() {
        quote!(_)
    } else {
        quote!(parameters)
    };
    quote! {
        #[automatically_derived]
        impl #module::Query for #ident {
            const NAME: &'static str = #name;
            const SUMMARY: &'static str = #summary;
            #description
            const PATH: &'static str = #path;
            const PAGED: bool = #is_paged;
            const TABLES: &'static [&'static str] = &[#tables];
            const INDEXES: &'static [#module::RequiredIndex] = &[#indexes];
            #compared
            #sort_choices
            const DECLARATION: #framework::Declaration = #declaration;

            fn parse(
                #parameters: &mut #module::QueryParameters,
            ) -> ::core::result::Result<Self, #module::QueryError> {
                ::core::result::Result::Ok(Self {
                    #(#fields,)*
                })
            }

            #described

            #caller
        }
    }
}

/// Returns the function that describes the parameters for the OpenAPI document.
fn described(query: &CheckedQuery, framework: &Framework) -> Option<TokenStream> {
    let parameters: Vec<_> = query
        .parameters
        .iter()
        .map(|CheckedQueryField { field, .. }| {
            let (member, ty) = (&field.member, &field.ty);
            let text = doc_comment::whole(&field.attrs).expand(framework);
            quote!(parameters.add::<#ty>(#member, #text);)
        })
        .collect();
    (!parameters.is_empty()).then(|| {
        quote! {
            fn describe(parameters: &mut #framework::query::ParameterDescriptions<'_>) {
                #(#parameters)*
            }
        }
    })
}

fn table(source: &RowSource, framework: &Framework) -> TokenStream {
    let model = &source.model;
    quote!(<#model as #framework::projection::ReadModel>::TABLE)
}

/// Returns the field of the row that a parameter is compared with.
fn row_field(parameter: &CheckedQueryField) -> Option<&Ident> {
    let filter = parameter.filter.as_ref()?;
    Some(filter.field.as_ref().unwrap_or(&parameter.field.ident))
}

/// Returns the typed column of a row's field. The compiler reports a field that the row does not have
/// at the place where the query names it.
fn column(source: &RowSource, field: &Ident, framework: &Framework) -> TokenStream {
    let (model, span) = (&source.model, field.span());
    let (framework, name) = (framework.with_span(span), naming::column_name(field));
    let read = quote_spanned!(span=> |row: &#model| &row.#field);
    quote_spanned!(span=> #framework::query::Column::of_field(#name, #read))
}

/// Returns the indexes of the columns that the query compares, searches and sorts by.
fn indexes(query: &CheckedQuery, source: &RowSource, framework: &Framework) -> TokenStream {
    let filtered = query.parameters.iter().filter_map(|parameter| {
        let column = column(source, row_field(parameter)?, framework);
        match parameter.filter.as_ref()?.kind {
            FilterKind::Contains => Some(quote!(#column.search_index())),
            // The key finds the row.
            _ if source.is_one => None,
            FilterKind::Equal | FilterKind::AtLeast | FilterKind::AtMost | FilterKind::OneOf => {
                Some(quote!(#column.comparison_index()))
            }
        }
    });
    let sorted = sorted_fields(source).map(|field| {
        let column = column(source, field, framework);
        quote!(#column.comparison_index())
    });
    let indexes = filtered.chain(sorted);
    quote!(#(#indexes),*)
}

/// Returns the fields that the rows are sorted by, each once.
fn sorted_fields(source: &RowSource) -> impl Iterator<Item = &Ident> {
    let ordered = source.order.iter().map(|order| &order.field);
    let others = ordered.filter(|field| !source.sort.contains(field));
    source.sort.iter().chain(others)
}

/// Returns the constant of the columns that the query compares, searches and sorts by.
fn compared_columns(
    query: &CheckedQuery,
    source: &RowSource,
    framework: &Framework,
) -> TokenStream {
    let filtered = query.parameters.iter().filter_map(row_field);
    let columns = filtered.chain(sorted_fields(source));
    let names = columns.map(|field| {
        let column = column(source, field, framework);
        quote!(#column.name())
    });
    quote!(const COMPARED_COLUMNS: &'static [&'static str] = &[#(#names),*];)
}

/// Returns the columns among which clients choose the sort order, if there are any.
fn sort_choices(source: &RowSource, framework: &Framework) -> Option<TokenStream> {
    let choices = source.sort.iter().map(|field| {
        let column = column(source, field, framework);
        let choice = Ident::new("sort_choice", field.span());
        quote!(#column.#choice())
    });
    (!source.sort.is_empty()).then(|| {
        quote! {
            const SORT_CHOICES: &'static [#framework::query::SortChoice] = &[#(#choices),*];
        }
    })
}

fn handler(query: &CheckedQuery, source: &RowSource, framework: &Framework) -> TokenStream {
    let (ident, model) = (&query.ident, &source.model);
    let module = quote!(#framework::query);
    let parameters = query.parameters.iter();
    let filters = parameters.filter_map(|parameter| filter(parameter, source, framework));
    let order = source.order.as_ref().map(|order| {
        let column = column(source, &order.field, framework);
        let sort = if order.descending {
            quote_spanned!(order.field.span()=> sort_descending)
        } else {
            quote_spanned!(order.field.span()=> sort)
        };
        quote!(let rows = rows.#sort(#column);)
    });
    let sort = (!source.sort.is_empty())
        .then(|| quote!(let rows = rows.sort_as_requested(context.paging());));
    let (output, last) = if source.is_one {
        (
            quote!(#model),
            quote!(rows.first().await?.ok_or(#module::QueryError::NotFound)),
        )
    } else {
        (
            quote!(#module::Page<#model>),
            quote!(rows.page(context.paging()).await),
        )
    };
    let names_key = source.is_one.then(|| names_key(query, source, framework));
    let compares_owner = compares_owner(query, source, framework);
    quote! {
        #names_key

        #compares_owner

        #[automatically_derived]
        impl #module::QueryHandler for #ident {
            type Output = #output;

            async fn handle(
                self,
                context: &#module::QueryContext<'_>,
            ) -> ::core::result::Result<#output, #module::QueryError> {
                let rows = context.rows::<#model>();
                #(#filters)*
                #order
                #sort
                #last
            }
        }
    }
}

/// Generates a check at compile time that a query of one row compares the key of the read model, because
/// otherwise the row is any one of several.
fn names_key(query: &CheckedQuery, source: &RowSource, framework: &Framework) -> TokenStream {
    let model = &source.model;
    let compared = query.parameters.iter().filter_map(|parameter| {
        let is_equal = matches!(parameter.filter.as_ref()?.kind, FilterKind::Equal);
        let (column, ty) = (
            column(source, row_field(parameter)?, framework),
            &parameter.field.ty,
        );
        let count = quote!(<#ty as #framework::query::QueryField>::COUNT);
        is_equal.then(|| quote!((#column.comparison_index(), #count)))
    });
    let message = "`row` shows the row of one key, but the fields of this query do not give the read model's key: name a field as each `#[key]` of the read model, or write `#[filter(eq, …)]` above the one that holds it; for several rows, write `rows = …`";
    let span = query.ident.span();
    let framework = framework.with_span(span);
    quote_spanned! {span=>
        const _: () = ::core::assert!(
            #framework::query::names_key(
                <#model as #framework::projection::ReadModel>::KEY,
                &[#(#compared),*],
            ),
            #message,
        );
    }
}

/// Generates a check at compile time that the column of the owner id is compared as it is, because the ids of two
/// owners can have the same letters and digits.
fn compares_owner(
    query: &CheckedQuery,
    source: &RowSource,
    framework: &Framework,
) -> Option<TokenStream> {
    let owner = query.caller.owner_field()?;
    let mut parameters = query.parameters.iter();
    let parameter = parameters.find(|parameter| parameter.field.ident == *owner)?;
    let (column, model) = (
        column(source, row_field(parameter)?, framework),
        &source.model,
    );
    let message = format!(
        "`{owner}` holds the id of the owner, and the field of the row has `#[search(alphanumeric)]`, which finds rows of others: write `#[search]` above that field"
    );
    let span = owner.span();
    let framework = framework.with_span(span);
    Some(quote_spanned! {span=>
        const _: () = ::core::assert!(
            #framework::projection::compares_exactly(
                <#model as #framework::projection::ReadModel>::SEARCHED,
                #column.name(),
            ),
            #message,
        );
    })
}

/// Returns the statement that filters the rows by a parameter.
fn filter(
    parameter: &CheckedQueryField,
    source: &RowSource,
    framework: &Framework,
) -> Option<TokenStream> {
    let row_field = row_field(parameter)?;
    let column = column(source, row_field, framework);
    let kind = parameter.filter.as_ref()?.kind;
    let name = match kind {
        FilterKind::Contains => "contains",
        FilterKind::Equal => "eq",
        FilterKind::AtLeast => "at_least",
        FilterKind::AtMost => "at_most",
        FilterKind::OneOf => "one_of",
    };
    // The compiler reports an unknown comparison at the field.
    let method = Ident::new(name, row_field.span());
    let value = Ident::new("value", row_field.span());
    let condition = quote_spanned!(row_field.span()=> #column.#method(#value));
    let field = &parameter.field.ident;
    let values = quote!(#framework::query::QueryField::values(&self.#field));
    // Without any value there is no condition.
    Some(match kind {
        FilterKind::OneOf => quote! {
            let #value = #values;
            let rows = match #value.is_empty() {
                true => rows,
                false => rows.filter(#condition),
            };
        },
        _ => quote! {
            let rows = match #values.first() {
                ::core::option::Option::Some(#value) => rows.filter(#condition),
                ::core::option::Option::None => rows,
            };
        },
    })
}

/// Generates the checks at compile time of the number of values, for types that may be aliases.
fn check_counts(query: &CheckedQuery, framework: &Framework) -> TokenStream {
    let unsure = query
        .parameters
        .iter()
        .filter(|parameter| !parameter.is_sure);
    let checks = unsure.filter_map(|parameter| {
        let ty = &parameter.field.ty;
        let count = quote!(<#ty as #framework::query::QueryField>::COUNT);
        let filter = parameter.filter.as_ref().map(|filter| filter.kind);
        let (holds, message) = match filter {
            _ if parameter.is_in_path => (quote!(#count.is_required()), check::IN_PATH),
            Some(FilterKind::OneOf) => (quote!(#count.is_several()), check::SEVERAL),
            Some(_) => (quote!(!#count.is_several()), check::NOT_SEVERAL),
            None => return None,
        };
        Some(quote_spanned!(ty.span()=> const _: () = ::core::assert!(#holds, #message);))
    });
    quote!(#(#checks)*)
}

/// Generates stub implementations for a query with mistakes, so that the compiler reports only these
/// mistakes.
pub(crate) fn generate_stub(ident: &Ident, framework: &Framework) -> TokenStream {
    let module = quote!(#framework::query);
    let declaration = declaration(ident, framework);
    quote! {
        #[automatically_derived]
        impl #module::Query for #ident {
            const NAME: &'static str = "";
            const SUMMARY: &'static str = "";
            const PATH: &'static str = "/";
            const PAGED: bool = false;
            const TABLES: &'static [&'static str] = &[];
            const INDEXES: &'static [#module::RequiredIndex] = &[];
            const DECLARATION: #framework::Declaration = #declaration;

            fn parse(
                _: &mut #module::QueryParameters,
            ) -> ::core::result::Result<Self, #module::QueryError> {
                ::core::unreachable!()
            }
        }
    }
}
