//! Registered metrics by their labels. To register one takes locks and allocates; to look it up in
//! here does neither but for a lock that readers share.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{PoisonError, RwLock},
};

/// What is registered under each key. Keys are what the application declared, so there are few.
#[derive(Debug)]
pub(crate) struct Handles<K, V>(RwLock<HashMap<K, V>>);

impl<K, V> Default for Handles<K, V> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<K: Eq + Hash, V> Handles<K, V> {
    /// Uses what is registered under a key, after `register` if that is new.
    pub(crate) fn with(&self, key: K, register: impl FnOnce(&K) -> V, use_it: impl FnOnce(&V)) {
        if let Some(value) = self
            .0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&key)
        {
            return use_it(value);
        }
        let value = register(&key);
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        use_it(known.entry(key).or_insert(value));
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_key_is_registered_once() {
        let handles = Handles::default();
        let registered = Cell::new(0);
        for key in ["a", "b", "a"] {
            let register = |_: &&str| registered.set(registered.get() + 1);
            handles.with(key, register, |()| {});
        }
        assert_eq!(registered.get(), 2);
    }
}
