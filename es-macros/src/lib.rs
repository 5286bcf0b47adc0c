//! The macros of es-framework, which re-exports them: `#[derive(Command)]`, `#[derive(Event)]`,
//! `#[derive(Rejection)]`, `#[handler]` and `#[upcast]`.

mod codegen;

use proc_macro::TokenStream;

use codegen::manifest::Manifest;

/// Declares a command: something that is asked for, in the imperative.
///
/// Implements `Command`, `Validate`, `Serialize`, `Deserialize` and `JsonSchema` for a struct with
/// named fields, and registers it with its handler; a command without a `#[handler]` does not
/// compile. Its JSON has one member for each field, in camelCase, and no others.
///
/// # `#[command(…)]` above the struct
///
/// | key | | if left out |
/// |---|---|---|
/// | `subject = "/books/{id}"` | what the command is about; a field in braces fills a segment | an error |
/// | `condition = pristine` | what must be true of the subject: `none`, `pristine` (nothing ever happened to it) or `exists` (something did) | `none` |
/// | `path = "/books/{id}/borrow"` | where it is posted to; a field in braces is taken from the path instead of the body | the subject up to its first field, and the first word of the command's name: `/books/purchase` |
/// | `summary = "…"` | what it does, for the API's description | the first paragraph of the doc comment |
///
/// # `#[validate(…)]` above a field
///
/// Every rule that does not hold is reported at once, and all are part of the JSON schema. On an
/// `Option` they hold for the value, if there is one. An end or a length may be a constant.
///
/// | rule | holds for |
/// |---|---|
/// | `text(max = 500)` | a text of 1 to 500 characters on one line that is not blank |
/// | `characters("0123456789-X")` | a text of these characters only |
/// | `range(min = 1, max = 9)` | a number between both ends, of which one may be left out |
///
/// # Other attributes
///
/// - `#[serde(rename = "…")]` above a field names its member; `default`, `alias`, `with`,
///   `serialize_with`, `deserialize_with` and `skip_serializing_if` work as well. Nothing of serde
///   stands above the struct.
/// - `#[schemars(…)]` adds to the schema.
/// - `#[es(crate = "…")]` above the struct is the path to the framework where it is neither a
///   dependency of this crate nor one under another name in its Cargo.toml.
#[proc_macro_derive(Command, attributes(command, event, validate, serde, schemars, es))]
pub fn derive_command(item: TokenStream) -> TokenStream {
    codegen::command::derive(item.into(), &Manifest::of_this_crate()).into()
}

/// Declares an event: something that happened, in the past tense.
///
/// Implements `Event`, `Serialize`, `Deserialize` and `JsonSchema` for a struct with named fields,
/// and registers it. Its JSON has one member for each field, in camelCase; members that it does
/// not know are ignored, since a later version may have written them.
///
/// Its type is the crate's package, a dot and its name: `com.example.library.BookPurchasedEvent`.
/// The package stands in Cargo.toml and does not follow the module, so that an event that was
/// stored is found after its struct has moved:
///
/// ```toml
/// [package.metadata.es-framework]
/// package = "com.example.library"
/// ```
///
/// # `#[event(…)]` above the struct
///
/// | key | | if left out |
/// |---|---|---|
/// | `package = "com.example.stock"` | the package of this event alone | the one in Cargo.toml |
/// | `name = "BookPurchasedEvent"` | the name behind the package | the struct's name |
/// | `version = 2` | ends the type of a later version: `….BookPurchasedEvent.v2`; what was stored before is read by an `#[upcast]` | the first version, which has no number |
/// | `read_model = "books"` | a table with a row for each event and a column for each field, served at `/books` | none |
///
/// `#[serde(…)]` and `#[schemars(…)]` above a field and `#[es(crate = "…")]` above the struct are
/// as for `#[derive(Command)]`.
#[proc_macro_derive(Event, attributes(command, event, validate, serde, schemars, es))]
pub fn derive_event(item: TokenStream) -> TokenStream {
    codegen::event::derive(item.into(), &Manifest::of_this_crate()).into()
}

/// Declares why a handler says no: an enum with a variant for each refusal, or a struct that is the
/// only one.
///
/// Implements `Rejection`, `Display` and `std::error::Error`, so that a handler may return it in a
/// `Result` and its callers get a problem with a status, a stable type, a stable title and a
/// sentence. It stands beside `Debug`, which every error needs: `#[derive(Debug, Rejection)]`.
///
/// # `#[rejection(…)]` above a variant, or above the struct
///
/// | word | | if left out |
/// |---|---|---|
/// | `conflict` | the state stands against it: 409 | an error, unless one of the next four stands there |
/// | `gone` | the subject was there and is gone for good: 410 | |
/// | `not_found` | something that the command names is unknown: 404 | |
/// | `forbidden` | the caller may not do this: 403 | |
/// | `invalid` | the values make no sense together: 422 | |
/// | `detail = "lent until {due_at}"` | the sentence that the caller reads; a field in braces is shown as by `format!` | the title |
/// | `title = "The copy is lent"` | the same for each caller | the first paragraph of the doc comment without its full stop |
/// | `name = "copy-is-lent"` | the end of the problem's type | the variant's name in kebab-case |
///
/// `#[es(crate = "…")]` is as for `#[derive(Command)]`.
#[proc_macro_derive(Rejection, attributes(rejection, es))]
pub fn derive_rejection(item: TokenStream) -> TokenStream {
    codegen::rejection::derive(item.into(), &Manifest::of_this_crate()).into()
}

/// Makes a function the handler of its command: the pure decision which events follow from it.
///
/// Leaves the function as it is and implements `Handle` for the command, which is its only
/// parameter, by value. It returns an event, several as a tuple or a `Vec`, perhaps one as an
/// `Option`, or a `Result` of any of these and a `Rejection`. It is neither `async` nor `unsafe`
/// nor generic, and no method. A second handler for the same command does not compile.
///
/// `#[es(crate = "…")]` below it is as for `#[derive(Command)]`.
#[proc_macro_attribute]
pub fn handler(arguments: TokenStream, item: TokenStream) -> TokenStream {
    codegen::handler::handler(arguments.into(), item.into(), &Manifest::of_this_crate()).into()
}

/// Makes a function the upcaster of an old event: from the shape in which it was stored once to the
/// events that the application knows today.
///
/// Leaves the function as it is, implements `Upcast` for the event, which is its only parameter, by
/// value, and registers it. It returns an event, several as a tuple or a `Vec`, perhaps one as an
/// `Option`, or nothing. What it returns may have an upcaster of its own; a circle of upcasters
/// does not start. It is neither `async` nor `unsafe` nor generic, and no method. A second upcaster
/// for the same event does not compile.
///
/// `#[es(crate = "…")]` below it is as for `#[derive(Command)]`.
#[proc_macro_attribute]
pub fn upcast(arguments: TokenStream, item: TokenStream) -> TokenStream {
    codegen::upcast::upcast(arguments.into(), item.into(), &Manifest::of_this_crate()).into()
}
