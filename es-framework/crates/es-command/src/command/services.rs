//! The services that an application provides, by type.

use std::{
    any::{Any, TypeId},
    collections::BTreeMap,
    fmt,
    sync::Arc,
};

use super::{Clock, Inject, ServiceType};

/// The services that an application provides, by type.
///
/// ```
/// use es_framework::{command::{Clock, Services}, prelude::*};
///
/// #[derive(Service)]
/// struct Courier {
///     name: String,
/// }
///
/// let services = Services::default()
///     .with(Clock::at("2026-07-01T12:00:00Z".parse()?))
///     .with(Courier { name: "Jo".into() });
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Services(BTreeMap<TypeId, Arc<dyn Any + Send + Sync>>);

impl Services {
    /// Provides a value. It replaces an earlier value of the same type.
    #[must_use]
    pub fn with<T: Inject>(self, value: T) -> Self {
        self.with_shared(Arc::new(value))
    }

    /// Provides a shared value.
    #[must_use]
    pub fn with_shared<T: Inject>(mut self, value: Arc<T>) -> Self {
        self.0.insert(TypeId::of::<T>(), value);
        self
    }

    /// Returns whether a value of this type is provided.
    #[must_use]
    pub fn provides(&self, service: ServiceType) -> bool {
        self.0.contains_key(&service.id())
    }

    /// Returns the provided clock, or the system clock.
    pub fn clock(&self) -> Clock {
        let clock = self.get::<Clock>();
        clock.map_or_else(Clock::default, |clock| (*clock).clone())
    }

    /// Returns the value of this type.
    pub(crate) fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let value = self.0.get(&TypeId::of::<T>())?;
        Arc::clone(value).downcast().ok()
    }
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Services").field(&self.0.len()).finish()
    }
}
