//! An event-sourcing framework. The application declares commands, events and handlers; the
//! framework supplies the rest.

#![warn(unreachable_pub)]
#![cfg_attr(test, allow(clippy::arithmetic_side_effects))]

// Lets the paths `::es_framework::…`, which the macros write, resolve inside this crate.
#[allow(unused_extern_crates)]
extern crate self as es_framework;

mod app;
pub mod config;
pub mod prelude;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod simulation;
pub mod store;

pub use es_catalog as catalog;
pub use es_command::{command, publication, reaction, settings, state, validate};
pub use es_event::{self as event, Declaration, Error, Result, declaration, json_impls};
#[cfg(feature = "server")]
pub use es_eventql as eventql;
pub use es_http as http;
pub use es_net::{ApiToken, InvalidApiToken};
pub use es_observe::{metrics, telemetry};
#[doc(hidden)]
pub use es_personal as personal;
pub use es_read::{projection, query};
#[cfg(feature = "server")]
pub use es_server as server;
pub use es_subscribe::{self as subscribe, operator};
#[cfg(feature = "testing")]
pub use es_testing::{self as testing, schema_lock};

/// ```no_run
/// fn main() -> es_framework::Result<()> {
///     es_framework::App::new("library-service").run()
/// }
/// ```
pub use app::App;
pub use app::{Application, ApplicationClient, ClientResponse};
/// The version of axum that [`App::routes`] takes a router of.
///
/// ```
/// use es_framework::{App, axum::{Router, routing::get}};
///
/// let routes = Router::new().route("/opening-hours", get(async || "10 to 18"));
/// let app = App::new("library-service").routes(routes);
/// ```
pub use axum;
pub use command::{Command, Rejection};
pub use config::Settings;
/// ```
/// use es_framework::{command::SubjectCondition, prelude::*};
///
/// /// Adds a new copy of a book to the inventory.
/// #[derive(Command)]
/// #[command(subject = "/books/{id}", condition = pristine)]
/// pub struct PurchaseBookCommand {
///     pub id: Uuid,
///     #[validate(text(max = 500))]
///     pub title: String,
///     #[validate(range(min = 1))]
///     pub num_pages: i64, // numPages on the wire
/// }
///
/// assert_eq!(PurchaseBookCommand::PATH, "/books/purchase");
/// assert_eq!(PurchaseBookCommand::CONDITION, SubjectCondition::Pristine);
/// # #[derive(Event)]
/// # struct BookPurchasedEvent {}
/// # #[handler]
/// # fn purchase(_: PurchaseBookCommand) -> BookPurchasedEvent { BookPurchasedEvent {} }
/// ```
pub use es_macros::Command;
/// ```
/// use es_framework::prelude::*;
///
/// /// A copy was added to the inventory.
/// #[derive(Event)]
/// pub struct BookPurchasedEvent {
///     pub id: Uuid,
///     pub title: String,
/// }
///
/// assert_eq!(BookPurchasedEvent::TYPE, "com.example.library.BookPurchasedEvent");
/// ```
pub use es_macros::Event;
/// ```
/// use es_framework::{command::RejectionKind, prelude::*};
///
/// /// Why a copy is not lent.
/// #[derive(Debug, Rejection)]
/// pub enum LendingError {
///     /// The copy is lent
///     #[rejection(conflict, detail = "the copy is lent until {due_at}")]
///     CopyIsLent { due_at: Timestamp },
///     /// The copy was removed
///     #[rejection(gone)]
///     CopyRemoved,
/// }
///
/// let refusal = LendingError::CopyIsLent { due_at: Timestamp::UNIX_EPOCH };
/// assert_eq!(refusal.name(), "copy-is-lent");
/// assert_eq!(refusal.title(), "The copy is lent");
/// assert_eq!(refusal.to_string(), "the copy is lent until 1970-01-01T00:00:00Z");
/// assert_eq!(LendingError::all()[1].kind, RejectionKind::Gone);
/// ```
pub use es_macros::Rejection;
/// ```
/// use es_framework::prelude::*;
///
/// #[derive(Service)]
/// pub struct Courier {
///     pub name: String,
/// }
///
/// let app = es_framework::App::new("library-service").provide(Courier { name: "Jo".into() });
/// ```
pub use es_macros::Service;
/// ```
/// use es_framework::prelude::*;
///
/// /// What the library allows its readers.
/// #[derive(Settings)]
/// pub struct Lending {
///     /// How many days a copy is lent for.
///     #[setting(default = 28)] // --loan-days, LOAN_DAYS
///     pub loan_days: u32,
/// }
/// ```
pub use es_macros::Settings;
/// ```
/// use es_framework::prelude::*;
/// # #[derive(Event)]
/// # pub struct BookPurchasedEvent {}
/// # #[derive(Event)]
/// # pub struct BookBorrowedEvent { due_at: Timestamp }
///
/// #[derive(State)]
/// pub enum Book {
///     Available,
///     Lent { due_at: Timestamp },
/// }
///
/// #[evolve]
/// impl Book {
///     fn purchased(_: &BookPurchasedEvent) -> Self {
///         Self::Available
///     }
///
///     fn borrowed(&mut self, event: &BookBorrowedEvent) {
///         *self = Self::Lent { due_at: event.due_at };
///     }
/// }
/// ```
pub use es_macros::State;
/// ```
/// use es_framework::prelude::*;
///
/// #[derive(Value)]
/// pub enum Cover {
///     Hard, // "hard"
///     Soft,
/// }
/// ```
pub use es_macros::Value;
/// ```
/// use es_framework::{prelude::*, state::Evolve};
/// # #[derive(Event)]
/// # pub struct ReaderRegisteredEvent { name: String }
/// # #[derive(Event)]
/// # pub struct ReaderLeftEvent {}
///
/// #[derive(State)]
/// pub struct Reader {
///     name: String,
/// }
///
/// #[evolve]
/// impl Reader {
///     fn registered(event: &ReaderRegisteredEvent) -> Self {
///         Self { name: event.name.clone() }
///     }
///
///     fn left(self, _: &ReaderLeftEvent) -> Option<Self> {
///         None
///     }
/// }
///
/// assert_eq!(Reader::EVENTS.len(), 2);
/// ```
pub use es_macros::evolve;
/// ```
/// use es_framework::{command::Handle, prelude::*};
///
/// #[derive(Command)]
/// #[command(subject = "/books/{id}")]
/// struct PurchaseBookCommand {
///     id: Uuid,
/// }
///
/// #[derive(Event)]
/// struct BookPurchasedEvent {
///     id: Uuid,
/// }
///
/// #[handler]
/// fn purchase(command: PurchaseBookCommand) -> BookPurchasedEvent {
///     BookPurchasedEvent { id: command.id }
/// }
///
/// assert_eq!(PurchaseBookCommand::FUNCTION.events(), [BookPurchasedEvent::TYPE]);
/// ```
pub use es_macros::handler;
/// ```
/// use es_framework::{prelude::*, projection::Project};
/// # #[derive(Event)]
/// # pub struct BookBorrowedEvent { reader: Uuid }
///
/// #[derive(ReadModel)]
/// #[read_model(table = "readers")]
/// pub struct ReaderRow {
///     #[key]
///     pub reader: Uuid,
///     pub loans: u32,
/// }
///
/// #[projection]
/// impl ReaderRow {
///     #[key(reader)]
///     fn borrowed(row: Option<Self>, event: &BookBorrowedEvent) -> Option<Self> {
///         let loans = row.map_or(0, |row| row.loans).saturating_add(1);
///         Some(Self { reader: event.reader, loans })
///     }
/// }
///
/// assert_eq!(ReaderRow::EVENTS, ["com.example.library.BookBorrowedEvent"]);
/// ```
pub use es_macros::projection;
/// ```
/// use es_framework::prelude::*;
/// # #[derive(Event)]
/// # pub struct LoanOpenedEvent { id: Uuid, due_at: Timestamp }
/// # #[derive(ReadModel)]
/// # #[read_model(table = "loans", subject = "/loans/{id}")]
/// # pub struct Loan { #[key] id: Uuid, #[index] due_at: Timestamp }
/// # #[projection]
/// # impl Loan {
/// #     fn opened(event: &LoanOpenedEvent) -> Self { Self { id: event.id, due_at: event.due_at } }
/// # }
///
/// /// Lists the overdue loans.
/// #[derive(Query)]
/// #[query(path = "/loans/overdue", paged)]
/// pub struct ListOverdue {}
///
/// #[query_handler(reads = [Loan])]
/// async fn list(
///     _: ListOverdue,
///     context: &QueryContext<'_>,
///     clock: &Clock,
/// ) -> Result<Page<Loan>, QueryError> {
///     let loans = context.rows::<Loan>().filter(Loan::due_at().below(&clock.now()));
///     loans.sort(Loan::due_at()).page(context.paging()).await
/// }
/// ```
pub use es_macros::query_handler;
/// ```
/// use es_framework::prelude::*;
/// # #[derive(Event)]
/// # pub struct BookBorrowedEvent { id: Uuid, due_at: Timestamp }
/// # #[derive(Event)]
/// # pub struct BookReturnedEvent {}
/// # #[derive(Event)]
/// # pub struct ReminderSentEvent {}
///
/// /// Reminds a reader of a copy.
/// #[derive(Command)]
/// #[command(subject = "/books/{id}", internal)]
/// pub struct RemindReaderCommand {
///     pub id: Uuid,
/// }
///
/// #[handler]
/// fn remind(_: RemindReaderCommand) -> ReminderSentEvent {
///     ReminderSentEvent {}
/// }
///
/// pub struct LoanReminder;
///
/// #[reaction]
/// impl LoanReminder {
///     #[deadline(at = due_at, unless(BookReturnedEvent))]
///     fn remind(event: &BookBorrowedEvent) -> RemindReaderCommand {
///         RemindReaderCommand { id: event.id }
///     }
/// }
/// ```
pub use es_macros::reaction;
/// ```
/// use es_framework::{event::Upcast, prelude::*};
///
/// /// The event as it was stored until prices were counted in cents.
/// #[derive(Event)]
/// #[event(name = "CopyPricedEvent")]
/// struct CopyPricedV1 {
///     price: String,
/// }
///
/// #[derive(Event)]
/// #[event(version = 2)]
/// struct CopyPricedEvent {
///     cents: i64,
/// }
///
/// #[upcast]
/// fn a_price_became_cents(old: CopyPricedV1) -> CopyPricedEvent {
///     CopyPricedEvent { cents: old.price.replace('.', "").parse().unwrap_or_default() }
/// }
///
/// assert_eq!(CopyPricedEvent::TYPE, "com.example.library.CopyPricedEvent.v2");
/// assert_eq!(CopyPricedV1 { price: "12.50".into() }.upcast().cents, 1250);
/// ```
pub use es_macros::upcast;
/// ```
/// use es_framework::prelude::*;
/// # #[derive(Event)]
/// # pub struct BookReturnedEvent { id: Uuid, reader: Uuid }
///
/// /// A copy can be borrowed again.
/// #[derive(PublicEvent)]
/// pub struct CopyAvailable {
///     pub id: Uuid,
/// }
///
/// /// Who returned it is nobody's business.
/// #[publish]
/// fn copy_available(event: &BookReturnedEvent) -> CopyAvailable {
///     CopyAvailable { id: event.id }
/// }
///
/// assert_eq!(CopyAvailable::TYPE, "com.example.library.CopyAvailable.v1");
/// ```
pub use es_macros::{PublicEvent, publish};
/// ```
/// use es_framework::prelude::*;
///
/// #[derive(Event)]
/// pub struct BookPurchasedEvent {
///     pub id: Uuid,
///     pub title: String,
/// }
///
/// #[derive(ReadModel)]
/// #[read_model(table = "book_copies", subject = "/books/{id}")]
/// pub struct BookCopy {
///     #[key]
///     pub id: Uuid,
///     pub title: String,
/// }
///
/// #[projection]
/// impl BookCopy {
///     fn purchased(event: &BookPurchasedEvent) -> Self {
///         let BookPurchasedEvent { id, title } = event;
///         Self { id: *id, title: title.clone() }
///     }
/// }
///
/// /// Browses the stock.
/// #[derive(Query)]
/// #[query(path = "/books", rows = BookCopy)]
/// pub struct BrowseStock {
///     #[filter(contains)]
///     pub title: Option<String>,
/// }
/// ```
pub use es_macros::{Query, ReadModel};
pub use event::Event;
/// The version of jiff whose [`Timestamp`](jiff::Timestamp) and [`Date`](jiff::civil::Date) the prelude has, with its time
/// zones.
///
/// ```
/// use es_framework::{jiff::tz::TimeZone, prelude::*};
///
/// let (berlin, day) = (TimeZone::get("Europe/Berlin")?, Date::constant(2026, 7, 1));
/// let midnight: Timestamp = day.to_zoned(berlin)?.timestamp();
/// assert_eq!(midnight.to_string(), "2026-06-30T22:00:00Z");
/// # Ok::<_, es_framework::jiff::Error>(())
/// ```
pub use jiff;
pub use projection::ReadModel;
pub use publication::PublicEvent;
pub use query::Query;

/// The items that expanded macros use. They can change in any release; do not use them directly.
#[doc(hidden)]
pub use es_command::__private;
