//! Validation of values inside `Option`, `Box`, lists and maps.

use std::collections::{BTreeMap, HashMap};

use super::{Validate, Violations};

impl<T: Validate> Validate for Option<T> {
    fn validate(&self, violations: &mut Violations) {
        if let Some(value) = self {
            value.validate(violations);
        }
    }
}

impl<T: Validate> Validate for Box<T> {
    fn validate(&self, violations: &mut Violations) {
        (**self).validate(violations);
    }
}

impl<T: Validate> Validate for Vec<T> {
    fn validate(&self, violations: &mut Violations) {
        violations.check_each_member(self, T::validate);
    }
}

impl<T: Validate> Validate for BTreeMap<String, T> {
    fn validate(&self, violations: &mut Violations) {
        for (name, value) in self {
            violations.check_member(name, |violations| value.validate(violations));
        }
    }
}

impl<T: Validate, S> Validate for HashMap<String, T, S> {
    fn validate(&self, violations: &mut Violations) {
        for (name, value) in self {
            violations.check_member(name, |violations| value.validate(violations));
        }
    }
}
