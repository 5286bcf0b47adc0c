//! A service that calls another system about each event, for `tests/declarations/reaction_instances.rs`.

#![allow(missing_docs, reason = "the tests are what it is for")]

use std::io;

use es_framework::{App, prelude::*};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
};

/// Where letters go.
#[derive(Settings)]
pub struct Post {
    /// Address of the office, which takes a line for each letter.
    pub office: String,
}

/// Writes a letter.
#[derive(Command)]
#[command(subject = "/letters/{id}", condition = pristine)]
pub struct WriteLetterCommand {
    pub id: Uuid,
}

/// A letter was written.
#[derive(Event)]
pub struct LetterWrittenEvent {}

#[handler]
fn write(_: WriteLetterCommand) -> LetterWrittenEvent {
    LetterWrittenEvent {}
}

/// Takes letters to the post.
pub struct Courier;

#[reaction(attempts = 2)]
impl Courier {
    async fn deliver(
        _event: &LetterWrittenEvent,
        post: &Post,
        key: &ReactionKey,
    ) -> io::Result<()> {
        let mut office = BufReader::new(TcpStream::connect(&post.office).await?);
        let letter = format!("{} {key}\n", std::process::id());
        office.get_mut().write_all(letter.as_bytes()).await?;
        let mut answer = String::new();
        office.read_line(&mut answer).await?;
        match answer.trim() {
            "thanks" => Ok(()),
            answer => Err(io::Error::other(format!("the office says {answer:?}"))),
        }
    }
}

fn main() -> es_framework::Result<()> {
    App::new("letters").run()
}
