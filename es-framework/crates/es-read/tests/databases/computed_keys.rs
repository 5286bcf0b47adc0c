//! Keys that functions compute from events, and groups by columns of different types, in each database.

use std::{
    ops::Deref,
    sync::atomic::{AtomicBool, Ordering},
};

use es_framework::{
    event::{Event, EventId, RecordedEvent},
    jiff::tz::TimeZone,
    operator::OperatorCommand,
    prelude::*,
    query::{Group, QueryDescriptor},
};
use serde_json::{Value as Json, json};

use super::{
    eventually::eventually,
    note_board::{NoteBoard, read_pages},
    postgres_server::PostgresServer,
    running_read_model::{RunningReadModel, run_query},
};

/// A hall was booked.
#[derive(Debug, Event)]
struct HallBookedEvent {
    hall: String,
    starts_at: Timestamp,
    minutes: i64,
}

/// A booking of a season.
#[derive(Debug, Value)]
struct SeasonBooking {
    starts_at: Timestamp,
    minutes: i64,
}

/// A hall was booked for a season.
#[derive(Debug, Event)]
struct SeasonBookedEvent {
    hall: String,
    bookings: Vec<SeasonBooking>,
}

/// Somebody came into a hall.
#[derive(Debug, Event)]
struct HallEnteredEvent {
    hall: String,
}

/// The utilisation of a hall in a month.
#[derive(Debug, Clone, PartialEq, ReadModel)]
#[read_model(table = "utilisation")]
struct Utilisation {
    #[key]
    hall: String,
    minutes: i64,
    /// The first day of the month.
    #[key]
    month: Date,
    year: i16,
    visits: u32,
}

/// The hall `abroad` counts by UTC, nobody knows the hall `nowhere`, and nobody can book 13 minutes, until the code is
/// corrected.
static IS_CORRECTED: AtomicBool = AtomicBool::new(false);

/// The tests that set the flag, one at a time.
static CORRECTION: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// Returns the key of a time in a hall: the hall and the first day of the local month.
fn hall_and_month(hall: &str, at: Timestamp) -> (String, Date) {
    let is_corrected = IS_CORRECTED.load(Ordering::Relaxed);
    assert!(hall != "nowhere" || is_corrected, "the hall does not exist");
    let zone = match hall {
        "abroad" if !is_corrected => TimeZone::UTC,
        _ => TimeZone::get("Europe/Berlin").unwrap(),
    };
    (hall.to_owned(), at.to_zoned(zone).date().first_of_month())
}

fn of_booking(event: &HallBookedEvent) -> (String, Date) {
    hall_and_month(&event.hall, event.starts_at)
}

#[projection]
impl Utilisation {
    #[key(with = of_booking)]
    fn booked(row: Option<Self>, event: &HallBookedEvent) -> Option<Self> {
        assert!(
            event.minutes != 13 || IS_CORRECTED.load(Ordering::Relaxed),
            "nobody books 13 minutes"
        );
        Some(Self::add(row, of_booking(event), event.minutes))
    }

    #[each(bookings)]
    #[key(with = Self::of_season)]
    fn season(
        row: Option<Self>,
        booking: &SeasonBooking,
        event: &SeasonBookedEvent,
    ) -> Option<Self> {
        let key = Self::of_season(booking, event);
        Some(Self::add(row, key, booking.minutes))
    }

    #[key(with = Self::of_visit)]
    fn entered(
        row: Option<Self>,
        event: HallEnteredEvent,
        recorded: &RecordedEvent,
    ) -> Option<Self> {
        let mut row = Self::add(row, Self::of_visit(&event, recorded), 0);
        row.visits += 1;
        Some(row)
    }
}

impl Utilisation {
    fn of_season(booking: &SeasonBooking, event: &SeasonBookedEvent) -> (String, Date) {
        hall_and_month(&event.hall, booking.starts_at)
    }

    fn of_visit(event: &HallEnteredEvent, recorded: &RecordedEvent) -> (String, Date) {
        hall_and_month(&event.hall, recorded.time.timestamp().unwrap())
    }

    fn new(hall: &str, month: &str, minutes: i64) -> Self {
        let month: Date = month.parse().unwrap();
        let (hall, year) = (hall.to_owned(), month.year());
        let visits = 0;
        Self {
            hall,
            minutes,
            month,
            year,
            visits,
        }
    }

    fn add(row: Option<Self>, (hall, month): (String, Date), minutes: i64) -> Self {
        let new = || Self::new(&hall, &month.to_string(), 0);
        let mut row = row.unwrap_or_else(new);
        row.minutes += minutes;
        row
    }
}

/// Shows a month of a hall.
#[derive(Query)]
#[query(path = "/halls/{hall}/months/{month}", row = Utilisation)]
struct ShowMonth {
    hall: String,
    month: Date,
}

/// Lists the months, the first month first.
#[derive(Query)]
#[query(path = "/utilisation", rows = Utilisation, order = month)]
struct ListMonths {
    #[filter(at_least(month))]
    from: Option<Date>,
}

/// Adds the months of each year of a hall.
#[derive(Query)]
#[query(path = "/years", paged)]
struct AddYears {}

impl QueryHandler for AddYears {
    type Output = Page<(String, i16, i64, u64)>;

    async fn handle(self, context: &QueryContext<'_>) -> Result<Self::Output, QueryError> {
        let minutes = Utilisation::minutes().sum();
        let years = context
            .rows::<Utilisation>()
            .group_by((Utilisation::hall(), Utilisation::year()))
            .page(minutes, context.paging())
            .await?;
        Ok(years.map(|group| {
            let (hall, year) = group.key;
            (hall, year, group.values.unwrap_or(0), group.count)
        }))
    }
}

/// Groups the rows by all that they have.
#[derive(Query)]
#[query(path = "/all", paged)]
struct GroupByAll {}

impl QueryHandler for GroupByAll {
    type Output = Page<(i16, Date, String, i64)>;

    async fn handle(self, context: &QueryContext<'_>) -> Result<Self::Output, QueryError> {
        let (year, month) = (Utilisation::year(), Utilisation::month());
        let (hall, minutes) = (Utilisation::hall(), Utilisation::minutes());
        let groups = context.rows::<Utilisation>();
        let groups = groups.group_by((year, month, hall, minutes));
        let page = groups.page((), context.paging()).await?;
        Ok(page.map(|group: Group<_, ()>| group.key))
    }
}

/// Counts the halls of each year. The parts of its keys have the types of [`AddYears`] in another order.
#[derive(Query)]
#[query(path = "/halls-of-years", paged)]
struct CountHalls {}

impl QueryHandler for CountHalls {
    type Output = Page<(i16, String)>;

    async fn handle(self, context: &QueryContext<'_>) -> Result<Self::Output, QueryError> {
        let groups = context.rows::<Utilisation>();
        let groups = groups.group_by((Utilisation::year(), Utilisation::hall()));
        let page = groups.page((), context.paging()).await?;
        Ok(page.map(|group| group.key))
    }
}

/// The utilisation of halls in one database.
struct Halls(RunningReadModel);

impl Deref for Halls {
    type Target = RunningReadModel;

    fn deref(&self) -> &RunningReadModel {
        &self.0
    }
}

impl Halls {
    async fn open(server: Option<PostgresServer>) -> Self {
        let queries = [
            QueryDescriptor::of::<ShowMonth>(),
            QueryDescriptor::of::<ListMonths>(),
        ];
        Self(RunningReadModel::start::<Utilisation>(&queries, server).await)
    }

    async fn append<E: Event>(&self, subject: &str, event: E) -> EventId {
        self.0.append(subject, &[event]).await
    }

    async fn book(&self, hall: &str, starts_at: &str, minutes: i64) -> EventId {
        let event = HallBookedEvent {
            hall: hall.to_owned(),
            starts_at: starts_at.parse().unwrap(),
            minutes,
        };
        self.append("/bookings/1", event).await
    }

    async fn rows(&self) -> Vec<Utilisation> {
        let rows = self.context().rows::<Utilisation>();
        rows.all(100).await.unwrap()
    }

    /// Returns the keys that are held, and the events at which they are.
    fn held(&self) -> Vec<(String, EventId)> {
        let held = self.progress.held_keys();
        let held = held.iter().map(|one| (one.key.clone(), one.poison.id));
        let mut held: Vec<_> = held.collect();
        held.sort_unstable();
        held
    }
}

#[tokio::test]
async fn the_key_of_a_row_is_computed_from_the_event_an_element_or_the_recorded_event() {
    for location in NoteBoard::locations() {
        let halls = Halls::open(location).await;
        // The clocks of Berlin are two hours before UTC in summer, and one in winter.
        halls.book("a", "2026-03-31T21:59:59Z", 60).await;
        halls.book("a", "2026-03-31T22:00:00Z", 30).await;
        halls.book("a", "2026-01-31T22:59:59Z", 45).await;
        halls.book("a", "2026-01-31T23:00:00Z", 5).await;
        let bookings = [("2026-04-07T18:00:00Z", 90), ("2026-05-05T18:00:00Z", 90)];
        let bookings = bookings.map(|(starts_at, minutes)| SeasonBooking {
            starts_at: starts_at.parse().unwrap(),
            minutes,
        });
        let (hall, bookings) = ("a".to_owned(), bookings.into());
        halls
            .append("/seasons/1", SeasonBookedEvent { hall, bookings })
            .await;
        let hall = "b".to_owned();
        let last = halls.append("/doors/1", HallEnteredEvent { hall }).await;
        halls.await_position(last).await;
        let mut rows = halls.rows().await;
        let visited = rows.pop().unwrap();
        let of_hall_a = [
            Utilisation::new("a", "2026-03-01", 60),
            Utilisation::new("a", "2026-04-01", 120),
            Utilisation::new("a", "2026-01-01", 45),
            Utilisation::new("a", "2026-02-01", 5),
            Utilisation::new("a", "2026-05-01", 90),
        ];
        assert_eq!(rows, of_hall_a);
        assert_eq!((visited.hall.as_str(), visited.visits), ("b", 1));
        assert!(visited.month >= Date::constant(2026, 1, 1));
    }
}

#[tokio::test]
async fn rows_with_computed_keys_are_found_filtered_and_read_page_by_page() {
    for location in NoteBoard::locations() {
        let halls = Halls::open(location).await;
        let mut last = None;
        for month in ["06", "02", "04", "12", "01"] {
            let noon = format!("2026-{month}-15T12:00:00Z");
            halls.book("a", &noon, 60).await;
            last = Some(halls.book("b", &noon, 30).await);
        }
        halls.await_position(last.unwrap()).await;
        let key = [("hall", "b"), ("month", "2026-04-01")];
        let shown = run_query::<ShowMonth>(&halls.database, &key).await.unwrap();
        let month =
            json!({ "hall": "b", "minutes": 30, "month": "2026-04-01", "year": 2026, "visits": 0 });
        let shown: Json = serde_json::from_str(shown.get()).unwrap();
        assert_eq!(shown, month);

        let months = |rows: Vec<Json>| {
            let text = |row: &Json, name: &str| row[name].as_str().unwrap().to_owned();
            let month = |row: Json| text(&row, "month") + &text(&row, "hall");
            rows.into_iter().map(month).collect::<Vec<_>>()
        };
        let all = ["01", "02", "04", "06", "12"].into_iter();
        let all = all.flat_map(|month| ["a", "b"].map(|hall| format!("2026-{month}-01{hall}")));
        let all: Vec<_> = all.collect();
        for limit in [1, 3, 100] {
            let pages = read_pages::<ListMonths, Json>(&halls.database, limit).await;
            assert_eq!(months(pages), all, "pages of {limit}");
        }
        let from = [("from", "2026-06-01")];
        let late = run_query::<ListMonths>(&halls.database, &from)
            .await
            .unwrap();
        let late: Json = serde_json::from_str(late.get()).unwrap();
        let late: Vec<Json> = serde_json::from_value(late["items"].clone()).unwrap();
        assert_eq!(months(late), all[6..]);
        let wrong = run_query::<ListMonths>(&halls.database, &[("from", "June")]).await;
        let wrong = wrong.unwrap_err().to_string();
        assert!(wrong.contains("from") && wrong.contains("date"), "{wrong}");
    }
}

#[tokio::test]
async fn a_row_with_a_computed_key_is_held_alone_and_retried() {
    let _one_at_a_time = CORRECTION.lock().await;
    for location in NoteBoard::locations() {
        IS_CORRECTED.store(false, Ordering::Relaxed);
        let halls = Halls::open(location).await;
        halls.book("a", "2026-01-15T12:00:00Z", 60).await;
        let poison = halls.book("a", "2026-01-16T12:00:00Z", 13).await;
        halls.book("a", "2026-01-17T12:00:00Z", 30).await;
        let last = halls.book("a", "2026-02-01T12:00:00Z", 30).await;
        halls.await_position(last).await;
        let before = [
            Utilisation::new("a", "2026-01-01", 60),
            Utilisation::new("a", "2026-02-01", 30),
        ];
        assert_eq!(halls.rows().await, before);
        assert_eq!(halls.held(), [(r#"["a","2026-01-01"]"#.to_owned(), poison)]);

        IS_CORRECTED.store(true, Ordering::Relaxed);
        assert_eq!(halls.operate(OperatorCommand::Retry).await.released, 1);
        let after = [
            Utilisation::new("a", "2026-01-01", 103),
            Utilisation::new("a", "2026-02-01", 30),
        ];
        assert_eq!(halls.rows().await, after);
    }
}

#[tokio::test]
async fn an_event_whose_key_cannot_be_computed_holds_its_subject() {
    let _one_at_a_time = CORRECTION.lock().await;
    for location in NoteBoard::locations() {
        IS_CORRECTED.store(false, Ordering::Relaxed);
        let halls = Halls::open(location).await;
        let poison = halls.book("nowhere", "2026-01-15T12:00:00Z", 60).await;
        let next = halls.book("a", "2026-01-15T12:00:00Z", 30).await;
        let hall = "a".to_owned();
        let last = halls.append("/doors/1", HallEnteredEvent { hall }).await;
        halls.await_position(last).await;
        // The next event of the subject holds its own row.
        let subject = ("/bookings/1".to_owned(), poison);
        let row = (r#"["a","2026-01-01"]"#.to_owned(), next);
        assert_eq!(halls.held(), [subject, row]);
        assert_eq!(halls.rows().await.len(), 1);
        let held = halls.progress.held_keys();
        let mut reasons = held.iter().map(|one| &one.poison.reason);
        assert!(reasons.any(|reason| reason.contains("the hall does not exist")));

        IS_CORRECTED.store(true, Ordering::Relaxed);
        // The events before may belong to the same row, so a retry of a subject is a rebuild.
        halls.operate(OperatorCommand::Retry).await;
        eventually("the rows are rebuilt", async || {
            let rows = halls.rows().await;
            let of_halls: Vec<_> = rows.iter().map(|row| row.hall.as_str()).collect();
            (of_halls == ["nowhere", "a", "a"]).then_some(())
        })
        .await;
        // The progress is told after the rows are visible.
        eventually("nothing is held", async || {
            halls.progress.held_keys().is_empty().then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn a_rebuild_moves_rows_to_the_keys_of_the_corrected_function() {
    let _one_at_a_time = CORRECTION.lock().await;
    for location in NoteBoard::locations() {
        IS_CORRECTED.store(false, Ordering::Relaxed);
        let halls = Halls::open(location).await;
        halls.book("abroad", "2026-03-31T21:00:00Z", 60).await;
        halls.book("abroad", "2026-03-31T22:30:00Z", 30).await;
        let last = halls.book("abroad", "2026-04-01T08:00:00Z", 15).await;
        halls.await_position(last).await;
        let before = [
            Utilisation::new("abroad", "2026-03-01", 90),
            Utilisation::new("abroad", "2026-04-01", 15),
        ];
        assert_eq!(halls.rows().await, before);

        IS_CORRECTED.store(true, Ordering::Relaxed);
        halls.operate(OperatorCommand::Rebuild).await;
        let after = [
            Utilisation::new("abroad", "2026-03-01", 60),
            Utilisation::new("abroad", "2026-04-01", 45),
        ];
        eventually("the rows are rebuilt", async || {
            (halls.rows().await == after).then_some(())
        })
        .await;
    }
}

#[tokio::test]
async fn groups_of_columns_of_different_types_are_complete_on_pages_of_any_size() {
    for location in NoteBoard::locations() {
        let halls = Halls::open(location).await;
        let long = "long ".repeat(100);
        for hall in ["b", "a", &long, "ä'\""] {
            for time in ["2027-01-15", "2026-01-15", "2026-02-15", "2027-01-16"] {
                halls.book(hall, &format!("{time}T12:00:00Z"), 20).await;
            }
        }
        let last = halls.book("a", "2025-07-01T12:00:00Z", 7).await;
        halls.await_position(last).await;
        let year = |hall: &str, year: i16, minutes: i64, months: u64| {
            (hall.to_owned(), year, minutes, months)
        };
        let mut expected = vec![year("a", 2025, 7, 1)];
        for hall in ["a", "b", &long, "ä'\""] {
            expected.extend([year(hall, 2026, 40, 2), year(hall, 2027, 40, 1)]);
        }
        for limit in [1, 2, 100] {
            let pages =
                read_pages::<AddYears, (String, i16, i64, u64)>(&halls.database, limit).await;
            assert_eq!(pages, expected, "pages of {limit}");
        }
    }
}

#[tokio::test]
async fn a_group_has_up_to_four_columns_and_its_cursor_belongs_to_them() {
    for location in NoteBoard::locations() {
        let halls = Halls::open(location).await;
        halls.book("a", "2026-01-15T12:00:00Z", 60).await;
        let last = halls.book("b", "2026-01-15T12:00:00Z", 30).await;
        halls.await_position(last).await;
        let january = Date::constant(2026, 1, 1);
        let pages = read_pages::<GroupByAll, (i16, Date, String, i64)>(&halls.database, 1).await;
        let of = |hall: &str, minutes| (2026, january, hall.to_owned(), minutes);
        assert_eq!(pages, [of("a", 60), of("b", 30)]);

        let first = run_query::<GroupByAll>(&halls.database, &[("limit", "1")]).await;
        let first: Json = serde_json::from_str(first.unwrap().get()).unwrap();
        let of_all = [("cursor", first["nextCursor"].as_str().unwrap())];
        let first = run_query::<AddYears>(&halls.database, &[("limit", "1")]).await;
        let first: Json = serde_json::from_str(first.unwrap().get()).unwrap();
        let of_years = [("cursor", first["nextCursor"].as_str().unwrap())];
        for refused in [
            run_query::<AddYears>(&halls.database, &of_all).await,
            run_query::<CountHalls>(&halls.database, &of_years).await,
        ] {
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains("belongs to another query"), "{refused}");
        }
    }
}
