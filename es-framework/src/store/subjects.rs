//! The tree of subjects, as a store lists it.

use std::collections::BTreeSet;

use crate::event::Subject;

/// Subjects below a base, with all that lies between: a subject has parents although no event
/// may be about them.
#[derive(Debug)]
pub(crate) struct SubjectTree {
    base: Subject,
    found: BTreeSet<Subject>,
}

impl SubjectTree {
    pub(crate) fn below(base: Subject) -> Self {
        let found = BTreeSet::new();
        Self { base, found }
    }

    /// Takes in a subject that has events.
    pub(crate) fn insert(&mut self, subject: Subject) {
        let mut next = Some(subject);
        while let Some(subject) = next.filter(|subject| subject.is_within(&self.base)) {
            next = subject.parent();
            if !self.found.insert(subject) {
                break;
            }
        }
    }

    /// All of them, sorted.
    pub(crate) fn into_sorted(self) -> impl Iterator<Item = Subject> + Send {
        self.found.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(base: &str, subjects: &[&str]) -> Vec<String> {
        let mut tree = SubjectTree::below(base.parse().unwrap());
        for subject in subjects {
            tree.insert(subject.parse().unwrap());
        }
        tree.into_sorted().map(|found| found.to_string()).collect()
    }

    #[test]
    fn parents_are_listed_although_no_event_is_about_them() {
        let subjects = ["/test/2", "/test/1", "/tests", "/a/b/c"];
        assert_eq!(
            listed("/", &subjects),
            [
                "/", "/a", "/a/b", "/a/b/c", "/test", "/test/1", "/test/2", "/tests"
            ]
        );
        assert_eq!(listed("/test", &subjects), ["/test", "/test/1", "/test/2"]);
        assert_eq!(listed("/test/", &subjects), ["/test", "/test/1", "/test/2"]);
        assert!(listed("/nothing", &subjects).is_empty());
        assert!(listed("/", &[]).is_empty());
        assert_eq!(listed("/", &["/"]), ["/"]);
    }
}
