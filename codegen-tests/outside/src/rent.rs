//! The rent of the doctors: each of them gets an invoice for each month.

use std::collections::BTreeSet;

use fw::{jiff::tz::TimeZone, prelude::*};

use crate::doctor::DoctorAddedEvent;

/// The rent of a month without tax.
const NET_CENTS: i64 = 123_450;
/// The tax in hundredths of a per cent.
const VAT_BASIS_POINTS: i64 = 1_900;

/// Invoices the rent of a month.
#[derive(Debug, PartialEq, Command)]
#[command(subject = "/doctors/{doctor}/rents/{month}", condition = pristine, internal)]
pub struct InvoiceRentCommand {
    /// The doctor.
    pub doctor: Uuid,
    /// The first day of the month.
    pub month: Date,
}

/// The rent of a month was invoiced.
#[derive(Debug, PartialEq, Event)]
pub struct RentInvoicedEvent {
    /// The doctor.
    pub doctor: Uuid,
    /// The first day of the month.
    pub month: Date,
    /// The amount without tax.
    pub net_cents: i64,
    /// The tax.
    pub vat_cents: i64,
}

#[handler]
fn invoice(command: InvoiceRentCommand) -> RentInvoicedEvent {
    let InvoiceRentCommand { doctor, month } = command;
    RentInvoicedEvent {
        doctor,
        month,
        net_cents: NET_CENTS,
        vat_cents: vat(NET_CENTS, VAT_BASIS_POINTS),
    }
}

/// Returns the tax on an amount, rounded half up.
const fn vat(net_cents: i64, basis_points: i64) -> i64 {
    (net_cents * basis_points + 5_000) / 10_000
}

/// The doctors that work here.
#[derive(Default, State)]
pub struct Doctors {
    ids: BTreeSet<Uuid>,
}

#[evolve]
impl Doctors {
    fn added(before: Option<Self>, event: &DoctorAddedEvent) -> Self {
        let mut doctors = before.unwrap_or_default();
        doctors.ids.insert(event.id);
        doctors
    }
}

/// Invoices the rent of every doctor at the beginning of each month.
pub struct MonthlyRent;

#[reaction]
impl MonthlyRent {
    #[schedule(cron = "0 6 1 * *", zone = "UTC", missed = all)]
    fn invoice(
        time: Timestamp,
        #[subject("/doctors", recursive)] doctors: Option<&Doctors>,
    ) -> Vec<InvoiceRentCommand> {
        let month = time.to_zoned(TimeZone::UTC).date();
        let ids = doctors.map_or_else(BTreeSet::new, |doctors| doctors.ids.clone());
        let invoice = |doctor| InvoiceRentCommand { doctor, month };
        ids.into_iter().map(invoice).collect()
    }
}
