//! How a field's own rules are found by a macro, which sees the name of its type and nothing of
//! what the type implements.

use super::{Validate, Violations};

/// A field that may have rules of its own.
///
/// With both traits in scope, the compiler takes the method of [`OwnRules`] where the type has
/// rules, since it needs no further reference, and that of [`NoRules`] everywhere else. So nobody
/// has to say that a field is to be looked into, and nobody can forget it.
///
/// ```
/// use es_framework::validate::{Violations, nested::{Nested, NoRules as _, OwnRules as _}};
///
/// let mut violations = Violations::default();
/// (&Nested(&42)).validate_nested(&mut violations); // a number has no rules of its own
/// assert!(violations.into_vec().is_empty());
/// ```
#[derive(Debug)]
pub struct Nested<'a, T>(pub &'a T);

/// The way into a field that has rules.
///
/// ```
/// use es_framework::validate::{Validate, Violations, nested::{Nested, OwnRules as _}};
///
/// struct Blank;
///
/// impl Validate for Blank {
///     fn validate(&self, violations: &mut Violations) {
///         violations.note(Err("must not be blank".into()));
///     }
/// }
///
/// let mut violations = Violations::default();
/// Nested(&Blank).validate_nested(&mut violations);
/// assert_eq!(violations.into_vec().len(), 1);
/// ```
pub trait OwnRules {
    /// Notes every rule that does not hold.
    fn validate_nested(&self, violations: &mut Violations);
}

impl<T: Validate> OwnRules for Nested<'_, T> {
    fn validate_nested(&self, violations: &mut Violations) {
        self.0.validate(violations);
    }
}

/// What is done about a field that has none.
///
/// ```
/// use es_framework::validate::{Violations, nested::{Nested, NoRules as _}};
///
/// let mut violations = Violations::default();
/// (&Nested(&"The Ring")).validate_nested(&mut violations);
/// assert!(violations.into_vec().is_empty());
/// ```
pub trait NoRules {
    /// Does nothing.
    fn validate_nested(&self, violations: &mut Violations);
}

impl<T> NoRules for &Nested<'_, T> {
    fn validate_nested(&self, _: &mut Violations) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Always;

    impl Validate for Always {
        fn validate(&self, violations: &mut Violations) {
            violations.note(Err("never".to_owned()));
        }
    }

    #[expect(
        clippy::needless_borrow,
        reason = "what a macro writes, which knows nothing of the type"
    )]
    #[test]
    fn rules_are_found_where_there_are_some() {
        let mut violations = Violations::default();
        (&Nested(&vec![Some(Always)])).validate_nested(&mut violations);
        (&Nested(&vec![Some("text")])).validate_nested(&mut violations);
        let found = violations.into_vec();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].pointer, "/0");
    }
}
