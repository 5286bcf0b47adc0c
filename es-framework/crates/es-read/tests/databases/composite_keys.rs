//! A read model whose key has two fields, in each database.

use std::{
    ops::Deref,
    sync::atomic::{AtomicBool, Ordering},
};

use es_framework::{
    event::{Event, EventId},
    operator::OperatorCommand,
    prelude::*,
    projection::{Database, HeldRows},
    query::QueryDescriptor,
};
use serde_json::{Value as Json, json};

use super::{
    note_board::NoteBoard,
    postgres_server::PostgresServer,
    running_read_model::{RunningReadModel, run_query},
};

/// A doctor has some appointments on a day.
#[derive(Debug, Event)]
struct DayPlannedEvent {
    doctor: String,
    day: u32,
    appointments: i64,
}

/// A doctor is on holiday for some days.
#[derive(Debug, Event)]
struct HolidayTakenEvent {
    doctor: String,
    days: Vec<u32>,
}

/// A day is as if nobody had planned it; recorded on the subject of the day.
#[derive(Debug, Event)]
struct DayClearedEvent {}

/// The day of a doctor.
#[derive(Debug, Clone, PartialEq, ReadModel)]
#[read_model(table = "days", subject = "/days/{day}/doctors/{doctor}")]
struct DoctorsDay {
    #[key]
    doctor: String,
    appointments: i64,
    #[key]
    day: u32,
    is_holiday: bool,
}

/// Nobody can plan 13 appointments until the code is corrected.
static IS_CORRECTED: AtomicBool = AtomicBool::new(false);

#[projection]
impl DoctorsDay {
    #[key(doctor, day)]
    fn planned(row: Option<Self>, event: &DayPlannedEvent) -> Option<Self> {
        assert!(
            event.appointments != 13 || IS_CORRECTED.load(Ordering::Relaxed),
            "there are never 13 appointments"
        );
        let before = row.map_or(0, |row| row.appointments);
        Some(Self::new(
            &event.doctor,
            event.day,
            before + event.appointments,
        ))
    }

    #[each(days)]
    #[key(event.doctor, element)]
    fn free(day: &u32, event: &HolidayTakenEvent) -> Self {
        let is_holiday = true;
        Self {
            is_holiday,
            ..Self::new(&event.doctor, *day, 0)
        }
    }

    fn cleared(self, _: &DayClearedEvent) -> Option<Self> {
        None
    }
}

impl DoctorsDay {
    fn new(doctor: &str, day: u32, appointments: i64) -> Self {
        Self {
            doctor: doctor.to_owned(),
            appointments,
            day,
            is_holiday: false,
        }
    }
}

/// Shows one day of a doctor.
#[derive(Query)]
#[query(path = "/doctors/{doctor}/days/{day}", row = DoctorsDay)]
struct ShowDay {
    doctor: String,
    day: u32,
}

/// Lists the days of a doctor.
#[derive(Query)]
#[query(path = "/doctors/{doctor}/days", rows = DoctorsDay, order = day)]
struct ListDays {
    doctor: String,
}

/// The days of doctors in one database.
struct Diary(RunningReadModel);

impl Deref for Diary {
    type Target = RunningReadModel;

    fn deref(&self) -> &RunningReadModel {
        &self.0
    }
}

impl Diary {
    async fn open(server: Option<PostgresServer>) -> Self {
        let queries = [
            QueryDescriptor::of::<ShowDay>(),
            QueryDescriptor::of::<ListDays>(),
        ];
        Self(RunningReadModel::start::<DoctorsDay>(&queries, server).await)
    }

    async fn append<E: Event>(&self, subject: &str, event: E) -> EventId {
        self.0.append(subject, &[event]).await
    }

    async fn plan(&self, doctor: &str, day: u32, appointments: i64) -> EventId {
        let event = DayPlannedEvent {
            doctor: doctor.to_owned(),
            day,
            appointments,
        };
        self.append("/plans/1", event).await
    }

    async fn rows(&self) -> Vec<DoctorsDay> {
        self.context().rows::<DoctorsDay>().all(100).await.unwrap()
    }

    async fn ask<Q: QueryHandler>(&self, parameters: &[(&str, &str)]) -> Result<Json, QueryError> {
        self.ask_in::<Q>(&self.database, parameters).await
    }

    async fn ask_in<Q: QueryHandler>(
        &self,
        database: &Database,
        parameters: &[(&str, &str)],
    ) -> Result<Json, QueryError> {
        let output = run_query::<Q>(database, parameters).await?;
        Ok(serde_json::from_str(output.get()).unwrap())
    }
}

#[tokio::test]
async fn rows_differ_by_all_fields_of_their_key() {
    for location in NoteBoard::locations() {
        let diary = Diary::open(location).await;
        diary.plan("a", 1, 5).await;
        // Texts that look alike if the fields stand beside each other.
        for doctor in ["a\",1", "a,1", "\"a\"", "[\"a\"", "a\\", ""] {
            diary.plan(doctor, 1, 1).await;
        }
        diary.plan("a", 11, 7).await;
        diary.plan("b", 1, 9).await;
        let last = diary.plan("a", 1, 2).await;
        diary.await_position(last).await;
        let expected = [
            DoctorsDay::new("a", 1, 7),
            DoctorsDay::new("a\",1", 1, 1),
            DoctorsDay::new("a,1", 1, 1),
            DoctorsDay::new("\"a\"", 1, 1),
            DoctorsDay::new("[\"a\"", 1, 1),
            DoctorsDay::new("a\\", 1, 1),
            DoctorsDay::new("", 1, 1),
            DoctorsDay::new("a", 11, 7),
            DoctorsDay::new("b", 1, 9),
        ];
        assert_eq!(diary.rows().await, expected);
    }
}

#[tokio::test]
async fn the_key_comes_from_the_subject_the_event_or_an_element() {
    for location in NoteBoard::locations() {
        let diary = Diary::open(location).await;
        diary.plan("a", 1, 5).await;
        diary.plan("a", 2, 6).await;
        diary.plan("b", 1, 7).await;
        let days = vec![2, 3];
        let doctor = "a".to_owned();
        let holiday = HolidayTakenEvent { doctor, days };
        diary.append("/plans/1", holiday).await;
        diary.append("/days/1/doctors/a", DayClearedEvent {}).await;
        // These subjects are no days.
        diary.append("/days/1/doctors", DayClearedEvent {}).await;
        let last = diary.append("/days/1/nurses/b", DayClearedEvent {}).await;
        diary.await_position(last).await;
        let holiday = |day| DoctorsDay {
            is_holiday: true,
            ..DoctorsDay::new("a", day, 0)
        };
        let expected = [holiday(2), DoctorsDay::new("b", 1, 7), holiday(3)];
        assert_eq!(diary.rows().await, expected);
    }
}

#[tokio::test]
async fn a_row_is_found_by_its_whole_key() {
    for location in NoteBoard::locations() {
        let diary = Diary::open(location).await;
        let long = "x".repeat(3_000);
        diary.plan("a", 1, 5).await;
        diary.plan("a", 2, 6).await;
        diary.plan(&long, 1, 7).await;
        let last = diary.plan(&format!("{long}y"), 1, 8).await;
        diary.await_position(last).await;

        let shown = diary.ask::<ShowDay>(&[("doctor", "a"), ("day", "2")]).await;
        let day = json!({ "doctor": "a", "appointments": 6, "day": 2, "isHoliday": false });
        assert_eq!(shown.unwrap(), day);
        let missing = diary.ask::<ShowDay>(&[("doctor", "b"), ("day", "2")]).await;
        assert!(matches!(missing, Err(QueryError::NotFound)));
        let listed = diary.ask::<ListDays>(&[("doctor", "a"), ("limit", "1")]);
        let listed = listed.await.unwrap();
        assert_eq!(listed["items"][0]["day"], 1);
        let cursor = listed["nextCursor"].as_str().unwrap();
        let next = [("doctor", "a"), ("cursor", cursor)];
        let listed = diary.ask::<ListDays>(&next).await.unwrap();
        assert_eq!(listed["items"], json!([day]));

        let context = diary.context();
        let found = context.find_row::<DoctorsDay>((&long, &1)).await.unwrap();
        assert_eq!(found, Some(DoctorsDay::new(&long, 1, 7)));
        let found = context.find_row::<DoctorsDay>((&long, &2)).await.unwrap();
        assert_eq!(found, None);
        let wanted = context.rows::<DoctorsDay>().page(context.paging()).await;
        let pairs = wanted.unwrap().map(|row| (row.doctor, row.day + 1));
        let combine = |(doctor, _): (String, u32), next: Option<&DoctorsDay>| {
            (doctor, next.map(|next| next.appointments))
        };
        let joined = context.join(pairs, |row| Some((&row.0, &row.1)), combine);
        let joined = joined.await.unwrap();
        let joined: Vec<_> = joined.items.iter().map(|(_, next)| *next).collect();
        assert_eq!(joined, [Some(6), None, None, None]);
    }
}

#[tokio::test]
async fn a_row_with_a_poison_event_is_held_alone_and_retried() {
    for location in NoteBoard::locations() {
        IS_CORRECTED.store(false, Ordering::Relaxed);
        let diary = Diary::open(location).await;
        diary.plan("a", 1, 5).await;
        diary.plan("a", 2, 6).await;
        let poison = diary.plan("a", 1, 13).await;
        diary.plan("a", 2, 1).await;
        let last = diary.plan("a", 1, 4).await;
        diary.await_position(last).await;
        let before = [DoctorsDay::new("a", 1, 5), DoctorsDay::new("a", 2, 7)];
        assert_eq!(diary.rows().await, before);
        let held = diary.progress.held_keys();
        let held: Vec<_> = held.iter().collect();
        assert_eq!(held.len(), 1, "{held:?}");
        assert_eq!(
            (held[0].key.as_str(), held[0].poison.id),
            (r#"["a",1]"#, poison)
        );
        for (day, header) in [
            ("1", r#"total=1, rows=(%"[%22a%22,1]")"#),
            ("2", "total=1, rows=()"),
        ] {
            let held = HeldRows::collect(&["days"], &diary.all_progress);
            let database = diary.database.with_held_rows(held.clone());
            let day = [("doctor", "a"), ("day", day)];
            let shown = diary.ask_in::<ShowDay>(&database, &day).await.unwrap();
            let shown = shown.to_string();
            assert_eq!(held.header_value(&shown).as_deref(), Some(header));
        }

        IS_CORRECTED.store(true, Ordering::Relaxed);
        assert_eq!(diary.operate(OperatorCommand::Retry).await.retried, 1);
        assert!(diary.progress.held_keys().is_empty());
        let after = [DoctorsDay::new("a", 1, 22), DoctorsDay::new("a", 2, 7)];
        assert_eq!(diary.rows().await, after);
    }
}
