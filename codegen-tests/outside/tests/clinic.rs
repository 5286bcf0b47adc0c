//! The rules of the clinic, without a network.

use std::sync::Arc;

use fw::{Settings, prelude::*, store::memory::MemoryStore, testing::given};
use outside::{
    appointment::{
        AppointmentError,
        book::{AppointmentBookedEvent, BookAppointmentCommand, SlotTakenEvent},
        cancel::{AppointmentCancelledEvent, CancelAppointmentCommand, SlotFreedEvent},
        complete::{AppointmentCompletedEvent, CompleteAppointmentCommand},
    },
    doctor::{AddDoctorCommand, DoctorAddedEvent},
    insurer::InsurerClient,
    patient::{PatientRegisteredEvent, RegisterPatientCommand},
    rent::{InvoiceRentCommand, MonthlyRent, RentInvoicedEvent},
    room::{CoursePlannedEvent, ReserveRoomCommand, RoomIsTaken, RoomReservedEvent},
    schedule::{AppointmentsOfPatient, DoctorsRevenue, PatientsAppointment, ShowRevenue},
    slots::{FindTakenSlot, ListTakenSlots, TakenSlot},
    utilisation::{DoctorMonth, ShowUtilisation},
};
use serde_json::Value as Json;

const ID: Uuid = Uuid::from_u128(1);
const DOCTOR: Uuid = Uuid::from_u128(2);
const ADA: Uuid = Uuid::from_u128(3);
const BOB: Uuid = Uuid::from_u128(4);

fn noon() -> Timestamp {
    "2026-07-01T12:00:00Z".parse().unwrap()
}

fn on(kind: &str, id: Uuid) -> String {
    format!("/{kind}/{id}")
}

fn added() -> DoctorAddedEvent {
    DoctorAddedEvent {
        id: DOCTOR,
        name: "Dr. Grace".into(),
        fee_cents: 1_250,
    }
}

fn registered(id: Uuid, email: &str) -> PatientRegisteredEvent {
    PatientRegisteredEvent {
        id,
        name: "Ada".into(),
        email: email.into(),
    }
}

fn book() -> BookAppointmentCommand {
    BookAppointmentCommand {
        id: ID,
        doctor: DOCTOR,
        patient: ADA,
        starts_at: noon(),
    }
}

fn booked() -> AppointmentBookedEvent {
    AppointmentBookedEvent {
        id: ID,
        doctor: DOCTOR,
        patient: ADA,
        starts_at: noon(),
        fee_cents: 1_250,
    }
}

fn patient(id: Uuid) -> Caller {
    Caller::authenticated("a patient", ["patient"]).with_owner_id(&id.to_string())
}

fn staff() -> Caller {
    Caller::authenticated("the desk", ["staff"])
}

#[test]
fn a_doctor_has_one_patient_at_a_time() {
    let given = || {
        given()
            .event_on(&on("doctors", DOCTOR), added())
            .event_on(&on("patients", ADA), registered(ADA, "ada@example.com"))
    };
    let taken = || SlotTakenEvent {
        doctor: DOCTOR,
        starts_at: noon(),
    };
    given().when(book()).then((booked(), taken()));
    let busy = AppointmentError::DoctorBusy { starts_at: noon() };
    given().event(taken()).when(book()).then_rejected(&busy);
    let freed = SlotFreedEvent {
        doctor: DOCTOR,
        starts_at: noon(),
    };
    given()
        .event(taken())
        .event(freed)
        .when(book())
        .then_accepted();
}

#[test]
fn patients_book_and_cancel_for_themselves() {
    given().caller(patient(BOB)).when(book()).then_not_owner();
    let cancel = || CancelAppointmentCommand { id: ID };
    let freed = SlotFreedEvent {
        doctor: DOCTOR,
        starts_at: noon(),
    };
    given()
        .event(booked())
        .caller(patient(ADA))
        .when(cancel())
        .then((AppointmentCancelledEvent { id: ID }, freed));
    given()
        .event(booked())
        .caller(patient(BOB))
        .when(cancel())
        .then_rejected(&AppointmentError::SomebodyElses);
}

#[test]
fn an_address_belongs_to_one_patient() {
    given()
        .event_on(&on("patients", ADA), registered(ADA, "ada@example.com"))
        .when(RegisterPatientCommand {
            id: BOB,
            name: "Bob".into(),
            email: "ADA@example.com ".into(),
        })
        .then_not_unique("patient-email");
}

#[test]
fn an_event_of_each_age_is_read_as_todays() {
    let name = "org.outside.clinic.AppointmentCompletedEvent";
    let old = [
        (
            name.to_owned(),
            format!(r#"{{"id":"{ID}","price":"12.50"}}"#),
        ),
        (
            format!("{name}.v2"),
            format!(r#"{{"id":"{ID}","feeCents":1250}}"#),
        ),
        (
            format!("{name}.v3"),
            format!(r#"{{"id":"{ID}","feeCents":1250,"minutes":20}}"#),
        ),
    ];
    for (event_type, json) in old {
        let revenue = given()
            .event_on(&on("appointments", ID), booked())
            .event_json(&on("appointments", ID), &event_type, &json)
            .query(ShowRevenue {})
            .unwrap();
        let expected = DoctorsRevenue {
            doctor: DOCTOR,
            appointments: 1,
            paid_cents: 1_250,
        };
        assert_eq!(revenue.items, [expected], "{event_type}");
    }
}

#[test]
fn a_patient_sees_the_names_of_the_doctors() {
    let own = given()
        .event_on(&on("doctors", DOCTOR), added())
        .event_on(&on("appointments", ID), booked())
        .caller(patient(ADA))
        .query(AppointmentsOfPatient { patient: ADA })
        .unwrap();
    let doctor_name = Some("Dr. Grace".into());
    assert_eq!(
        own.items,
        [PatientsAppointment {
            id: ID,
            doctor_name,
            starts_at: noon()
        }]
    );
}

#[test]
fn a_slot_is_taken_until_it_is_freed() {
    let (doctor, starts_at) = (DOCTOR, noon());
    let taken = || given().event(SlotTakenEvent { doctor, starts_at });
    let find = || FindTakenSlot { doctor, starts_at };
    let slot = TakenSlot { doctor, starts_at };
    assert_eq!(taken().query(find()).unwrap(), slot);
    let everybody = taken().caller(Caller::Anonymous);
    let listed = everybody.query(ListTakenSlots { doctor }).unwrap();
    assert_eq!(listed.items, [slot]);
    let freed = taken().event(SlotFreedEvent { doctor, starts_at });
    assert!(matches!(freed.query(find()), Err(QueryError::NotFound)));
}

#[test]
fn the_appointments_of_a_doctor_are_counted_by_month() {
    let taken = |starts_at: &str| SlotTakenEvent {
        doctor: DOCTOR,
        starts_at: starts_at.parse().unwrap(),
    };
    let freed = SlotFreedEvent {
        doctor: DOCTOR,
        starts_at: noon(),
    };
    let month = "2026-07-01".parse().unwrap();
    let july = given()
        .event(taken("2026-06-30T23:00:00Z"))
        .event(taken("2026-07-01T12:00:00Z"))
        .event(taken("2026-07-31T23:00:00Z"))
        .event(freed)
        .caller(staff())
        .query(ShowUtilisation { month })
        .unwrap();
    let expected = DoctorMonth {
        doctor: DOCTOR,
        month,
        appointments: 1,
    };
    assert_eq!(july.items, [expected]);
}

#[test]
fn the_rent_of_each_doctor_is_invoiced_each_month() {
    let invoice = |month: &str| InvoiceRentCommand {
        doctor: DOCTOR,
        month: month.parse().unwrap(),
    };
    let february = || invoice("2026-02-01");
    given()
        .at("2026-01-15T12:00:00Z")
        .event_on(&on("doctors", DOCTOR), added())
        .advance("1080h")
        .reacts::<MonthlyRent>()
        .then_sent((february(), invoice("2026-03-01")));
    given().when(february()).then(RentInvoicedEvent {
        doctor: DOCTOR,
        month: february().month,
        net_cents: 123_450,
        vat_cents: 23_456,
    });
}

#[test]
fn a_course_has_a_room_on_the_same_day_of_each_week_or_not_at_all() {
    let day = |day: &str| day.parse().unwrap();
    let reserved = |on: &str, course| RoomReservedEvent {
        room: 3,
        day: day(on),
        course,
    };
    let reserve = || ReserveRoomCommand {
        id: ID,
        room: 3,
        first: day("2026-02-23"),
        weeks: 2,
    };
    let both = vec![reserved("2026-02-23", ID), reserved("2026-03-02", ID)];
    given()
        .event(reserved("2026-03-09", DOCTOR))
        .when(reserve())
        .then((CoursePlannedEvent { id: ID }, both));
    let taken = RoomIsTaken {
        day: day("2026-03-02"),
    };
    given()
        .event(reserved("2026-03-02", DOCTOR))
        .when(reserve())
        .then_rejected(&taken);
}

#[test]
fn an_appointment_is_completed_once() {
    let complete = || CompleteAppointmentCommand {
        id: ID,
        minutes: 20,
    };
    let completed = || AppointmentCompletedEvent {
        id: ID,
        fee_cents: 1_250,
        minutes: Some(20),
    };
    given()
        .with(InsurerClient::new())
        .event(booked())
        .when(complete())
        .then(completed());
    given()
        .event(booked())
        .event(completed())
        .when(complete())
        .then_rejected(&AppointmentError::AppointmentOver);
}

#[tokio::test]
async fn roles_belong_to_routes() {
    let clinic = outside::clinic()
        .settings(Settings::default())
        .event_store(Arc::new(MemoryStore::new()))
        .build()
        .await
        .unwrap();
    let add = AddDoctorCommand {
        id: DOCTOR,
        name: "Dr. Grace".into(),
        fee_cents: 1_250,
    };
    for (caller, status) in [(patient(ADA), 403), (staff(), 201)] {
        let client = clinic.client().with_caller(&caller);
        let added = client.post(AddDoctorCommand::PATH, &add).await.unwrap();
        assert_eq!(added.status, status, "{}", added.text());
    }
    let revenue = clinic
        .client()
        .with_caller(&staff())
        .get("/revenue")
        .await
        .unwrap();
    let page: Json = serde_json::from_str(&revenue.text()).unwrap();
    assert_eq!(page["items"], Json::Array(Vec::new()));
    clinic.shutdown().await;
}

#[test]
fn stored_events_stay_readable() {
    fw::schema_lock!();
}
