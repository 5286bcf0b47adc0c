//! Each morning, staff get the list of the copies to fetch from the desk of returns.

use std::collections::BTreeMap;

use es_framework::prelude::*;

use super::{CopyHeldEvent, HoldWithdrawnEvent, ReservationEndedEvent};

/// Writes the list of the copies that were set aside since the last list.
#[derive(Debug, PartialEq, Command)]
#[command(subject = "/fetch-lists/{day}", internal)]
pub struct WriteFetchListCommand {
    pub day: String,
}

/// The list of a day was written.
#[derive(Debug, PartialEq, Event)]
#[event(subject = "/fetch-lists/{day}")]
pub struct FetchListWrittenEvent {
    pub day: String,
    pub copies: Vec<CopyToFetch>,
}

/// A copy that is set aside for a reader.
#[derive(Debug, Clone, PartialEq, Value)]
pub struct CopyToFetch {
    pub title: String,
    pub copy: Uuid,
    pub reader: Uuid,
    pub until: Timestamp,
}

/// The copies of all titles that are set aside.
#[derive(Debug, PartialEq, State)]
pub struct HeldCopies {
    pub copies: BTreeMap<Uuid, CopyToFetch>,
}

#[evolve]
impl HeldCopies {
    fn held(before: Option<Self>, event: &CopyHeldEvent) -> Self {
        let mut copies = before.map_or_else(BTreeMap::new, |held| held.copies);
        let to_fetch = CopyToFetch {
            title: event.title.clone(),
            copy: event.copy,
            reader: event.reader,
            until: event.until,
        };
        copies.insert(event.copy, to_fetch);
        Self { copies }
    }

    fn withdrawn(&mut self, event: &HoldWithdrawnEvent) {
        self.copies.remove(&event.copy);
    }

    fn ended(&mut self, event: &ReservationEndedEvent) {
        let is_over = |copy: &CopyToFetch| copy.title == event.title && copy.reader == event.reader;
        self.copies.retain(|_, copy| !is_over(copy));
    }
}

/// The last hold of each copy that was on a list. Its end tells it from a later hold of the copy.
#[derive(Debug, PartialEq, State)]
pub struct ListedHolds {
    pub until: BTreeMap<Uuid, Timestamp>,
}

#[evolve]
impl ListedHolds {
    fn written(before: Option<Self>, event: &FetchListWrittenEvent) -> Self {
        let mut until = before.map_or_else(BTreeMap::new, |listed| listed.until);
        until.extend(event.copies.iter().map(|copy| (copy.copy, copy.until)));
        Self { until }
    }
}

/// Writes the list at six o'clock, before the library opens.
pub struct FetchListSchedule;

#[reaction]
impl FetchListSchedule {
    #[schedule(cron = "0 6 * * *", zone = "Europe/Berlin")]
    fn write(time: Timestamp) -> WriteFetchListCommand {
        let day = time.strftime("%F").to_string();
        WriteFetchListCommand { day }
    }
}

/// Writes the list, unless there is nothing to fetch.
#[handler]
fn write_fetch_list(
    #[subject("/titles", recursive)] held: Option<&HeldCopies>,
    #[subject("/fetch-lists", recursive)] listed: Option<&ListedHolds>,
    command: WriteFetchListCommand,
) -> Option<FetchListWrittenEvent> {
    let is_listed = |copy: &CopyToFetch| {
        let last = listed.and_then(|listed| listed.until.get(&copy.copy));
        last == Some(&copy.until)
    };
    let copies = held?.copies.values().filter(|copy| !is_listed(copy));
    let mut copies: Vec<_> = copies.cloned().collect();
    copies.sort_by(|one, other| one.title.cmp(&other.title));
    let day = command.day;
    (!copies.is_empty()).then_some(FetchListWrittenEvent { day, copies })
}

/// The copies to fetch on a day.
#[derive(Debug, PartialEq, ReadModel)]
#[read_model(table = "fetch_lists", subject = "/fetch-lists/{day}")]
pub struct FetchList {
    #[key]
    pub day: String,
    pub copies: Vec<CopyToFetch>,
}

#[projection]
impl FetchList {
    fn written(event: FetchListWrittenEvent) -> Self {
        let FetchListWrittenEvent { day, copies } = event;
        Self { day, copies }
    }
}

/// Shows the copies to fetch on a day, such as `2026-07-01`.
#[derive(Query)]
#[query(path = "/fetch-lists/{day}", row = FetchList, role = "staff")]
pub struct ShowFetchList {
    pub day: String,
}
