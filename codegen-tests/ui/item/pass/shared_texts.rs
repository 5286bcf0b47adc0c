//! A text behind a pointer stands wherever a `String` does.

#![deny(warnings)]

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use es_framework::{__private::serde, prelude::*};

#[derive(Command)]
#[command(subject = "/shelves/{id}", condition = pristine, role = ["staff", "reader"], owner = owner, owner_except = "staff")]
struct LabelShelfCommand {
    id: Box<str>,
    owner: Arc<str>,
    #[validate(text(max = 5), characters("abc"))]
    label: Cow<'static, str>,
    #[validate(pattern("^[a-c]*$"))]
    note: Option<Box<str>>,
    #[validate(email)]
    mail: Option<Arc<str>>,
    #[validate(each(text(max = 3)))]
    tags: Vec<Cow<'static, str>>,
    #[validate(each(text(max = 3)))]
    words: Vec<Arc<str>>,
    #[serde(default)]
    by_word: BTreeMap<Box<str>, Arc<str>>,
    size: Size,
    bytes: Cow<'static, [u8]>,
}

#[derive(Debug, Clone, PartialEq, Value)]
enum Size {
    Named(Box<str>),
    Of { unit: Cow<'static, str> },
}

#[derive(Event)]
#[event(package = "com.example.tests")]
struct ShelfLabelledEvent {
    #[unique("label")]
    label: Cow<'static, str>,
    #[unique("mail")]
    mail: Option<Arc<str>>,
    note: Option<Box<str>>,
    tags: Vec<Cow<'static, str>>,
    size: Size,
    #[personal(of = reader)]
    #[serde(default)]
    name: Option<Box<str>>,
    reader: Uuid,
    id: Box<str>,
}

#[derive(State)]
struct Shelf {
    label: Cow<'static, str>,
    words: BTreeMap<Arc<str>, Option<Box<str>>>,
}

#[evolve]
impl Shelf {
    fn labelled(event: &ShelfLabelledEvent) -> Self {
        let (label, words) = (event.label.clone(), BTreeMap::new());
        Self { label, words }
    }
}

#[derive(Value)]
struct Label {
    text: Arc<str>,
}

#[handler]
fn label(command: LabelShelfCommand) -> Decision<ShelfLabelledEvent, Label> {
    let text = command.owner.clone();
    let event = ShelfLabelledEvent {
        label: command.label,
        mail: command.mail,
        note: command.note,
        tags: command.tags,
        size: command.size,
        name: None,
        reader: Uuid::nil(),
        id: command.id,
    };
    Decision::new(event, Label { text })
}

#[derive(ReadModel)]
#[read_model(table = "labelled_shelves", subject = "/shelves/{id}")]
struct ShelfRow {
    #[key]
    id: Box<str>,
    #[search]
    label: Cow<'static, str>,
    #[search(alphanumeric)]
    note: Option<Box<str>>,
    mail: Option<Arc<str>>,
    tags: Vec<Cow<'static, str>>,
    by_word: BTreeMap<String, Arc<str>>,
}

#[projection]
impl ShelfRow {
    fn labelled(event: &ShelfLabelledEvent) -> Self {
        Self {
            id: event.id.clone(),
            label: event.label.clone(),
            note: event.note.clone(),
            mail: event.mail.clone(),
            tags: event.tags.clone(),
            by_word: BTreeMap::new(),
        }
    }
}

#[derive(Query)]
#[query(path = "/shelves", rows = ShelfRow, sort = [label, note])]
struct ListShelves {
    #[filter(contains)]
    label: Option<Cow<'static, str>>,
    #[filter(eq)]
    note: Option<Box<str>>,
    #[filter(one_of)]
    mail: Vec<Arc<str>>,
}

fn same<T: serde::Serialize + for<'de> serde::Deserialize<'de>>(json: &str) {
    let value: T = serde_json::from_str(json).unwrap();
    assert_eq!(serde_json::to_string(&value).unwrap(), json);
}

#[test]
fn works() {
    let command = r#"{"id":"1","owner":"a","label":"abc","note":"c","mail":"a@b.c","tags":["x"],"words":["y"],"byWord":{"w":"v"},"size":{"of":{"unit":"mm"}},"bytes":[1,2]}"#;
    same::<LabelShelfCommand>(command);
    same::<Size>(r#"{"named":"small"}"#);
    same::<ShelfRow>(r#"{"id":"1","label":"a","note":null,"mail":"m","tags":["t"],"byWord":{"k":"v"}}"#);
    let faulty = command.replace("abc", "abcdef").replace("\"c\"", "\"d\"").replace("a@b.c", "a").replace("\"x\"", "\"long\"");
    let faulty: LabelShelfCommand = serde_json::from_str(&faulty).unwrap();
    let mut violations = es_framework::validate::Violations::default();
    es_framework::validate::Validate::validate(&faulty, &mut violations);
    let pointers = violations.into_vec().into_iter().map(|violation| violation.pointer);
    assert_eq!(pointers.collect::<Vec<_>>(), ["/label", "/label", "/note", "/mail", "/tags/0"]);
}
