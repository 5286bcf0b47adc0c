//! Generates the implementation of `Handle`.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::{ItemFn, Type, parse_quote, spanned::Spanned as _};

use super::{
    check::CheckedHandler,
    command_parameter,
    parameter::{EachSubject, InjectedParameter},
};
use crate::codegen::{
    annotated_function::AnnotatedFunction, declaration, framework::Framework, naming, template,
};

/// Generates the function and the implementation that calls it.
pub(crate) fn expand_handler(
    function: &ItemFn,
    handler: &CheckedHandler,
    framework: &Framework,
) -> TokenStream {
    let CheckedHandler {
        ident,
        command,
        parameters,
        output,
        forwarded,
    } = handler;
    let declaration = declaration(ident, framework);
    let known = parameters.iter().flatten();
    let values: Vec<_> = known.map(|parameter| input(parameter, framework)).collect();
    let inputs = (!values.is_empty()).then(|| quote!(#(#values),*,));
    let function_value = handler_value(&inputs, &call(ident, parameters, output), framework);
    let implementation = implementation(command, &declaration, &function_value, framework);
    quote! {
        #function

        #(#forwarded)*
        #implementation
    }
}

/// Generates the handler with its inputs and its function.
fn handler_value(
    inputs: &Option<TokenStream>,
    closure: &TokenStream,
    framework: &Framework,
) -> TokenStream {
    quote!(#framework::command::Handler::new((#inputs), #closure))
}

/// Generates the closure that calls the function.
fn call(function: &Ident, parameters: &[Option<InjectedParameter>], output: &Type) -> TokenStream {
    let (command, arguments) = (variable("command"), variable("arguments"));
    let mut indices = 0_usize..;
    let values = parameters.iter().map(|parameter| match parameter {
        None => quote!(#command),
        Some(_) => {
            let index = indices.next().map(Literal::usize_unsuffixed);
            quote!(#arguments.#index)
        }
    });
    let mut group = Group::new(Delimiter::Parenthesis, quote!(#(#values),*));
    // The compiler reports a type that is no decision at the call, which it finds between these spans.
    let spans: Vec<_> = output
        .to_token_stream()
        .into_iter()
        .map(|token| token.span())
        .collect();
    let first = spans.first().copied().unwrap_or_else(Span::call_site);
    group.set_span(spans.last().copied().unwrap_or_else(Span::call_site));
    let arguments = if parameters.iter().all(Option::is_none) {
        quote!(())
    } else {
        arguments.into_token_stream()
    };
    let mut function = function.clone();
    function.set_span(first.resolved_at(function.span()));
    let parameters = quote_spanned!(first=> |#command, #arguments|);
    quote!(#parameters #function #group)
}

/// Returns a variable of the generated code. It cannot hide a function of the application.
fn variable(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// Generates the input for a parameter besides the command.
fn input(parameter: &InjectedParameter, framework: &Framework) -> TokenStream {
    let InjectedParameter {
        name,
        ty,
        is_optional,
        subject,
        is_recursive,
        each,
    } = parameter;
    // The compiler reports a type that cannot be injected at the parameter.
    let span = ty.span();
    let path = framework.with_span(span);
    let (kind, new) = if *is_optional {
        ("OptionalState", "new")
    } else {
        ("Input", "injected")
    };
    let [kind, new] = [kind, new].map(|name| Ident::new(name, span));
    let input = quote_spanned!(span=> #path::command::#kind::<_, #ty>);
    let value = match subject {
        None => quote_spanned!(span=> #input::#new(#name)),
        Some((text, template)) => {
            let shown = template.render(naming::camel_case);
            let parts = template::subject_parts(template, framework, |name| {
                Some(subject_part(name, each.as_ref(), text.span(), framework))
            });
            let command = variable("command");
            let subject = quote!(#framework::event::Subject::fill_template(&[#(#parts),*]));
            let (on_subject, subject) = match each {
                None => ("on_subject", subject),
                Some(each) => ("on_subjects", subjects(each, &subject, framework)),
            };
            let on_subject = Ident::new(on_subject, span);
            quote_spanned!(span=> #input::#on_subject(#name, #shown, |#command: &Self| #subject))
        }
    };
    let recursive = is_recursive.then(|| quote_spanned!(span=> .recursive()));
    match each {
        None => quote!(#value #recursive),
        Some(_) => quote!(#path::command::StatesOfSubjects(#value #recursive)),
    }
}

/// Generates the subjects: one for each value that a function of the command returns.
fn subjects(each: &EachSubject, subject: &TokenStream, framework: &Framework) -> TokenStream {
    let (value, function, command) = (&each.variable, &each.function, variable("command"));
    // The compiler reports a function that returns no values at its name.
    let there = framework.with_span(function.span());
    quote_spanned! {function.span()=>
        #there::command::fill_subjects(#function(#command), |#value| #subject)
    }
}

/// Generates the subject part of a command's field, or of a value of `each`. The compiler reports an unknown field at
/// the template.
fn subject_part(
    name: &str,
    each: Option<&EachSubject>,
    span: Span,
    framework: &Framework,
) -> TokenStream {
    let member = naming::camel_case(name);
    // Names resolve as generated code, at the location of the template.
    let span = Span::call_site().located_at(span);
    // The check has ensured that the name is valid.
    let mut field = naming::field_ident(name).unwrap_or_else(|| format_ident!("_"));
    field.set_span(span);
    let framework = framework.with_span(span);
    let value = match each {
        Some(each) if each.variable == name => each.variable.to_token_stream(),
        _ => {
            let command = variable("command");
            quote_spanned!(span=> #command.#field)
        }
    };
    quote_spanned!(span=> #framework::event::SubjectTemplatePart::field(#member, &#value))
}

fn implementation(
    command: &Type,
    declaration: &TokenStream,
    handler: &TokenStream,
    framework: &Framework,
) -> TokenStream {
    let content = quote! {
        const HANDLER: #framework::Declaration = #declaration;
        const FUNCTION: &'static dyn #framework::command::HandlerFunction<Self> = &#handler;
    };
    // The compiler reports a second handler at the command's type.
    let span = Span::call_site().located_at(command.span());
    let there = framework.with_span(span);
    quote_spanned! {span=>
        #[automatically_derived]
        impl #there::command::Handle for #command { #content }
    }
}

/// Generates the function of a handler with mistakes, and stub implementations that prevent errors
/// about commands without a handler.
pub(crate) fn generate_stub(declared: &AnnotatedFunction, framework: &Framework) -> TokenStream {
    let mut function = declared.function_without_attributes();
    // Further warnings about a function with mistakes would only distract.
    function.attrs.push(parse_quote!(#[allow(unused)]));
    if !function.sig.generics.params.is_empty() {
        return quote!(#function);
    }
    let declaration = declaration(&function.sig.ident, framework);
    let body = handler_value(&None, &quote!(|_, _| ()), framework);
    let implementations: TokenStream = command_parameter::possible_command_types(declared)
        .into_iter()
        .filter({
            let mut seen = BTreeSet::new();
            move |command| seen.insert(command.to_token_stream().to_string())
        })
        .map(|command| implementation(command, &declaration, &body, framework))
        .collect();
    if function.sig.receiver().is_none() {
        return quote!(#function #implementations);
    }
    // A method stands in an `impl` block, which cannot contain another one.
    function.block.stmts.insert(
        0,
        parse_quote! {
            #[allow(non_local_definitions)]
            const _: () = { #implementations };
        },
    );
    quote!(#function)
}
