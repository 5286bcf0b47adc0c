//! The services that an application provides, by type.

use std::{
    any::{Any, TypeId},
    collections::BTreeMap,
    fmt,
    sync::Arc,
};

use crate::Clock;

/// The Rust type of a service that an application provides.
///
/// ```
/// use es_event::{Clock, ServiceType, Services};
///
/// let clock = ServiceType::of::<Clock>("Clock");
/// assert!(Services::default().with(Clock::system()).provides(clock));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServiceType {
    /// The type's name.
    pub name: &'static str,
    id: TypeId,
}

impl ServiceType {
    /// Returns the type `T` under this name.
    #[must_use]
    pub const fn of<T: 'static>(name: &'static str) -> Self {
        let id = TypeId::of::<T>();
        Self { name, id }
    }
}

/// The services that an application provides, by type. Clones share them.
///
/// ```
/// use es_event::{Clock, Services};
///
/// struct Courier {
///     name: String,
/// }
///
/// let services = Services::default()
///     .with(Clock::at("2026-07-01T12:00:00Z".parse()?))
///     .with(Courier { name: "Jo".into() });
/// assert_eq!(services.clock().now().to_string(), "2026-07-01T12:00:00Z");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Services(Arc<BTreeMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl Services {
    /// Provides a value. It replaces an earlier value of the same type.
    #[must_use]
    pub fn with<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.with_shared(Arc::new(value))
    }

    /// Provides a shared value.
    #[must_use]
    pub fn with_shared<T: Send + Sync + 'static>(mut self, value: Arc<T>) -> Self {
        Arc::make_mut(&mut self.0).insert(TypeId::of::<T>(), value);
        self
    }

    /// Returns whether a value of this type is provided.
    #[must_use]
    pub fn provides(&self, service: ServiceType) -> bool {
        self.0.contains_key(&service.id)
    }

    /// Returns the provided clock, or the system clock.
    #[must_use]
    pub fn clock(&self) -> Clock {
        let clock = self.get::<Clock>();
        clock.map_or_else(Clock::default, |clock| (*clock).clone())
    }

    /// Returns the value of this type.
    #[doc(hidden)]
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let value = self.0.get(&TypeId::of::<T>())?;
        Arc::clone(value).downcast().ok()
    }
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Services").field(&self.0.len()).finish()
    }
}
