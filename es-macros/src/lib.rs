//! The macros of es-framework. The framework re-exports them and documents each with an example.
#![allow(
    clippy::arithmetic_side_effects,
    reason = "counts of items in a source file cannot overflow"
)]

mod codegen;

use proc_macro::TokenStream;

use codegen::manifest::Manifest;

/// Declares a command: a request to change something, named in the imperative.
///
/// Implements `Command`, `Validate`, `Serialize`, `Deserialize` and `JsonSchema` for a struct with
/// named fields, and registers the command with its handler. A command without a `#[handler]` does
/// not compile. The command's JSON has one member for each field, in camelCase, and no others.
///
/// # `#[command(…)]` above the struct
///
/// | key | | if left out |
/// |---|---|---|
/// | `subject = "/books/{id}"` | the subject of the command; a field in braces fills a segment | an error |
/// | `condition = pristine` | the condition on the subject: `none`, `pristine` (it has no event) or `exists` (it has an event) | `none` |
/// | `path = "/books/{id}/borrow"` | the route of the command; a field in braces comes from the path instead of the body | the subject up to its first field, and the first word of the command's name: `/books/purchase` |
/// | `role = "staff"` | the role that a client needs if authentication is enabled | no role is needed |
/// | `role = public` | clients need no credential, even if authentication is enabled | a credential is needed |
/// | `role_without_token` | there may be no token with the role; this silences the warning at start | the start warns about a role that no token has |
/// | `internal` | clients cannot send the command; only a `#[reaction]` sends it | clients can send it |
/// | `summary = "…"` | the summary in the API's description | the first paragraph of the doc comment |
///
/// # `#[validate(…)]` above a field
///
/// A validation reports all violations at once, and all rules are part of the JSON schema. For an
/// `Option`, the rules apply to the value inside. A bound or a length may be a constant.
///
/// | rule | holds for |
/// |---|---|
/// | `text(max = 500)` | a text of 1, or `min`, to 500 characters on one line that is not blank |
/// | `characters("0123456789-X")` | a text of these characters only |
/// | `pattern("^[0-9]+$")` | a text that matches the regular expression |
/// | `email`, `url` | an e-mail address; an absolute URL |
/// | `range(min = 1, max = 9)` | a number within the bounds; one bound may be absent |
/// | `items(min = 1, max = 9)` | a list whose length is within the bounds |
/// | `each(text(max = 20))` | each item of a list |
/// | `with = is_sound` | a value that `fn is_sound(value: &T) -> Result<(), impl Display>` accepts |
///
/// The rules of a nested value's own type apply without an attribute.
///
/// # Other traits
///
/// The macro implements `Clone`, `Serialize`, `Deserialize` and `JsonSchema`. Every field type must be
/// `Clone`, because each attempt after a conflict decides on a clone.
///
/// # Other attributes
///
/// - `#[serde(rename = "…")]` above a field names its member; `default`, `alias`, `with`,
///   `serialize_with`, `deserialize_with` and `skip_serializing_if` work as well. The struct itself
///   takes no serde attributes.
/// - `#[schemars(…)]` adds to the schema.
/// - `#[es(crate = "…")]` above the struct names the path of the framework. Only a package whose
///   Cargo.toml does not contain the framework needs this attribute.
#[proc_macro_derive(
    Command,
    attributes(command, event, unique, validate, serde, schemars, es)
)]
pub fn derive_command(item: TokenStream) -> TokenStream {
    codegen::command::derive_command(item.into(), &Manifest::of_this_crate()).into()
}

/// Declares an event: a fact, named in the past tense.
///
/// Implements `Event`, `Serialize`, `Deserialize` and `JsonSchema` for a struct with named fields,
/// and registers the event. The event's JSON has one member for each field, in camelCase.
/// Deserialization ignores unknown members, because a later version may have written them.
///
/// The event type is the crate's package, a dot and the struct's name:
/// `com.example.library.BookPurchasedEvent`. Cargo.toml declares the package. It does not depend on
/// the module, so stored events stay readable after their struct has moved:
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
/// | `name = "BookPurchasedEvent"` | the name after the package | the struct's name |
/// | `version = 2` | the suffix of a later version's type: `….BookPurchasedEvent.v2`; an `#[upcast]` function reads the earlier version | the first version, which has no number |
/// | `subject = "/readers/{reader}"` | the event's own subject; `./notes/{number}` is a descendant of the command's subject | the command's subject |
/// | `read_model = "books"` | a table with a row for each event and a column for each field, served at `/books` | none |
/// | `from = PurchaseBookCommand` | the command whose fields the event takes by name and type: `command.into()` is the event; several stand in `from(…, …)` | a handler builds the event |
/// | `informational` | no state, read model, reaction or publication has to consume the event; this silences the warnings at start | the start warns about an event that nothing consumes |
/// | `releases("reader-card")` | the `#[unique]` rules whose values the event's subject gives up | it keeps them |
///
/// `#[serde(…)]` and `#[schemars(…)]` above a field and `#[es(crate = "…")]` above the struct work
/// as for `#[derive(Command)]`.
///
#[doc = include_str!("../docs/event_fields.md")]
#[proc_macro_derive(
    Event,
    attributes(command, event, personal, unique, validate, serde, schemars, es)
)]
pub fn derive_event(item: TokenStream) -> TokenStream {
    codegen::event::derive_event(item.into(), &Manifest::of_this_crate()).into()
}

/// Declares the reasons for which a handler rejects a command: an enum with a variant for each
/// reason, or a struct for a single one.
///
/// Implements `Rejection`, `Display` and `std::error::Error`. A handler may return the rejection in
/// a `Result`, and clients receive a problem with a status, a stable type, a stable title and a
/// detail. Every error also needs `Debug`: `#[derive(Debug, Rejection)]`.
///
/// # `#[rejection(…)]` above a variant, or above the struct
///
/// | word | | if left out |
/// |---|---|---|
/// | `conflict` | the state does not allow the command: 409 | an error, unless one of the next four stands there |
/// | `gone` | the subject existed and was removed: 410 | |
/// | `not_found` | the command names something that does not exist: 404 | |
/// | `forbidden` | the client has no permission: 403 | |
/// | `invalid` | the combination of values is invalid: 422 | |
/// | `detail = "lent until {due_at}"` | the detail of the problem; a field in braces is formatted as by `format!` | the title |
/// | `title = "The copy is lent"` | the title, which is the same for each client | the first paragraph of the doc comment without its full stop |
/// | `name = "copy-is-lent"` | the end of the problem's type | the variant's name in kebab-case |
///
/// `#[es(crate = "…")]` works as for `#[derive(Command)]`.
#[proc_macro_derive(Rejection, attributes(rejection, es))]
pub fn derive_rejection(item: TokenStream) -> TokenStream {
    codegen::rejection::derive_rejection(item.into(), &Manifest::of_this_crate()).into()
}

/// Declares a state: the facts about a subject that follow from its events.
///
/// Implements `State`, `Serialize`, `Deserialize` and `JsonSchema` for a struct or an enum.
/// Handlers can take the state as `&Book`, or as `Option<&Book>` if it may not exist. Snapshots
/// store its JSON. `#[evolve]` defines how the state follows from events.
#[proc_macro_derive(State, attributes(serde, schemars, es))]
pub fn derive_state(item: TokenStream) -> TokenStream {
    codegen::state::derive_state(item.into(), &Manifest::of_this_crate()).into()
}

/// Defines how a state follows from events: one function for each event type.
///
/// | function | |
/// |---|---|
/// | `fn purchased(event: &BookPurchasedEvent) -> Self` | the event begins a state |
/// | `fn borrowed(&mut self, event: &BookBorrowedEvent)` | it changes the state |
/// | `fn removed(self, event: &BookRemovedEvent) -> Self` | it replaces the state |
/// | `fn counted(before: Option<Self>, event: &BookCountedEvent) -> Self` | it begins or replaces the state |
///
/// The framework skips the functions with `self` while there is no state. A function may
/// return `Option<Self>` instead of `Self`, and it may take the event by value. The `impl` block
/// contains no other functions than those of the table.
#[proc_macro_attribute]
pub fn evolve(arguments: TokenStream, item: TokenStream) -> TokenStream {
    codegen::evolve::evolve(arguments.into(), item.into(), &Manifest::of_this_crate()).into()
}

/// Gives JSON to a struct or an enum that is part of commands, events, replies or rows.
///
/// Implements `Serialize`, `Deserialize` and `JsonSchema`, with all names in camelCase. An enum
/// without fields is a string and can be a column of a read model. `#[serde(tag = "…")]`,
/// `content`, `untagged` and `transparent` above the item work as in serde. The fields take the
/// same rules (`#[validate(…)]`) as those of `#[derive(Command)]`; a command validates the values
/// that it contains. `#[personal(…)]` works as for `#[derive(Event)]`, wherever an event contains the value.
#[proc_macro_derive(Value, attributes(personal, unique, validate, serde, schemars, es))]
pub fn derive_value(item: TokenStream) -> TokenStream {
    codegen::value::derive_value(item.into(), &Manifest::of_this_crate()).into()
}

/// Lets handlers take a value of this type by reference. The application supplies the value with
/// `App::provide`.
#[proc_macro_derive(Service, attributes(es))]
pub fn derive_service(item: TokenStream) -> TokenStream {
    codegen::service::derive_service(item.into(), &Manifest::of_this_crate()).into()
}

/// Declares settings: flags and environment variables of the application. Handlers take settings by
/// reference.
///
/// The field `loan_days: u32` becomes the flag `--loan-days` and the variable `LOAN_DAYS`. Its doc
/// comment becomes the text in `--help`. A field whose type is an `Option` may be absent.
///
/// # `#[settings(…)]` above the struct
///
/// | key | | if left out |
/// |---|---|---|
/// | `unused` | no handler and no reaction has to take the settings; this silences the warning at start | the start warns about settings that nothing takes |
///
/// # `#[setting(…)]` above a field
///
/// | key | | if left out |
/// |---|---|---|
/// | `default = 28` | the default value | the setting is required |
/// | `env = "LOAN_DAYS"` | the environment variable | the field's name in capitals |
#[proc_macro_derive(Settings, attributes(setting, settings, es))]
pub fn derive_settings(item: TokenStream) -> TokenStream {
    codegen::settings::derive_settings(item.into(), &Manifest::of_this_crate()).into()
}

/// Makes a function the handler of its command: a pure function that decides which events follow from the command.
///
/// Implements `Handle` for the command, which the function takes by value. The function stays as it is. A
/// function without a body, `fn purchase(command: PurchaseBookCommand) -> BookPurchasedEvent;`, gets the body
/// `command.into()`: it records the command as the event, whose `#[event(from = …)]` names the command. The function returns an event, a tuple or a `Vec` of events, an `Option` of an event,
/// a `Decision` of any of these and a reply, or a `Result` of any of these and a `Rejection`. It is
/// a free function, and neither `async` nor `unsafe` nor generic. A second handler for the same
/// command does not compile.
///
/// # Other parameters
///
/// | parameter | |
/// |---|---|
/// | `book: &Book` | a state, rebuilt from the events of the command's subject; if there is none, the response is 404 |
/// | `book: Option<&Book>` | a state that may not exist |
/// | `#[subject("/readers/{reader}")] reader: &Reader` | a state of another subject; fields of the command stand in braces |
/// | `#[subject("/shelves/{shelf}", recursive)] shelf: &Shelf` | a state that also follows from the events of all descendant subjects |
/// | `#[subject("/days/{day}", day in PlanSeasonCommand::days)] days: Vec<Option<&Day>>` | the state of each subject that a function of the command names, at most 400 |
/// | `clock: &Clock`, `metadata: &Metadata` | the current time, and the metadata of the request |
/// | `lending: &Lending` | settings (`#[derive(Settings)]`), or a service from `App::provide` (`#[derive(Service)]`) |
///
/// The framework appends the events only if none of the subjects that it has read has changed since.
///
/// `#[es(crate = "…")]` below the attribute works as for `#[derive(Command)]`.
#[proc_macro_attribute]
pub fn handler(arguments: TokenStream, item: TokenStream) -> TokenStream {
    codegen::handler::handler(arguments.into(), item.into(), &Manifest::of_this_crate()).into()
}

/// Declares a read model: a row for each key, folded from events.
///
/// Implements `ReadModel`, `Serialize`, `Deserialize` and `JsonSchema` for a struct with named
/// fields, and registers it with its `#[projection]`; a read model without one does not compile. Each field is a
/// column: a text, a UUID, a whole number, a float, a boolean, a timestamp, a date, a list, a map with text keys, an enum with
/// `#[derive(Value)]`, or an `Option` of these. The table and its indexes follow from the struct and its queries.
///
/// # `#[read_model(…)]` above the struct
///
/// | key | | if left out |
/// |---|---|---|
/// | `table = "book_copies"` | the table's name | an error |
/// | `subject = "/books/{id}"` | the subject whose events make a row, with the key in braces | each function of the projection names its key |
/// | `version = 2` | a new number rebuilds the rows; a durable database needs this after a change of the projection | 1 |
///
/// # `#[key]` above a field
///
/// The field that tells the rows apart: a text, a UUID, a whole number or a date.
///
/// # `#[index]` above a field
///
/// The column gets an index. Only a query that you write by hand needs this attribute. A column that
/// `#[derive(Query)]` compares is indexed automatically.
///
/// # `#[search]` above a field
///
/// The text can be searched for a substring. Only a query that you write by hand needs this attribute. A column
/// with `#[filter(contains)]` is prepared automatically. `#[search(alphanumeric)]` lets all comparisons, sort orders
/// and groups use the letters and digits of the text alone, so that two spellings of an ISBN are one.
///
/// # `#[visible(…)]` above a field
///
/// Only some callers see the field, whose type is an `Option`. The others get rows without it, and cannot filter, sort
/// or group by it. With both keys, those whom one of them names see it.
///
/// | key | |
/// |---|---|
/// | `role = "staff"` | callers with this role, or with one of several in brackets |
/// | `owner = reader` | callers whose owner id is in the field `reader` of the row |
/// | `owner` | callers whose owner id is the field itself |
///
/// `#[serde(…)]`, `#[schemars(…)]` and `#[es(crate = "…")]` are as for `#[derive(Event)]`.
#[proc_macro_derive(
    ReadModel,
    attributes(read_model, key, index, search, visible, serde, schemars, es)
)]
pub fn derive_read_model(item: TokenStream) -> TokenStream {
    codegen::read_model::derive_read_model(item.into(), &Manifest::of_this_crate()).into()
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
/// The key of the row stands in the event's subject, as `#[read_model(subject = …)]` says; events of other subjects do not change this read model. `#[key(book)]` above a function takes the key
/// from the event's field of this name, whatever the subject. `#[key(with = month_of)]` calls a function that computes the
/// key: it takes references to what the function of the projection takes besides the row, and returns the key or, of several
/// fields, a tuple.
///
/// `#[each(seats)]` above a function changes a row for each element of the event's list of this name, up to 1,024 rows. The
/// function takes the element before the event: `fn reserved(&mut self, seat: &Uuid, event: &SeatsReservedEvent)`. The
/// element is the key, or `#[key(number)]` names the field of the element that is.
///
/// `#[es(crate = "…")]` below the attribute works as for `#[derive(Command)]`.
#[proc_macro_attribute]
pub fn projection(arguments: TokenStream, item: TokenStream) -> TokenStream {
    codegen::projection::projection(arguments.into(), item.into(), &Manifest::of_this_crate())
        .into()
}

/// Makes a block of functions a reaction, which sends commands or calls other systems in response
/// to events.
///
#[doc = include_str!("../docs/reaction.md")]
#[proc_macro_attribute]
pub fn reaction(arguments: TokenStream, item: TokenStream) -> TokenStream {
    codegen::reaction::reaction(arguments.into(), item.into(), &Manifest::of_this_crate()).into()
}

/// Declares a public event: a fact that other systems are told, with a type and a schema of its own.
///
#[doc = include_str!("../docs/public_event.md")]
#[proc_macro_derive(
    PublicEvent,
    attributes(public_event, event, personal, validate, serde, schemars, es)
)]
pub fn derive_public_event(item: TokenStream) -> TokenStream {
    codegen::public_event::derive_public_event(item.into(), &Manifest::of_this_crate()).into()
}

/// Makes a function a publication: a pure function that decides which public events follow from a stored event.
///
#[doc = include_str!("../docs/publish.md")]
#[proc_macro_attribute]
pub fn publish(arguments: TokenStream, item: TokenStream) -> TokenStream {
    codegen::publish::publish(arguments.into(), item.into(), &Manifest::of_this_crate()).into()
}

/// Declares a query, which clients send with `GET`.
///
/// Implements `Query` for a struct with named fields. Each field is a parameter. The answer comes from
/// the rows of a read model, or from an `impl QueryHandler` that you write by hand. A query with neither
/// `rows` nor `row` nor a `QueryHandler` does not compile.
///
#[doc = include_str!("../docs/query.md")]
#[proc_macro_derive(Query, attributes(query, filter, serde, es))]
pub fn derive_query(item: TokenStream) -> TokenStream {
    codegen::query::derive_query(item.into(), &Manifest::of_this_crate()).into()
}

/// Makes a function the handler of a query.
///
/// Leaves the function unchanged, and implements `QueryHandler` for the query that it takes by value as its first
/// parameter. The function is `async` and returns `Result<T, QueryError>`. Its other parameters are references: to the
/// `QueryContext`, the `Clock`, the `Caller`, settings with `#[derive(Settings)]` and services with `#[derive(Service)]`.
/// An application that provides none of a service does not start.
///
/// `#[query_handler(reads = [Loan, Book])]` names the read models that the function reads, for the picture of the
/// application's model.
///
/// `#[es(crate = "…")]` below the attribute works as for `#[derive(Command)]`.
#[proc_macro_attribute]
pub fn query_handler(arguments: TokenStream, item: TokenStream) -> TokenStream {
    codegen::query_handler::query_handler(arguments.into(), item.into(), &Manifest::of_this_crate())
        .into()
}

/// Makes a function the upcaster of an old event. The upcaster converts the stored shape of the
/// event into today's events.
///
/// Leaves the function unchanged, implements `Upcast` for the event, which the function takes by
/// value as its only parameter, and registers the upcaster. The function returns an event, a tuple
/// or a `Vec` of events, an `Option` of an event, or nothing. The returned events may have
/// upcasters themselves; an application with a cycle of upcasters does not start. The function is a
/// free function, and neither `async` nor `unsafe` nor generic. A second upcaster for the same
/// event does not compile.
///
/// `#[es(crate = "…")]` below the attribute works as for `#[derive(Command)]`.
#[proc_macro_attribute]
pub fn upcast(arguments: TokenStream, item: TokenStream) -> TokenStream {
    codegen::upcast::upcast(arguments.into(), item.into(), &Manifest::of_this_crate()).into()
}
