//! The macros of es-framework, which re-exports them and shows each by an example.

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
/// | `role = "staff"` | the role that a caller needs, where callers are known | any caller may ask for it |
/// | `internal` | nobody posts it: it is sent by a `#[reaction]` alone | everybody may |
/// | `summary = "…"` | what it does, for the API's description | the first paragraph of the doc comment |
///
/// # `#[validate(…)]` above a field
///
/// Every rule that does not hold is reported at once, and all are part of the JSON schema. On an
/// `Option` they hold for the value, if there is one. An end or a length may be a constant.
///
/// | rule | holds for |
/// |---|---|
/// | `text(max = 500)` | a text of 1, or `min`, to 500 characters on one line that is not blank |
/// | `characters("0123456789-X")` | a text of these characters only |
/// | `pattern("^[0-9]+$")` | a text in which the regular expression is found |
/// | `email`, `url` | an e-mail address; an address on the web |
/// | `range(min = 1, max = 9)` | a number between both ends, of which one may be left out |
/// | `items(min = 1, max = 9)` | a list of so many items, as above |
/// | `each(text(max = 20))` | each item of a list |
/// | `with = is_sound` | whatever `fn is_sound(value: &T) -> Result<(), impl Display>` says |
///
/// The rules of a field's own type hold without a word.
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
/// `untagged` and `transparent` above the item work as serde has them. Rules (`#[validate(…)]`) above
/// its fields are those of `#[derive(Command)]`, and hold wherever a command holds the value.
#[proc_macro_derive(Value, attributes(validate, serde, schemars, es))]
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

/// Declares a read model: a row for each key, folded from events.
///
/// Implements `ReadModel`, `Serialize`, `Deserialize` and `JsonSchema` for a struct with named
/// fields, and registers it with its `#[projection]`; a read model without one does not compile.
/// Each field is a column: a text, a UUID, a whole number, a float, a boolean, a timestamp, a list,
/// an enum with `#[derive(Value)]`, or an `Option` of these. The table and its indexes follow from
/// the struct and from the queries that are declared on it.
///
/// # `#[read_model(…)]` above the struct
///
/// | key | | if left out |
/// |---|---|---|
/// | `table = "book_copies"` | the table's name | an error |
/// | `subject = "/books/{id}"` | the subject whose events make a row, with the key in braces | each function of the projection names its key |
/// | `version = 2` | another number has the rows made again, which a change of the projection needs in a durable database | 1 |
///
/// # `#[key]` above a field
///
/// The field that tells the rows apart: a text, a UUID or a whole number.
///
/// # `#[index]` above a field
///
/// Rows are found by it. Only a query by hand needs that: what `#[derive(Query)]` compares has an
/// index.
///
/// `#[serde(…)]`, `#[schemars(…)]` and `#[es(crate = "…")]` are as for `#[derive(Event)]`.
#[proc_macro_derive(ReadModel, attributes(read_model, key, index, serde, schemars, es))]
pub fn derive_read_model(item: TokenStream) -> TokenStream {
    codegen::read_model::derive(item.into(), &Manifest::of_this_crate()).into()
}

/// Makes a block of functions the projection of a read model: what its rows are after each event.
///
/// Leaves the block as it is and implements `Project` for the read model. Each function is pure and
/// takes an event, by reference or by value, and the `&RecordedEvent` behind it if it has another
/// parameter.
///
/// | function | the row |
/// |---|---|
/// | `fn (event: &E) -> Self` | is a new one, or this one instead of the one before |
/// | `fn (&mut self, event: &E)` | changes; nothing happens if there is none |
/// | `fn (self, event: &E) -> Self` | changes; nothing happens if there is none |
/// | `fn (self, event: &E) -> Option<Self>` | changes or ends; nothing happens if there is none |
/// | `fn (row: Option<Self>, event: &E) -> Option<Self>` | begins, changes or ends |
///
/// The key of the row stands in the event's subject, as `#[read_model(subject = …)]` says; events
/// of other subjects are no matter of this read model. `#[key(book)]` above a function takes the key
/// from the event's field of this name, whatever the subject.
///
/// `#[es(crate = "…")]` below it is as for `#[derive(Command)]`.
#[proc_macro_attribute]
pub fn projection(arguments: TokenStream, item: TokenStream) -> TokenStream {
    codegen::projection::projection(arguments.into(), item.into(), &Manifest::of_this_crate())
        .into()
}

/// Makes a block of functions a reaction: what follows from events without anybody asking for it.
///
/// Leaves the block as it is, implements `React` for its type, which has no fields, and registers it.
/// Each function takes an event, by reference or by value, and remembers nothing.
///
/// | function | |
/// |---|---|
/// | `fn remind(event: &E) -> RemindReaderCommand` | sends a command, or an `Option`, a `Vec` or a tuple of commands, each of which is carried out once |
/// | `async fn mail(event: &E, mailer: &Mailer, key: &ReactionKey) -> Result<(), MailError>` | calls another system, at least once; takes the `&Clock`, settings and what `App::provide` is given, and a `&ReactionKey` that is the same whenever the call is made again |
///
/// # `#[deadline(…)]` above a function
///
/// It is called not when the event comes but when a time has come, also when that is after a
/// restart.
///
/// | key | | if left out |
/// |---|---|---|
/// | `at = due_at` | the field of the event that holds the time, a `Timestamp` or an `Option<Timestamp>` | an error |
/// | `unless(BookReturnedEvent)` | the events that cancel it if they come in between, on the same subject | none |
///
/// # `#[reaction(…)]`
///
/// | key | | if left out |
/// |---|---|---|
/// | `name = "LoanReminder"` | what it is called in the event store: another name begins anew | the type's name |
/// | `begin = new` | the first event that it takes is the first after its first start | `first`: the first of all |
/// | `attempts = 16` | how often a call is made that fails, before the reaction stops | 16 |
///
/// `#[es(crate = "…")]` below it is as for `#[derive(Command)]`.
#[proc_macro_attribute]
pub fn reaction(arguments: TokenStream, item: TokenStream) -> TokenStream {
    codegen::reaction::reaction(arguments.into(), item.into(), &Manifest::of_this_crate()).into()
}

/// Declares a query: something that clients ask with `GET`.
///
/// Implements `Query` for a struct with named fields, each a parameter, and registers it with what
/// answers it: the rows of a read model, or an `impl QueryHandler` by hand. A query without an answer does
/// not compile.
///
/// # `#[query(…)]` above the struct
///
/// | key | | if left out |
/// |---|---|---|
/// | `path = "/books/{id}"` | where it is asked; a field in braces is taken from the path | an error |
/// | `rows = BookCopy` | answers with the rows of this read model, a page at a time | answered by hand |
/// | `row = BookCopy` | answers with one row of this read model, or `404` | answered by hand |
/// | `order = due_at`, `order = descending(due_at)` | sorts the rows by a field; those without a value are left out | the oldest first |
/// | `paged` | an answer by hand is a page, so that `limit`, `cursor` and `total` are parameters | it is not |
/// | `role = "staff"` | the role that a caller needs, where callers are known | any caller may ask |
/// | `summary = "…"` | what it answers, for the API's description | the first paragraph of the doc comment |
///
/// # `#[filter(…)]` above a field
///
/// How the field is compared with the one of the row that has its name, or with the one in
/// parentheses: `#[filter(at_least(due_at))]`. A field in the path is compared with `eq`. A field
/// that is an `Option` may be left out, and is then not compared.
///
/// | filter | holds for rows |
/// |---|---|
/// | `eq` | with this value |
/// | `contains` | whose text has this one somewhere, whatever the case of its letters |
/// | `at_least`, `at_most` | with this value, or a larger or smaller one |
/// | `one_of` | with one of the values of a `Vec`: `?status=available,lent` |
///
/// `#[serde(rename = "…")]` above a field names its parameter; `#[es(crate = "…")]` above the struct
/// is as for `#[derive(Command)]`.
#[proc_macro_derive(Query, attributes(query, filter, serde, es))]
pub fn derive_query(item: TokenStream) -> TokenStream {
    codegen::query::derive(item.into(), &Manifest::of_this_crate()).into()
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
