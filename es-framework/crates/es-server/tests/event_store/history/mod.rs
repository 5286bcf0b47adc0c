//! Checks if one order of all operations explains the results that clients of an event store received.
//!
//! The log is the order of the writes. The check looks for a moment for each read and each rejected
//! write. The moment lies between two writes. It lies after every operation that ended before this one
//! began, and before every operation that began after this one ended. The earliest such moment is
//! always the best choice, so the search never backtracks.

#[cfg(test)]
mod tests;

use std::ops::Range;

use es_event::{EventId, Subject};
use es_store::Precondition;

/// An event as a client sees it: the part of a write that its data names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedEvent {
    pub id: u64,
    pub subject: Subject,
    /// The number of the write in the history.
    pub write: usize,
    /// The index of the event in its write.
    pub part: usize,
}

/// One request, between two ticks of a clock that all clients share.
#[derive(Debug, Clone)]
pub struct Operation {
    pub invoked: u64,
    pub returned: u64,
    pub action: Action,
}

#[derive(Debug, Clone)]
pub enum Action {
    Write {
        subjects: Vec<Subject>,
        preconditions: Vec<Precondition>,
        /// The events as the store acknowledged them. `None` means that a precondition did not hold.
        acknowledged: Option<Vec<ObservedEvent>>,
    },
    Read {
        base: Subject,
        recursive: bool,
        seen: Vec<ObservedEvent>,
    },
}

/// A result that no order explains. The number is the index of the operation in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Violation {
    /// The log has a gap before the event that should have this id.
    Gap(usize),
    /// The log contains events of an operation that wrote none or does not exist.
    WrittenThoughNotAcknowledged(usize),
    /// The log does not contain the acknowledged events of the write once, unchanged and together.
    NotAsAcknowledged(usize),
    /// The write lies before another write that was acknowledged before this one began.
    BeforeItsPast(usize),
    /// A precondition of the write did not hold at its place in the log.
    PreconditionDidNotHold(usize),
    /// The store rejected the write although its preconditions held all the time.
    RefusedWithoutReason(usize),
    /// The result of the read matches the log at no possible moment of the read.
    ReadOfNoMoment(usize),
}

/// Checks that one order explains the whole history, given the log at its end.
pub fn check(log: &[ObservedEvent], history: &[Operation]) -> Result<(), Violation> {
    let order = Order {
        log,
        history,
        writes: places(log, history)?,
    };
    order.writes_are_in_order()?;
    order.the_rest_fits_in()
}

/// Returns the place of each operation's events in the log, or `None` for one that wrote none.
fn places(
    log: &[ObservedEvent],
    history: &[Operation],
) -> Result<Vec<Option<Range<usize>>>, Violation> {
    let mut positions = vec![Vec::new(); history.len()];
    for (position, event) in log.iter().enumerate() {
        if usize::try_from(event.id) != Ok(position) {
            return Err(Violation::Gap(position));
        }
        match positions.get_mut(event.write) {
            Some(positions) => positions.push(position),
            None => return Err(Violation::WrittenThoughNotAcknowledged(event.write)),
        }
    }
    let place = |(number, positions): (usize, &Vec<usize>)| {
        let Some((subjects, events)) = history[number].acknowledged() else {
            return match positions.as_slice() {
                [] => Ok(None),
                _ => Err(Violation::WrittenThoughNotAcknowledged(number)),
            };
        };
        let first = positions.first().copied().unwrap_or(log.len());
        let place = first..first + subjects.len();
        let sent = subjects.iter().zip(0..).zip(first as u64..);
        let sent = sent.map(|((subject, part), id)| ObservedEvent {
            id,
            subject: subject.clone(),
            write: number,
            part,
        });
        let is_complete = positions.iter().copied().eq(place.clone())
            && log[place.clone()].iter().eq(events)
            && sent.eq(events.iter().cloned());
        if is_complete {
            Ok(Some(place))
        } else {
            Err(Violation::NotAsAcknowledged(number))
        }
    };
    positions.iter().enumerate().map(place).collect()
}

impl Operation {
    /// Returns the subjects in the request and the events in the response.
    fn acknowledged(&self) -> Option<(&[Subject], &[ObservedEvent])> {
        match &self.action {
            Action::Write {
                subjects,
                acknowledged: Some(events),
                ..
            } => Some((subjects, events)),
            Action::Write { .. } | Action::Read { .. } => None,
        }
    }

    /// Returns true if this operation ended before the other one began.
    const fn precedes(&self, other: &Self) -> bool {
        self.returned < other.invoked
    }
}

/// A history with the places of its writes in the log.
struct Order<'a> {
    log: &'a [ObservedEvent],
    history: &'a [Operation],
    writes: Vec<Option<Range<usize>>>,
}

impl Order<'_> {
    fn writes_are_in_order(&self) -> Result<(), Violation> {
        for (number, operation) in self.history.iter().enumerate() {
            let Some(place) = &self.writes[number] else {
                continue;
            };
            if place.start < *self.possible(operation).start() {
                return Err(Violation::BeforeItsPast(number));
            }
            if !self.preconditions_hold(operation, place.start) {
                return Err(Violation::PreconditionDidNotHold(number));
            }
        }
        Ok(())
    }

    /// Finds the earliest moment for each read and each rejected write, in the order of their start. The
    /// moment must not precede that of an operation that had ended by then.
    fn the_rest_fits_in(&self) -> Result<(), Violation> {
        let ends = self.writes.iter().flatten().map(|place| place.end);
        let mut moments: Vec<usize> = ends.chain([0]).collect();
        moments.sort_unstable();
        let mut rest: Vec<usize> = (0..self.history.len())
            .filter(|number| self.writes[*number].is_none())
            .collect();
        rest.sort_unstable_by_key(|number| self.history[*number].invoked);
        let mut found: Vec<(&Operation, usize)> = Vec::new();
        for number in rest {
            let operation = &self.history[number];
            let past = found.iter().filter(|(other, _)| other.precedes(operation));
            let earliest = past.map(|(_, moment)| *moment).max().unwrap_or(0);
            let possible = self.possible(operation);
            let moment = moments
                .iter()
                .filter(|moment| **moment >= earliest && possible.contains(moment))
                .find(|moment| self.is_explained(operation, **moment));
            match (moment, &operation.action) {
                (Some(moment), _) => found.push((operation, *moment)),
                (None, Action::Write { .. }) => {
                    return Err(Violation::RefusedWithoutReason(number));
                }
                (None, Action::Read { .. }) => return Err(Violation::ReadOfNoMoment(number)),
            }
        }
        Ok(())
    }

    /// Returns the possible lengths of the log that an operation found. The log contained everything that
    /// was acknowledged before the operation began, and nothing that began after it ended.
    fn possible(&self, operation: &Operation) -> std::ops::RangeInclusive<usize> {
        let writes = || self.history.iter().zip(&self.writes);
        let past = writes().filter(|(write, _)| write.precedes(operation));
        let future = writes().filter(|(write, _)| operation.precedes(write));
        let first = past.filter_map(|(_, place)| Some(place.as_ref()?.end));
        let last = future.filter_map(|(_, place)| Some(place.as_ref()?.start));
        first.max().unwrap_or(0)..=last.min().unwrap_or(self.log.len())
    }

    /// Returns true if a log of this length explains the result of the operation.
    fn is_explained(&self, operation: &Operation, length: usize) -> bool {
        match &operation.action {
            Action::Write { .. } => !self.preconditions_hold(operation, length),
            Action::Read {
                base,
                recursive,
                seen,
            } => {
                let belongs = |event: &&ObservedEvent| {
                    if *recursive {
                        event.subject.is_within(base)
                    } else {
                        event.subject == *base
                    }
                };
                self.log[..length].iter().filter(belongs).eq(seen)
            }
        }
    }

    fn preconditions_hold(&self, operation: &Operation, length: usize) -> bool {
        let Action::Write { preconditions, .. } = &operation.action else {
            return true;
        };
        preconditions.iter().all(|precondition| {
            let about = |event: &&ObservedEvent| {
                let subject = precondition.subject();
                subject.is_none_or(|subject| event.subject == *subject)
            };
            let latest = self.log[..length].iter().rev().find(about);
            precondition.holds(latest.and_then(|event| EventId::new(event.id)))
        })
    }
}
