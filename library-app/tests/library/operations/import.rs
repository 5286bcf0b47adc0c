//! A library that switches over brings its copies along, with the dates at which they were purchased.

use std::{
    collections::HashSet,
    fmt::Write as _,
    fs,
    path::Path,
    process::{Command, Output, Stdio},
    thread,
    time::Duration,
};

use es_framework::jiff::Timestamp;
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::{
    contract::tools::require_cargo_es,
    support::{Library, TOKEN, book, client, json_of, python_environment::printed},
};

const COPIES: usize = 10_000;

/// Each copy of this remainder by the number of copies has no ISBN.
const NO_ISBN: usize = 100;

/// A library whose callers have roles.
struct Catalogue {
    library: Library,
    folder: tempfile::TempDir,
}

impl Catalogue {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, roles) in [
            ("importer", &["staff", "importer"][..]),
            ("kim", &["staff"]),
        ] {
            let mut create = Command::new(env!("CARGO_BIN_EXE_library-app"));
            create.args(["token", "create", "--name", name]);
            create.args(roles.iter().flat_map(|role| ["--role", role]));
            let created = create.env("AUTH_TOKENS_FILE", folder.path().join("tokens"));
            let created = created.output().unwrap();
            assert!(created.status.success(), "{created:?}");
            fs::write(folder.path().join(name), created.stdout).unwrap();
        }
        let library = Self::serve(folder.path());
        Self { library, folder }
    }

    fn serve(folder: &Path) -> Library {
        let tokens = folder.join("tokens");
        let settings = [("AUTH_TOKENS_FILE", tokens.to_str().unwrap())];
        Library::embedded_with(&folder.join("data"), &settings)
    }

    fn token(&self, name: &str) -> String {
        let token = fs::read_to_string(self.folder.path().join(name)).unwrap();
        token.trim().to_owned()
    }

    /// Returns the command of the how-to page, for a file.
    fn import(&self, program: &Path, file: &str) -> Command {
        let page = include_str!("../../../../docs/src/how-to/import.md");
        let (_, rest) = page.split_once("cargo es import books.csv").unwrap();
        let (arguments, _) = rest.split_once("```").unwrap();
        let arguments = arguments.replace('\\', "");
        let arguments = arguments.replace("http://localhost:8080", &self.library.url);
        let mut command = Command::new(program);
        command
            .current_dir(self.folder.path())
            .args(["es", "import", file])
            .args(arguments.split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn run(&self, program: &Path, file: &str) -> Output {
        self.import(program, file).output().unwrap()
    }

    async fn purchase(&self, name: &str, occurred_at: Option<&str>, id: u128) -> Response {
        let url = format!("{}/books/purchase", self.library.url);
        let mut request = client().post(url).bearer_auth(self.token(name));
        request = request.header("content-type", "application/json");
        if let Some(time) = occurred_at {
            request = request.header("event-occurred-at", time);
        }
        let body = book(Uuid::from_u128(id)).to_string();
        request.body(body).send().await.unwrap()
    }

    async fn books(&self) -> Vec<Value> {
        let lines = self.library.stored_lines().await;
        let events = lines.into_iter().map(|line| {
            let payload = &line["payload"];
            payload.get("event").unwrap_or(payload).clone()
        });
        let is_book = |event: &Value| event["subject"].as_str().unwrap().starts_with("/books/");
        events.filter(is_book).collect()
    }
}

/// Writes copies as a library exports them.
fn write_copies(file: &Path) {
    let mut text = String::from("\u{feff}Barcode,ISBN,Title,Authors,Pages,Purchased,Shelf\r\n");
    for number in 0..COPIES {
        let isbn = match number % 4 {
            _ if number % NO_ISBN == 0 => String::new(),
            0 => format!("0-8044-{:04}-X", number % 10_000),
            1 => format!("080442957{}", if number % 2 == 1 { "X" } else { "x" }),
            _ => format!("978-0-345-{number:05}-1"),
        };
        let title = match number % 5 {
            0 => format!(
                "\u{627}\u{644}\u{641} \u{644}\u{64a}\u{644}\u{629} \u{648}\u{644}\u{64a}\u{644}\u{629} {number}"
            ),
            1 => format!("\"Cafe\u{301} Mu\u{308}ller, Band {number}\""),
            2 => format!("\"\"\"Quoted\"\", with commas, {number}\""),
            3 => format!("\u{5d0}\u{5e8}\u{5e5} \u{5d9}\u{5e9}\u{5e8}\u{5d0}\u{5dc} / {number}"),
            _ => format!("\u{6771}\u{4eac}\u{7269}\u{8a9e} {number}"),
        };
        let authors: Vec<_> = (0..=number % 25)
            .map(|author| format!("Nam\u{e9} {author}, D. J."))
            .collect();
        let authors = format!("\"{}\"", authors.join("; "));
        let shelf = if number % 7 == 0 { "\"A\n12\"" } else { "A 12" };
        let (year, month) = (1950 + number % 70, 1 + number % 12);
        let pages = 1 + number % 900;
        write!(
            text,
            "3123{number:07},{isbn},{title},{authors},{pages},{year}-{month:02}-03,{shelf}\r\n"
        )
        .unwrap();
    }
    fs::write(file, text).unwrap();
}

#[tokio::test]
async fn ten_thousand_copies_arrive_once_each_though_importer_and_library_are_killed() {
    let Some(program) = require_cargo_es() else {
        return;
    };
    let mut catalogue = Catalogue::start();
    write_copies(&catalogue.folder.path().join("books.csv"));
    // The importer is killed in the middle.
    let mut running = catalogue.import(&program, "books.csv").spawn().unwrap();
    thread::sleep(Duration::from_millis(700));
    running.kill().unwrap();
    running.wait().unwrap();
    let first = catalogue.books().await.len();
    assert!(first < COPIES, "the first run was too fast for this test");
    // The library is killed in the middle.
    let mut running = catalogue.import(&program, "books.csv").spawn().unwrap();
    thread::sleep(Duration::from_millis(700));
    catalogue.library.process.kill();
    running.kill().unwrap();
    running.wait().unwrap();
    catalogue.library = Catalogue::serve(catalogue.folder.path());
    let without_isbn = COPIES / NO_ISBN;
    let output = catalogue.run(&program, "books.csv");
    let text = printed(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(
        text.contains(&format!(
            "error: {without_isbn} of {COPIES} rows were refused"
        )),
        "{text}"
    );
    // The refused rows are corrected, and imported from their own file.
    let refused = catalogue.folder.path().join("books.refused.csv");
    let rows = fs::read_to_string(&refused).unwrap();
    assert!(
        rows.lines().next().unwrap().ends_with(",Shelf,Reason"),
        "{rows}"
    );
    assert!(rows.contains("isbn"), "{rows}");
    let corrected: Vec<_> = rows
        .split_inclusive('\n')
        .map(|row| row.replacen(",,", ",0-000,", 1))
        .collect();
    fs::write(
        catalogue.folder.path().join("corrected.csv"),
        corrected.concat(),
    )
    .unwrap();
    fs::remove_file(&refused).unwrap();
    let output = catalogue.run(&program, "corrected.csv");
    assert!(output.status.success(), "{}", printed(&output));
    let books = catalogue.books().await;
    let subjects: HashSet<_> = books
        .iter()
        .map(|event| event["subject"].as_str().unwrap())
        .collect();
    assert_eq!((books.len(), subjects.len()), (COPIES, COPIES));
    let titled = |title: &str| {
        let is_titled = |event: &&Value| event["data"]["payload"]["title"] == title;
        books.iter().find(is_titled).unwrap()["data"].clone()
    };
    let quoted = titled("\"Quoted\", with commas, 2");
    assert_eq!(quoted["metadata"]["occurredAt"], "1952-03-03T00:00:00Z");
    let combined = titled("Cafe\u{301} Mu\u{308}ller, Band 1");
    assert_eq!(combined["payload"]["isbn"], "080442957X");
    // A run of a finished import writes nothing.
    let output = catalogue.run(&program, "corrected.csv");
    assert!(output.status.success(), "{}", printed(&output));
    assert_eq!(catalogue.books().await.len(), COPIES);
}

#[tokio::test]
async fn only_an_importer_says_when_it_happened() {
    let catalogue = Catalogue::start();
    let then = "2019-03-01T10:00:00Z";
    let refused = catalogue.purchase("kim", Some(then), 1).await;
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    let now = catalogue.purchase("kim", None, 2).await;
    assert_eq!(now.status(), StatusCode::CREATED);
    let past = catalogue.purchase("importer", Some(then), 3).await;
    assert_eq!(past.status(), StatusCode::CREATED);
    for wrong in [
        "2999-01-01T00:00:00Z",
        "yesterday",
        "-000001-01-01T00:00:00Z",
    ] {
        let refused = catalogue.purchase("importer", Some(wrong), 4).await;
        assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
        let problem = json_of(refused).await;
        assert!(
            problem["type"]
                .as_str()
                .unwrap()
                .ends_with(":invalid-occurred-at")
        );
    }
    // A command that names no role is about now.
    let url = format!("{}/readers/register", catalogue.library.url);
    let register = client().post(url).bearer_auth(catalogue.token("importer"));
    let register = register
        .header("content-type", "application/json")
        .header("event-occurred-at", then)
        .body(json!({ "id": Uuid::from_u128(5), "name": "Ada" }).to_string());
    let refused = register.send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::UNPROCESSABLE_ENTITY);
    // Each line has a time of its own.
    let mut first = book(Uuid::from_u128(6));
    first["$occurredAt"] = json!("1999-12-31T00:00:00+01:00");
    let mut second = book(Uuid::from_u128(7));
    second["$occurredAt"] = json!(7);
    let body = format!("{first}\n{second}\n{}\n", book(Uuid::from_u128(8)));
    let url = format!("{}/books/purchase", catalogue.library.url);
    let lines = client().post(url).bearer_auth(catalogue.token("importer"));
    let lines = lines
        .header("content-type", "application/x-ndjson")
        .header("event-occurred-at", then)
        .body(body);
    let answers = lines.send().await.unwrap().text().await.unwrap();
    let statuses: Vec<_> = answers
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["status"].clone())
        .collect();
    assert_eq!(statuses, [201, 422, 201]);
    let times: Vec<_> = catalogue
        .books()
        .await
        .iter()
        .map(|event| event["data"]["metadata"]["occurredAt"].clone())
        .collect();
    let expected = [
        Value::Null,
        then.into(),
        "1999-12-30T23:00:00Z".into(),
        then.into(),
    ];
    assert_eq!(times, expected);
}

fn event_line(number: u128, time: &str) -> Value {
    let id = Uuid::from_u128(number);
    json!({
        "specversion": "1.0",
        "id": number.to_string(),
        "source": "https://old.example.com",
        "type": "com.example.library.BookPurchasedEvent",
        "subject": format!("/books/{id}"),
        "time": time,
        "data": book(id),
    })
}

/// Imports a file into an embedded event store, and returns whether that succeeds and what is printed.
fn import_events(data: &Path, keys: &str, arguments: &[&str], file: &Path) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_library-app"));
    command.env_remove("EVENT_STORE_URL");
    command.env("EVENT_STORE_DATA_DIR", data);
    command.env("EVENT_STORE_API_TOKEN", TOKEN);
    command.env("KEY_STORE_URL", keys);
    command.arg("import").args(arguments).arg(file);
    let output = command.output().unwrap();
    (output.status.success(), printed(&output))
}

#[tokio::test]
async fn events_of_another_system_are_checked_before_the_first_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let file = folder.path().join("events.ndjson");
    let keys = format!("sqlite:{}", folder.path().join("keys").display());
    let import = |arguments: &[&str]| import_events(&data, &keys, arguments, &file);
    let mut lines: Vec<_> = (1..=1_200)
        .map(|number| event_line(number, "2019-03-01T10:00:00Z"))
        .collect();
    let write = |lines: &[Value]| {
        let text: Vec<_> = lines.iter().map(|line| format!("{line}\n")).collect();
        fs::write(&file, text.concat()).unwrap();
    };
    let whole = lines.clone();
    lines[3]["data"]["numPages"] = json!("many");
    lines[4]["data"]["shelf"] = json!("A 12");
    lines[5]["type"] = json!("com.example.library.BookBurntEvent");
    lines[6]["time"] = json!("2999-01-01T00:00:00Z");
    lines[7]["subject"] = json!("/es-framework/imports/x");
    write(&lines);
    let (succeeds, text) = import(&[]);
    assert!(!succeeds, "{text}");
    for mistake in [
        "line 4: data: ",
        "line 5: data: com.example.library.BookPurchasedEvent has no member /shelf",
        "line 6: type: the application declares no event",
        "line 7: time: 2999-01-01T00:00:00Z is in the future",
        "line 8: subject: /es-framework belongs to the framework",
        "5 of 1200 lines are not valid, so nothing was imported",
    ] {
        assert!(text.contains(mistake), "{mistake}: {text}");
    }
    write(&whole);
    let (succeeds, text) = import(&["--dry-run"]);
    assert!(
        succeeds && text.contains("all 1200 lines are valid"),
        "{text}"
    );
    assert!(!data.exists(), "a dry run creates nothing");
    let (succeeds, text) = import(&[]);
    assert!(succeeds, "{text}");
    assert!(
        text.contains("imported 1200 events; 0 were there already"),
        "{text}"
    );
    let (succeeds, text) = import(&[]);
    assert!(succeeds, "{text}");
    assert!(
        text.contains("imported 0 events; 1200 were there already"),
        "{text}"
    );
    let library = Library::embedded_with(&data, &[("KEY_STORE_URL", &keys)]);
    let events = library.stored_events().await;
    let books: Vec<_> = events
        .iter()
        .filter(|event| event.subject.as_str().starts_with("/books/"))
        .collect();
    assert_eq!(books.len(), 1_200);
    let then: Timestamp = "2019-03-01T10:00:00Z".parse().unwrap();
    assert!(books.iter().all(|event| event.occurred_at() == then));
    assert!(
        books
            .iter()
            .all(|event| event.time.timestamp().unwrap() > then)
    );
}
