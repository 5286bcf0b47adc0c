//! Generates the code of a projection that passed the checks.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::{Attribute, ItemImpl, Type, spanned::Spanned as _};

use super::check::{CheckedProjection, ProjectionStep, StepShape};
use crate::codegen::framework::Framework;

/// Returns the block, and the implementation that calls its functions.
pub(crate) fn expand_projection(
    block: &ItemImpl,
    projection: &CheckedProjection,
    framework: &Framework,
) -> TokenStream {
    let module = quote!(#framework::projection);
    let CheckedProjection {
        model,
        forwarded,
        steps,
    } = projection;
    let types = steps.iter().map(|step| {
        let ProjectionStep {
            conditions, event, ..
        } = step;
        quote!(#(#conditions)* <#event as #framework::event::Event>::TYPE)
    });
    let of_subject: Vec<_> = steps
        .iter()
        .filter(|step| step.key.is_none())
        .map(|step| {
            let (conditions, event) = (&step.conditions, &step.event);
            quote!(#(#conditions)* <#event as #framework::event::Event>::TYPE)
        })
        .collect();
    let of_subject = (!of_subject.is_empty())
        .then(|| quote!(const EVENTS_OF_SUBJECT: &'static [&'static str] = &[#(#of_subject),*];));
    let steps_code = steps.iter().map(|step| step_code(step, framework));
    let needs_subject = steps.iter().any(|step| step.key.is_none());
    let subject_is_there = needs_subject.then(|| subject_is_there(model, forwarded, framework));
    let declaration = declaration(model, framework);
    quote! {
        #block

        #subject_is_there

        #(#forwarded)*
        #[automatically_derived]
        impl #module::Project for #model {
            const EVENTS: &'static [&'static str] = &[#(#types),*];
            #of_subject
            const PROJECTION: #framework::Declaration = #declaration;

            fn change(
                event: &#framework::event::EventView<'_>,
            ) -> ::core::result::Result<
                ::core::option::Option<#module::RowChange<Self>>,
                #module::ProjectionError,
            > {
                #(#steps_code)*
                ::core::result::Result::Ok(::core::option::Option::None)
            }
        }
    }
}

fn declaration(model: &Type, framework: &Framework) -> TokenStream {
    let framework = framework.with_span(model.span());
    quote_spanned!(model.span()=> #framework::declaration!())
}

/// Generates a check at compile time that the read model has a subject. Without one, `#[key(…)]` has
/// to name the key.
fn subject_is_there(model: &Type, forwarded: &[Attribute], framework: &Framework) -> TokenStream {
    quote! {
        #(#forwarded)*
        const _: () = ::core::assert!(
            !<#model as #framework::projection::ReadModel>::SUBJECT.is_empty(),
            "where the read model names no subject, each function of its projection names the key of its row: write `#[key(book)]` above it, or `#[read_model(subject = \"/books/{{id}}\")]`",
        );
    }
}

fn step_code(step: &ProjectionStep, framework: &Framework) -> TokenStream {
    let event = &step.event;
    let module = quote!(#framework::projection);
    let key_before = step.key.is_none().then(|| {
        quote! {
            let ::core::option::Option::Some(key) = #module::find_key_in_subject::<Self>(event)? else {
                return ::core::result::Result::Ok(::core::option::Option::None);
            };
        }
    });
    let key_after = step.key.as_ref().map(|field| {
        let key_type = quote!(<Self as #module::ReadModel>::Key);
        // The compiler reports a field of another type at the attribute.
        let value = format_ident!("key", span = field.span());
        quote! {
            let #value = &happened.#field;
            let key: &#key_type = #value;
            let key = #module::RowKey::from_value(key)?;
        }
    });
    let recorded = step
        .takes_recorded
        .then(|| quote!(let recorded = ::core::clone::Clone::clone(event.recorded());));
    let mut arguments = if step.by_reference {
        quote!(&happened)
    } else {
        quote!(happened)
    };
    if step.takes_recorded {
        arguments.extend(quote!(, &recorded));
    }
    let change = change(step, &arguments, &module);
    let conditions = &step.conditions;
    quote! {
        #(#conditions)*
        if event.is::<#event>() {
            #key_before
            let happened: #event = event.payload()?;
            #key_after
            #recorded
            return ::core::result::Result::Ok(::core::option::Option::Some(#change));
        }
    }
}

fn change(step: &ProjectionStep, arguments: &TokenStream, module: &TokenStream) -> TokenStream {
    let function = &step.function;
    match step.shape {
        StepShape::Put => quote!(#module::RowChange::put(key, Self::#function(#arguments))?),
        StepShape::Change => quote! {
            #module::RowChange::update(key, move |mut row: Self| {
                row.#function(#arguments);
                ::core::option::Option::Some(row)
            })
        },
        StepShape::Replace => quote! {
            #module::RowChange::update(key, move |row: Self| {
                ::core::option::Option::Some(row.#function(#arguments))
            })
        },
        StepShape::Remove => quote! {
            #module::RowChange::update(key, move |row: Self| row.#function(#arguments))
        },
        StepShape::Follow => quote! {
            #module::RowChange::compute(key, move |row| Self::#function(row, #arguments))
        },
    }
}

/// Returns the block of a projection with mistakes and its stub, so that the compiler reports only these
/// mistakes.
pub(crate) fn generate_stub(block: &ItemImpl, framework: &Framework) -> TokenStream {
    let mut block = block.clone();
    block.attrs.push(syn::parse_quote!(#[allow(unused)]));
    if !block.generics.params.is_empty() {
        return quote!(#block);
    }
    let model = &block.self_ty;
    let module = quote!(#framework::projection);
    let declaration = declaration(model, framework);
    quote! {
        #block

        #[automatically_derived]
        impl #module::Project for #model {
            const EVENTS: &'static [&'static str] = &[];
            const PROJECTION: #framework::Declaration = #declaration;

            fn change(
                _: &#framework::event::EventView<'_>,
            ) -> ::core::result::Result<
                ::core::option::Option<#module::RowChange<Self>>,
                #module::ProjectionError,
            > {
                ::core::unreachable!()
            }
        }
    }
}
