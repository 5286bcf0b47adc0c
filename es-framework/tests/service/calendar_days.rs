//! Days of the calendar over HTTP: in the subject, in bodies and paths, as keys, as filters, and in the document.

use es_framework::{ClientResponse, prelude::*};
use serde_json::{Value as Json, json};

use crate::running_service::RunningService;

/// Opens a court on a day.
#[derive(Command)]
#[command(subject = "/courts/{court}/days/{day}", path = "/courts/{court}/open", condition = pristine)]
struct OpenCourtCommand {
    court: String,
    day: Date,
    /// The last day on which the day can be booked.
    booked_until: Option<Date>,
}

/// A court is open on a day.
#[derive(Event)]
#[event(from = OpenCourtCommand)]
struct CourtOpenedEvent {
    court: String,
    day: Date,
    booked_until: Option<Date>,
}

#[handler]
fn open(command: OpenCourtCommand) -> CourtOpenedEvent;

/// The state of a court on a day.
#[derive(State)]
struct CourtDay {
    booked_until: Option<Date>,
}

#[evolve]
impl CourtDay {
    fn opened(event: &CourtOpenedEvent) -> Self {
        let booked_until = event.booked_until;
        Self { booked_until }
    }
}

/// Books a court on a day.
#[derive(Command)]
#[command(
    subject = "/courts/{court}/days/{day}",
    path = "/courts/{court}/days/{day}/book"
)]
struct BookCourtCommand {
    court: String,
    day: Date,
    booked_on: Date,
}

/// A court was booked for a day.
#[derive(Event)]
struct CourtBookedEvent {}

/// The day can no longer be booked.
#[derive(Debug, Rejection)]
#[rejection(conflict, name = "too-late")]
struct TooLate;

#[handler]
fn book(day: &CourtDay, command: BookCourtCommand) -> Result<CourtBookedEvent, TooLate> {
    let is_late = day
        .booked_until
        .is_some_and(|last| command.booked_on > last);
    if is_late {
        return Err(TooLate);
    }
    Ok(CourtBookedEvent {})
}

/// A court on a day.
#[derive(ReadModel)]
#[read_model(table = "court_days", subject = "/courts/{court}/days/{day}")]
struct CourtDayRow {
    #[key]
    court: String,
    #[key]
    day: Date,
    booked_until: Option<Date>,
    bookings: u32,
}

#[projection]
impl CourtDayRow {
    fn opened(event: &CourtOpenedEvent) -> Self {
        Self {
            court: event.court.clone(),
            day: event.day,
            booked_until: event.booked_until,
            bookings: 0,
        }
    }

    fn booked(&mut self, _: &CourtBookedEvent) {
        self.bookings += 1;
    }
}

/// Lists the days of a court.
#[derive(Query)]
#[query(path = "/courts/{court}/days", rows = CourtDayRow, order = descending(day), sort = [day])]
struct ListDays {
    court: String,
    #[filter(at_least(day))]
    from: Option<Date>,
    #[filter(at_most(day))]
    until: Option<Date>,
}

/// Shows a court on a day.
#[derive(Query)]
#[query(path = "/courts/{court}/days/{day}", row = CourtDayRow)]
struct ShowDay {
    court: String,
    day: Date,
}

async fn post(service: &RunningService, path: &str, body: Json) -> ClientResponse {
    service.client.post(path, &body).await.unwrap()
}

async fn get(service: &RunningService, path: &str, after: &ClientResponse) -> ClientResponse {
    let position = after.header("event-position").unwrap();
    let client = service.client.clone();
    let client = client.with_header("event-position".parse().unwrap(), position);
    client.get(path).await.unwrap()
}

#[tokio::test]
async fn a_day_is_part_of_a_subject_a_key_and_a_filter() {
    let service = RunningService::start();
    for day in ["2026-03-29", "2025-12-31", "2026-10-25"] {
        let court = json!({ "day": day, "bookedUntil": "2026-03-28" });
        let opened = post(&service, "/courts/7/open", court.clone()).await;
        assert_eq!(opened.status, 201, "{}", opened.text());
        let twice = post(&service, "/courts/7/open", court).await;
        assert_eq!(twice.status, 409, "{}", twice.text());
    }
    let subjects = service.stored_events().await;
    let subjects = subjects.iter().map(|event| event.subject.as_str());
    assert!(
        subjects
            .into_iter()
            .any(|subject| subject == "/courts/7/days/2026-03-29")
    );

    let path = "/courts/7/days/2026-03-29/book";
    let late = post(&service, path, json!({ "bookedOn": "2026-03-29" })).await;
    assert_eq!(late.status, 409, "{}", late.text());
    let booked = post(&service, path, json!({ "bookedOn": "2026-03-28" })).await;
    assert_eq!(booked.status, 204, "{}", booked.text());

    let shown = get(&service, "/courts/7/days/2026-03-29", &booked).await;
    let row =
        json!({ "court": "7", "day": "2026-03-29", "bookedUntil": "2026-03-28", "bookings": 1 });
    assert_eq!(shown.json::<Json>().unwrap(), row);
    for (query, expected) in [
        ("", &["2026-10-25", "2026-03-29", "2025-12-31"][..]),
        ("?sort=day", &["2025-12-31", "2026-03-29", "2026-10-25"]),
        ("?from=2026-03-29", &["2026-10-25", "2026-03-29"]),
        ("?until=2026-03-28", &["2025-12-31"]),
        ("?until=2026-03-29&sort=day", &["2025-12-31", "2026-03-29"]),
        ("?from=2026-01-01&until=2026-06-01", &["2026-03-29"]),
    ] {
        let listed = get(&service, &format!("/courts/7/days{query}"), &booked).await;
        let listed: Json = listed.json().unwrap();
        let days = listed["items"].as_array().unwrap().iter();
        let days: Vec<_> = days.map(|row| row["day"].as_str().unwrap()).collect();
        assert_eq!(days, expected, "{query}");
    }
}

#[tokio::test]
async fn a_day_that_is_none_is_refused_with_the_rule() {
    let service = RunningService::start();
    for day in [
        "2026-02-30",
        "29.03.2026",
        "2026-03-29T00:00:00Z",
        "-000001-01-01",
    ] {
        let refused = post(&service, "/courts/8/open", json!({ "day": day })).await;
        assert_eq!(refused.status, 422, "{day}: {}", refused.text());
        let problem: Json = refused.json().unwrap();
        assert_eq!(problem["errors"][0]["pointer"], "/day", "{problem}");
        let message = problem["errors"][0]["message"].to_string();
        assert!(message.contains("must be a date"), "{problem}");

        let path = format!("/courts/8/days?from={day}");
        let refused = service.client.get(&path).await.unwrap();
        assert_eq!(refused.status, 400, "{day}: {}", refused.text());
        let text = refused.text();
        assert!(
            text.contains("from") && text.contains("must be a date"),
            "{text}"
        );

        let path = format!("/courts/8/days/{day}");
        let missing = service.client.get(&path).await.unwrap();
        assert_eq!(missing.status, 404, "{day}: {}", missing.text());
    }
}

#[tokio::test]
async fn the_document_says_which_strings_are_days() {
    let service = RunningService::start();
    let document = service.client.get("/openapi.json").await.unwrap();
    let document: Json = document.json().unwrap();
    let parameters = &document["paths"]["/courts/{court}/days"]["get"]["parameters"];
    let parameters = parameters.as_array().unwrap().iter();
    let days = parameters.filter(|parameter| parameter["schema"]["format"] == "date");
    let days: Vec<_> = days
        .map(|parameter| parameter["name"].as_str().unwrap())
        .collect();
    assert_eq!(days, ["from", "until"]);
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let [command, row] = ["OpenCourtCommand", "CourtDayRow"].map(|name| {
        let of_name = schemas.iter().find(|(key, _)| key.ends_with(name));
        &of_name.unwrap().1["properties"]["day"]
    });
    for day in [command, row] {
        assert_eq!(
            (&day["type"], &day["format"]),
            (&json!("string"), &json!("date")),
            "{day}"
        );
    }
}
