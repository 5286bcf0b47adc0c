//! A value may hold values of its own kind, by whatever name.

#![deny(warnings)]

use es_framework::prelude::*;

#[derive(Value)]
struct Shelf {
    above: Option<Box<Self>>,
    beside: Vec<Shelf>,
}

#[derive(Value)]
enum Rule {
    Not(Box<Self>),
    All(Vec<Self>),
    Named { rule: Box<Rule> },
}

#[derive(State)]
struct Library {
    shelves: Vec<Self>,
}

#[evolve]
impl Library {
    fn built(_: &LibraryBuiltEvent) -> Self {
        Self { shelves: vec![] }
    }
}

#[derive(Event)]
#[event(package = "com.example.library")]
struct LibraryBuiltEvent {
    before: Vec<Self>,
}

#[test]
fn works() {
    let shelf = Shelf {
        above: None,
        beside: vec![],
    };
    let rule = Rule::All(vec![Rule::Not(Box::new(Rule::Named {
        rule: Box::new(Rule::All(vec![])),
    }))]);
    let library = Library { shelves: vec![] };
    let _ = (shelf.above, shelf.beside, rule, library.shelves);
}
