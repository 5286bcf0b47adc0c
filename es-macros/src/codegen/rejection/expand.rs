//! Generates the code of a rejection.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};

use super::{
    check::{CheckedRejection, CheckedVariant},
    detail::DetailTemplate,
};
use crate::codegen::{declaration, framework::Framework};

/// Generates all implementations and the registration.
pub(crate) fn expand_rejection(rejection: &CheckedRejection, framework: &Framework) -> TokenStream {
    let CheckedRejection {
        ident,
        variants,
        is_enum,
    } = rejection;
    // The detail may contain a field of any name, so the formatter's name must not shadow it.
    let formatter = Ident::new("f", Span::mixed_site());
    let pattern = |variant: &CheckedVariant| {
        if *is_enum {
            variant_pattern(&variant.ident)
        } else {
            quote!(Self)
        }
    };
    let displays = variants.iter().map(|variant| {
        let pattern = pattern(variant);
        display(variant, &pattern, &formatter, framework)
    });
    let descriptors = variants
        .iter()
        .map(|variant| descriptor(variant, framework));
    let count = variants.len();
    let chosen = variants.iter().enumerate().map(|(index, variant)| {
        let pattern = pattern(variant);
        quote!(#pattern { .. } => &ALL[#index])
    });
    let rejection = impl_rejection(
        ident,
        framework,
        &quote!(&ALL),
        &quote!(match self { #(#chosen,)* }),
    );
    let display = impl_display(ident, &formatter, &quote!(match self { #(#displays,)* }));
    quote! {
        #display

        #[automatically_derived]
        impl ::core::error::Error for #ident {}

        const _: () = {
            static ALL: [#framework::command::RejectionDescriptor; #count] = [#(#descriptors),*];

            #rejection
        };
    }
}

fn variant_pattern(ident: &Ident) -> TokenStream {
    quote!(Self::#ident)
}

fn display(
    variant: &CheckedVariant,
    pattern: &TokenStream,
    formatter: &Ident,
    framework: &Framework,
) -> TokenStream {
    let CheckedVariant { title, detail, .. } = variant;
    let title = title.expand(framework);
    match detail {
        None => quote!(#pattern { .. } => #formatter.write_str(#title)),
        Some(DetailTemplate { text, fields }) => {
            // The detail alone would not find fields that are variables of a `macro_rules!`.
            quote! {
                #pattern { #(#fields,)* .. } => {
                    ::core::write!(#formatter, #text #(, #fields = #fields)*)
                }
            }
        }
    }
}

fn descriptor(variant: &CheckedVariant, framework: &Framework) -> TokenStream {
    let CheckedVariant {
        ident,
        kind,
        name,
        title,
        ..
    } = variant;
    let (kind, title) = (format_ident!("{kind}"), title.expand(framework));
    let declaration = declaration(ident, framework);
    quote! {
        #framework::command::RejectionDescriptor {
            kind: #framework::command::RejectionKind::#kind,
            name: #name,
            title: #title,
            declaration: #declaration,
        }
    }
}

fn impl_display(ident: &Ident, formatter: &Ident, body: &TokenStream) -> TokenStream {
    quote! {
        #[automatically_derived]
        impl ::core::fmt::Display for #ident {
            fn fmt(&self, #formatter: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #body
            }
        }
    }
}

fn impl_rejection(
    ident: &Ident,
    framework: &Framework,
    all: &TokenStream,
    descriptor: &TokenStream,
) -> TokenStream {
    quote! {
        #[automatically_derived]
        impl #framework::command::Rejection for #ident {
            fn all() -> &'static [#framework::command::RejectionDescriptor] {
                #all
            }

            fn descriptor(&self) -> &'static #framework::command::RejectionDescriptor {
                #descriptor
            }
        }
    }
}

/// Generates stub implementations for a rejection with mistakes, so that the compiler reports only
/// those mistakes.
pub(crate) fn generate_stub(ident: &Ident, framework: &Framework) -> TokenStream {
    let unreachable = quote!(::core::unreachable!());
    let formatter = Ident::new("_", Span::call_site());
    let display = impl_display(ident, &formatter, &unreachable);
    let rejection = impl_rejection(ident, framework, &unreachable, &unreachable);
    quote! {
        #display

        #[automatically_derived]
        impl ::core::error::Error for #ident {}

        #rejection
    }
}
