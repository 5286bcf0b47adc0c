//! The types, fields, names and arguments of a declaration may be variables of a `macro_rules!`.

#![deny(warnings)]

use std::collections::BTreeMap;

use es_framework::prelude::*;

const MOST: u32 = 9;

fn is_sound(_: &String) -> Result<(), String> {
    Ok(())
}

#[derive(Clone, Value)]
struct Line {
    #[validate(range(min = 1, max = 9))]
    copies: u32,
}

// Types.

macro_rules! with_types {
    ($id:ty, $text:ty, $texts:ty, $line:ty, $count:ty, $perhaps:ty) => {
        #[derive(Command)]
        #[command(subject = "/typed/{id}", path = "/typed/{id}/{label}/place")]
        struct PlaceTypedCommand {
            id: $id,
            label: $text,
            #[validate(text(max = 20), characters("a-z"), pattern("^[a-z]+$"))]
            text: $text,
            #[validate(email)]
            email: $text,
            #[validate(url)]
            url: Option<$text>,
            #[validate(with = is_sound)]
            sound: $perhaps,
            #[validate(items(max = 3), each(text(max = 20), with = is_sound))]
            texts: $texts,
            #[validate(range(max = MOST))]
            count: $count,
            line: $line,
            lines: Vec<$line>,
            pair: ($line, Option<$line>),
            array: [$line; 2],
            named: BTreeMap<String, $line>,
            result: Result<$line, Box<$line>>,
        }

        #[derive(Event)]
        #[event(
            package = "com.example.tests",
            subject = "/typed/{id}/{label}",
            from = PlaceTypedCommand,
            read_model = "typed_events"
        )]
        struct TypedPlacedEvent {
            id: $id,
            label: $text,
            sound: $perhaps,
        }

        #[derive(Value)]
        struct TypedPart {
            #[validate(text(max = 20))]
            text: $text,
            line: $line,
        }

        #[derive(Value)]
        struct TypedNewtype(#[validate(text(max = 20))] $text);

        #[derive(Value)]
        enum TypedChoice {
            One(#[validate(range(min = 1))] $count),
            Two(TypedPart, $line),
            Three {
                #[validate(each(text(max = 20)))]
                texts: $texts,
                lines: [$line; 1],
            },
        }

        #[derive(State)]
        struct TypedState {
            id: $id,
            sound: $perhaps,
        }

        #[evolve]
        impl TypedState {
            fn placed(event: &TypedPlacedEvent) -> Self {
                Self {
                    id: event.id,
                    sound: event.sound.clone(),
                }
            }
        }

        #[derive(ReadModel)]
        #[read_model(table = "typed_rows", subject = "/typed/{id}")]
        struct TypedRow {
            #[key]
            id: $id,
            label: $text,
            sound: $perhaps,
            texts: $texts,
        }

        #[projection]
        impl TypedRow {
            #[key(id)]
            fn placed(event: TypedPlacedEvent) -> Self {
                Self {
                    id: event.id,
                    label: event.label,
                    sound: event.sound,
                    texts: vec![],
                }
            }
        }

        #[derive(Query)]
        #[query(path = "/typed", rows = TypedRow, order = label)]
        struct BrowseTyped {
            #[filter(contains)]
            label: $perhaps,
            #[filter(eq)]
            sound: Option<$text>,
            #[filter(one_of(label))]
            labels: $texts,
            #[filter(at_least(label))]
            from: $text,
        }

        #[derive(Query)]
        #[query(path = "/typed/{id}", row = TypedRow)]
        struct FindTyped {
            id: $id,
        }

        #[derive(Settings)]
        struct TypedSettings {
            /// The number.
            #[setting(default = 3)]
            typed_number: $count,
            /// The text.
            typed_text: $perhaps,
        }

        #[derive(Debug, Rejection)]
        enum TypedRejection {
            /// It is taken.
            #[rejection(conflict, detail = "{id} is {label}")]
            Taken { id: $id, label: $text },
        }

        #[handler]
        fn place_typed(
            command: PlaceTypedCommand,
            #[subject("/typed/{id}/{label}")] state: Option<&TypedState>,
            settings: &TypedSettings,
        ) -> Result<TypedPlacedEvent, TypedRejection> {
            let _ = (state.map(|state| (state.id, &state.sound)), settings.typed_number);
            Ok(command.into())
        }
    };
}

with_types!(Uuid, String, Vec<String>, Line, u32, Option<String>);

// Fields.

macro_rules! with_fields {
    ($id:ident, $text:ident, $texts:ident, $line:ident, $at:ident) => {
        #[derive(Command)]
        #[command(subject = "/fields/{book}")]
        struct PlaceFieldsCommand {
            $id: Uuid,
            #[validate(text(max = 20), with = is_sound)]
            $text: String,
            #[validate(each(text(max = 20)))]
            $texts: Vec<String>,
            $line: Line,
            $at: Timestamp,
        }

        #[derive(Event)]
        #[event(
            package = "com.example.tests",
            subject = "./notes/{book}",
            from(PlaceFieldsCommand),
            read_model = "field_events"
        )]
        struct FieldsPlacedEvent {
            $id: Uuid,
            $text: String,
            $at: Timestamp,
        }

        #[derive(Value)]
        enum FieldsChoice {
            One {
                #[validate(text(max = 20))]
                $text: String,
                $line: Line,
            },
        }

        #[derive(State)]
        struct FieldsState {
            $id: Uuid,
        }

        #[evolve]
        impl FieldsState {
            fn placed($id: &FieldsPlacedEvent) -> Self {
                Self { $id: $id.$id }
            }

            fn again(&mut self, $id: TypedPlacedEvent) {
                self.$id = $id.id;
            }
        }

        #[derive(ReadModel)]
        #[read_model(table = "field_rows")]
        struct FieldsRow {
            #[key]
            $id: Uuid,
            $text: String,
        }

        #[projection]
        impl FieldsRow {
            #[key($id)]
            fn placed(event: FieldsPlacedEvent) -> Self {
                Self {
                    $id: event.$id,
                    $text: event.$text,
                }
            }
        }

        #[derive(Query)]
        #[query(path = "/fields", rows = FieldsRow, order = descending($text))]
        struct BrowseFields {
            #[filter(contains)]
            $text: Option<String>,
            #[filter(one_of($text))]
            $texts: Vec<String>,
            #[filter(at_most($id))]
            last: Uuid,
        }

        #[derive(Query)]
        #[query(path = "/fields/{book}", row = FieldsRow)]
        struct FindFields {
            $id: Uuid,
        }

        #[derive(Settings)]
        struct FieldsSettings {
            /// The text.
            $text: Option<String>,
        }

        #[derive(Debug, Rejection)]
        enum FieldsRejection {
            /// It is taken.
            #[rejection(conflict, detail = "{book} is {label}")]
            Taken { $id: Uuid, $text: String },
        }

        #[handler]
        fn place_fields(
            $id: PlaceFieldsCommand,
            #[subject("/fields/{book}")] $text: Option<&FieldsState>,
        ) -> Result<FieldsPlacedEvent, FieldsRejection> {
            let _ = $text.map(|state| state.$id);
            Ok($id.into())
        }

        struct FieldsReaction;

        #[reaction]
        impl FieldsReaction {
            #[deadline(at = $at)]
            fn $line($id: FieldsPlacedEvent) -> PlaceAllCommand {
                PlaceAllCommand { book: $id.$id, label: $id.$text }
            }

            async fn $text(_: &FieldsPlacedEvent, $at: &ReactionKey) -> Result<(), std::io::Error> {
                let _ = $at;
                Ok(())
            }
        }
    };
}

with_fields!(book, label, labels, line, due_at);

// Names and arguments.

macro_rules! with_arguments {
    (
        $(#[$meta:meta])* $vis:vis $command:ident $event:ident $state:ident $row:ident $query:ident
        $reaction:ident $handler:ident $upcast:ident,
        $subject:literal, $path:literal, $package:literal, $table:literal, $condition:ident, $role:literal,
        $most:expr, $least:literal, $pattern:literal, $rule:path, $version:literal, $default:expr
    ) => {
        $(#[$meta])*
        #[derive(Command)]
        #[command(subject = $subject, path = $path, condition = $condition, role = $role)]
        $vis struct $command {
            $vis book: Uuid,
            #[validate(text(min = $least, max = $most), pattern($pattern), with = $rule)]
            $vis label: String,
        }

        #[derive(Event)]
        #[event(package = $package, subject = $subject, version = $version, from = $command)]
        $vis struct $event {
            $vis book: Uuid,
            #[serde(rename = $role)]
            $vis label: String,
        }

        #[upcast]
        fn $upcast(event: TypedPlacedEvent) -> $event {
            $event { book: event.id, label: event.label }
        }

        #[derive(State)]
        $vis enum $state { There }

        #[evolve]
        impl $state {
            fn placed(_: &$event) -> Self {
                Self::There
            }
        }

        #[derive(ReadModel)]
        #[read_model(table = $table, subject = $subject, version = $version)]
        $vis struct $row {
            #[key]
            $vis book: Uuid,
            $vis label: String,
        }

        #[projection]
        impl $row {
            fn placed(event: $event) -> Self {
                Self { book: event.book, label: event.label }
            }
        }

        #[derive(Query)]
        #[query(path = $path, row = $row, role = $role)]
        $vis struct $query {
            $vis book: Uuid,
        }

        $(#[$meta])*
        #[derive(Settings)]
        $vis struct AllSettings {
            /// The number.
            #[setting(default = $default)]
            all_number: i32,
        }

        #[handler]
        fn $handler(command: $command, #[subject($subject)] state: Option<&$state>) -> $event {
            let _ = state;
            command.into()
        }

        $vis struct $reaction;

        #[reaction(name = $role, attempts = $version)]
        impl $reaction {
            fn placed(event: $event) -> Option<RemindCommand> {
                Some(RemindCommand { book: event.book })
            }
        }
    };
}

with_arguments!(
    /// Places everything.
    pub(crate) PlaceAllCommand AllPlacedEvent AllState AllRow FindAll AllReaction place_all upcast_all,
    "/all/{book}", "/all/{book}/place", "com.example.tests", "all_rows", pristine, "staff",
    20, 2, "^[a-z]+$", is_sound, 2, -3
);

#[derive(Command)]
#[command(subject = "/all/{book}", internal)]
struct RemindCommand {
    book: Uuid,
}

#[handler]
fn remind(command: RemindCommand) -> AllPlacedEvent {
    AllPlacedEvent {
        book: command.book,
        label: String::new(),
    }
}

// Types of paths and declarations as a whole.

macro_rules! with_paths {
    ($command:path, $event:ty, $state:ty, $row:ty, $model:path) => {
        #[handler]
        fn place_path(command: $command, state: Option<&$state>) -> $event {
            let _ = state;
            <$event>::from(command)
        }

        #[evolve]
        impl $state {
            fn placed(_: &$event) -> Self {
                Self::There
            }
        }

        #[projection]
        impl $row {
            #[key(book)]
            fn placed(event: &$event) -> Self {
                Self { book: event.book }
            }
        }

        #[derive(Query)]
        #[query(path = "/paths", rows = $model)]
        struct BrowsePaths {}

        #[derive(Event)]
        #[event(package = "com.example.tests", from = $command)]
        struct PathPlacedEvent {
            book: Uuid,
        }
    };
}

#[derive(State)]
enum PathState {
    There,
}

#[derive(Command)]
#[command(subject = "/paths/{book}")]
struct PlacePathCommand {
    book: Uuid,
}

#[derive(ReadModel)]
#[read_model(table = "path_rows")]
struct PathRow {
    #[key]
    book: Uuid,
}

with_paths!(PlacePathCommand, PathPlacedEvent, PathState, PathRow, PathRow);

#[test]
fn rules_behind_macro_variables_are_checked() {
    use es_framework::validate::{Validate as _, Violations};

    let line = |copies| Line { copies };
    let text = || "x".to_owned();
    let command = PlaceTypedCommand {
        id: Uuid::nil(),
        label: text(),
        text: "X".to_owned(),
        email: "nobody".to_owned(),
        url: None,
        sound: None,
        texts: vec![String::new()],
        count: 10,
        line: line(0),
        lines: vec![line(1), line(0)],
        pair: (line(0), Some(line(0))),
        array: [line(1), line(0)],
        named: BTreeMap::from([("a".to_owned(), line(0))]),
        result: Err(Box::new(line(0))),
    };
    let mut violations = Violations::default();
    command.validate(&mut violations);
    let found = format!("{violations:?}");
    for pointer in [
        "/text", "/email", "/texts/0", "/count", "/line/copies", "/lines/1/copies", "/pair/0/copies",
        "/pair/1/copies", "/array/1/copies", "/named/a/copies", "/result/Err/copies",
    ] {
        assert!(found.contains(&format!("{pointer:?}")), "{pointer}: {found}");
    }
}

#[test]
fn a_refusal_shows_fields_that_are_macro_variables() {
    let rejection = FieldsRejection::Taken {
        book: Uuid::nil(),
        label: "red".to_owned(),
    };
    assert_eq!(rejection.to_string(), format!("{} is red", Uuid::nil()));
}
