//! The code of a read model that was checked.

use proc_macro2::{Ident, TokenStream};
use quote::quote;

use super::{ast::is_index, check::ReadModel};
use crate::codegen::{
    column, declaration,
    declaration_kind::DeclarationKind,
    framework::Framework,
    json_impls::{self, JsonField, JsonImpls},
};

/// Everything that the derive brings.
pub(crate) fn expand(model: &ReadModel, framework: &Framework) -> TokenStream {
    let json = json(model, framework);
    let implementation = implementation(model, framework);
    let ident = &model.ident;
    quote! {
        #json

        #implementation

        #framework::__private::inventory::submit! {
            #framework::projection::ReadModelDescriptor::of::<#ident>()
        }
    }
}

fn json(model: &ReadModel, framework: &Framework) -> TokenStream {
    let field = |field| JsonField {
        field,
        constraints: None,
    };
    let fields: Vec<_> = model.fields.iter().map(field).collect();
    let wire = JsonImpls {
        kind: DeclarationKind::ReadModel,
        ident: &model.ident,
        attrs: &model.attrs,
        fields: &fields,
    };
    wire.expand(framework)
}

fn implementation(model: &ReadModel, framework: &Framework) -> TokenStream {
    let ReadModel {
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
    let columns = column::descriptions(fields, framework);
    let to_cells = column::to_cells(fields, framework);
    let (key_column, key_type, key) = (column::of(key), &key.ty, &key.ident);
    let indexed = fields
        .iter()
        .filter(|field| field.attrs.iter().any(is_index))
        .map(column::of);
    let filled = fields.iter().map(|field| {
        let (ident, member) = (&field.ident, &field.member);
        quote!(#ident: cells.next(#member)?)
    });
    quote! {
        #[automatically_derived]
        impl #projection::ReadModel for #ident {
            type Key = #key_type;

            const TABLE: &'static str = #table;
            const SUBJECT: &'static str = #subject;
            const COLUMNS: &'static [#projection::Column] = #columns;
            const KEY: &'static str = #key_column;
            const INDEXED: &'static [&'static str] = &[#(#indexed),*];
            const VERSION: u32 = #version;
            const DECLARATION: #framework::Declaration = #declaration;

            fn key(&self) -> &Self::Key {
                &self.#key
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

/// The impls of a read model with mistakes, so that they are all that is reported.
pub(crate) fn stub(ident: &Ident, framework: &Framework) -> TokenStream {
    let json = json_impls::stub(ident, framework);
    let projection = quote!(#framework::projection);
    let declaration = declaration(ident, framework);
    quote! {
        #json

        #[automatically_derived]
        impl #projection::ReadModel for #ident {
            type Key = ::std::string::String;

            const TABLE: &'static str = "";
            const SUBJECT: &'static str = "/";
            const COLUMNS: &'static [#projection::Column] = &[];
            const KEY: &'static str = "";
            const INDEXED: &'static [&'static str] = &[];
            const VERSION: u32 = 1;
            const DECLARATION: #framework::Declaration = #declaration;

            fn key(&self) -> &Self::Key {
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
