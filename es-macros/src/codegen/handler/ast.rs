//! Parses the function of a handler.

use proc_macro2::TokenStream;
use syn::{Attribute, FnArg, ItemFn, PatType, Type};

use crate::codegen::{attributed, errors::Errors, types};

/// The parsed function.
pub(crate) struct Declared {
    pub(crate) item: ItemFn,
    /// The `#[es(…)]` attributes, which the compiler does not know.
    pub(crate) es: Vec<Attribute>,
}

/// Parses the function.
pub(crate) fn read(input: TokenStream, errors: &mut Errors) -> Option<Declared> {
    let message = "a handler is a function: write `#[handler]` above `fn decide(command: PurchaseBookCommand) -> BookPurchasedEvent { … }`";
    let (mut item, es) =
        attributed::read(input, |item: &mut ItemFn| &mut item.attrs, message, errors)?;
    types::ungroup_signature(&mut item.sig);
    Some(Declared { item, es })
}

impl Declared {
    /// Returns the function without the attributes that the compiler does not know.
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

    /// Returns the parameter types whose names end with `Command`. If there is none, returns all
    /// types that are taken by value.
    pub(crate) fn commands(&self) -> Vec<&Type> {
        let types = self.parameters().map(|parameter| &*parameter.ty);
        let named = types.map(|ty| match ty {
            Type::Reference(reference) => &*reference.elem,
            ty => ty,
        });
        let named: Vec<_> = named.filter(|ty| is_command(ty)).collect();
        match named.is_empty() {
            true => self
                .by_value()
                .map(|parameter| &*parameter.ty)
                .take(1)
                .collect(),
            false => named,
        }
    }

    /// Returns the parameters that may be the command.
    pub(crate) fn by_value(&self) -> impl Iterator<Item = &PatType> {
        let is_named = |parameter: &&PatType| matches!(&*parameter.ty, Type::Path(_));
        self.parameters()
            .filter(is_named)
            .filter(|parameter| types::inside_option(&parameter.ty).is_none())
    }
}

/// Returns true if the type's name ends with `Command`.
pub(crate) fn is_command(ty: &Type) -> bool {
    types::last_word(ty).is_some_and(|word| word.ends_with("Command"))
}
