//! The code of a query that was checked.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;

use super::{
    attr::{FilterKind, Order},
    check::{Answer, Number, Parameter, Query},
};
use crate::codegen::{declaration, doc, framework::Framework, naming, role::role};

/// Everything that the derive brings.
pub(crate) fn expand(query: &Query, framework: &Framework) -> TokenStream {
    let implementation = implementation(query, framework);
    let answer = query.answer.as_ref().map(|answer| {
        let checked = columns_are_there(query, answer, framework);
        let answered = answered(query, answer, framework);
        quote!(#checked #answered)
    });
    let ident = &query.ident;
    quote! {
        #implementation

        #answer

        #framework::__private::inventory::submit! {
            #framework::query::QueryDescriptor::of::<#ident>()
        }
    }
}

fn implementation(query: &Query, framework: &Framework) -> TokenStream {
    let Query {
        ident,
        path,
        summary,
        ..
    } = query;
    let module = quote!(#framework::query);
    let name = ident.unraw().to_string();
    let declaration = declaration(ident, framework);
    let is_paged = query.is_paged;
    let role = role(query.role.as_deref());
    let tables = query.answer.as_ref().map(|answer| table(answer, framework));
    let filters = query
        .answer
        .as_ref()
        .map(|answer| filters(query, answer, framework));
    let fields = query.parameters.iter().map(|parameter| {
        let (ident, member) = (&parameter.field.ident, &parameter.field.member);
        let take = match parameter.number {
            Number::Required => quote!(required),
            Number::Optional => quote!(optional),
            Number::Several => quote!(several),
        };
        quote!(#ident: parameters.#take(#member)?)
    });
    let description = (!query.description.is_empty()).then(|| {
        let text = &query.description;
        quote!(const DESCRIPTION: &'static str = #text;)
    });
    let described = described(query, framework);
    let parameters = match query.parameters.is_empty() {
        true => quote!(_),
        false => quote!(parameters),
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
            const FILTERS: &'static [#module::ColumnIndex] = &[#filters];
            #role
            const DECLARATION: #framework::Declaration = #declaration;

            fn parse(
                #parameters: &mut #module::QueryParameters,
            ) -> ::core::result::Result<Self, #module::QueryError> {
                ::core::result::Result::Ok(Self {
                    #(#fields,)*
                })
            }

            #described
        }
    }
}

/// What the fields are, for those who ask the query.
fn described(query: &Query, framework: &Framework) -> Option<TokenStream> {
    let parameters: Vec<_> = query
        .parameters
        .iter()
        .map(|Parameter { field, number, .. }| {
            let (member, ty) = (&field.member, field.value_type());
            let text = doc::whole(&field.attrs);
            let take = match number {
                Number::Required => quote!(required),
                Number::Optional => quote!(optional),
                Number::Several => quote!(several),
            };
            quote!(parameters.#take::<#ty>(#member, #text);)
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

fn table(answer: &Answer, framework: &Framework) -> TokenStream {
    let model = &answer.model;
    quote!(<#model as #framework::projection::ReadModel>::TABLE)
}

/// The field of the row that a parameter is compared with.
fn row_field(parameter: &Parameter) -> Option<&Ident> {
    let filter = parameter.filter.as_ref()?;
    Some(filter.field.as_ref().unwrap_or(&parameter.field.ident))
}

fn column(field: &Ident) -> String {
    naming::snake_case(&field.unraw().to_string())
}

fn filters(query: &Query, answer: &Answer, framework: &Framework) -> TokenStream {
    let table = table(answer, framework);
    let compared = query.parameters.iter().filter_map(|parameter| {
        let by = match parameter.filter.as_ref()?.kind {
            FilterKind::Contains => quote!(Searched),
            FilterKind::Equal | FilterKind::AtLeast | FilterKind::AtMost | FilterKind::OneOf => {
                quote!(Compared)
            }
        };
        Some((column(row_field(parameter)?), by))
    });
    let sorted = answer
        .order
        .iter()
        .map(|order| (column(&order.field), quote!(Compared)));
    let filters = compared.chain(sorted).map(|(column, by)| {
        quote! {
            #framework::query::ColumnIndex {
                table: #table,
                column: #column,
                by: #framework::projection::ColumnUse::#by,
            }
        }
    });
    quote!(#(#filters),*)
}

/// Makes the compiler look for the fields of the row, and compare their types.
fn columns_are_there(query: &Query, answer: &Answer, framework: &Framework) -> TokenStream {
    let (ident, model) = (&query.ident, &answer.model);
    let checks = query.parameters.iter().filter_map(|parameter| {
        let (field, row_field) = (&parameter.field.ident, row_field(parameter)?);
        let check = match parameter.number {
            Number::Required => format_ident!("comparable"),
            Number::Optional => format_ident!("comparable_option"),
            Number::Several => format_ident!("comparable_list"),
        };
        let framework = framework.at(row_field.span());
        Some(quote_spanned! {row_field.span()=>
            #framework::__private::#check(&query.#field, &row.#row_field);
        })
    });
    let sorted = answer
        .order
        .as_ref()
        .map(|Order { field, .. }| quote_spanned!(field.span()=> let _ = &row.#field;));
    quote! {
        const _: fn(&#ident, &#model) = |query, row| {
            let _ = (query, row);
            #(#checks)*
            #sorted
        };
    }
}

fn answered(query: &Query, answer: &Answer, framework: &Framework) -> TokenStream {
    let (ident, model) = (&query.ident, &answer.model);
    let module = quote!(#framework::query);
    let conditions = query.parameters.iter().filter_map(condition);
    let order = answer.order.as_ref().map(|order| {
        let column = column(&order.field);
        let direction = match order.descending {
            true => quote!(Descending),
            false => quote!(Ascending),
        };
        quote!(let rows = rows.order_by(#column, #module::Direction::#direction);)
    });
    let (output, last) = match answer.is_one {
        true => (
            quote!(#model),
            quote!(rows.first().await?.ok_or(#module::QueryError::NotFound)),
        ),
        false => (
            quote!(#module::Page<#model>),
            quote!(rows.page(context.paging()).await),
        ),
    };
    quote! {
        #[automatically_derived]
        impl #module::QueryHandler for #ident {
            type Output = #output;

            async fn handle(
                self,
                context: &#module::QueryContext<'_>,
            ) -> ::core::result::Result<#output, #module::QueryError> {
                let rows = context.rows::<#model>();
                #(#conditions)*
                #order
                #last
            }
        }
    }
}

fn condition(parameter: &Parameter) -> Option<TokenStream> {
    let column = column(row_field(parameter)?);
    let method = match parameter.filter.as_ref()?.kind {
        FilterKind::Contains => quote!(contains),
        FilterKind::Equal => quote!(equal),
        FilterKind::AtLeast => quote!(at_least),
        FilterKind::AtMost => quote!(at_most),
        FilterKind::OneOf => quote!(one_of),
    };
    let field = &parameter.field.ident;
    Some(match parameter.number {
        Number::Required => quote!(let rows = rows.#method(#column, &self.#field);),
        Number::Optional => quote! {
            let rows = match &self.#field {
                ::core::option::Option::Some(value) => rows.#method(#column, value),
                ::core::option::Option::None => rows,
            };
        },
        // Without any value there is no condition.
        Number::Several => quote! {
            let rows = match self.#field.is_empty() {
                true => rows,
                false => rows.#method(#column, &self.#field),
            };
        },
    })
}

/// The impls of a query with mistakes, so that they are all that is reported.
pub(crate) fn stub(ident: &Ident, framework: &Framework) -> TokenStream {
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
            const FILTERS: &'static [#module::ColumnIndex] = &[];
            const DECLARATION: #framework::Declaration = #declaration;

            fn parse(
                _: &mut #module::QueryParameters,
            ) -> ::core::result::Result<Self, #module::QueryError> {
                ::core::unreachable!()
            }
        }
    }
}
