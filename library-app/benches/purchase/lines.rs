//! One request with many purchases beside single requests on many connections, in turns on the same library.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use uuid::Uuid;

use super::{Server, Settings, library, load};

/// The number of purchases in a request.
const LINES: usize = 20_000;

pub(crate) fn run(settings: &Settings, folder: &Path) {
    let server = Server::with_store(&mut library(), &folder.join("data"));
    let time = Duration::from_secs_f64(settings.seconds);
    println!(
        "| single requests on {} connections | lines of one request | |",
        settings.connections
    );
    println!("|---|---|---|");
    for _ in 0..settings.rounds {
        let single = load::run(&server.address, settings.connections, time).rate;
        let lines = rate(&server.address);
        println!("| {single:.0}/s | {lines:.0}/s | {:.2} |", lines / single);
    }
}

fn rate(address: &str) -> f64 {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let line = || {
        let id = Uuid::new_v4();
        format!(
            r#"{{"id":"{id}","isbn":"978-0-345-53943-1","title":"The Lord of the Rings: The Fellowship of the Ring","author":"John Ronald Reuel Tolkien","numPages":1178}}"#,
        ) + "\n"
    };
    let body: String = (0..LINES).map(|_| line()).collect();
    runtime.block_on(async {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let (mut reader, mut writer) = stream.split();
        let head = format!(
            "POST /books/purchase HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/x-ndjson\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let begin = Instant::now();
        let send = async {
            writer.write_all(head.as_bytes()).await.unwrap();
            writer.write_all(body.as_bytes()).await.unwrap();
        };
        let mut answers = String::new();
        let (_, read) = tokio::join!(send, reader.read_to_string(&mut answers));
        read.unwrap();
        let time = begin.elapsed();
        assert_eq!(answers.matches("\"status\":201").count(), LINES);
        LINES as f64 / time.as_secs_f64()
    })
}
