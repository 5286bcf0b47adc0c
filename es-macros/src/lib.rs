//! The macros of es-framework, which re-exports them.

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
/// | `subject = "/readers/{reader}"` | what it is about, if not what its command is about; `./notes/{number}` lies below the command's subject | the command's subject |
/// | `read_model = "books"` | a table with a row for each event and a column for each field, served at `/books` | none |
///
/// `#[serde(…)]` and `#[schemars(…)]` above a field and `#[es(crate = "…")]` above the struct are
/// as for `#[derive(Command)]`.
#[proc_macro_derive(Event, attributes(command, event, validate, serde, schemars, es))]
pub fn derive_event(item: TokenStream) -> TokenStream {
    codegen::event::derive(item.into(), &Manifest::of_this_crate()).into()
}

/// Declares a state: what is known of a subject once its events are folded.
///
/// Implements `State`, `Serialize`, `Deserialize` and `JsonSchema` for a struct or an enum, and lets
/// handlers take it as `&Book`, or as `Option<&Book>` where there may be none. Its JSON is what a
/// snapshot keeps. How it follows from events is said by `#[evolve]`.
#[proc_macro_derive(State, attributes(serde, schemars, es))]
pub fn derive_state(item: TokenStream) -> TokenStream {
    codegen::state::derive(item.into(), &Manifest::of_this_crate()).into()
}

/// Says how a state follows from events: one function for each kind of event.
///
/// | function | |
/// |---|---|
/// | `fn purchased(event: &BookPurchasedEvent) -> Self` | the event begins a state |
/// | `fn borrowed(&mut self, event: &BookBorrowedEvent)` | it changes the state |
/// | `fn removed(self, event: &BookRemovedEvent) -> Self` | it replaces the state |
///
/// The last two are passed over where there is no state yet. Instead of `Self` a function may
/// return `Option<Self>`, and it may take the event by value. All functions of the `impl` are
/// such functions; others stand in another `impl`.
#[proc_macro_attribute]
pub fn evolve(arguments: TokenStream, item: TokenStream) -> TokenStream {
    codegen::evolve::evolve(arguments.into(), item.into(), &Manifest::of_this_crate()).into()
}

/// Gives JSON to a struct or an enum that commands, events, replies and rows are made of.
///
/// Implements `Serialize`, `Deserialize` and `JsonSchema`, all names in camelCase. An enum without
/// fields is a text, and can be a column of a read model. `#[serde(tag = "…")]`, `content`,
/// `untagged` and `transparent` above the item work as serde has them.
#[proc_macro_derive(Value, attributes(serde, schemars, es))]
pub fn derive_value(item: TokenStream) -> TokenStream {
    codegen::value::derive(item.into(), &Manifest::of_this_crate()).into()
}

/// Lets handlers take a value of this type by reference, which `App::provide` is given.
#[proc_macro_derive(Service, attributes(es))]
pub fn derive_service(item: TokenStream) -> TokenStream {
    codegen::service::derive(item.into(), &Manifest::of_this_crate()).into()
}

/// Declares settings: flags of the application, with environment variables behind them, which
/// handlers take by reference.
///
/// The field `loan_days: u32` is the flag `--loan-days` and the variable `LOAN_DAYS`; its doc comment
/// is what `--help` says. A field that is an `Option` may be left out.
///
/// # `#[setting(…)]` above a field
///
/// | key | | if left out |
/// |---|---|---|
/// | `default = 28` | its value if none is given | it has to be given |
/// | `env = "LOAN_DAYS"` | the environment variable | the field's name in capitals |
#[proc_macro_derive(Settings, attributes(setting, es))]
pub fn derive_settings(item: TokenStream) -> TokenStream {
    codegen::settings::derive(item.into(), &Manifest::of_this_crate()).into()
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
/// Leaves the function as it is and implements `Handle` for the command, which it takes by value.
/// It returns an event, several as a tuple or a `Vec`, perhaps one as an `Option`, a `Decision` of
/// any of these and a reply, or a `Result` of any of these and a `Rejection`. It is neither `async`
/// nor `unsafe` nor generic, and no method. A second handler for the same command does not compile.
///
/// # Other parameters
///
/// | parameter | |
/// |---|---|
/// | `book: &Book` | a state, rebuilt from the events of the command's subject; without one, the command is answered with 404 |
/// | `book: Option<&Book>` | a state that there may be or not |
/// | `#[subject("/readers/{reader}")] reader: &Reader` | a state of another subject, in which fields of the command stand in braces |
/// | `#[subject("/shelves/{shelf}", recursive)] shelf: &Shelf` | a state that follows from the events of all subjects below as well |
/// | `clock: &Clock`, `metadata: &Metadata` | the time, and what came with the request |
/// | `lending: &Lending` | settings (`#[derive(Settings)]`), or what `App::provide` was given (`#[derive(Service)]`) |
///
/// Whatever is decided is written only if none of the subjects that were read has changed since.
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
