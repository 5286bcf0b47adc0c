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

/// A copy that is set aside. It does not name the reader, because lists are kept.
#[derive(Debug, PartialEq, Value)]
pub struct CopyToFetch {
    pub title: String,
    pub copy: Uuid,
    pub until: Timestamp,
}

/// The copies of all titles that are set aside.
#[derive(Debug, PartialEq, State)]
pub struct HeldCopies {
    pub copies: BTreeMap<Uuid, HeldCopy>,
}

/// A copy that is set aside for a reader.
#[derive(Debug, PartialEq, Value)]
pub struct HeldCopy {
    pub title: String,
    pub reader: Uuid,
    pub until: Timestamp,
}

#[evolve]
impl HeldCopies {
    fn held(before: Option<Self>, event: &CopyHeldEvent) -> Self {
        let mut copies = before.map_or_else(BTreeMap::new, |held| held.copies);
        let held = HeldCopy {
            title: event.title.clone(),
            reader: event.reader,
            until: event.until,
        };
        copies.insert(event.copy, held);
        Self { copies }
    }

    fn withdrawn(&mut self, event: &HoldWithdrawnEvent) {
        self.copies.remove(&event.copy);
    }

    fn ended(&mut self, event: &ReservationEndedEvent) {
        let is_over = |copy: &HeldCopy| copy.title == event.title && copy.reader == event.reader;
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

/// Returns the day of a time in UTC, which at six in Berlin is the day there.
fn day_of(time: Timestamp) -> String {
    time.strftime("%F").to_string()
}

/// Writes the list at six o'clock, before the library opens, or later on the same day if the service did not run.
pub struct FetchListSchedule;

#[reaction]
impl FetchListSchedule {
    #[schedule(cron = "0 6 * * *", zone = "Europe/Berlin")]
    fn write(time: Timestamp) -> WriteFetchListCommand {
        let day = day_of(time);
        WriteFetchListCommand { day }
    }
}

/// Writes the list, unless there is nothing to fetch, or the day is over: its copies are on the next list.
#[handler]
fn write_fetch_list(
    #[subject("/titles", recursive)] held: Option<&HeldCopies>,
    #[subject("/fetch-lists", recursive)] listed: Option<&ListedHolds>,
    command: WriteFetchListCommand,
    clock: &Clock,
) -> Option<FetchListWrittenEvent> {
    let day = command.day;
    if day_of(clock.now()) != day {
        return None;
    }
    let listed_until = |copy| listed.and_then(|listed| listed.until.get(copy));
    let held = held?.copies.iter();
    let new = held.filter(|(copy, held)| listed_until(copy) != Some(&held.until));
    let to_fetch = new.map(|(copy, held)| CopyToFetch {
        title: held.title.clone(),
        copy: *copy,
        until: held.until,
    });
    let mut copies: Vec<_> = to_fetch.collect();
    copies.sort_by(|one, other| one.title.cmp(&other.title));
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
