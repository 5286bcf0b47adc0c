//! A container of the application that hides the rules of what it contains.

use es_framework::{
    __private::{schemars, serde},
    prelude::*,
};

#[derive(Clone, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(crate = "es_framework::__private::serde")]
#[schemars(crate = "es_framework::__private::schemars")]
struct Tray<T>(T);

#[derive(Clone, Value)]
struct Line {
    #[validate(range(min = 1))]
    copies: u8,
}

#[derive(Command)]
#[command(subject = "/orders/{id}")]
struct PlaceOrderCommand {
    id: String,
    number: Tray<u32>,
    lines: Vec<Tray<(u8, Line)>>,
}

#[derive(Event)]
#[event(package = "com.example.library")]
struct OrderPlacedEvent {}

#[handler]
fn place(_: PlaceOrderCommand) -> OrderPlacedEvent {
    OrderPlacedEvent {}
}

fn main() {}
