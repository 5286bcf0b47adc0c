//! The lanes of a model. Templates of subjects that differ only in the names of their parameters are one
//! lane.

use std::collections::BTreeMap;

use es_event::subject_template::shape;

/// The lanes that were named, with the first template of each.
#[derive(Debug, Default)]
pub(crate) struct SubjectLanes(BTreeMap<String, String>);

/// The votes of a node's neighbours, each for its own lane. The node stands in the lane with the most votes.
#[derive(Debug, Default)]
pub(crate) struct LaneVotes(BTreeMap<String, usize>);

impl SubjectLanes {
    /// Returns the lane of a template.
    pub(crate) fn lane(&mut self, template: &str) -> String {
        let known = self.0.entry(shape(template));
        known.or_insert_with(|| template.to_owned()).clone()
    }

    /// Returns all lanes, in the order of their shapes.
    pub(crate) fn into_templates(self) -> Vec<String> {
        self.0.into_values().collect()
    }
}

impl LaneVotes {
    /// Adds the vote of a neighbour.
    pub(crate) fn add_vote(&mut self, lane: Option<&String>) {
        if let Some(lane) = lane {
            let count = self.0.entry(lane.clone()).or_default();
            *count = count.saturating_add(1);
        }
    }

    /// Returns the lane of most neighbours; of several, the first in alphabetical order.
    pub(crate) fn most_frequent(&self) -> Option<String> {
        let most = self.0.values().max()?;
        let mut lanes = self.0.iter().filter(|(_, count)| *count == most);
        lanes.next().map(|(lane, _)| lane.clone())
    }
}
