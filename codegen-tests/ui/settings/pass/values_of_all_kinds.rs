//! A setting is whatever a text becomes; its default may be negative, or a text that is parsed.

#![deny(warnings)]

use std::{convert::Infallible, net::IpAddr, path::PathBuf, str::FromStr};

use es_framework::prelude::*;

#[derive(Clone)]
struct Branch(String);

impl FromStr for Branch {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.to_owned()))
    }
}

/// The rules for readers.
#[derive(Settings)]
struct Lending {
    /// How many days a copy is lent for.
    #[setting(default = 28)]
    loan_days: u8,
    /// How warm it is.
    #[setting(default = -3, env = "DEGREES")]
    temperature: i64,
    /// How much of it.
    #[setting(default = 0.5)]
    share: f64,
    /// Whether it is open.
    #[setting(default = true)]
    open: bool,
    /// Which letter.
    #[setting(default = 'a')]
    letter: char,
    /// The name.
    #[setting(default = "library")]
    name: String,
    /// Where it is.
    #[setting(default = "127.0.0.1")]
    address: IpAddr,
    /// Where it keeps its things.
    folder: PathBuf,
    /// Which one it is.
    branch: Branch,
    /// The sort.
    r#type: Option<String>,
}

#[derive(Settings)]
struct Nothing {}

#[derive(Command)]
#[command(subject = "/books/{id}")]
struct PurchaseBookCommand {
    id: Uuid,
}

#[derive(Event)]
#[event(package = "com.example.library")]
struct BookPurchasedEvent {
    text: String,
}

#[handler]
fn purchase(_: PurchaseBookCommand, lending: &Lending, _: &Nothing) -> BookPurchasedEvent {
    let Lending {
        loan_days,
        temperature,
        share,
        open,
        letter,
        name,
        address,
        folder,
        branch: Branch(branch),
        r#type,
    } = lending;
    let known = format!("{loan_days}{temperature}{share}{open}{letter}{name}{address}{branch}");
    let text = known + &format!("{folder:?}{type:?}");
    BookPurchasedEvent { text }
}
