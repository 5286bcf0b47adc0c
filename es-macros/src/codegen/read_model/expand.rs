//! Generates the code of a read model that passed the checks.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{Data, DeriveInput, parse_quote, spanned::Spanned as _};

use super::{check::CheckedReadModel, search_attr::SearchForm, visible_attr::Viewers};
use crate::codegen::{
    attribute, caller_rules, column, declaration,
    declaration_kind::DeclarationKind,
    errors::Errors,
    fields::{self, Field},
    framework::Framework,
    json_impls, types,
};

/// Returns all code that the derive generates.
pub(crate) fn expand_read_model(
    item: &DeriveInput,
    model: &CheckedReadModel,
    framework: &Framework,
) -> TokenStream {
    let json = json(item, model, framework);
    let implementation = implementation(model, framework);
    let ident = &model.ident;
    let columns = column::column_functions(ident, &model.fields, framework);
    let owners = check_owner_columns(model, framework);
    quote! {
        #json

        #owners

        #implementation

        #columns

        #framework::__private::inventory::submit! {
            #framework::projection::ReadModelDescriptor::of::<#ident>()
        }
    }
}

fn json(item: &DeriveInput, model: &CheckedReadModel, framework: &Framework) -> TokenStream {
    let (mut item, ident) = (item.clone(), &model.ident);
    let projection = format!("{}::projection", framework.path_text());
    // The members that the caller of a query does not see are left out.
    for (rule, (index, _)) in model.visibility.iter().enumerate() {
        let is_hidden = format!("{projection}::is_hidden::<{ident}, {rule}, _>");
        if let Data::Struct(data) = &mut item.data
            && let Some(field) = data.fields.iter_mut().nth(*index)
        {
            field
                .attrs
                .push(parse_quote!(#[serde(skip_serializing_if = #is_hidden)]));
        }
    }
    if !model.visibility.is_empty() {
        item.attrs.push(parse_quote! {
            #[schemars(transform = #framework::projection::describe_visibility::<#ident>)]
        });
    }
    json_impls::expand_item(&item, DeclarationKind::ReadModel, framework)
}

fn implementation(model: &CheckedReadModel, framework: &Framework) -> TokenStream {
    let CheckedReadModel {
        ident,
        table,
        subject,
        fields,
        key,
        ..
    } = model;
    let projection = quote!(#framework::projection);
    let declaration = declaration(ident, framework);
    let version = model
        .version
        .as_ref()
        .map_or(quote!(1), |version| quote!(#version));
    let searched = searched_columns(model, framework);
    let visibility = visibility(model, framework);
    let columns = column::column_descriptions(fields, framework);
    let to_cells = column::to_cells(fields, framework);
    let key_columns = key.iter().map(column::name_of);
    let KeyTypes {
        owned,
        borrowed,
        value,
    } = key_types(key);
    let indexed = fields
        .iter()
        .filter(|field| attribute::has(&field.attrs, "index"))
        .map(column::name_of);
    let filled = fields.iter().map(|field| {
        let (ident, member, ty) = (&field.ident, &field.member, &field.ty);
        quote!(#ident: <#ty as #projection::ColumnType>::from_cell(cells.take_cell(), #member)?)
    });
    quote! {
        #[automatically_derived]
        impl #projection::ReadModel for #ident {
            type Key = #owned;

            const TABLE: &'static str = #table;
            const SUBJECT: &'static str = #subject;
            const COLUMNS: &'static [#projection::ColumnDescriptor] = #columns;
            const KEY: &'static [&'static str] = &[#(#key_columns),*];
            const INDEXED: &'static [&'static str] = &[#(#indexed),*];
            const VERSION: u32 = #version;
            #searched
            #visibility
            const DECLARATION: #framework::Declaration = #declaration;

            fn key(&self) -> #borrowed {
                #value
            }

            #to_cells

            fn from_cells(
                mut cells: #projection::Cells,
            ) -> ::core::result::Result<Self, #projection::CellError> {
                ::core::result::Result::Ok(Self {
                    #(#filled,)*
                })
            }
        }
    }
}

/// The type of a key, the type that borrows its fields, and the expression that does.
struct KeyTypes {
    owned: TokenStream,
    borrowed: TokenStream,
    value: TokenStream,
}

/// Returns the types of a key: those of its field, or tuples.
fn key_types(key: &[Field]) -> KeyTypes {
    let types = key.iter().map(|field| &field.ty).collect::<Vec<_>>();
    let names = key.iter().map(|field| &field.ident);
    if let [only] = types.as_slice() {
        return KeyTypes {
            owned: quote!(#only),
            borrowed: quote!(&#only),
            value: quote!(&self.#(#names)*),
        };
    }
    KeyTypes {
        owned: quote!((#(#types),*)),
        borrowed: quote!((#(&#types),*)),
        value: quote!((#(&self.#names),*)),
    }
}

/// Returns the constant with the columns that searches use, if there are any. The compiler reports a field that is no
/// text at its type.
fn searched_columns(model: &CheckedReadModel, framework: &Framework) -> Option<TokenStream> {
    let columns = model.searched.iter().map(|(field, form)| {
        let span = field.ty.span();
        let framework = framework.with_span(span);
        let mut column = field.ident.clone();
        column.set_span(span);
        let form = match form {
            SearchForm::Folded => quote_spanned!(span=> Folded),
            SearchForm::Alphanumeric => quote_spanned!(span=> Alphanumeric),
        };
        quote_spanned!(span=> Self::#column().searched(#framework::projection::SearchForm::#form))
    });
    (!model.searched.is_empty()).then(|| {
        quote! {
            const SEARCHED: &'static [#framework::projection::SearchedColumn] = &[#(#columns),*];
        }
    })
}

/// Returns the constant with the columns that only some callers see, if there are any. The compiler reports a type that
/// does not fit at the field.
fn visibility(model: &CheckedReadModel, framework: &Framework) -> Option<TokenStream> {
    let projection = quote!(#framework::projection);
    let rules = model.visibility.iter().filter_map(|(index, viewers)| {
        let Viewers { roles, owner } = viewers;
        let owner = match owner {
            None => quote!(::core::option::Option::None),
            Some(owner) => quote!(::core::option::Option::Some(Self::COLUMNS[#owner])),
        };
        let ty = &model.fields.get(*index)?.ty;
        let of = quote_spanned!(ty.span()=> of::<#ty>);
        Some(quote! {
            #projection::ColumnVisibility::#of(Self::COLUMNS[#index], &[#(#roles),*], #owner)
        })
    });
    (!model.visibility.is_empty()).then(|| {
        quote! {
            const VISIBILITY: &'static [#projection::ColumnVisibility] = &[#(#rules),*];
        }
    })
}

/// Generates checks at compile time that the columns with owner ids have a fitting kind, for types that the macro does
/// not know.
fn check_owner_columns(model: &CheckedReadModel, framework: &Framework) -> TokenStream {
    let owners = model
        .visibility
        .iter()
        .filter_map(|(_, viewers)| viewers.owner);
    let distinct = owners.collect::<BTreeSet<_>>().into_iter();
    let checks = distinct.filter_map(|owner| {
        let field = model.fields.get(owner)?;
        let ty = &field.ty;
        let id = types::last_word(types::inside_option(ty).unwrap_or(ty))?;
        let message = caller_rules::no_owner_id(&field.name(), &id);
        Some(quote_spanned! {ty.span()=>
            const _: () = ::core::assert!(
                <#ty as #framework::projection::ColumnType>::KIND.is_owner_id(),
                #message,
            );
        })
    });
    quote!(#(#checks)*)
}

/// Generates stub implementations for a read model with mistakes, so that the compiler reports only
/// these mistakes.
pub(crate) fn generate_stub(item: &DeriveInput, framework: &Framework) -> TokenStream {
    let ident = &item.ident;
    // The mistakes in the fields are reported already.
    let fields = fields::parse_fields(item, DeclarationKind::ReadModel, &mut Errors::default());
    let columns = column::column_functions(ident, &fields.unwrap_or_default(), framework);
    let json = json_impls::generate_stub(ident, framework);
    let projection = quote!(#framework::projection);
    let declaration = declaration(ident, framework);
    quote! {
        #json

        #columns

        #[automatically_derived]
        impl #projection::ReadModel for #ident {
            type Key = ::std::string::String;

            const TABLE: &'static str = "";
            const SUBJECT: &'static str = "/";
            const COLUMNS: &'static [#projection::ColumnDescriptor] = &[];
            const KEY: &'static [&'static str] = &[];
            const INDEXED: &'static [&'static str] = &[];
            const VERSION: u32 = 1;
            const DECLARATION: #framework::Declaration = #declaration;

            fn key(&self) -> &::std::string::String {
                ::core::unreachable!()
            }

            fn to_cells(
                &self,
            ) -> ::core::result::Result<
                ::std::vec::Vec<#projection::Cell>,
                #projection::CellError,
            > {
                ::core::unreachable!()
            }

            fn from_cells(
                _: #projection::Cells,
            ) -> ::core::result::Result<Self, #projection::CellError> {
                ::core::unreachable!()
            }
        }
    }
}
