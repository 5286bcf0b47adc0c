//! Caches registered metrics by their labels. A registration takes locks and allocates. A look-up here
//! takes one lock that readers share, and does not allocate.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{PoisonError, RwLock},
};

/// A cache of registered metrics. Its keys come from the declarations of the application, so it stays
/// small.
#[doc(hidden)]
#[derive(Debug)]
pub struct RegisteredMetrics<K, V>(RwLock<HashMap<K, V>>);

impl<K, V> Default for RegisteredMetrics<K, V> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<K: Eq + Hash, V> RegisteredMetrics<K, V> {
    /// Passes the metric of a key to `record`. Registers a new key first.
    pub fn record_or_register(
        &self,
        key: K,
        register: impl FnOnce(&K) -> V,
        record: impl FnOnce(&V),
    ) {
        if let Some(value) = self
            .0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&key)
        {
            return record(value);
        }
        let value = register(&key);
        let mut metrics = self.0.write().unwrap_or_else(PoisonError::into_inner);
        record(metrics.entry(key).or_insert(value));
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_key_is_registered_once() {
        let metrics = RegisteredMetrics::default();
        let registered = Cell::new(0);
        for key in ["a", "b", "a"] {
            let register = |_: &&str| registered.set(registered.get() + 1);
            metrics.record_or_register(key, register, |()| {});
        }
        assert_eq!(registered.get(), 2);
    }
}
