//! A service with every rule that a field can have, for `tests/declarations/validation.rs`.

#![allow(missing_docs, reason = "the tests are what it is for")]

use std::collections::{BTreeMap, HashMap};

use es_framework::{App, prelude::*, projection::Sql};

/// Orders books from a shop.
#[derive(Command)]
#[command(subject = "/orders/{id}", condition = pristine)]
pub struct PlaceOrderCommand {
    pub id: Uuid,
    #[validate(text(min = 2, max = 200))]
    pub shop: String,
    #[validate(url, with = is_encrypted)]
    pub offer: Option<String>,
    #[validate(email)]
    pub answer_to: String,
    #[validate(
        items(max = 3),
        each(text(max = 20), characters("abcdefghijklmnopqrstuvwxyz "))
    )]
    pub tags: Vec<String>,
    #[validate(items(min = 1, max = 50))]
    pub lines: Vec<OrderLine>,
    pub delivery: Delivery,
    #[serde(default)]
    pub note: serde_json::Value,
    #[serde(default)]
    pub codes: BTreeMap<String, u8>,
    #[serde(default)]
    pub counts: HashMap<Uuid, u8>,
}

/// So many copies of a book.
#[derive(Debug, Clone, PartialEq, Value)]
pub struct OrderLine {
    pub isbn: Isbn,
    #[validate(range(min = 1, max = 99))]
    pub num_copies: u8,
}

/// The number of an edition.
#[derive(Debug, Clone, PartialEq, Value)]
pub struct Isbn(#[validate(pattern("^97[89]-[0-9-]{10,13}$"))] pub String);

/// How the books come.
#[derive(Debug, Clone, PartialEq, Value)]
pub enum Delivery {
    Collected,
    Sent {
        #[serde(rename = "to")]
        #[validate(text(max = 100))]
        recipient: String,
        address: Box<Address>,
    },
}

/// Where somebody lives.
#[derive(Debug, Clone, PartialEq, Value)]
#[serde(tag = "kind")]
pub enum Address {
    Street {
        #[validate(text(max = 100))]
        name: String,
    },
    Box {
        #[validate(range(min = 1))]
        number: u32,
    },
}

fn is_encrypted(offer: &str) -> Result<(), &'static str> {
    if offer.starts_with("https://") {
        Ok(())
    } else {
        Err("must begin with https://")
    }
}

/// Books were ordered.
#[derive(Event)]
#[event(informational)]
pub struct OrderPlacedEvent {
    pub shop: String,
    pub lines: Vec<OrderLine>,
}

#[handler]
fn place(command: PlaceOrderCommand) -> OrderPlacedEvent {
    OrderPlacedEvent {
        shop: command.shop,
        lines: command.lines,
    }
}

/// Counts for ever.
#[derive(Query)]
#[query(path = "/orders/endless")]
pub struct CountForEver {}

const FOR_EVER: Sql = Sql {
    sqlite: "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number)
        SELECT max(n) FROM number",
    postgres: "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number)
        SELECT max(n)::text FROM number",
};

impl QueryHandler for CountForEver {
    type Output = Vec<u64>;

    async fn handle(self, context: &QueryContext<'_>) -> Result<Vec<u64>, QueryError> {
        context.sql(FOR_EVER, vec![]).await
    }
}

/// Counts to one.
#[derive(Query)]
#[query(path = "/orders/count")]
pub struct CountToOne {}

const ONE: Sql = Sql {
    sqlite: "SELECT '1'",
    postgres: "SELECT '1'",
};

impl QueryHandler for CountToOne {
    type Output = Vec<u64>;

    async fn handle(self, context: &QueryContext<'_>) -> Result<Vec<u64>, QueryError> {
        context.sql(ONE, vec![]).await
    }
}

fn main() -> es_framework::Result<()> {
    App::new("orders").run()
}
