//! Generates the code of settings.

use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::{ext::IdentExt as _, spanned::Spanned as _};

use super::ast::{Setting, SettingsStruct};
use crate::codegen::{attribute, declaration, framework::Framework, service};

/// Generates all implementations.
pub(crate) fn expand_settings(
    ident: &Ident,
    settings: &SettingsStruct,
    framework: &Framework,
) -> TokenStream {
    let SettingsStruct {
        fields,
        may_be_unused,
    } = settings;
    let arguments: Vec<_> = fields
        .iter()
        .map(|setting| argument(setting, framework))
        .collect();
    let values: Vec<_> = fields
        .iter()
        .map(|setting| value(setting, framework))
        .collect();
    let defaults = fields.iter().filter_map(checked_default);
    let matches = match fields.as_slice() {
        [] => quote!(_matches),
        _ => quote!(matches),
    };
    let unused = may_be_unused.then(|| {
        quote!(
            const MAY_BE_UNUSED: bool = true;
        )
    });
    let implementation = implementation(
        ident,
        unused,
        &matches,
        &quote!(::std::vec::Vec::from([#(#arguments),*])),
        &quote!(::core::result::Result::Ok(Self { #(#values,)* })),
        framework,
    );
    let name = ident.unraw().to_string();
    quote! {
        #implementation

        #(#defaults)*

        #framework::__private::inventory::submit! {
            #framework::settings::SettingsDescriptor::of::<#ident>(#name)
        }
    }
}

fn argument(setting: &Setting, framework: &Framework) -> TokenStream {
    let Setting { ty, help, env, .. } = setting;
    let help = help.expand(framework);
    let name = setting.name();
    let long = name.replace('_', "-");
    let clap = quote!(#framework::__private::clap);
    let default = setting
        .default_as_text()
        .map(|default| quote!(.default_value(#default)));
    let required = (default.is_none() && !setting.is_optional).then(|| quote!(.required(true)));
    // The compiler reports an unsupported type at the field.
    let path = framework.with_span(ty.span());
    let parser = quote_spanned!(ty.span()=> #path::settings::parser::<#ty>());
    quote! {
        #clap::Arg::new(#name)
            .long(#long)
            .env(#env)
            .help(#help)
            .value_parser(#parser)
            #default
            #required
    }
}

fn value(setting: &Setting, framework: &Framework) -> TokenStream {
    let Setting { ident, ty, .. } = setting;
    let name = setting.name();
    if setting.is_optional {
        quote!(#ident: matches.get_one::<#ty>(#name).cloned())
    } else {
        quote!(#ident: #framework::settings::setting_value::<#ty>(matches, #name)?)
    }
}

/// Makes the compiler check the type of a default. It does not check a default that is a string: the program
/// parses the string when it starts.
fn checked_default(setting: &Setting) -> Option<TokenStream> {
    let default = setting.default.as_ref()?;
    let ty = &setting.ty;
    let is_text = attribute::text_of(default).is_some();
    (!is_text).then(|| quote!(const _: fn() -> #ty = || #default;))
}

fn implementation(
    ident: &Ident,
    unused: Option<TokenStream>,
    matches: &TokenStream,
    arguments: &TokenStream,
    read: &TokenStream,
    framework: &Framework,
) -> TokenStream {
    let declaration = declaration(ident, framework);
    let inject = service::inject_impl(ident, framework);
    let clap = quote!(#framework::__private::clap);
    quote! {
        #[automatically_derived]
        impl #framework::settings::DeclaredSettings for #ident {
            const DECLARATION: #framework::Declaration = #declaration;
            #unused

            fn arguments() -> ::std::vec::Vec<#clap::Arg> {
                #arguments
            }

            fn read(
                #matches: &#clap::ArgMatches,
            ) -> ::core::result::Result<Self, #clap::Error> {
                #read
            }
        }

        #inject
    }
}

/// Generates stub implementations for settings with mistakes, so that the compiler reports only
/// those mistakes.
pub(crate) fn generate_stub(ident: &Ident, framework: &Framework) -> TokenStream {
    implementation(
        ident,
        None,
        &quote!(_matches),
        &quote!(::std::vec::Vec::new()),
        &quote!(::core::unreachable!()),
        framework,
    )
}
