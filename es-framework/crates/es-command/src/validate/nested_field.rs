//! Validation of nested values. A macro sees only the name of a field's type, so the compiler has
//! to find out if the type implements [`Validate`].

use std::marker::PhantomData;

use super::{Validate, Violations};

/// A field that a macro validates.
///
/// With both traits in scope, method resolution prefers [`NestedRules`], which needs one reference
/// less, and falls back to [`NoNestedRules`] for types without rules. So nested values are always
/// validated, without an attribute.
///
/// ```
/// use es_framework::validate::{Violations, nested_field::{NestedField, NoNestedRules as _, NestedRules as _}};
///
/// let mut violations = Violations::default();
/// (&NestedField(&42)).validate_nested(&mut violations); // a number has no rules of its own
/// assert!(violations.into_vec().is_empty());
/// ```
#[derive(Debug)]
pub struct NestedField<'a, T>(pub &'a T);

/// Validation of a field whose type implements [`Validate`].
///
/// ```
/// use es_framework::validate::{Validate, Violations, nested_field::{NestedField, NestedRules as _}};
///
/// struct Blank;
///
/// impl Validate for Blank {
///     fn validate(&self, violations: &mut Violations) {
///         violations.add(Err("must not be blank".into()));
///     }
/// }
///
/// let mut violations = Violations::default();
/// NestedField(&Blank).validate_nested(&mut violations);
/// assert_eq!(violations.into_vec().len(), 1);
/// ```
pub trait NestedRules {
    /// Adds a violation for every rule that the value violates.
    fn validate_nested(&self, violations: &mut Violations);
}

impl<T: Validate> NestedRules for NestedField<'_, T> {
    fn validate_nested(&self, violations: &mut Violations) {
        self.0.validate(violations);
    }
}

/// The fallback for a field whose type has no rules.
///
/// ```
/// use es_framework::validate::{Violations, nested_field::{NestedField, NoNestedRules as _}};
///
/// let mut violations = Violations::default();
/// (&NestedField(&"The Ring")).validate_nested(&mut violations);
/// assert!(violations.into_vec().is_empty());
/// ```
pub trait NoNestedRules {
    /// Does nothing.
    fn validate_nested(&self, violations: &mut Violations);
}

impl<T> NoNestedRules for &NestedField<'_, T> {
    fn validate_nested(&self, _: &mut Violations) {}
}

/// The question whether the rules of `I`, which is named inside the type `T`, are checked with `T`.
///
/// With the three traits in scope, method resolution prefers [`RulesAreFollowed`], then [`RulesOutOfReach`], which
/// does not compile, and then [`NoRulesInside`].
///
/// ```
/// use std::ops::Range;
///
/// use es_framework::validate::nested_field::{NoRulesInside as _, RulesAreFollowed as _, RulesInside, RulesOutOfReach as _};
///
/// (&&RulesInside::<Range<u8>, u8>::NEW).assert_followed(); // a number has no rules of its own
/// ```
#[doc(hidden)]
#[derive(Debug)]
pub struct RulesInside<T: ?Sized, I: ?Sized>(PhantomData<T>, PhantomData<I>);

impl<T: ?Sized, I: ?Sized> RulesInside<T, I> {
    /// The question.
    pub const NEW: Self = Self(PhantomData, PhantomData);
}

/// A type that checks what is inside it.
#[doc(hidden)]
pub trait RulesAreFollowed {
    /// Does nothing.
    fn assert_followed(&self) {}
}

impl<T: Validate + ?Sized, I: ?Sized> RulesAreFollowed for &RulesInside<T, I> {}

/// A type that does not check the rules of a value inside it.
#[doc(hidden)]
pub trait RulesOutOfReach<T: ?Sized> {
    /// Does not compile.
    fn assert_followed(&self)
    where
        T: Validate,
    {
    }
}

impl<T: ?Sized, I: Validate + ?Sized> RulesOutOfReach<T> for &&RulesInside<T, I> {}

/// A type in which nothing has rules.
#[doc(hidden)]
pub trait NoRulesInside {
    /// Does nothing.
    fn assert_followed(&self) {}
}

impl<T: ?Sized, I: ?Sized> NoRulesInside for RulesInside<T, I> {}

#[cfg(test)]
mod tests {
    use super::*;

    struct Always;

    impl Validate for Always {
        fn validate(&self, violations: &mut Violations) {
            violations.add(Err("never".to_owned()));
        }
    }

    #[expect(
        clippy::needless_borrow,
        reason = "what a macro writes, which knows nothing of the type"
    )]
    #[test]
    fn rules_are_found_where_there_are_some() {
        let mut violations = Violations::default();
        (&NestedField(&vec![Some(Always)])).validate_nested(&mut violations);
        (&NestedField(&vec![Some("text")])).validate_nested(&mut violations);
        let found = violations.into_vec();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].pointer, "/0");
    }
}
