//! The time that blocking work takes in the simulation on the current thread.

use std::{cell::RefCell, marker::PhantomData, time::Duration};

thread_local! {
    static WORK_TIME: RefCell<Option<Box<dyn FnMut() -> Duration>>> = const { RefCell::new(None) };
}

/// While this value exists, its thread runs a simulation.
#[derive(Debug)]
pub struct SimulationScope {
    /// The settings belong to one thread.
    _thread: PhantomData<*const ()>,
}

impl SimulationScope {
    /// Simulates on this thread. `work_time` returns the time that passes before and after blocking
    /// work.
    #[must_use]
    pub fn enter(work_time: impl FnMut() -> Duration + 'static) -> Self {
        WORK_TIME.set(Some(Box::new(work_time)));
        Self {
            _thread: PhantomData,
        }
    }

    pub(super) fn work_times() -> Option<[Duration; 2]> {
        WORK_TIME.with_borrow_mut(|current| {
            let time = current.as_mut()?;
            Some([time(), time()])
        })
    }
}

impl Drop for SimulationScope {
    fn drop(&mut self) {
        WORK_TIME.set(None);
    }
}
