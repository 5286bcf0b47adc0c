//! Generates the implementation of `QueryHandler`.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{ItemFn, Type, spanned::Spanned as _};

use super::check::{CheckedQueryHandler, QueryHandlerParameter};
use crate::codegen::{annotated_function::AnnotatedFunction, framework::Framework};

/// Generates the function, and the implementation that calls it.
pub(crate) fn expand_query_handler(
    function: &ItemFn,
    handler: &CheckedQueryHandler,
    framework: &Framework,
) -> TokenStream {
    let CheckedQueryHandler {
        ident,
        query,
        parameters,
        output,
        reads,
        forwarded,
    } = handler;
    let module = quote!(#framework::query);
    // A variable of the generated code cannot hide a function of the application.
    let variable = |name: &str| Ident::new(name, Span::mixed_site());
    let context = variable("context");
    let variables = (0..parameters.len()).map(|index| variable(&format!("parameter_{index}")));
    let names: Vec<_> = variables.collect();
    let parameters = names.iter().zip(parameters);
    let services = parameters
        .clone()
        .filter_map(|(name, parameter)| match parameter {
            QueryHandlerParameter::Service(ty) => Some((name, ty)),
            QueryHandlerParameter::Context | QueryHandlerParameter::Caller => None,
        });
    // The compiler reports a type that cannot be injected at the parameter.
    let described = services.clone().map(|(_, ty)| {
        let there = framework.with_span(ty.span());
        quote_spanned!(ty.span()=> #there::command::query_service::<#ty>())
    });
    let types: Vec<_> = described.collect();
    let declared = (!types.is_empty()).then(
        || quote!(const SERVICES: &'static [#framework::command::ServiceType] = &[#(#types),*];),
    );
    let values = services.map(|(name, ty)| quote!(let #name = #context.service::<#ty>()?;));
    let arguments = parameters.map(|(name, parameter)| match parameter {
        QueryHandlerParameter::Context => quote!(#context),
        QueryHandlerParameter::Caller => quote!(#context.caller()),
        QueryHandlerParameter::Service(_) => quote!(&#name),
    });
    let tables = reads
        .iter()
        .map(|model| quote!(<#model as #framework::projection::ReadModel>::TABLE));
    let read_models = (!reads.is_empty())
        .then(|| quote!(const READ_MODELS: &'static [&'static str] = &[#(#tables),*];));
    let there = framework.with_span(query.span());
    let trait_path = quote_spanned!(query.span()=> #there::query::QueryHandler);
    quote! {
        #function

        #(#forwarded)*
        #[automatically_derived]
        impl #trait_path for #query {
            type Output = #output;

            #read_models
            #declared

            async fn handle(
                self,
                #context: &#module::QueryContext<'_>,
            ) -> ::core::result::Result<#output, #module::QueryError> {
                #(#values)*
                #ident(self #(, #arguments)*).await
            }
        }
    }
}

/// Generates the function of a query handler with mistakes, and an implementation that does nothing. Further messages about
/// the function or its query would only distract.
pub(crate) fn generate_stub(declared: &AnnotatedFunction, framework: &Framework) -> TokenStream {
    let function = declared.function_without_attributes();
    let is_method = function.sig.receiver().is_some();
    let first = declared.parameters().next().map(|first| match &*first.ty {
        Type::Reference(reference) => &*reference.elem,
        ty => ty,
    });
    let query = first.filter(|query| matches!(query, Type::Path(_)) && !is_method);
    let module = quote!(#framework::query);
    let implementation = query.map(|query| {
        quote! {
            impl #module::QueryHandler for #query {
                type Output = ();

                async fn handle(
                    self,
                    _: &#module::QueryContext<'_>,
                ) -> ::core::result::Result<(), #module::QueryError> {
                    ::core::unreachable!()
                }
            }
        }
    });
    quote!(#[allow(unused)] #function #implementation)
}
