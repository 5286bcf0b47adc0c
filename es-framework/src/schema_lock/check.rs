//! What of the events that were stored under a locked schema gets lost today: found by reading
//! samples of that schema with the code of today and writing them again.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    canonical::canonical,
    finding::{Finding, Loss, member},
    narrowing,
    sample::{Samples, Variation, samples},
};
use crate::event::{EventDescriptor, Unreadable};

/// How many mistakes of one event are told apart.
const MOST_REPAIRS: usize = 64;

/// Compares an event with the schema that its stored events were written under. An upcaster may drop
/// what it does not need, but it has to be able to read it.
pub(super) fn event(locked: &Value, event: &EventDescriptor, is_upcast: bool) -> Vec<Finding> {
    let Some(stored) = samples(locked) else {
        return vec![];
    };
    let today = canonical((event.schema)().as_value());
    let mut check = Check {
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
        let narrowed = narrowing::narrowed(locked, &today);
        check.add_unless_known(narrowed);
    }
    let renamed = new_members(locked, &today);
    check
        .losses
        .into_iter()
        .map(|loss| Finding::Loss {
            event_type: event.event_type,
            declaration: event.declaration,
            loss,
            new_members: renamed.clone(),
        })
        .collect()
}

/// The members of today that were not there.
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

struct Check {
    event: EventDescriptor,
    stored: Samples,
    /// An event of today.
    today: Option<Value>,
    /// What has to stand in a place so that the rest can be read.
    repairs: BTreeMap<Vec<String>, Value>,
    losses: Vec<Loss>,
}

/// What became of the values of one place.
#[derive(Default)]
struct Outcomes {
    /// The first value that led to each outcome.
    by_outcome: BTreeMap<String, Value>,
    /// Two values that led to the same.
    same: Option<(Value, Value)>,
    has_difference: bool,
}

impl Check {
    fn recode(&self, value: &Value) -> Result<Value, Unreadable> {
        (self.event.recode)(&self.repaired(value).to_string())
    }

    fn repaired(&self, value: &Value) -> Value {
        let mut whole = value.clone();
        for (place, repair) in &self.repairs {
            put(&mut whole, place, repair);
        }
        whole
    }

    /// Notes what stands against reading a whole event, one thing after the other.
    fn repair(&mut self) {
        for _ in 0..MOST_REPAIRS {
            let Err(unreadable) = self.recode(&self.stored.base) else {
                return;
            };
            let missing = unreadable.missing_member();
            let mut place = unreadable.place.clone();
            place.extend(missing.map(str::to_owned));
            if self.repairs.contains_key(&place) {
                // Not even what is written today is read.
                self.stored.others.clear();
                return;
            }
            let loss = match missing {
                Some(_) => Loss::Required {
                    member: member(&place),
                },
                None => Loss::Unreadable {
                    member: member(&place),
                    value: at(&self.stored.base, &place).cloned().unwrap_or_default(),
                    reason: unreadable.reason.clone(),
                },
            };
            self.losses.push(loss);
            let repair = self.today.as_ref().and_then(|today| at(today, &place));
            match repair.cloned() {
                Some(repair) if !place.is_empty() => {
                    self.repairs.insert(place, repair);
                }
                // What stands in the way stands everywhere.
                _ => {
                    self.stored.others.clear();
                    return;
                }
            }
        }
    }

    /// Reads and writes every sample; notes those that cannot be read.
    fn outcomes(&mut self) -> BTreeMap<Vec<String>, Outcomes> {
        let mut outcomes: BTreeMap<Vec<String>, Outcomes> = BTreeMap::new();
        let mut unreadable = BTreeSet::new();
        for variation in std::mem::take(&mut self.stored.others) {
            let Variation { place, value, from } = variation;
            if self.repairs.keys().any(|broken| place.starts_with(broken)) {
                continue;
            }
            let of_place = outcomes.entry(place.clone()).or_default();
            match (self.recode(&value), self.recode(&from)) {
                (Ok(written), before) => {
                    let earlier = before.ok().zip(at(&from, &place));
                    earlier
                        .into_iter()
                        .for_each(|(written, value)| of_place.add(value, &written));
                    at(&value, &place)
                        .into_iter()
                        .for_each(|value| of_place.add(value, &written));
                }
                (Err(error), _) if unreadable.insert(place.clone()) => {
                    self.losses
                        .push(unreadable_at(&place, at(&value, &place), error));
                }
                (Err(_), _) => {}
            }
        }
        outcomes
    }

    /// A member that cannot be read for its bounds is told once.
    fn add_unless_known(&mut self, losses: Vec<Loss>) {
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

    /// Notes the places whose values leave no trace, or not each its own.
    fn compare(&mut self, outcomes: &BTreeMap<Vec<String>, Outcomes>) {
        let is_lost = |place: &[String]| {
            let mut within = outcomes
                .iter()
                .filter(|(other, outcomes)| other.starts_with(place) && outcomes.is_tested())
                .peekable();
            within.peek().is_some() && within.all(|(_, outcomes)| !outcomes.has_difference)
        };
        let mut lost: BTreeSet<Vec<String>> = BTreeSet::new();
        for (place, outcomes) in outcomes.iter().filter(|(place, _)| !place.is_empty()) {
            if is_lost(place) {
                // The outermost place of which nothing is left says it all.
                let outermost = (1..=place.len())
                    .filter_map(|length| place.get(..length))
                    .find(|outer| is_lost(outer));
                lost.extend(outermost.map(<[String]>::to_vec));
            } else if let Some((one, other)) = &outcomes.same {
                self.losses.push(Loss::Blurred {
                    member: member(place),
                    one: one.clone(),
                    other: other.clone(),
                });
            }
        }
        self.losses.extend(lost.iter().map(|place| Loss::Lost {
            member: member(place),
        }));
    }
}

impl Outcomes {
    /// `null` stands for nothing, as does what is not there: either may become a default.
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

    /// Whether there were two values to tell apart.
    fn is_tested(&self) -> bool {
        self.has_difference || self.same.is_some()
    }
}

/// What is said of a value, or of the lack of one, that cannot be read.
fn unreadable_at(place: &[String], value: Option<&Value>, error: Unreadable) -> Loss {
    match value {
        None => Loss::Required {
            member: member(place),
        },
        Some(value) => Loss::Unreadable {
            member: member(place),
            value: value.clone(),
            reason: error.reason,
        },
    }
}

/// What stands in a place.
fn at<'a>(value: &'a Value, place: &[String]) -> Option<&'a Value> {
    place.iter().try_fold(value, |value, name| match value {
        Value::Object(members) => members.get(name),
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Puts a value into a place, if there is room.
fn put(value: &mut Value, place: &[String], new: &Value) {
    let Some((name, rest)) = place.split_first() else {
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
