//! The generated implementations of one derive, through the public traits.

use es_framework::{
    command::{Handle, SubjectCondition},
    event::EventDescriptor,
    prelude::*,
    validate::{Validate, Violations},
};
use schemars::SchemaGenerator;
use serde_json::{Value, json};

/// Adds a new copy of a book
/// to the inventory.
///
/// This is no part of the summary.
#[derive(Command, Debug, PartialEq)]
#[command(subject = "/books/{id}", condition = pristine)]
pub struct PurchaseBookCommand {
    /// The copy.
    pub id: Uuid,
    /// Its number.
    #[validate(text(max = 13), characters("0123456789-X"))]
    pub isbn: String,
    /// The number of its pages.
    #[validate(range(min = 1))]
    pub num_pages: i64,
    /// The person who paid.
    #[serde(rename = "by", default)]
    #[validate(text(max = 5))]
    pub paid_by: Option<String>,
}

/// A copy was added to the inventory.
#[derive(Event)]
#[event(read_model = "declared_books")]
pub struct BookPurchasedEvent {
    /// The copy.
    pub id: Uuid,
    /// The number of its pages.
    pub num_pages: i64,
}

#[handler]
fn purchase(command: PurchaseBookCommand) -> BookPurchasedEvent {
    let PurchaseBookCommand { id, num_pages, .. } = command;
    BookPurchasedEvent { id, num_pages }
}

fn body() -> Value {
    json!({
        "id": "8d1ac1a5-4e9c-4b63-92fc-6e2a3d0ac1f2",
        "isbn": "978-0261103252",
        "numPages": 0,
        "by": "",
    })
}

fn command() -> PurchaseBookCommand {
    serde_json::from_value(body()).unwrap()
}

#[test]
fn a_command_reads_and_writes_camel_case_and_renamed_members() {
    assert_eq!(serde_json::to_value(command()).unwrap(), body());
    assert_eq!(command().paid_by.as_deref(), Some(""));
}

#[test]
fn a_command_refuses_unknown_members_and_an_event_ignores_them() {
    let mut with_more = body();
    with_more["more"] = json!(1);
    let error = serde_json::from_value::<PurchaseBookCommand>(with_more.clone()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown field `more`, expected one of `id`, `isbn`, `numPages`, `by`"
    );
    assert!(serde_json::from_value::<BookPurchasedEvent>(with_more).is_ok());
    let error = serde_json::from_str::<PurchaseBookCommand>("1").unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("expected struct PurchaseBookCommand at line 1 column 1")
    );
}

#[test]
fn the_subject_the_path_and_the_summary_follow_from_the_declaration() {
    assert_eq!(PurchaseBookCommand::NAME, "PurchaseBookCommand");
    assert_eq!(
        PurchaseBookCommand::SUMMARY,
        "Adds a new copy of a book to the inventory."
    );
    assert_eq!(PurchaseBookCommand::SUBJECT, "/books/{id}");
    assert_eq!(PurchaseBookCommand::PATH, "/books/purchase");
    assert_eq!(PurchaseBookCommand::CONDITION, SubjectCondition::Pristine);
    assert_eq!(
        command().subject().unwrap().as_str(),
        "/books/8d1ac1a5-4e9c-4b63-92fc-6e2a3d0ac1f2"
    );
    assert_eq!(
        BookPurchasedEvent::TYPE,
        "com.example.tests.BookPurchasedEvent"
    );
}

#[test]
fn every_rule_that_does_not_hold_is_named_with_its_member() {
    let mut violations = Violations::default();
    command().validate(&mut violations);
    let pointers = violations.into_vec().into_iter().map(|one| one.pointer);
    assert_eq!(pointers.collect::<Vec<_>>(), ["/isbn", "/numPages", "/by"]);
}

#[test]
fn the_rules_are_part_of_the_schema() {
    let descriptor = es_framework::command::CommandDescriptor::of::<PurchaseBookCommand>();
    let mut generator = SchemaGenerator::default();
    let reference = (descriptor.schema)(&mut generator).to_value();
    assert_eq!(reference["$ref"], "#/$defs/PurchaseBookCommand");
    let schema = &generator.definitions()["PurchaseBookCommand"];
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["required"], json!(["id", "isbn", "numPages"]));
    let isbn = &schema["properties"]["isbn"];
    assert_eq!(isbn["maxLength"], 13);
    assert_eq!(isbn["pattern"], r"^[0123456789\-X]*$");
    assert_eq!(isbn["description"], "Its number.");
    assert_eq!(schema["properties"]["numPages"]["minimum"], 1);
    let schema = EventDescriptor::of::<BookPurchasedEvent>().schema;
    assert_eq!(schema().to_value()["title"], "BookPurchasedEvent");
}

#[test]
fn a_place_is_the_line_of_the_name() {
    let lines: Vec<_> = include_str!("declared_items.rs").lines().collect();
    for (place, text) in [
        (
            PurchaseBookCommand::DECLARATION,
            "pub struct PurchaseBookCommand {",
        ),
        (
            BookPurchasedEvent::DECLARATION,
            "pub struct BookPurchasedEvent {",
        ),
        (
            PurchaseBookCommand::HANDLER,
            "fn purchase(command: PurchaseBookCommand) -> BookPurchasedEvent {",
        ),
    ] {
        assert_eq!(lines[place.line as usize - 1], text);
        assert!(place.file.ends_with("declared_items.rs"));
        assert_eq!(
            (place.package, place.module),
            ("codegen-tests", "declarations::declared_items")
        );
    }
}

#[test]
fn the_handler_decides() {
    let BookPurchasedEvent { id, num_pages } = purchase(command());
    assert_eq!((id, num_pages), (command().id, 0));
    let function = PurchaseBookCommand::FUNCTION;
    assert_eq!(function.events(), [BookPurchasedEvent::TYPE]);
    assert!(function.parameters().is_empty() && function.rejections().is_empty());
}
