//! A handler as it was written.

use proc_macro2::TokenStream;
use syn::{
    Attribute, FnArg, GenericArgument, Item, ItemFn, PatType, PathArguments, Type, TypeReference,
};

use crate::codegen::errors::Errors;

/// What the developer wrote.
pub(crate) struct Declared {
    pub(crate) item: ItemFn,
    /// `#[es(…)]`, which the compiler does not know.
    pub(crate) es: Vec<Attribute>,
}

/// Reads the function, if it is one.
pub(crate) fn read(input: TokenStream, errors: &mut Errors) -> Option<Declared> {
    match syn::parse2::<ItemFn>(input.clone()) {
        Ok(mut item) => {
            let is_ours = |attr: &mut Attribute| attr.path().is_ident("es");
            let es = item.attrs.extract_if(.., is_ours).collect();
            Some(Declared { item, es })
        }
        Err(error) => {
            match syn::parse2::<Item>(input.clone()) {
                Ok(item) => errors.at(name(&item, input), "a handler is a function: write `#[handler]` above `fn decide(command: PurchaseBookCommand) -> BookPurchasedEvent { … }`"),
                Err(_) => errors.push(error),
            }
            None
        }
    }
}

/// What of an item is underlined: its first line reads better than the whole of it.
fn name(item: &Item, input: TokenStream) -> TokenStream {
    use quote::ToTokens as _;

    match item {
        Item::Struct(item) => item.ident.to_token_stream(),
        Item::Enum(item) => item.ident.to_token_stream(),
        Item::Mod(item) => item.ident.to_token_stream(),
        Item::Trait(item) => item.ident.to_token_stream(),
        Item::Impl(item) => item.self_ty.to_token_stream(),
        _ => input,
    }
}

impl Declared {
    /// The function without what the compiler does not know.
    pub(crate) fn function(&self) -> ItemFn {
        let mut function = self.item.clone();
        for parameter in &mut function.sig.inputs {
            if let FnArg::Typed(parameter) = parameter {
                parameter.attrs.clear();
            }
        }
        function
    }

    pub(crate) fn parameters(&self) -> impl Iterator<Item = &PatType> {
        self.item.sig.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(parameter) => Some(parameter),
            FnArg::Receiver(_) => None,
        })
    }

    /// The types that are or may be commands: those taken by value, and references to what is
    /// called one.
    pub(crate) fn commands(&self) -> impl Iterator<Item = &Type> {
        self.parameters()
            .filter_map(|parameter| match &*parameter.ty {
                command @ Type::Path(_) if !is_optional(command) => Some(command),
                Type::Reference(reference) => Some(&*reference.elem).filter(|ty| is_command(ty)),
                _ => None,
            })
    }
}

/// Whether a type is called a command.
pub(crate) fn is_command(ty: &Type) -> bool {
    let Type::Path(path) = ty else {
        return false;
    };
    let last = path.path.segments.last();
    last.is_some_and(|last| last.ident.to_string().ends_with("Command"))
}

/// Whether a type is an `Option` of a reference.
pub(crate) fn is_optional(ty: &Type) -> bool {
    optional(ty).is_some()
}

/// The reference inside an `Option`.
pub(crate) fn optional(ty: &Type) -> Option<&TypeReference> {
    let Type::Path(path) = ty else {
        return None;
    };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match (last.ident == "Option", arguments.args.first()) {
        (true, Some(GenericArgument::Type(Type::Reference(reference)))) => Some(reference),
        _ => None,
    }
}
