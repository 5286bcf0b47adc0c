//! Validation of values inside containers. The macros follow the containers that a field's type names; these
//! implementations serve type aliases and containers inside other types.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque},
    ops::{Range, RangeInclusive},
    rc::Rc,
    sync::Arc,
};

use es_event::time_text::{check_date, check_time};
use serde::{Serialize, de::DeserializeOwned};

use super::{Validate, Violations};

impl<T: Validate> Validate for Option<T> {
    fn validate(&self, violations: &mut Violations) {
        if let Some(value) = self {
            value.validate(violations);
        }
    }
}

impl<T: Validate, E: Validate> Validate for Result<T, E> {
    fn validate(&self, violations: &mut Violations) {
        match self {
            Ok(value) => violations.check_member("Ok", |violations| value.validate(violations)),
            Err(error) => violations.check_member("Err", |violations| error.validate(violations)),
        }
    }
}

impl<T: Validate + ToOwned + ?Sized> Validate for Cow<'_, T> {
    fn validate(&self, violations: &mut Violations) {
        (**self).validate(violations);
    }
}

impl<T: Validate> Validate for Range<T> {
    fn validate(&self, violations: &mut Violations) {
        check_ends(&self.start, &self.end, violations);
    }
}

impl<T: Validate> Validate for RangeInclusive<T> {
    fn validate(&self, violations: &mut Violations) {
        check_ends(self.start(), self.end(), violations);
    }
}

fn check_ends<T: Validate>(start: &T, end: &T, violations: &mut Violations) {
    violations.declare_members(&["start", "end"]);
    violations.check_member("start", |violations| start.validate(violations));
    violations.check_member("end", |violations| end.validate(violations));
}

impl<K: Serialize + DeserializeOwned, T: Validate> Validate for BTreeMap<K, T> {
    fn validate(&self, violations: &mut Violations) {
        violations.check_entries(self, |_, value, violations| value.validate(violations));
    }
}

impl<K: Serialize + DeserializeOwned, T: Validate, S> Validate for HashMap<K, T, S> {
    fn validate(&self, violations: &mut Violations) {
        violations.check_entries(self, |_, value, violations| value.validate(violations));
    }
}

impl<T: Validate, S> Validate for HashSet<T, S> {
    fn validate(&self, violations: &mut Violations) {
        violations.check_members_of_set(self, T::validate);
    }
}

impl<T: Validate> Validate for [T] {
    fn validate(&self, violations: &mut Violations) {
        violations.check_items(self, T::validate);
    }
}

impl<T: Validate, const N: usize> Validate for [T; N] {
    fn validate(&self, violations: &mut Violations) {
        violations.check_items(self, T::validate);
    }
}

macro_rules! pointers {
    ($($pointer:ident),*) => {$(
        impl<T: Validate + ?Sized> Validate for $pointer<T> {
            fn validate(&self, violations: &mut Violations) {
                (**self).validate(violations);
            }
        }
    )*};
}

macro_rules! lists {
    ($($list:ident),*) => {$(
        impl<T: Validate> Validate for $list<T> {
            fn validate(&self, violations: &mut Violations) {
                violations.check_items(self, T::validate);
            }
        }
    )*};
}

macro_rules! sets {
    ($($set:ident),*) => {$(
        impl<T: Validate> Validate for $set<T> {
            fn validate(&self, violations: &mut Violations) {
                violations.check_members_of_set(self, T::validate);
            }
        }
    )*};
}

macro_rules! tuples {
    ($($name:ident $index:tt),*) => {
        impl<$($name: Validate),*> Validate for ($($name,)*) {
            fn validate(&self, violations: &mut Violations) {
                $(violations.check_member(stringify!($index), |violations| {
                    self.$index.validate(violations);
                });)*
            }
        }
    };
}

/// JSON of any shape holds integers of 64 bits.
impl Validate for serde_json::Value {
    fn validate(&self, violations: &mut Violations) {
        violations.declare_every_member();
        violations.check_integers();
    }
}

impl Validate for serde_json::Map<String, serde_json::Value> {
    fn validate(&self, violations: &mut Violations) {
        violations.declare_every_member();
        violations.check_integers();
    }
}

impl Validate for serde_json::Number {
    fn validate(&self, violations: &mut Violations) {
        violations.check_integers();
    }
}

impl Validate for jiff::Timestamp {
    fn validate(&self, violations: &mut Violations) {
        violations.add(check_time(*self));
    }
}

impl Validate for jiff::civil::Date {
    fn validate(&self, violations: &mut Violations) {
        violations.add(check_date(*self));
    }
}

pointers!(Box, Rc, Arc);
lists!(Vec, VecDeque, LinkedList);
sets!(BTreeSet, BinaryHeap);
tuples!(A 0);
tuples!(A 0, B 1);
tuples!(A 0, B 1, C 2);
tuples!(A 0, B 1, C 2, D 3);
