//! The code of a handler that was checked.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::{ItemFn, Type, parse_quote, spanned::Spanned as _};

use super::{ast::Declared, check::Handler, parameter::Parameter};
use crate::codegen::{declaration, framework::Framework, naming, template};

/// The function, and the implementation that calls it.
pub(crate) fn expand(function: &ItemFn, handler: &Handler, framework: &Framework) -> TokenStream {
    let Handler {
        ident,
        command,
        parameters,
        output,
        forwarded,
    } = handler;
    let declaration = declaration(ident, framework);
    let arguments = arguments(parameters);
    let given: Vec<_> = parameters.iter().flatten().collect();
    let body = Body {
        given: format_ident!("given"),
        parameters: described(&given, framework),
        subjects: subjects(&given, framework),
        // Naming the output makes the compiler point at it if it is no event.
        decision: quote! {
            <#output as #framework::command::IntoDecision>::into_decision(#ident(#(#arguments),*), given)
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

/// What differs between implementations.
struct Body {
    given: Ident,
    parameters: Option<TokenStream>,
    subjects: Option<TokenStream>,
    decision: TokenStream,
    answers: Option<TokenStream>,
}

/// What the command may be refused with, and what else it is answered with.
fn answers(output: &Type, framework: &Framework) -> TokenStream {
    quote! {
        fn rejections() -> &'static [#framework::command::RejectionDescriptor] {
            <#output as #framework::command::IntoDecision>::rejections()
        }

        fn reply(
            generator: &mut #framework::__private::schemars::SchemaGenerator,
        ) -> ::core::option::Option<#framework::command::ReplySchema> {
            <#output as #framework::command::IntoDecision>::reply(generator)
        }
    }
}

/// What the function is called with.
fn arguments(parameters: &[Option<Parameter>]) -> Vec<TokenStream> {
    let mut index = 0_usize;
    let argument = |parameter: &Option<Parameter>| {
        let Some(Parameter {
            ty, is_optional, ..
        }) = parameter
        else {
            return quote!(self);
        };
        let number = Literal::usize_unsuffixed(index);
        index = index.saturating_add(1);
        match is_optional {
            true => quote!(given.optional::<#ty>(#number)?),
            false => quote!(given.required::<#ty>(#number)?),
        }
    };
    parameters.iter().map(argument).collect()
}

/// `PARAMETERS`, if there are any.
fn described(parameters: &[&Parameter], framework: &Framework) -> Option<TokenStream> {
    let described = parameters.iter().map(|parameter| {
        let Parameter { name, ty, .. } = parameter;
        let kind = match parameter.is_state() {
            true => quote!(state),
            false => quote!(given),
        };
        // A type that cannot be given is reported where it stands.
        let path = framework.at(ty.span());
        let made = quote_spanned!(ty.span()=> #path::command::Parameter::#kind::<#ty>);
        let optional = parameter.is_optional.then(|| quote!(.optional()));
        let at = parameter.subject.as_ref().map(|(_, template)| {
            let text = template.render(naming::camel_case);
            quote!(.at(#text))
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

/// `parameter_subject`, if a parameter has a subject of its own.
fn subjects(parameters: &[&Parameter], framework: &Framework) -> Option<TokenStream> {
    let arms: Vec<_> = parameters
        .iter()
        .enumerate()
        .filter_map(|(index, parameter)| {
            let (text, template) = parameter.subject.as_ref()?;
            let index = Literal::usize_unsuffixed(index);
            let parts = template::parts(template, framework, |name| {
                Some(subject_part(name, text.span(), framework))
            });
            Some(quote! {
                #index => #framework::event::Subject::from_parts(&[#(#parts),*]),
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
                #framework::event::InvalidPart,
            > {
                match parameter {
                    #(#arms)*
                    _ => #framework::command::Command::subject(self),
                }
            }
        }
    })
}

/// A field of the command. One that it does not have is reported at the template.
fn subject_part(name: &str, span: Span, framework: &Framework) -> TokenStream {
    let member = naming::camel_case(name);
    // The place of the template, where the names are still those of this code.
    let span = Span::call_site().located_at(span);
    // Whether it is a name was checked.
    let mut field = naming::field(name).unwrap_or_else(|| format_ident!("_"));
    field.set_span(span);
    let framework = framework.at(span);
    quote_spanned!(span=> #framework::event::SubjectPart::field(#member, &self.#field))
}

fn implementation(
    command: &Type,
    declaration: &TokenStream,
    body: &Body,
    framework: &Framework,
) -> TokenStream {
    let Body {
        given,
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
                #given: &#framework::command::HandlerContext,
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
    let body = Body {
        given: format_ident!("_given"),
        parameters: None,
        subjects: None,
        decision: quote!(::core::unreachable!()),
        answers: None,
    };
    let implementations: TokenStream = declared
        .commands()
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
