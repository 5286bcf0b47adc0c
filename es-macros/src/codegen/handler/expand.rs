//! Generates the implementation of `Handle`.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::{ItemFn, Type, parse_quote, spanned::Spanned as _};

use super::{check::CheckedHandler, command_parameter, parameter::InjectedParameter};
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
    let arguments = arguments(parameters);
    let known: Vec<_> = parameters.iter().flatten().collect();
    let body = HandleImplTokens {
        context: format_ident!("context"),
        parameters: described(&known, framework),
        subjects: subjects(&known, framework),
        // With the output type in the code, the compiler points at it if it is not an event.
        decision: quote! {
            <#output as #framework::command::IntoDecision>::into_decision(#ident(#(#arguments),*), context)
        },
        answers: Some(answers(output, framework)),
    };
    let implementation = implementation(command, &declaration, &body, framework);
    quote! {
        #function

        #(#forwarded)*
        #implementation
    }
}

/// The generated code in which the implementation of a handler differs from that of a stub.
struct HandleImplTokens {
    context: Ident,
    parameters: Option<TokenStream>,
    subjects: Option<TokenStream>,
    decision: TokenStream,
    answers: Option<TokenStream>,
}

/// Generates the functions that describe events, rejections and the reply.
fn answers(output: &Type, framework: &Framework) -> TokenStream {
    quote! {
        fn events() -> ::std::vec::Vec<&'static str> {
            <#output as #framework::command::IntoDecision>::events()
        }

        fn rejections() -> &'static [#framework::command::RejectionDescriptor] {
            <#output as #framework::command::IntoDecision>::rejections()
        }

        fn reply(
            generator: &mut #framework::__private::schemars::SchemaGenerator,
        ) -> ::core::option::Option<#framework::command::ReplySchema> {
            <#output as #framework::command::IntoDecision>::reply_schema(generator)
        }
    }
}

/// Generates the arguments of the call.
fn arguments(parameters: &[Option<InjectedParameter>]) -> Vec<TokenStream> {
    let mut index = 0_usize;
    let argument = |parameter: &Option<InjectedParameter>| {
        let Some(InjectedParameter {
            ty, is_optional, ..
        }) = parameter
        else {
            return quote!(self);
        };
        let number = Literal::usize_unsuffixed(index);
        index += 1;
        if *is_optional {
            quote!(context.optional_state::<#ty>(#number)?)
        } else {
            quote!(context.required_argument::<#ty>(#number)?)
        }
    };
    parameters.iter().map(argument).collect()
}

/// Generates `PARAMETERS`, if the function has parameters besides the command.
fn described(parameters: &[&InjectedParameter], framework: &Framework) -> Option<TokenStream> {
    let described = parameters.iter().map(|parameter| {
        let InjectedParameter { name, ty, .. } = parameter;
        let kind = if parameter.must_be_state() {
            quote!(state)
        } else {
            quote!(injected)
        };
        // The compiler reports a type that cannot be injected at the parameter.
        let path = framework.with_span(ty.span());
        let made = quote_spanned!(ty.span()=> #path::command::Parameter::#kind::<#ty>);
        let optional = parameter.is_optional.then(|| quote!(.optional()));
        let at = parameter.subject.as_ref().map(|(_, template)| {
            let text = template.render(naming::camel_case);
            quote!(.on_subject(#text))
        });
        let recursive = parameter.is_recursive.then(|| quote!(.recursive()));
        quote!(#made(#name) #optional #at #recursive)
    });
    (!parameters.is_empty()).then(|| {
        quote! {
            const PARAMETERS: &'static [#framework::command::Parameter] = &[#(#described),*];
        }
    })
}

/// Generates `parameter_subject`, if a parameter has its own subject.
fn subjects(parameters: &[&InjectedParameter], framework: &Framework) -> Option<TokenStream> {
    let arms: Vec<_> = parameters
        .iter()
        .enumerate()
        .filter_map(|(index, parameter)| {
            let (text, template) = parameter.subject.as_ref()?;
            let index = Literal::usize_unsuffixed(index);
            let parts = template::subject_parts(template, framework, |name| {
                Some(subject_part(name, text.span(), framework))
            });
            Some(quote! {
                #index => #framework::event::Subject::fill_template(&[#(#parts),*]),
            })
        })
        .collect();
    (!arms.is_empty()).then(|| {
        quote! {
            fn parameter_subject(
                &self,
                parameter: usize,
            ) -> ::core::result::Result<
                #framework::event::Subject,
                #framework::event::InvalidSubjectValue,
            > {
                match parameter {
                    #(#arms)*
                    _ => #framework::command::Command::subject(self),
                }
            }
        }
    })
}

/// Generates the subject part of a command's field. The compiler reports an unknown field at the
/// template.
fn subject_part(name: &str, span: Span, framework: &Framework) -> TokenStream {
    let member = naming::camel_case(name);
    // Names resolve as generated code, at the location of the template.
    let span = Span::call_site().located_at(span);
    // The check has ensured that the name is valid.
    let mut field = naming::field_ident(name).unwrap_or_else(|| format_ident!("_"));
    field.set_span(span);
    let framework = framework.with_span(span);
    quote_spanned!(span=> #framework::event::SubjectTemplatePart::field(#member, &self.#field))
}

fn implementation(
    command: &Type,
    declaration: &TokenStream,
    body: &HandleImplTokens,
    framework: &Framework,
) -> TokenStream {
    let HandleImplTokens {
        context,
        parameters,
        subjects,
        decision,
        answers,
    } = body;
    quote! {
        #[automatically_derived]
        impl #framework::command::Handle for #command {
            const HANDLER: #framework::Declaration = #declaration;
            #parameters

            #subjects

            fn handle(
                self,
                #context: &#framework::command::HandlerContext,
            ) -> ::core::result::Result<
                #framework::command::UntypedDecision,
                #framework::command::HandlerError,
            > {
                #decision
            }

            #answers
        }
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
    let body = HandleImplTokens {
        context: format_ident!("_context"),
        parameters: None,
        subjects: None,
        decision: quote!(::core::unreachable!()),
        answers: None,
    };
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
