//! A type without JSON has one message, wherever it is.

use std::time::SystemTime;

use es_framework::prelude::*;

struct Currency;

enum Country {
    France,
}

struct Isbn(String);

#[derive(Value)]
struct Price {
    currency: Currency,
    earlier: Vec<Option<Currency>>,
}

#[derive(Value)]
enum Delivery {
    Posted { country: Country, prices: Vec<Price> },
    Collected(SystemTime),
}

#[derive(Event)]
#[event(package = "com.example.tests")]
struct BookPurchasedEvent {
    isbn: Isbn,
    delivery: Delivery,
}

fn main() {}
