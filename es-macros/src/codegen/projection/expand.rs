//! Generates the code of a projection that passed the checks.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Attribute, ItemImpl, Path, Type, spanned::Spanned as _};

use super::{
    attr::{KeyField, KeySource, StepKey},
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

/// Returns the closures that find the list and the keys. The compiler reports a field or a result of another type at the
/// attribute.
fn key(step: &ProjectionStep, framework: &Framework) -> Option<TokenStream> {
    let event = &step.event;
    let list = step.each.as_ref().map(|each| {
        let field = &each.list;
        let value = local("happened", field.span());
        let found = quote_spanned!(field.span()=> &#value.#field);
        quote!(|#value: &#event| #found,)
    });
    let (row_key, span, [uses_event, uses_element]) = match &step.key {
        StepKey::Subject => return None,
        StepKey::Fields(fields) => {
            let span = fields
                .first()
                .map_or(event.span(), |field| field.name.span());
            let of_event = |field: &KeyField| field.source == KeySource::Event;
            let uses = [fields.iter().any(of_event), !fields.iter().all(of_event)];
            (key_of_fields(fields, span, framework), span, uses)
        }
        StepKey::Function(path) => {
            let row_key = key_of_function(path, step, framework);
            (row_key, path.span(), [true, true])
        }
    };
    let each = step.each.as_ref();
    let closure = each.map_or(span, |each| each.element.span());
    let parameter = |is_used: bool, name| {
        let variable = is_used.then(|| local(name, Span::call_site()));
        variable.map_or(quote!(_), ToTokens::into_token_stream)
    };
    let happened = parameter(uses_event, "happened");
    let element = each.map(|each| {
        let name = parameter(uses_element, "element");
        let element = &each.element;
        quote!(#name: &#element,)
    });
    let key = quote_spanned!(closure=> |#element #happened: &#event| #row_key,);
    Some(quote!(#list #key))
}

/// Returns a variable of the generated code, which hides no name of the application.
fn local(name: &str, span: Span) -> Ident {
    Ident::new(name, span.resolved_at(Span::mixed_site()))
}

/// Returns the expression of the key that these fields are.
fn key_of_fields(fields: &[KeyField], span: Span, framework: &Framework) -> TokenStream {
    let fields: Vec<_> = fields.iter().map(borrow_key_field).collect();
    let fields = match fields.as_slice() {
        [only] => quote!(#only),
        fields => quote_spanned!(span=> (#(#fields),*)),
    };
    let path = framework.with_span(span);
    let from_fields = quote_spanned!(span=> #path::projection::RowKey::from_fields::<Self>);
    quote!(#from_fields(#fields))
}

/// Borrows a field of a key from the variables `happened` and `element`.
fn borrow_key_field(field: &KeyField) -> TokenStream {
    let KeyField { source, name } = field;
    let variable = match source {
        KeySource::Event => local("happened", name.span()),
        KeySource::Element | KeySource::WholeElement => local("element", name.span()),
    };
    match source {
        KeySource::WholeElement => quote!(#variable),
        KeySource::Event | KeySource::Element => quote_spanned!(name.span()=> &#variable.#name),
    }
}

/// Returns the expression of the key that a function computes from what the step takes besides the row.
fn key_of_function(path: &Path, step: &ProjectionStep, framework: &Framework) -> TokenStream {
    let span = path.span();
    let happened = local("happened", span);
    let element = step.each.as_ref().map(|_| {
        let element = local("element", span);
        quote!(#element,)
    });
    let recorded = step.takes_recorded.then(|| {
        let event = Ident::new("event", span.resolved_at(Span::call_site()));
        quote_spanned!(span=> , #event.recorded())
    });
    let framework = framework.with_span(span);
    quote_spanned! {span=>
        #framework::projection::RowKey::from_key::<Self>(#path(#element #happened #recorded))
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
