//! The code of a handler that was checked.

use std::collections::BTreeSet;

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use syn::{ItemFn, Type, parse_quote};

use super::{ast::Declared, check::Handler};
use crate::codegen::{declaration, framework::Framework};

/// The function, and the implementation that calls it.
pub(crate) fn expand(function: &ItemFn, handler: &Handler, framework: &Framework) -> TokenStream {
    let Handler {
        ident,
        command,
        output,
        conditions,
    } = handler;
    let declaration = declaration(ident, framework);
    // Naming the output makes the compiler point at it if it is no event.
    let body = quote!(<#output as #framework::command::IntoDecision>::into_decision(#ident(self)));
    let rejections = quote! {
        fn rejections() -> &'static [#framework::command::RejectionDescriptor] {
            <#output as #framework::command::IntoDecision>::rejections()
        }
    };
    let implementation = implementation(command, &declaration, &body, &rejections, framework);
    quote! {
        #function

        #(#conditions)*
        #implementation
    }
}

fn implementation(
    command: &Type,
    declaration: &TokenStream,
    body: &TokenStream,
    rejections: &TokenStream,
    framework: &Framework,
) -> TokenStream {
    quote! {
        #[automatically_derived]
        impl #framework::command::Handle for #command {
            const HANDLER: #framework::Declaration = #declaration;

            fn handle(
                self,
            ) -> ::core::result::Result<
                #framework::command::Decision,
                #framework::command::HandlerError,
            > {
                #body
            }

            #rejections
        }
    }
}

/// The function of a handler with mistakes, and implementations that keep the commands from being
/// reported as well.
pub(crate) fn stub(declared: &Declared, framework: &Framework) -> TokenStream {
    let mut function = declared.function();
    // Of what is mistaken, nothing but the mistakes is worth a message.
    function.attrs.push(parse_quote!(#[allow(unused)]));
    if !function.sig.generics.params.is_empty() {
        return quote!(#function);
    }
    let declaration = declaration(&function.sig.ident, framework);
    let body = quote!(::core::unreachable!());
    let implementations: TokenStream = declared
        .commands()
        .filter({
            let mut seen = BTreeSet::new();
            move |command| seen.insert(command.to_token_stream().to_string())
        })
        .map(|command| implementation(command, &declaration, &body, &quote!(), framework))
        .collect();
    if function.sig.receiver().is_none() {
        return quote!(#function #implementations);
    }
    // A method stands in an `impl`, where there is no room for another.
    function.block.stmts.insert(
        0,
        parse_quote! {
            #[allow(non_local_definitions)]
            const _: () = { #implementations };
        },
    );
    quote!(#function)
}
