//! The macros of es-framework, which re-exports them: `#[derive(Command)]`, `#[derive(Event)]`
//! and `#[handler]`.

mod codegen;

use proc_macro::TokenStream;

use codegen::manifest::Manifest;

/// Declares a command.
#[proc_macro_derive(Command, attributes(command, event, validate, serde, schemars, es))]
pub fn derive_command(item: TokenStream) -> TokenStream {
    codegen::command::derive(item.into(), &Manifest::of_this_crate()).into()
}

/// Declares an event.
#[proc_macro_derive(Event, attributes(command, event, validate, serde, schemars, es))]
pub fn derive_event(item: TokenStream) -> TokenStream {
    codegen::event::derive(item.into(), &Manifest::of_this_crate()).into()
}

/// Makes a function the handler of its command.
#[proc_macro_attribute]
pub fn handler(arguments: TokenStream, item: TokenStream) -> TokenStream {
    codegen::handler::handler(arguments.into(), item.into(), &Manifest::of_this_crate()).into()
}
