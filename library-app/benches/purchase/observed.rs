//! What it costs to be observed: the same purchases without a line a request, with one in each
//! shape, and with traces. Metrics are always on.

use std::{
    fs::File,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
    path::Path,
    process::Command,
    time::Duration,
};

use super::{
    Server, Settings,
    load::{self, LoadResult},
};

pub(super) type Variant<'a> = (&'a str, Vec<(&'a str, &'a str)>);

pub(super) fn run(settings: &Settings, folder: &Path) {
    let collector = collector();
    let json = ("LOG_FORMAT", "json");
    let traces = ("OTEL_EXPORTER_OTLP_ENDPOINT", collector.as_str());
    let of_a_hundred = [
        ("OTEL_TRACES_SAMPLER", "parentbased_traceidratio"),
        ("OTEL_TRACES_SAMPLER_ARG", "0.01"),
    ];
    let all = ("RUST_LOG", "info,es_framework::http=debug");
    let variants: [Variant<'_>; 5] = [
        ("no line a request", vec![]),
        ("text", vec![all]),
        ("json", vec![all, json]),
        (
            "json, 1 trace in 100",
            [all, json, traces]
                .into_iter()
                .chain(of_a_hundred)
                .collect(),
        ),
        ("json, all traces", vec![all, json, traces]),
    ];
    compare(settings, folder, &variants);
}

/// Measures the same purchases with each of these variables.
pub(super) fn compare<const N: usize>(
    settings: &Settings,
    folder: &Path,
    variants: &[Variant<'_>; N],
) {
    let mut measured = variants.each_ref().map(|_| Vec::new());
    let time = Duration::from_secs_f64(settings.seconds);
    for round in 0..settings.rounds {
        for (number, ((_, variables), measured)) in variants.iter().zip(&mut measured).enumerate() {
            let data = folder.join(format!("{round}-{number}"));
            let server = start(&data, variables);
            measured.push(load::run(&server.address, settings.connections, time));
            drop(server);
            std::fs::remove_dir_all(data).unwrap();
        }
    }
    println!("{:>21} | purchases /s | of first | p50 / p99 ms", "");
    let mut first = None;
    for ((name, _), measured) in variants.iter().zip(measured) {
        let measured = LoadResult::median(measured);
        let base = *first.get_or_insert(measured.rate);
        println!(
            "{name:>21} | {:>12.0} | {:>9.2} | {:.3} / {:.2}",
            measured.rate,
            measured.rate / base,
            measured.median_ms,
            measured.p99_ms
        );
    }
}

/// A library whose log goes into a file, as that of a service does.
fn start(data: &Path, variables: &[(&str, &str)]) -> Server {
    std::fs::create_dir_all(data).unwrap();
    let log = data.join("log");
    let mut command = Command::new(env!("CARGO_BIN_EXE_library-app"));
    command
        .env("HTTP_PORT", "0")
        .env("EVENT_STORE_PORT", "0")
        .env("EVENT_STORE_DATA_DIR", data)
        .envs(variables.iter().copied())
        .stderr(File::create(&log).unwrap());
    let mut server = Server {
        child: command.spawn().unwrap(),
        address: String::new(),
    };
    while server.address.is_empty() {
        std::thread::sleep(Duration::from_millis(5));
        let text = std::fs::read_to_string(&log).unwrap();
        let told = text.split("library-service listens on http://").nth(1);
        let address = told.and_then(|rest| rest.split_once(['\n', '"', ' ']));
        server.address = address.map_or_else(String::new, |(address, _)| address.to_owned());
    }
    server
}

/// Takes traces and forgets them.
pub(super) fn collector() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || {
                let mut reader = BufReader::new(stream);
                while let Some(length) = head(&mut reader) {
                    let mut body = vec![0; length];
                    if reader.read_exact(&mut body).is_err() {
                        return;
                    }
                    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
                    if reader.get_mut().write_all(answer).is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

/// Reads the head of a request, and tells how long its body is.
fn head(reader: &mut impl std::io::BufRead) -> Option<usize> {
    let mut length = 0;
    for line in reader.lines() {
        let line = line.ok()?.to_ascii_lowercase();
        if line.is_empty() {
            return Some(length);
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    None
}
