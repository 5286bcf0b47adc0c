//! The list of subjects, with their parents.

use std::collections::BTreeSet;

use es_event::Subject;

/// Collects the subjects at and below a base, in order. The list includes their parents, even if a parent has no
/// events.
#[derive(Debug)]
pub struct SubjectListing {
    base: Subject,
    /// The last subject of the previous part.
    after: Option<Subject>,
    most: usize,
    found: BTreeSet<Subject>,
}

impl SubjectListing {
    pub(crate) fn unlimited(base: Subject) -> Self {
        Self::new(base, None, usize::MAX)
    }

    /// Creates a list of at most `most` subjects after another one.
    pub fn new(base: Subject, after: Option<Subject>, most: usize) -> Self {
        let found = BTreeSet::new();
        Self {
            base,
            after,
            most,
            found,
        }
    }

    /// Adds a subject with events, and its parents.
    pub fn add_subject(&mut self, subject: Subject) {
        let mut next = Some(subject);
        while let Some(subject) = next.filter(|subject| subject.is_within(&self.base)) {
            // An earlier part has listed this subject. Its parents sort before it, so that part has listed them, too.
            if self.after.as_ref().is_some_and(|after| subject <= *after) {
                break;
            }
            next = subject.parent();
            if !self.found.insert(subject) {
                break;
            }
            if self.found.len() > self.most {
                self.found.pop_last();
            }
        }
    }

    /// Returns all subjects, sorted.
    pub fn into_sorted(self) -> impl Iterator<Item = Subject> + Send {
        self.found.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_any_size_make_the_whole() {
        let subjects = ["/b/c/d", "/a-b", "/a/b/c", "/a", "/a/0", "/b/c", "/z"];
        let whole = listed("/", &subjects);
        for most in 1..=whole.len() {
            let (mut parts, mut after) = (Vec::new(), None);
            loop {
                let mut tree = SubjectListing::new(Subject::root(), after, most);
                for subject in subjects {
                    tree.add_subject(subject.parse().unwrap());
                }
                let part: Vec<_> = tree.into_sorted().collect();
                assert!(part.len() <= most);
                after = part.last().cloned();
                if part.is_empty() {
                    break;
                }
                parts.extend(part.iter().map(ToString::to_string));
            }
            assert_eq!(parts, whole, "{most}");
        }
    }

    fn listed(base: &str, subjects: &[&str]) -> Vec<String> {
        let mut tree = SubjectListing::unlimited(base.parse().unwrap());
        for subject in subjects {
            tree.add_subject(subject.parse().unwrap());
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
