//! The lists of patients and staff.

use fw::prelude::*;

use crate::{
    appointment::{
        book::AppointmentBookedEvent, cancel::AppointmentCancelledEvent,
        complete::AppointmentCompletedEvent,
    },
    doctor::DoctorRow,
};

/// An appointment that is not cancelled.
#[derive(ReadModel)]
#[read_model(table = "appointments", subject = "/appointments/{id}")]
pub struct AppointmentRow {
    /// The appointment.
    #[key]
    pub id: Uuid,
    /// The doctor.
    pub doctor: Uuid,
    /// The patient.
    #[index]
    pub patient: Uuid,
    /// The time at which it begins.
    #[index]
    pub starts_at: Timestamp,
    /// The amount that was paid, once it is over.
    pub paid_cents: Option<i64>,
}

#[projection]
impl AppointmentRow {
    fn booked(event: AppointmentBookedEvent) -> Self {
        Self {
            id: event.id,
            doctor: event.doctor,
            patient: event.patient,
            starts_at: event.starts_at,
            paid_cents: None,
        }
    }

    fn cancelled(self, _: AppointmentCancelledEvent) -> Option<Self> {
        None
    }

    fn completed(&mut self, event: AppointmentCompletedEvent) {
        self.paid_cents = Some(event.fee_cents);
    }
}

/// Lists the appointments of a patient, with the names of the doctors.
#[derive(Query)]
#[query(path = "/patients/{patient}/appointments", paged)]
#[query(role = ["patient", "staff"], owner = patient, owner_except = "staff")]
pub struct AppointmentsOfPatient {
    /// The patient.
    pub patient: Uuid,
}

/// An appointment as a patient sees it.
#[derive(Debug, PartialEq, Value)]
pub struct PatientsAppointment {
    /// The appointment.
    pub id: Uuid,
    /// The name of the doctor.
    pub doctor_name: Option<String>,
    /// The time at which it begins.
    pub starts_at: Timestamp,
}

impl QueryHandler for AppointmentsOfPatient {
    type Output = Page<PatientsAppointment>;

    const READ_MODELS: &'static [&'static str] = &[AppointmentRow::TABLE, DoctorRow::TABLE];

    async fn handle(self, context: &QueryContext<'_>) -> Result<Self::Output, QueryError> {
        let appointments = context
            .rows::<AppointmentRow>()
            .filter(AppointmentRow::patient().eq(&self.patient))
            .sort(AppointmentRow::starts_at())
            .page(context.paging())
            .await?;
        let combine = |row: AppointmentRow, doctor: Option<&DoctorRow>| PatientsAppointment {
            id: row.id,
            doctor_name: doctor.map(|doctor| doctor.name.clone()),
            starts_at: row.starts_at,
        };
        context
            .join(appointments, |row| Some(&row.doctor), combine)
            .await
    }
}

/// Shows what each doctor has earned.
#[derive(Query)]
#[query(path = "/revenue", paged, role = "staff")]
pub struct ShowRevenue {}

/// The revenue of one doctor.
#[derive(Debug, PartialEq, Value)]
pub struct DoctorsRevenue {
    /// The doctor.
    pub doctor: Uuid,
    /// The number of appointments that were booked and not cancelled.
    pub appointments: u64,
    /// The sum of what was paid.
    pub paid_cents: i64,
}

impl QueryHandler for ShowRevenue {
    type Output = Page<DoctorsRevenue>;

    const READ_MODELS: &'static [&'static str] = &[AppointmentRow::TABLE];

    async fn handle(self, context: &QueryContext<'_>) -> Result<Self::Output, QueryError> {
        let groups = context
            .rows::<AppointmentRow>()
            .group_by([AppointmentRow::doctor()])
            .page(AppointmentRow::paid_cents().sum(), context.paging())
            .await?;
        Ok(groups.map(|group| {
            let [doctor] = group.key;
            DoctorsRevenue {
                doctor,
                appointments: group.count,
                paid_cents: group.values.unwrap_or(0),
            }
        }))
    }
}
