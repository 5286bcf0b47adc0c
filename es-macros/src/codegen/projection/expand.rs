//! Generates the code of a projection that passed the checks.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::{Attribute, ItemImpl, Type, spanned::Spanned as _};

use super::{
    attr::{KeyField, KeySource},
    check::{CheckedProjection, EachElement, ProjectionStep, StepShape},
};
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
    let subject_types: Vec<_> = steps
        .iter()
        .filter(|step| step.has_key_in_subject())
        .map(|step| {
            let (conditions, event) = (&step.conditions, &step.event);
            quote!(#(#conditions)* <#event as #framework::event::Event>::TYPE)
        })
        .collect();
    let of_subject = (!subject_types.is_empty()).then(
        || quote!(const EVENTS_OF_SUBJECT: &'static [&'static str] = &[#(#subject_types),*];),
    );
    let steps_code = steps.iter().map(|step| step_code(step, framework));
    let needs_subject = steps.iter().any(ProjectionStep::has_key_in_subject);
    let subject_is_there = needs_subject.then(|| subject_is_there(model, forwarded, framework));
    let declaration = declaration(model, framework);
    // The element of a list of texts is a `&String`, which clippy would have as a `&str`.
    let has_each = steps.iter().any(|step| step.each.is_some());
    let allow = has_each.then(|| quote!(#[allow(clippy::ptr_arg)]));
    quote! {
        #allow
        #block

        #subject_is_there

        #(#forwarded)*
        #[automatically_derived]
        impl #module::Project for #model {
            const EVENTS: &'static [&'static str] = &[#(#types),*];
            #of_subject
            const PROJECTION: #framework::Declaration = #declaration;

            fn changes(
                event: &#framework::event::EventView<'_>,
            ) -> ::core::result::Result<::std::vec::Vec<#module::RowChange<Self>>, #module::ProjectionError> {
                #(#steps_code)*
                ::core::result::Result::Ok(::std::vec::Vec::new())
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
    let ProjectionStep {
        conditions, event, ..
    } = step;
    let recorded = step
        .takes_recorded
        .then(|| quote!(let recorded = ::core::clone::Clone::clone(event.recorded());));
    let place = match &step.each {
        Some(_) => "each",
        None if step.has_key_in_subject() => "subject",
        None => "field",
    };
    let key = key(step, framework);
    let (operation, function) = change(step);
    // The compiler reports a type that is no event once, at the parameter.
    let span = event.span();
    let operation = format_ident!("{operation}_on_{place}", span = span);
    let there = framework.with_span(span);
    let change = quote_spanned!(span=> #there::projection::RowChange::#operation);
    quote! {
        #(#conditions)*
        if event.event_type() == <#event as #framework::event::Event>::TYPE {
            #recorded
            return #change(event, #key #function);
        }
    }
}

/// Returns the closures that find the list and the keys. The compiler reports a field of another type at the attribute.
fn key(step: &ProjectionStep, framework: &Framework) -> Option<TokenStream> {
    if step.has_key_in_subject() {
        return None;
    }
    let event = &step.event;
    let list = step.each.as_ref().map(|each| {
        let field = &each.list;
        let value = Ident::new("happened", field.span().resolved_at(Span::mixed_site()));
        let found = quote_spanned!(field.span()=> &#value.#field);
        quote!(|#value: &#event| #found,)
    });
    let fields: Vec<_> = step.key.iter().map(borrow_key_field).collect();
    let span = step
        .key
        .first()
        .map_or(event.span(), |field| field.name.span());
    let fields = match fields.as_slice() {
        [only] => quote!(#only),
        fields => quote_spanned!(span=> (#(#fields),*)),
    };
    let path = framework.with_span(span);
    let from_fields = quote_spanned!(span=> #path::projection::RowKey::from_fields::<Self>);
    let needs = |is_used: bool, name| if is_used { name } else { quote!(_) };
    let each = step.each.as_ref();
    let closure = each.map_or(span, |each| each.element.span());
    let has_event = step
        .key
        .iter()
        .any(|field| field.source == KeySource::Event);
    let has_element = step
        .key
        .iter()
        .any(|field| field.source != KeySource::Event);
    let happened = needs(has_event, quote!(happened));
    let element = step.each.as_ref().map(|each| {
        let name = needs(has_element, quote!(element));
        let element = &each.element;
        quote!(#name: &#element,)
    });
    let key = quote_spanned!(closure=> |#element #happened: &#event| #from_fields(#fields),);
    Some(quote!(#list #key))
}

/// Borrows a field of a key from the variables `happened` and `element`.
fn borrow_key_field(field: &KeyField) -> TokenStream {
    let KeyField { source, name } = field;
    let text = match source {
        KeySource::Event => "happened",
        KeySource::Element | KeySource::WholeElement => "element",
    };
    let variable = Ident::new(text, name.span().resolved_at(Span::call_site()));
    match source {
        KeySource::WholeElement => quote!(#variable),
        KeySource::Event | KeySource::Element => quote_spanned!(name.span()=> &#variable.#name),
    }
}

/// Returns the kind of change, and the closure that calls the function of the step.
fn change(step: &ProjectionStep) -> (&'static str, TokenStream) {
    let ProjectionStep {
        function, event, ..
    } = step;
    let recorded = step.takes_recorded.then(|| quote!(, &recorded));
    let (declared, arguments) = match &step.each {
        None => {
            let reference = step.by_reference.then(|| quote!(&));
            (
                quote!(happened: #event),
                quote!(#reference happened #recorded),
            )
        }
        Some(EachElement { element, .. }) => (
            quote!(element: &#element, happened: &#event),
            quote!(element, happened #recorded),
        ),
    };
    let capture = step.takes_recorded.then(|| quote!(move));
    let row = match step.shape {
        StepShape::Put => {
            let closure = quote!(#capture |#declared| Self::#function(#arguments));
            return ("put", closure);
        }
        StepShape::Change => quote!({
            let mut row: Self = row?;
            row.#function(#arguments);
            ::core::option::Option::Some(row)
        }),
        StepShape::Replace => quote!(::core::option::Option::Some(row?.#function(#arguments))),
        StepShape::Remove => quote!(row?.#function(#arguments)),
        StepShape::Follow => quote!(Self::#function(row, #arguments)),
    };
    let closure = quote!(#capture |row: ::core::option::Option<Self>, #declared| #row);
    ("compute", closure)
}

/// Returns the stub of a projection with mistakes, so that the compiler reports only these mistakes.
pub(crate) fn generate_stub(block: &ItemImpl, framework: &Framework) -> TokenStream {
    let model = &block.self_ty;
    let module = quote!(#framework::projection);
    let declaration = declaration(model, framework);
    quote! {
        #[automatically_derived]
        impl #module::Project for #model {
            const EVENTS: &'static [&'static str] = &[];
            const PROJECTION: #framework::Declaration = #declaration;

            fn changes(
                _: &#framework::event::EventView<'_>,
            ) -> ::core::result::Result<::std::vec::Vec<#module::RowChange<Self>>, #module::ProjectionError> {
                ::core::unreachable!()
            }
        }
    }
}
