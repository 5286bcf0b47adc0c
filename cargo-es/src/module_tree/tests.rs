//! Tests of the paths by which types are imported.

use super::*;

/// The files of a crate. `rustc` accepts each path that the test expects, and no other of the types.
const FILES: [(&str, &str); 8] = [
    (
        "lib.rs",
        "mod book;\npub mod open { pub struct Inner; mod closed { pub struct Closed; } }\nmod reader;\n\
         #[cfg(test)]\nmod tests;\nstruct AtRoot;\nuse book::Book;",
    ),
    (
        "book.rs",
        "mod borrow;\nmod events;\nmod r#return;\npub use self::{\n    borrow::{\n        Borrowed,\n    },\n    \
         events::*,\n};\n#[cfg(test)]\npub use borrow::BorrowBook;\npub(crate) struct Book;\n\
         pub use r#return::Returned as GivenBack;",
    ),
    (
        "book/borrow.rs",
        "pub struct Borrowed;\npub struct BorrowBook;\npub(super) struct Lent;",
    ),
    (
        "book/events/mod.rs",
        "pub struct Bought;\npub(super) struct Priced;\nstruct Counted;\npub(in crate::book) struct Audited;\n\
         pub(in super::super) struct Removed;",
    ),
    ("book/return.rs", "pub struct Returned;"),
    (
        "reader/mod.rs",
        "mod register;\npub(crate) use register::Registered;\npub(super) mod shown { pub struct Shown; }\n\
         pub(self) mod hidden { pub struct Hidden; }\npub mod r#try { pub struct Tried; }",
    ),
    (
        "reader/register.rs",
        "pub use deep::Registered;\nmod deep { pub struct Registered; }\n#[cfg(test)]\npub struct Sample;",
    ),
    ("tests.rs", "pub struct Tested;"),
];

fn find_in(files: &[(&str, &str)]) -> Vec<DeclaredType> {
    let folder = tempfile::tempdir().unwrap();
    for (file, text) in files {
        let file = folder.path().join("src").join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    find_types(folder.path(), &folder.path().join("src/lib.rs")).unwrap()
}

#[test]
fn a_type_is_imported_by_a_path_that_the_compiler_accepts() {
    let types = find_in(&FILES);
    let found: Vec<_> = types
        .iter()
        .map(|found| (found.name.as_str(), found.path.as_deref()))
        .collect();
    assert_eq!(
        found,
        [
            ("Borrowed", Some("crate::book::Borrowed")),
            ("BorrowBook", None),
            ("Lent", None),
            ("Bought", Some("crate::book::Bought")),
            ("Priced", None),
            ("Counted", None),
            ("Audited", None),
            ("Removed", Some("crate::book::Removed")),
            ("Returned", None),
            ("Book", Some("crate::book::Book")),
            ("Inner", Some("crate::open::Inner")),
            ("Closed", None),
            ("Registered", Some("crate::reader::Registered")),
            ("Shown", Some("crate::reader::shown::Shown")),
            ("Hidden", None),
            ("Tried", Some("crate::reader::r#try::Tried")),
            ("AtRoot", Some("crate::AtRoot")),
        ]
    );
}

#[test]
fn a_struct_is_found_however_it_is_laid_out() {
    let text = "pub struct OneLine { #[key] pub id: uuid::Uuid, secret: bool }\n\npub(crate) struct Apart\n{\n  pub(crate)\n  names: Vec<\n    std::string::String>,\n}\nmod hidden { pub struct Inside; }\npub mod open { pub struct Inner { pub(super) at: Option<jiff::Timestamp> } }\n";
    let types = find_in(&[("lib.rs", "mod one;"), ("one.rs", text)]);
    let found = types.iter().map(|found| (found.name.as_str(), found.line));
    assert_eq!(
        found.collect::<Vec<_>>(),
        [("OneLine", 1), ("Apart", 3), ("Inside", 9), ("Inner", 10)]
    );
    let check = |index: usize, field: &str| {
        let field: crate::field::Field = field.parse().unwrap();
        types[index].check_field(&field.name, field.field_type)
    };
    assert_eq!(check(0, "id:Uuid"), Ok(()));
    assert_eq!(types[0].key().collect::<Vec<_>>(), ["id"]);
    assert!(check(0, "secret:bool").is_err());
    assert_eq!(check(1, "names:Vec<String>"), Ok(()));
    // Only `one` sees the field.
    assert!(check(3, "at:Option<Timestamp>").is_err());
}
