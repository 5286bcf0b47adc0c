//! The rows that concern a person are found by the id in any column, and a search finds a text in each of its forms.

use std::collections::BTreeMap;

use es_framework::{
    prelude::*,
    projection::{ReadModelDescriptor, ReadModels},
    query::{find_rows_with_text, has_rows_with_text},
};

use super::filled_database::fill_database;
use super::postgres_server::PostgresServer;

const ADA: Uuid = Uuid::from_u128(0xada);
const EVE: Uuid = Uuid::from_u128(0xe5e);

#[derive(Debug, Event)]
struct TalkGivenEvent {
    number: u32,
    speaker: Uuid,
    name: String,
    guests: Vec<Uuid>,
    seats: BTreeMap<String, Uuid>,
}

#[derive(Debug, ReadModel)]
#[read_model(table = "talks")]
struct Talk {
    #[key]
    number: u32,
    speaker: Uuid,
    #[search]
    name: String,
    guests: Vec<Uuid>,
    seats: BTreeMap<String, Uuid>,
}

#[projection]
impl Talk {
    #[key(number)]
    fn given(event: TalkGivenEvent) -> Self {
        let TalkGivenEvent {
            number,
            speaker,
            name,
            guests,
            seats,
        } = event;
        Self {
            number,
            speaker,
            name,
            guests,
            seats,
        }
    }
}

fn talk(number: u32, speaker: Uuid, name: &str, guests: &[Uuid], seats: &[Uuid]) -> TalkGivenEvent {
    let seats = seats.iter().map(|guest| ("first row".to_owned(), *guest));
    TalkGivenEvent {
        number,
        speaker,
        name: name.to_owned(),
        guests: guests.to_vec(),
        seats: seats.collect(),
    }
}

async fn check_rows(server: Option<&PostgresServer>) {
    let models = ReadModels::new([ReadModelDescriptor::of::<Talk>()]).unwrap();
    let talks = [
        talk(1, ADA, "100 % \"Ängine\"", &[], &[]),
        talk(2, EVE, "Looms", &[ADA], &[]),
        talk(3, EVE, "Looms", &[EVE], &[ADA]),
        talk(4, EVE, "Looms", &[EVE], &[EVE]),
    ];
    let database = fill_database(server, models.clone(), "/talks/1", talks).await;
    let table = models.find_table("talks").unwrap();
    for (person, expected) in [(ADA, 3), (EVE, 3), (Uuid::nil(), 0)] {
        let id = person.to_string();
        let found = find_rows_with_text(&database, table, &id);
        let found = found.await.unwrap();
        assert_eq!(found.rows.len(), expected, "{person}");
        assert_eq!(found.count, expected);
    }
    for (text, is_there) in [
        ("100 % \"Ängine\"", true),
        ("100 % \"ÄNGINE\"", true),
        ("1_0", false),
        ("10% ", false),
        ("first row", true),
        ("\0", false),
    ] {
        let found = has_rows_with_text(&database, table, text).await.unwrap();
        assert_eq!(found, is_there, "{text}");
    }
}

#[tokio::test]
async fn rows_of_a_person_are_found_in_sqlite() {
    check_rows(None).await;
}

#[tokio::test]
async fn rows_of_a_person_are_found_in_postgresql() {
    if let Some(server) = PostgresServer::start() {
        check_rows(Some(&server)).await;
    }
}
