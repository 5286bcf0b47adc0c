//! Each mistake is one sentence, and nothing is written.

use std::{fs, path::Path};

use crate::scratch_folder::{empty_folder, es, files_below, new_application, run_es};

const COMMAND: &str =
    "add command BorrowBook --subject /books/{id} --field reader:Uuid --event BookBorrowed";

/// Arguments of `cargo es`, with a part of the sentence that they get.
const MISTAKES: &[(&str, &str)] = &[
    (COMMAND, "BorrowBookCommand exists in src/borrow_book.rs"),
    (
        "add command LendBook --subject /books/{id} --event BookBorrowed",
        "BookBorrowedEvent exists in src/borrow_book.rs",
    ),
    ("add event Stock --subject /stock", "src/stock.rs exists"),
    ("add event Rooms --subject /rooms", "src/rooms exists"),
    (
        "add command LendBook --event BookLent --subject /books/{id} --field reader:Reader",
        "has the unknown type `Reader`",
    ),
    (
        "add command LendBook --event BookLent --subject /books/{id} --field id:bool",
        "make it a Uuid, a String or an integer",
    ),
    (
        "add command LendBook --event BookLent --subject /books/{id} --field a:u32 --field a:u32",
        "there are two fields `a`",
    ),
    (
        "add command LendBook --event BookLent --subject /books/{id} --field type:u32",
        "`type` is a keyword of Rust",
    ),
    (
        "add event LoanOpened --subject /readers/{reader}",
        "names a field `reader` that is missing: add `--field reader:Uuid`",
    ),
    (
        "add event LoanOpened --subject readers",
        "a subject starts with `/`",
    ),
    (
        "add event LoanOpened --subject /readers/{reader",
        "and whole segments in braces",
    ),
    (
        "add event Match --subject /matches",
        "`match` cannot be the name of its module",
    ),
    (
        "add state book --event BookBorrowed",
        "a type has a name in camel case: write `Book`",
    ),
    (
        "add state Book --event BookReturned",
        "there is no event BookReturnedEvent in the files below src: add it first",
    ),
    (
        "add state Book --event BookBorrowed --event BookBorrowed",
        "BookBorrowedEvent is named twice",
    ),
    (
        "add read-model Loan --subject /books/{id} --field id:u32 --event BookBorrowed",
        "the field `id` of BookBorrowedEvent is a Uuid, not a u32",
    ),
    (
        "add read-model Loan --subject /books --event BookBorrowed",
        "has no field that could be the key of a row",
    ),
    (
        "add read-model Loan --each readers --event BookBorrowed",
        "the first field is the key of a row",
    ),
    (
        "add read-model Loan --each readers --field reader:Uuid --event BookBorrowed",
        "BookBorrowedEvent has no field `readers`",
    ),
    (
        "add read-model Loan --each readers --field reader:f64 --event BookBorrowed",
        "`reader` is the key of a row, which a f64 cannot be",
    ),
    (
        "add command LendBook --event BookLent --subject /books/{id} --unique card",
        "the unique field `card` is missing: add `--field card:String`",
    ),
    (
        "add query Browse --read-model BookCopy --path /loans --handler --field title:Vec<String>",
        "rows are selected by one value",
    ),
    (
        "add query Browse --read-model Loan --path /loans",
        "there is no read model Loan in the files below src",
    ),
    (
        "add query Browse --read-model BookCopy --path /loans --field author:String",
        "BookCopy has no field `author`",
    ),
    (
        "add query Find --read-model BookCopy --path /loans/{id} --field title:String",
        "names one row, which no other field `title` can select",
    ),
    (
        "add query Browse --read-model BookCopy --path /loans --field title:Vec<String>",
        "rows are selected by one value",
    ),
    (
        "add query Browse --read-model BookCopy --path /loans/{title} --field title:String",
        "the path /loans/{title} names one row of BookCopy, whose key needs `{id}` in it",
    ),
    (
        "add query Browse --read-model BookBorrowedEvent --path /loans/{id}",
        "BookBorrowedEvent has no field with `#[key]`, so that no path names one of its rows",
    ),
    (
        "add read-model Page --subject /books/{id} --event BookBorrowed",
        "`Page` is a name that generated files use",
    ),
    (
        "add reaction Result --event BookBorrowed",
        "`Result` is a name that generated files use",
    ),
    (
        "add command Record --event Recorded --subject /records",
        "`RecordedEvent` is a name that generated files use",
    ),
    (
        "add event LoanOpened --subject /loans --field a_1:u32 --field a1:u32",
        "there are two fields `a1` in JSON",
    ),
    (
        "add reaction Reminder --event BookBorrowed --command Remind",
        "there is no command RemindCommand in the files below src",
    ),
    (
        "add state Card --event CardLost",
        "there are several types CardLostEvent: write crate::card::CardLostEvent or crate::card::spare::CardLostEvent",
    ),
    (
        "add state Card --event borrow_book::CardLost",
        "there is no event borrow_book::CardLostEvent in the files below src",
    ),
];

/// Runs the program, which must fail, and returns the sentence.
fn sentence(folder: &Path, arguments: &str) -> String {
    let before = files_below(folder);
    let output = run_es(folder, arguments);
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && output.stdout.is_empty(),
        "{arguments}"
    );
    assert_eq!(files_below(folder), before, "{arguments}");
    let sentence = text.lines().next().unwrap_or_default();
    sentence.strip_prefix("error: ").unwrap_or(&text).to_owned()
}

#[test]
fn a_wrong_declaration_is_one_sentence_and_writes_nothing() {
    let folder = new_application(&empty_folder("errors"), "library", "--example library");
    es(&folder, COMMAND);
    fs::create_dir(folder.join("src/rooms")).unwrap();
    let twice = "pub struct CardLostEvent; pub mod spare { pub struct CardLostEvent; }";
    fs::write(folder.join("src/card.rs"), twice).unwrap();
    for (arguments, expected) in MISTAKES {
        let found = sentence(&folder, arguments);
        assert!(found.contains(*expected), "{arguments}: {found}");
    }
}

#[test]
fn a_new_application_needs_a_name_of_its_own_and_a_framework() {
    let folder = empty_folder("new-errors");
    fs::create_dir(folder.join("library")).unwrap();
    for (arguments, expected) in [
        ("new library --example library", "library exists"),
        ("new clinic", "required arguments were not provided"),
        (
            "new clinic --example library --subject /visits/{id}",
            "cannot be used with",
        ),
        (
            "new Library",
            "a package is named with at most 36 lower-case letters",
        ),
        ("new test", "Rust reserves this name"),
        ("new ../library", "a package is named with"),
        (
            "new shop --example library --framework-path .",
            "is no checkout of es-framework",
        ),
        (
            "new shop --example library --framework-path nowhere",
            "is no checkout of es-framework",
        ),
    ] {
        let found = sentence(&folder, arguments);
        assert!(found.contains(expected), "{arguments}: {found}");
    }
}

#[test]
fn a_declaration_belongs_into_an_application() {
    let folder = empty_folder("no-application");
    for (manifest, expected) in [
        (
            "[package]\nname = \"other\"\n",
            "has no dependency `es-framework`",
        ),
        ("[workspace]\n", "has no dependency `es-framework`"),
        ("[package", "is no TOML"),
        (
            "[package]\n[dependencies]\nes-framework = \"0.1\"\n",
            "has neither src/main.rs nor",
        ),
    ] {
        fs::write(folder.join("Cargo.toml"), manifest).unwrap();
        let found = sentence(&folder, COMMAND);
        assert!(found.contains(expected), "{manifest}: {found}");
    }
}

#[test]
fn a_description_commands_no_terminal_and_may_not_be_endless() {
    let folder = empty_folder("hostile-description");
    let document = r#"{"info":{"title":"\u001b[2Jgarden"},"paths":{"/trees":{"post":{"operationId":"\u009b1A"}}}}"#;
    let description = format!(r#"{{"model":{{}},"openapi":{document}}}"#);
    fs::write(folder.join("description.json"), description).unwrap();
    for format in ["markdown", "json"] {
        let text = es(
            &folder,
            &format!("openapi --format {format} --description description.json"),
        );
        let is_control = |one: char| one.is_control() && one != '\n';
        assert!(!text.contains(is_control), "{text:?}");
        assert!(text.contains(r"\u001b[2Jgarden"), "{text:?}");
    }
    for arguments in [
        "draw --description /dev/zero",
        "contract /dev/zero --description description.json",
    ] {
        let found = sentence(&folder, arguments);
        assert!(found.contains("larger than 64 MiB"), "{found}");
    }
}
