//! Registration by macros and by hand, and the errors of a catalog that cannot be served.

// Functions that tests share also fail by panicking.
#![allow(clippy::unwrap_used)]

use es_framework::{
    __private::{schemars, serde},
    Declaration,
    catalog::{Catalog, CatalogBuilder, CatalogError},
    command::HandlerEvent,
    prelude::*,
};

mod shop {
    use super::*;

    #[derive(Event)]
    pub(crate) struct BookPurchasedEvent {}

    #[derive(Command)]
    #[command(subject = "/books/{id}", path = "/books/{id}/buy")]
    pub(crate) struct BuyBookCommand {
        pub(crate) id: Uuid,
    }

    #[handler]
    fn buy(_: BuyBookCommand) -> BookPurchasedEvent {
        BookPurchasedEvent {}
    }
}

mod library {
    use super::*;

    #[derive(Event)]
    pub(crate) struct BookPurchasedEvent {}

    #[derive(Command)]
    #[command(subject = "/books/{isbn}", path = "/books/{isbn}/buy")]
    pub(crate) struct PurchaseBookCommand {
        pub(crate) isbn: String,
    }

    #[handler]
    fn purchase(_: PurchaseBookCommand) -> BookPurchasedEvent {
        BookPurchasedEvent {}
    }
}

#[derive(Command)]
#[command(subject = "/actuator/{id}")]
struct StopCommand {
    id: Uuid,
}

#[handler]
fn stop(_: StopCommand) -> shop::BookPurchasedEvent {
    shop::BookPurchasedEvent {}
}

#[derive(Debug, Rejection)]
enum ShopError {
    /// The book is sold
    #[rejection(conflict)]
    Sold,
}

#[derive(Debug, Rejection)]
enum LibraryError {
    /// The book is sold
    #[rejection(gone)]
    Sold,
}

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct SellBookCommand {
    id: Uuid,
}

#[handler]
fn sell(_: SellBookCommand) -> Result<shop::BookPurchasedEvent, ShopError> {
    Err(ShopError::Sold)
}

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct WeedBookCommand {
    id: Uuid,
}

#[handler]
fn weed(_: WeedBookCommand) -> Result<Option<shop::BookPurchasedEvent>, LibraryError> {
    Err(LibraryError::Sold)
}

#[derive(Event)]
struct BookSoldEvent {}

#[derive(Event)]
struct BookBoughtEvent {}

#[upcast]
fn sold_is_bought(_: BookSoldEvent) -> BookBoughtEvent {
    BookBoughtEvent {}
}

#[upcast]
fn bought_is_sold(_: BookBoughtEvent) -> Option<BookSoldEvent> {
    None
}

/// A handwritten declaration that seems to come from a dependency.
#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(crate = "serde")]
#[schemars(crate = "schemars")]
struct ForeignEvent {}

impl Event for ForeignEvent {
    const TYPE: &'static str = "com.example.foreign.ForeignEvent";
    const DECLARATION: Declaration = Declaration {
        package: "foreign",
        ..es_framework::declaration!()
    };
}

impl HandlerEvent for ForeignEvent {}

/// Returns the place of the line that starts with this text.
fn place(start: &str, occurrence: usize) -> String {
    let lines = include_str!("catalog.rs").lines().zip(1..);
    let mut lines = lines.filter(|(line, _)| line.trim().starts_with(start));
    let (_, line) = lines.nth(occurrence).unwrap();
    format!("{}:{line}", file!())
}

fn refused(builder: CatalogBuilder) -> (CatalogError, String) {
    let error = builder.build().unwrap_err();
    let sentence = error.to_string();
    (error, sentence)
}

#[test]
fn an_application_without_a_command_does_not_start() {
    let (error, sentence) = refused(Catalog::builder().event::<shop::BookPurchasedEvent>());
    assert_eq!(error, CatalogError::Empty);
    assert_eq!(
        sentence,
        "no command is declared: put #[derive(Command)] on a struct, or link the crate that holds the commands with `use the_crate as _;`"
    );
}

#[test]
fn two_commands_on_one_path_are_both_named() {
    let (_, sentence) = refused(
        Catalog::builder()
            .command::<shop::BuyBookCommand>()
            .command::<library::PurchaseBookCommand>(),
    );
    assert_eq!(
        sentence,
        format!(
            "two commands are posted to /books/{{isbn}}/buy: BuyBookCommand at {} and PurchaseBookCommand at {}: give one of them another path with #[command(path = \"…\")]",
            place("pub(crate) struct BuyBookCommand", 0),
            place("pub(crate) struct PurchaseBookCommand", 0),
        )
    );
}

#[test]
fn two_events_of_one_type_are_both_named() {
    // Modules are sorted by name, not by their order in the file.
    let (_, sentence) = refused(
        Catalog::builder()
            .command::<shop::BuyBookCommand>()
            .event::<library::BookPurchasedEvent>()
            .event::<shop::BookPurchasedEvent>(),
    );
    assert_eq!(
        sentence,
        format!(
            "two events have the type com.example.tests.BookPurchasedEvent: at {} and at {}: rename one of them, or give it a name of its own with #[event(name = \"…\")]",
            place("pub(crate) struct BookPurchasedEvent", 1),
            place("pub(crate) struct BookPurchasedEvent", 0),
        )
    );
}

#[test]
fn two_rejections_of_one_name_mean_the_same() {
    let builder = Catalog::builder().command::<SellBookCommand>();
    let catalog = builder.build().unwrap();
    let rejections = (catalog.commands()[0].rejections)();
    assert_eq!(rejections, ShopError::all());

    let builder = Catalog::builder().command::<SellBookCommand>();
    let (_, sentence) = refused(builder.command::<WeedBookCommand>());
    assert_eq!(
        sentence,
        format!(
            "two rejections are called sold and differ in their sort or title: at {} and at {}: give one of them another name with #[rejection(name = \"…\")]",
            place("Sold,", 0),
            place("Sold,", 1),
        )
    );
}

#[test]
fn upcasters_that_lead_in_a_circle_do_not_start() {
    let builder = || Catalog::builder().command::<shop::BuyBookCommand>();
    let catalog = builder().upcaster::<BookSoldEvent>().build().unwrap();
    let upcasters = catalog.upcasters();
    let upcaster = upcasters.get(BookSoldEvent::TYPE).unwrap();
    assert_eq!(upcaster.to, [BookBoughtEvent::TYPE]);

    let circle = builder().upcaster::<BookSoldEvent>();
    let (_, sentence) = refused(circle.upcaster::<BookBoughtEvent>());
    assert_eq!(
        sentence,
        format!(
            "upcasters lead back to the event they start from: com.example.tests.BookSoldEvent (at {}) -> com.example.tests.BookBoughtEvent (at {}) -> com.example.tests.BookSoldEvent: let the last one make an event of a new version, with #[event(version = …)]",
            place("fn sold_is_bought", 0),
            place("fn bought_is_sold", 0),
        )
    );
}

#[test]
fn the_paths_of_the_framework_are_its_own() {
    let (_, sentence) = refused(Catalog::builder().command::<StopCommand>());
    assert_eq!(
        sentence,
        format!(
            "StopCommand at {} is posted to /actuator/stop, which the framework keeps for itself: give it another path with #[command(path = \"…\")]",
            place("struct StopCommand", 0),
        )
    );
}

#[test]
fn declarations_of_several_packages_are_served_only_if_named() {
    let builder = || {
        Catalog::builder()
            .command::<shop::BuyBookCommand>()
            .event::<ForeignEvent>()
    };
    let (_, sentence) = refused(builder());
    assert_eq!(
        sentence,
        "commands and events are declared in the packages codegen-tests, foreign: name each one that is to be served with App::mount(\"…\")"
    );
    let own = builder().mount("codegen-tests").build().unwrap();
    assert!(own.events().is_empty());
    let both = builder()
        .mount("codegen-tests")
        .mount("foreign")
        .build()
        .unwrap();
    assert_eq!(both.events().len(), 1);
}

#[test]
fn a_package_that_declares_nothing_cannot_be_mounted() {
    let (_, sentence) = refused(Catalog::builder().linked().mount("library-stock"));
    assert_eq!(
        sentence,
        "App::mount(\"library-stock\"): the package declares no command and no event, or is not linked: write `use library_stock as _;`"
    );
}

#[test]
fn what_is_registered_by_hand_and_by_the_macros_is_there_once() {
    let catalog = Catalog::builder()
        .command::<shop::BuyBookCommand>()
        .command::<shop::BuyBookCommand>()
        .event::<shop::BookPurchasedEvent>()
        .event::<shop::BookPurchasedEvent>()
        .mount("codegen-tests")
        .build()
        .unwrap();
    assert_eq!((catalog.commands().len(), catalog.events().len()), (1, 1));
}

#[test]
fn the_macros_register_by_themselves() {
    // The declarations of this program contradict each other, so a catalog of all of them must fail.
    let (error, _) = refused(Catalog::builder().linked());
    assert!(matches!(
        error,
        CatalogError::ReservedCommandPath {
            name: "StopCommand",
            ..
        }
    ));
}

#[test]
fn a_query_cannot_have_a_path_of_the_framework() {
    #[derive(Query)]
    #[query(path = "/console/{page}")]
    struct ConsolePage {
        page: String,
    }

    impl QueryHandler for ConsolePage {
        type Output = String;

        const READ_MODELS: &'static [&'static str] = &[];

        async fn handle(self, _: &QueryContext<'_>) -> Result<String, QueryError> {
            Ok(self.page)
        }
    }

    let builder = Catalog::builder().command::<shop::BuyBookCommand>();
    let (error, _) = refused(builder.query::<ConsolePage>());
    assert!(
        matches!(
            error,
            CatalogError::ReservedQueryPath {
                path: "/console/{page}",
                ..
            }
        ),
        "{error}"
    );
}
