//! Finds data of stored events that today's code would lose. The check deserializes samples of the
//! locked schema with today's code and serializes them again.

use std::collections::{BTreeMap, BTreeSet};

use es_event::{EventDescriptor, UnreadablePayload, find_difference};
use serde_json::Value;

use super::{
    breaking_change::{BreakingChange, DataLoss, member},
    canonical::canonicalize,
    narrowing,
    sample_generator::samples,
    samples::{SchemaSamples, VariedSample},
};

/// The maximum number of reported mistakes for one event.
const MAX_REPAIRS: usize = 64;

/// Compares an event with its locked schema. An upcaster may drop data, but it has to be able to
/// deserialize the event.
pub(super) fn compare_event(
    locked: &Value,
    event: &EventDescriptor,
    is_upcast: bool,
) -> Vec<BreakingChange> {
    let Some(stored) = samples(locked) else {
        return vec![];
    };
    let today = canonicalize((event.schema)().as_value());
    let mut check = SampleCheck {
        event: *event,
        stored,
        today: samples(&today).map(|samples| samples.base),
        repairs: BTreeMap::new(),
        losses: vec![],
    };
    check.repair();
    let outcomes = check.outcomes();
    if !is_upcast {
        check.compare(&outcomes);
        let narrowed = narrowing::find_narrowed(locked, &today);
        check.add_unless_known(narrowed);
    }
    let renamed = new_members(locked, &today);
    check
        .losses
        .into_iter()
        .map(|loss| BreakingChange::Loss {
            event_type: event.event_type,
            declaration: event.declaration,
            loss,
            new_members: renamed.clone(),
        })
        .collect()
}

/// Returns the members that the locked schema does not have.
fn new_members(locked: &Value, today: &Value) -> Vec<String> {
    let names = |schema: &Value| -> BTreeSet<String> {
        let properties = schema.get("properties").and_then(Value::as_object);
        properties
            .into_iter()
            .flat_map(|all| all.keys().cloned())
            .collect()
    };
    names(today).difference(&names(locked)).cloned().collect()
}

/// Finds members that the event's own declaration does not read as it writes them.
pub(super) fn find_unreadable(event: &EventDescriptor) -> Vec<BreakingChange> {
    let today = canonicalize((event.schema)().as_value());
    let Some(samples) = samples(&today) else {
        return vec![];
    };
    let variations = samples.others.iter().map(|varied| &varied.value);
    let mut unreadable: Vec<BreakingChange> = vec![];
    for sample in std::iter::once(&samples.base).chain(variations) {
        let Some(loss) = find_not_read_back(event, sample) else {
            continue;
        };
        let is_known = |known: &BreakingChange| match known {
            BreakingChange::Loss { loss: known, .. } => known.member() == loss.member(),
            BreakingChange::Removed { .. } => false,
        };
        if !unreadable.iter().any(is_known) {
            unreadable.push(BreakingChange::Loss {
                event_type: event.event_type,
                declaration: event.declaration,
                loss,
                new_members: vec![],
            });
        }
    }
    unreadable
}

/// Writes a sample as the event does, and reads that. A sample that the event does not read says nothing.
fn find_not_read_back(event: &EventDescriptor, sample: &Value) -> Option<DataLoss> {
    let written = (event.recode)(&sample.to_string()).ok()?;
    let (path, reason) = match (event.recode)(&written.to_string()) {
        Ok(read) => {
            let mut path = find_difference(&written, &read)?;
            path.reverse();
            (path, "it is read as another value".to_owned())
        }
        Err(error) => {
            let missing = error.missing_member().map(str::to_owned);
            let mut path = error.path;
            path.extend(missing);
            (path, error.reason)
        }
    };
    let member = member(&path);
    Some(DataLoss::NotReadBack { member, reason })
}

/// The comparison of one event with the samples of its locked schema.
struct SampleCheck {
    event: EventDescriptor,
    stored: SchemaSamples,
    /// A sample of today's schema.
    today: Option<Value>,
    /// Values that replace unreadable ones, so that the check can continue.
    repairs: BTreeMap<Vec<String>, Value>,
    losses: Vec<DataLoss>,
}

/// The results of deserializing the values at one path and serializing them again.
#[derive(Default)]
struct RecodeOutcomes {
    /// The first value that led to each result.
    by_outcome: BTreeMap<String, Value>,
    /// Two values that led to the same result.
    same: Option<(Value, Value)>,
    has_difference: bool,
}

impl SampleCheck {
    /// Deserializes a repaired sample with today's code and serializes it again.
    fn recode(&self, value: &Value) -> Result<Value, UnreadablePayload> {
        (self.event.recode)(&self.repaired(value).to_string())
    }

    /// Replaces each value of a sample that is known to be unreadable by its repair.
    fn repaired(&self, value: &Value) -> Value {
        let mut whole = value.clone();
        for (path, repair) in &self.repairs {
            put(&mut whole, path, repair);
        }
        whole
    }

    /// Reports the obstacles to deserializing a complete sample, one after the other.
    fn repair(&mut self) {
        for _ in 0..MAX_REPAIRS {
            let Err(unreadable) = self.recode(&self.stored.base) else {
                return;
            };
            let missing = unreadable.missing_member();
            let mut path = unreadable.path.clone();
            path.extend(missing.map(str::to_owned));
            if self.repairs.contains_key(&path) {
                // Today's code cannot deserialize even a sample of today's schema.
                self.stored.others.clear();
                return;
            }
            let loss = match missing {
                Some(_) => DataLoss::Required {
                    member: member(&path),
                },
                None => DataLoss::UnreadablePayload {
                    member: member(&path),
                    value: at(&self.stored.base, &path).cloned().unwrap_or_default(),
                    reason: unreadable.reason.clone(),
                },
            };
            self.losses.push(loss);
            let repair = self.today.as_ref().and_then(|today| at(today, &path));
            match repair.cloned() {
                Some(repair) if !path.is_empty() => {
                    self.repairs.insert(path, repair);
                }
                // The obstacle affects every sample.
                _ => {
                    self.stored.others.clear();
                    return;
                }
            }
        }
    }

    /// Recodes every sample and reports those that cannot be deserialized.
    fn outcomes(&mut self) -> BTreeMap<Vec<String>, RecodeOutcomes> {
        let mut outcomes: BTreeMap<Vec<String>, RecodeOutcomes> = BTreeMap::new();
        let mut unreadable = BTreeSet::new();
        for variation in std::mem::take(&mut self.stored.others) {
            let VariedSample { path, value, from } = variation;
            if self.repairs.keys().any(|broken| path.starts_with(broken)) {
                continue;
            }
            let of_place = outcomes.entry(path.clone()).or_default();
            match (self.recode(&value), self.recode(&from)) {
                (Ok(written), before) => {
                    let earlier = before.ok().zip(at(&from, &path));
                    earlier
                        .into_iter()
                        .for_each(|(written, value)| of_place.add(value, &written));
                    at(&value, &path)
                        .into_iter()
                        .for_each(|value| of_place.add(value, &written));
                }
                (Err(error), _) if unreadable.insert(path.clone()) => {
                    self.losses
                        .push(unreadable_at(&path, at(&value, &path), error));
                }
                (Err(_), _) => {}
            }
        }
        outcomes
    }

    /// Adds losses, at most one for each member.
    fn add_unless_known(&mut self, losses: Vec<DataLoss>) {
        for loss in losses {
            if self
                .losses
                .iter()
                .all(|known| known.member() != loss.member())
            {
                self.losses.push(loss);
            }
        }
    }

    /// Reports paths whose values disappear, and paths where different values become equal.
    fn compare(&mut self, outcomes: &BTreeMap<Vec<String>, RecodeOutcomes>) {
        let is_lost = |path: &[String]| {
            let mut within = outcomes
                .iter()
                .filter(|(other, outcomes)| other.starts_with(path) && outcomes.is_tested())
                .peekable();
            within.peek().is_some() && within.all(|(_, outcomes)| !outcomes.has_difference)
        };
        let mut lost: BTreeSet<Vec<String>> = BTreeSet::new();
        for (path, outcomes) in outcomes.iter().filter(|(path, _)| !path.is_empty()) {
            if is_lost(path) {
                // Reports only the outermost lost path.
                let outermost = (1..=path.len())
                    .filter_map(|length| path.get(..length))
                    .find(|outer| is_lost(outer));
                lost.extend(outermost.map(<[String]>::to_vec));
            } else if let Some((one, other)) = &outcomes.same {
                self.losses.push(DataLoss::Merged {
                    member: member(path),
                    one: one.clone(),
                    other: other.clone(),
                });
            }
        }
        self.losses.extend(lost.iter().map(|path| DataLoss::Lost {
            member: member(path),
        }));
    }
}

impl RecodeOutcomes {
    /// Adds a result. `null` and absent values are ignored, because both may become a default.
    fn add(&mut self, value: &Value, written: &Value) {
        if value.is_null() {
            return;
        }
        let written = written.to_string();
        match self.by_outcome.get(&written) {
            Some(earlier) if earlier == value => {}
            Some(earlier) => self.same = Some((earlier.clone(), value.clone())),
            None => {
                self.has_difference = !self.by_outcome.is_empty();
                self.by_outcome.insert(written, value.clone());
            }
        }
    }

    /// Returns true if the path has at least two different values.
    fn is_tested(&self) -> bool {
        self.has_difference || self.same.is_some()
    }
}

/// Creates the loss for a value, or an absent value, that cannot be deserialized.
fn unreadable_at(path: &[String], value: Option<&Value>, error: UnreadablePayload) -> DataLoss {
    match value {
        None => DataLoss::Required {
            member: member(path),
        },
        Some(value) => DataLoss::UnreadablePayload {
            member: member(path),
            value: value.clone(),
            reason: error.reason,
        },
    }
}

/// Returns the value at a path.
fn at<'a>(value: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, name| match value {
        Value::Object(members) => members.get(name),
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Replaces the value at a path, if the path exists.
fn put(value: &mut Value, path: &[String], new: &Value) {
    let Some((name, rest)) = path.split_first() else {
        *value = new.clone();
        return;
    };
    match value {
        Value::Object(members) if rest.is_empty() => {
            members.insert(name.clone(), new.clone());
        }
        Value::Object(members) => {
            if let Some(inner) = members.get_mut(name) {
                put(inner, rest, new);
            }
        }
        Value::Array(items) => {
            if let Some(inner) = name
                .parse()
                .ok()
                .and_then(|index: usize| items.get_mut(index))
            {
                put(inner, rest, new);
            }
        }
        _ => {}
    }
}
