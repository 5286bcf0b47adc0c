//! The passes of attribute macros on functions: `#[handler]`, `#[query_handler]` and `#[upcast]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, FnArg, ItemFn, PatType};

use super::{annotated_item, errors::Errors, framework::Framework, manifest::Manifest, types};

/// A parsed function under an attribute macro.
pub(crate) struct AnnotatedFunction {
    pub(crate) item: ItemFn,
    /// The `#[es(…)]` attributes, which the compiler does not know.
    es: Vec<Attribute>,
}

/// The passes that differ between the macros. `T` is the function without mistakes.
pub(crate) struct FunctionMacro<T> {
    /// The error message for another item than a function.
    pub(crate) no_function: &'static str,
    pub(crate) check: fn(&AnnotatedFunction, &mut Errors) -> Option<T>,
    pub(crate) expand: fn(&ItemFn, &T, &Framework) -> TokenStream,
    /// Generates the code for a function with mistakes.
    pub(crate) stub: fn(&AnnotatedFunction, &Framework) -> TokenStream,
}

impl<T> FunctionMacro<T> {
    /// Returns the function with its generated code, or compile errors and a stub.
    pub(crate) fn expand_annotated(
        &self,
        input: TokenStream,
        manifest: &Manifest,
        errors: Errors,
    ) -> TokenStream {
        self.expand_completed(input, manifest, errors, |_| {})
    }

    /// Expands like [`Self::expand_annotated`]. `complete` adds what the attribute's arguments say.
    pub(crate) fn expand_completed(
        &self,
        input: TokenStream,
        manifest: &Manifest,
        mut errors: Errors,
        complete: impl FnOnce(&mut T),
    ) -> TokenStream {
        let Some(declared) = AnnotatedFunction::read(input.clone(), self.no_function, &mut errors)
        else {
            let errors = errors.into_compile_errors();
            return quote!(#errors #input);
        };
        let function = declared.function_without_attributes();
        let Some(framework) = Framework::resolve(&declared.es, manifest, &mut errors) else {
            let errors = errors.into_compile_errors();
            return quote!(#errors #function);
        };
        match (self.check)(&declared, &mut errors) {
            Some(mut checked) if errors.is_empty() => {
                complete(&mut checked);
                (self.expand)(&function, &checked, &framework)
            }
            _ => {
                let stub = (self.stub)(&declared, &framework);
                let errors = errors.into_compile_errors();
                quote!(#errors #stub)
            }
        }
    }
}

impl AnnotatedFunction {
    /// Parses a function with its `#[es(…)]`.
    fn read(input: TokenStream, no_function: &str, errors: &mut Errors) -> Option<Self> {
        let (mut item, es) = annotated_item::parse_annotated_item(
            input,
            |item: &mut ItemFn| &mut item.attrs,
            no_function,
            errors,
        )?;
        types::ungroup_signature(&mut item.sig);
        Some(Self { item, es })
    }

    /// Returns the function without the attributes that the compiler does not know.
    pub(crate) fn function_without_attributes(&self) -> ItemFn {
        let mut function = self.item.clone();
        for parameter in &mut function.sig.inputs {
            if let FnArg::Typed(parameter) = parameter {
                parameter.attrs.clear();
            }
        }
        function
    }

    /// Returns the parameters without `self`.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &PatType> {
        types::typed_parameters(&self.item.sig)
    }
}
