//! Validation of the values that clients send. A validation reports all violations at once.
//! [`rules`] contains the rules.

mod containers;
mod declared_members;
pub mod nested_field;
#[cfg(test)]
mod nested_tests;
pub mod rules;
#[cfg(test)]
mod undeclared_tests;

use declared_members::{MemberSearch, name_of_key};
use rules::Items;
use serde::{Serialize, de::DeserializeOwned};

/// A value that violates a rule.
///
/// ```
/// use es_framework::validate::{Violations, rules};
///
/// let mut violations = Violations::default();
/// violations.check("numPages", rules::range(&0, Some(1), None));
/// let [violation] = &violations.into_vec()[..] else { panic!("it is one") };
/// assert_eq!(violation.pointer, "/numPages");
/// assert_eq!(violation.message, "must be at least 1, not 0");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The JSON pointer (RFC 6901) of the value, for example `/numPages` or `/copies/0/isbn`.
    pub pointer: String,
    /// The mistake and the correction, for the client.
    pub message: String,
}

/// The maximum number of reported violations. A small request must not cause a large response.
#[doc(hidden)]
pub const MAX_VIOLATIONS: usize = 100;

/// The violations that a validation has collected.
///
/// ```
/// use es_framework::validate::{Violations, rules};
///
/// let mut violations = Violations::default();
/// violations.check("title", rules::text(&" ".to_owned(), 1, 500));
/// violations.check_member("tags", |violations| {
///     let tags = vec!["new".to_owned(), "a\nb".to_owned()];
///     violations.each(&tags, |tag| rules::text(tag, 1, 20));
/// });
/// let pointers = violations.into_vec().into_iter().map(|violation| violation.pointer);
/// assert_eq!(pointers.collect::<Vec<_>>(), ["/title", "/tags/1"]);
/// ```
#[derive(Debug, Default)]
pub struct Violations {
    pointer: String,
    violations: Vec<Violation>,
    search: MemberSearch,
}

impl Violations {
    /// Adds the result of a rule for the member `name`.
    pub fn check(&mut self, name: &str, found: Result<(), String>) {
        if found.is_err() {
            self.check_member(name, |violations| violations.add(found));
        }
    }

    /// Adds the result of a rule for the current value.
    pub fn add(&mut self, found: Result<(), String>) {
        if let Err(message) = found {
            self.add_at(self.pointer.clone(), message);
        }
    }

    fn add_at(&mut self, pointer: String, message: String) {
        if !self.is_full() {
            self.violations.push(Violation { pointer, message });
        }
    }

    /// Collects violations inside the member `name`.
    pub fn check_member(&mut self, name: &str, check: impl FnOnce(&mut Self)) {
        self.check_below(name, check);
    }

    /// Applies a rule to each item of a list.
    pub fn each<L: Items>(&mut self, list: &L, rule: impl Fn(&L::Item) -> Result<(), String>) {
        let items = list.items().unwrap_or_default();
        self.check_items(items, |item, violations| violations.add(rule(item)));
    }

    /// Collects violations inside each item of a list.
    #[doc(hidden)]
    pub fn check_items<'a, T: 'a>(
        &mut self,
        items: impl IntoIterator<Item = &'a T>,
        check: impl Fn(&T, &mut Self),
    ) {
        for (index, item) in items.into_iter().enumerate() {
            if self.is_full() {
                break;
            }
            self.check_item(&index.to_string(), |violations| check(item, violations));
        }
    }

    /// Collects violations inside each member of a set, at the pointer of the set: the set does not know in which order
    /// the request has its members.
    #[doc(hidden)]
    pub fn check_members_of_set<'a, T: 'a>(
        &mut self,
        members: impl IntoIterator<Item = &'a T>,
        check: impl Fn(&T, &mut Self),
    ) {
        self.check_set(|violations| {
            for member in members {
                if violations.is_full() {
                    break;
                }
                let known = violations.violations.len();
                violations.check_item("", |violations| check(member, violations));
                for violation in violations.violations.iter_mut().skip(known) {
                    violation.pointer.truncate(violations.pointer.len());
                }
            }
        });
    }

    /// Collects violations of each key and value of a map, at the pointer of the value.
    #[doc(hidden)]
    pub fn check_entries<'a, K: Serialize + DeserializeOwned + 'a, T: 'a>(
        &mut self,
        entries: impl IntoIterator<Item = (&'a K, &'a T)>,
        check: impl Fn(&K, &T, &mut Self),
    ) {
        self.declare_every_member();
        let spellings = self.find_spellings::<K>();
        for (key, value) in entries {
            if self.is_full() {
                break;
            }
            if let Some(name) = name_of_key(key) {
                let sent = spellings.get(&name).unwrap_or(&name);
                self.check_entry(sent, |violations| check(key, value, violations));
            }
        }
    }

    fn is_full(&self) -> bool {
        self.violations.len() >= MAX_VIOLATIONS
    }

    /// Returns the violations in the order of the fields.
    #[must_use]
    pub fn into_vec(self) -> Vec<Violation> {
        self.violations
    }
}

/// A value with validation rules. `#[derive(Command)]` and `#[derive(Value)]` implement this trait
/// from `#[validate(…)]`.
///
/// ```
/// use es_framework::{prelude::*, validate::{Validate as _, Violations}};
///
/// #[derive(Value)]
/// struct Address {
///     #[validate(text(max = 100))]
///     town: String,
/// }
///
/// let mut violations = Violations::default();
/// Address { town: " ".into() }.validate(&mut violations);
/// assert_eq!(violations.into_vec()[0].message, "must not be blank");
/// ```
#[diagnostic::on_unimplemented(
    message = "the rules of the values inside `{Self}` cannot be checked",
    label = "the framework does not know how to look into this type",
    note = "put the values into a list, an array, a tuple, a map, a set, an `Option` or a `Box`, or write `impl es_framework::validate::Validate for {Self}`"
)]
pub trait Validate {
    /// Adds a violation for every rule that the value violates.
    fn validate(&self, violations: &mut Violations);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointers(violations: Violations) -> Vec<String> {
        let violations = violations.into_vec().into_iter();
        violations.map(|violation| violation.pointer).collect()
    }

    #[test]
    fn a_pointer_leads_to_the_value_whatever_its_member_is_called() {
        let mut violations = Violations::default();
        let wrong = || Err(String::new());
        violations.add(wrong());
        violations.check("a/b~c", wrong());
        violations.check_member("list", |violations| {
            violations.each(&vec![1, 2], |item| match item {
                2 => wrong(),
                _ => Ok(()),
            });
            violations.check("", wrong());
        });
        violations.check("last", wrong());
        assert_eq!(
            pointers(violations),
            ["", "/a~1b~0c", "/list/1", "/list/", "/last"]
        );
    }

    #[test]
    fn a_flood_of_violations_is_cut_off() {
        let mut violations = Violations::default();
        violations.each(&vec![(); 1_000_000], |()| Err("wrong".to_owned()));
        violations.check("more", Err("wrong".to_owned()));
        assert_eq!(pointers(violations).len(), MAX_VIOLATIONS);
    }
}
