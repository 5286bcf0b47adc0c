//! How busy the doctors are: the appointments of each of them in each month.

use fw::{jiff::tz::TimeZone, prelude::*};

use crate::appointment::{book::SlotTakenEvent, cancel::SlotFreedEvent};

/// The appointments of a doctor in a month.
#[derive(Debug, PartialEq, ReadModel)]
#[read_model(table = "doctor_months")]
pub struct DoctorMonth {
    /// The doctor.
    #[key]
    pub doctor: Uuid,
    /// The first day of the month.
    #[key]
    pub month: Date,
    /// The number of appointments.
    pub appointments: i64,
}

/// Returns the first day of the month of a time, at the clinic.
fn month_of(time: Timestamp) -> Date {
    // The clinic is in Iceland, where the time is UTC all year.
    time.to_zoned(TimeZone::UTC).date().first_of_month()
}

fn month_of_taken(event: &SlotTakenEvent) -> (Uuid, Date) {
    (event.doctor, month_of(event.starts_at))
}

fn month_of_freed(event: &SlotFreedEvent) -> (Uuid, Date) {
    (event.doctor, month_of(event.starts_at))
}

#[projection]
impl DoctorMonth {
    #[key(with = month_of_taken)]
    fn taken(before: Option<Self>, event: &SlotTakenEvent) -> Option<Self> {
        let appointments = before.map_or(0, |before| before.appointments);
        let (doctor, month) = month_of_taken(event);
        Some(Self {
            doctor,
            month,
            appointments: appointments.saturating_add(1),
        })
    }

    #[key(with = month_of_freed)]
    fn freed(&mut self, _: SlotFreedEvent) {
        self.appointments = self.appointments.saturating_sub(1);
    }
}

/// Lists how many appointments each doctor has in a month.
#[derive(Query)]
#[query(path = "/utilisation/{month}", rows = DoctorMonth, order = doctor, role = "staff")]
pub struct ShowUtilisation {
    /// The first day of the month.
    pub month: Date,
}
