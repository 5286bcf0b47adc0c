//! An application with one declaration of each kind compiles without a warning of clippy, its tests fail
//! where somebody has to decide, and it serves clients.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::Value;

use crate::{
    running_service::RunningService,
    scratch_folder::{empty_folder, es, new_application},
    shared_build::{explain, run_cargo, share_build},
};

/// The first command of the application, without its fields.
const FIRST: &str =
    "--command BookAppointment --event AppointmentBooked --subject /appointments/{id}";

/// The types of fields, with their JSON.
const TYPES: [(&str, &str); 9] = [
    ("Uuid", r#""0190a1b2-0000-7000-8000-000000000001""#),
    ("String", r#""text""#),
    ("bool", "true"),
    ("i32", "-1"),
    ("i64", "-1"),
    ("u32", "1"),
    ("f64", "0.5"),
    ("Timestamp", r#""2026-07-29T12:00:00Z""#),
    ("Date", r#""2026-07-29""#),
];

/// Events that a person has laid out in other ways than the templates do.
const LAID_OUT: &str = "use es_framework::prelude::*;

#[derive(Event)] #[event(subject = \"/rooms/{id}\")] pub struct RoomOpenedEvent { pub id: es_framework::prelude::Uuid, pub(crate) names: Vec<String> }

#[derive(Event)]
#[event(subject = \"/rooms/{id}\")]
pub struct SeatsReservedEvent { pub id: Uuid, pub seats: Vec<u32>, pub names: Vec<String>, pub guest: String }

#[derive(Event)]
#[event(subject = \"/rooms/{id}\")]
pub struct SeatsFreedEvent { pub id: Uuid, pub seats: Vec<u32> }

#[derive(Event)]
#[event(subject = \"/doctors/{doctor}/days/{day}\")]
pub struct DayPlannedEvent { pub doctor: Uuid, pub day: String, pub minutes: u32 }

pub mod later {
    use super::*;
    #[derive(Event)]
    #[event(subject = \"/rooms/{id}\")]
    pub struct RoomClosedEvent
    {
        #[serde(default)] pub reason: Option<
            String>,
        pub id: Uuid }
}
";

const ALL: [&str; 3] = ["TYPE", "Option<TYPE>", "Vec<TYPE>"];

/// Returns the JSON of the first command.
fn appointment() -> String {
    let mut members = vec![format!(r#""id":"{ID}""#)];
    for (name, json) in TYPES {
        let name = name[..1].to_uppercase() + &name[1..].to_lowercase();
        members.push(format!(r#""t{name}":{json},"v{name}":[{json}]"#));
    }
    format!("{{{}}}", members.join(","))
}

/// Returns the locked schema of the first event.
fn locked_schema(folder: &Path) -> Value {
    let lock = std::fs::read_to_string(folder.join("events.lock.json")).unwrap();
    let lock: Value = serde_json::from_str(&lock).unwrap();
    lock["events"]["com.example.my_clinic.AppointmentBookedEvent"].clone()
}

/// Returns a field of each type, alone and in each container.
fn fields(containers: &[&str]) -> String {
    let mut fields = String::new();
    for container in containers {
        for (name, _) in TYPES {
            let field = container.replace("TYPE", name);
            let prefix = container.get(..1).unwrap().to_lowercase();
            let name = name.to_lowercase();
            fields.push_str(&format!(" --field {prefix}_{name}:{field}"));
        }
    }
    fields
}

/// Declarations of each kind with fields of each type, with the messages of their tests.
fn declarations() -> Vec<(String, &'static str)> {
    [write_side(), read_side(), reactions()].concat()
}

fn write_side() -> Vec<(String, &'static str)> {
    let all = fields(&ALL);
    vec![
        (
            format!("command CancelAppointment --subject /appointments/{{id}} --event AppointmentCancelled{all}"),
            "decide when CancelAppointmentCommand is rejected, and write a scenario for each reason",
        ),
        (
            format!("event VisitRecorded --subject /patients/{{patient}} --field patient:Uuid{all}"),
            "decide which handler records VisitRecordedEvent, and write its scenario",
        ),
        (
            format!("state Appointment --event AppointmentCancelled --event AppointmentBooked{all} --field count:u32"),
            "decide what each event changes in Appointment, and compare it with `then_state`",
        ),
        (
            "event Paid --subject /invoices/{id} --field paid:bool".to_owned(),
            "decide which handler records PaidEvent, and write its scenario",
        ),
        (
            "event Unpaid --subject /invoices/{id}".to_owned(),
            "decide which handler records UnpaidEvent, and write its scenario",
        ),
        (
            "state Room --event laid_out::RoomOpened --event crate::laid_out::later::RoomClosed --field names:Vec<String>".to_owned(),
            "decide what each event changes in Room, and compare it with `then_state`",
        ),
        (
            "command RegisterPatient --subject /patients/{id} --event PatientRegistered --field email:String --field card:Option<u32> --unique email --unique card".to_owned(),
            "decide when RegisterPatientCommand is rejected, and write a scenario for each reason",
        ),
    ]
}

fn read_side() -> Vec<(String, &'static str)> {
    let all = fields(&ALL);
    let filters = fields(&["TYPE", "Option<TYPE>"]);
    vec![
        (
            format!("read-model Booking --subject /appointments/{{id}} --event AppointmentCancelled --event AppointmentBooked{all} --field count:u32"),
            "decide what each event changes in Booking, and compare `rows`",
        ),
        (
            "read-model RoomUse --subject /rooms/{id} --event RoomClosed --event RoomOpened --field reason:Option<String>".to_owned(),
            "decide what each event changes in RoomUse, and compare `rows`",
        ),
        (
            "read-model DoctorsDay --subject /doctors/{doctor}/days/{day} --event DayPlanned --field doctor:Uuid --field day:String --field minutes:u32".to_owned(),
            "decide what each event changes in DoctorsDay, and compare `rows`",
        ),
        (
            "read-model SeatUse --each seats --event SeatsReserved --event SeatsFreed --field seat:u32 --field guest:String".to_owned(),
            "decide what each event changes in SeatUse, and compare `rows`",
        ),
        (
            "read-model Guest --each names --event SeatsReserved --field name:String --field count:u32".to_owned(),
            "decide what each event changes in Guest, and compare `rows`",
        ),
        (
            "query FindDay --read-model DoctorsDay --path /doctors/{doctor}/days/{day} --field doctor:Uuid --field day:String".to_owned(),
            "decide which rows FindDay returns, and compare them with `query`",
        ),
        (
            "read-model Invoice --subject /invoices/{id} --event Paid --event Unpaid --field paid:bool".to_owned(),
            "decide what each event changes in Invoice, and compare `rows`",
        ),
        (
            format!("query SearchBookings --read-model Booking --path /bookings/search --handler{filters}"),
            "decide which rows SearchBookings returns, and compare them with `query`",
        ),
        (
            "query ListDays --read-model DoctorsDay --path /days --handler".to_owned(),
            "decide which rows ListDays returns, and compare them with `query`",
        ),
        (
            "query Context --read-model DoctorsDay --path /context --handler".to_owned(),
            "decide which rows Context returns, and compare them with `query`",
        ),
        (
            format!("query BrowseBookings --read-model Booking --path /bookings{filters}"),
            "decide which rows BrowseBookings returns, and compare them with `query`",
        ),
        (
            "query BrowseRooms --read-model RoomUse --path /rooms --field reason:String".to_owned(),
            "decide which rows BrowseRooms returns, and compare them with `query`",
        ),
        (
            "query FindBooking --read-model Booking --path /bookings/{id}".to_owned(),
            "decide which rows FindBooking returns, and compare them with `query`",
        ),
    ]
}

fn reactions() -> Vec<(String, &'static str)> {
    vec![
        (
            "reaction Cancellation --event RoomClosed --command CancelAppointment".to_owned(),
            "decide when Cancellation sends CancelAppointmentCommand, and compare it with `then_sent`",
        ),
        (
            "reaction Confirmation --event AppointmentBooked".to_owned(),
            "decide which system Confirmation calls, and pass the key on as an idempotency key",
        ),
        (
            "schedule NightlyCancellation --command CancelAppointment --zone Europe/Berlin --cron @daily".to_owned(),
            "decide when NightlyCancellation sends CancelAppointmentCommand, and compare it with `advance` and `then_sent`",
        ),
        (
            format!("public-event RoomLocked --field id:Uuid{}", fields(&ALL)),
            "decide after which event RoomLocked is published, and compare it with `then_published`",
        ),
        (
            "publication RoomGone --event RoomClosed --public-event RoomLocked".to_owned(),
            "decide when room_gone publishes RoomLocked, and compare it with `then_published`",
        ),
    ]
}

/// The tests of `cargo es new`, and those of added commands that pass.
const NUM_PASSED: usize = 7;

const ID: &str = "0190a1b2-0000-7000-8000-000000000001";

fn write_application() -> PathBuf {
    let first = format!("{FIRST}{}", fields(&ALL));
    let folder = new_application(&empty_folder("generated"), "my-clinic", &first);
    std::fs::write(folder.join("src/laid_out.rs"), LAID_OUT).unwrap();
    let main = folder.join("src/main.rs");
    let text = std::fs::read_to_string(&main).unwrap();
    std::fs::write(
        main,
        text.replace("#[cfg(test)]", "mod laid_out;\n#[cfg(test)]"),
    )
    .unwrap();
    for (arguments, _) in declarations() {
        es(&folder, &format!("add {arguments}"));
    }
    share_build(&folder);
    folder
}

/// Sends a request and returns the response.
fn send(service: &RunningService, request: &str, body: &str) -> String {
    let mut socket = TcpStream::connect(&service.address).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(60)))
        .unwrap();
    let length = body.len();
    let request = format!(
        "{request} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\nevent-position: 0\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    socket.write_all(request.as_bytes()).unwrap();
    let mut response = String::new();
    socket.read_to_string(&mut response).unwrap();
    response
}

/// Declarations of each kind, with two lines of their explanation.
const EXPLANATIONS: [(&str, [&str; 2]); 9] = [
    (
        "RoomLocked",
        [
            "  event type    com.example.my_clinic.RoomLocked.v1",
            "  publishes     com.example.my_clinic.RoomClosedEvent",
        ],
    ),
    (
        "BookAppointmentCommand",
        [
            "Command at src/book_appointment.rs:8",
            "  route         POST /appointments/book",
        ],
    ),
    (
        "AppointmentBookedEvent",
        [
            "  event type    com.example.my_clinic.AppointmentBookedEvent",
            "  recorded by   BookAppointmentCommand",
        ],
    ),
    (
        "Booking",
        [
            "  table         bookings",
            "  answers       BrowseBookings, FindBooking, SearchBookings",
        ],
    ),
    (
        "RegisterPatientCommand",
        [
            "  route         POST /patients/register",
            "  records       com.example.my_clinic.PatientRegisteredEvent",
        ],
    ),
    (
        "FindBooking",
        [
            "  route         GET /bookings/{id}",
            "  reads         bookings",
        ],
    ),
    (
        "Cancellation",
        [
            "Reaction at src/cancellation.rs:",
            "  sends         CancelAppointmentCommand",
        ],
    ),
    (
        "NightlyCancellation",
        [
            "  rule          The schedule of `cancel_appointment` is `@daily` in the zone Europe/Berlin.",
            "  sends         CancelAppointmentCommand",
        ],
    ),
    (
        "com.example.my_clinic.RoomClosedEvent",
        [
            "  subject       /rooms/{id}",
            "  starts        Cancellation",
        ],
    ),
];

/// Each kind of declaration is explained: with what it is connected, and with a derived name.
fn check_explanations(folder: &Path) {
    for (name, lines) in EXPLANATIONS {
        let output = explain(folder, name);
        let printed = String::from_utf8(output.stdout).unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.success() && errors.is_empty(),
            "{name}: {errors}"
        );
        for line in lines {
            assert!(printed.contains(line), "{name}: {printed}");
        }
    }
    // No handler takes this state yet.
    let output = explain(folder, "Appointment");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && errors.contains("state that a handler takes"),
        "{errors}"
    );
}

#[test]
fn a_generated_application_compiles_fails_where_it_has_to_and_runs() {
    let folder = write_application();

    let written = locked_schema(&folder);
    let output = run_cargo(&folder, &["test", "--no-fail-fast"]);
    let printed = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        !errors.contains("warning") && !errors.contains("error["),
        "{errors}"
    );
    assert_eq!(locked_schema(&folder), written);
    let added = declarations();
    for (_, message) in &added {
        assert!(
            printed.contains(message),
            "{message} is not in {printed}{errors}"
        );
    }
    let result = format!("FAILED. {NUM_PASSED} passed; {} failed;", added.len());
    assert!(printed.contains(&result), "{printed}{errors}");

    let output = run_cargo(&folder, &["build"]);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && errors.is_empty(), "{errors}");
    check_explanations(&folder);
    let service = RunningService::start(&folder, "my-clinic");
    let appointment = appointment();
    let response = send(&service, "POST /appointments/book", &appointment);
    assert!(response.starts_with("HTTP/1.1 201 Created"), "{response}");
    let response = send(&service, "POST /appointments/book", &appointment);
    assert!(response.starts_with("HTTP/1.1 409 Conflict"), "{response}");
    let response = send(&service, "GET /rooms?reason=fire", "");
    assert!(
        response.starts_with("HTTP/1.1 200 OK") && response.contains("[]"),
        "{response}"
    );
    let response = send(&service, &format!("GET /bookings/{ID}"), "");
    assert!(response.starts_with("HTTP/1.1 404 Not Found"), "{response}");
}
