//! Fields, types and functions may be called like words of the language.

#![deny(warnings)]

use es_framework::prelude::*;

#[derive(Command)]
#[command(subject = "/matches/{type}", path = "/matches/{type}/{where}/start")]
struct r#Match {
    r#type: Uuid,
    #[validate(text(max = 9))]
    r#where: String,
}

#[allow(non_camel_case_types)]
#[derive(Event)]
#[event(package = "com.example.library", subject = "/matches/{type}")]
struct r#loop {
    r#type: Uuid,
    r#where: String,
}

#[derive(State)]
struct State {
    r#type: Uuid,
}

#[evolve]
impl State {
    fn r#move(r#loop: &r#loop) -> Self {
        Self {
            r#type: r#loop.r#type,
        }
    }
}

#[derive(Value)]
enum Status {
    r#Await { r#async: u8 },
}

#[derive(Settings)]
struct Settings {
    /// A film.
    #[setting(default = "chess")]
    r#type: String,
}

#[derive(Debug, Rejection)]
enum Rejection {
    /// It is another
    #[rejection(conflict, detail = "it is {type}, not {where}")]
    r#Other { r#type: String, r#where: Uuid },
}

#[derive(ReadModel)]
#[read_model(table = "matches", subject = "/matches/{type}")]
struct ReadModel {
    #[key]
    r#type: Uuid,
    r#where: String,
}

#[projection]
impl ReadModel {
    #[key(r#type)]
    fn r#move(r#loop: r#loop) -> Self {
        let r#loop { r#type, r#where } = r#loop;
        Self { r#type, r#where }
    }
}

#[derive(Query)]
#[query(path = "/matches/{type}", rows = ReadModel)]
struct Query {
    r#type: Uuid,
    #[filter(contains)]
    r#where: Option<String>,
}

#[handler]
fn r#match(
    r#match: r#Match,
    #[subject("/matches/{type}")] r#dyn: Option<&State>,
    r#use: &Settings,
) -> Result<Decision<r#loop, Status>, Rejection> {
    let r#Match { r#type, r#where } = r#match;
    if let Some(State { r#type }) = r#dyn {
        let (r#where, r#type) = (*r#type, r#use.r#type.clone());
        return Err(Rejection::Other { r#type, r#where });
    }
    Ok(Decision::new(
        r#loop { r#type, r#where },
        Status::Await { r#async: 1 },
    ))
}

#[test]
fn works() {
    let (r#type, r#where) = ("chess".to_owned(), Uuid::nil());
    let sentence = Rejection::Other { r#type, r#where }.to_string();
    assert_eq!(sentence, format!("it is chess, not {}", Uuid::nil()));
}
