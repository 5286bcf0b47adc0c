//! The settings of the simulation that runs on the current thread.

use std::{cell::RefCell, marker::PhantomData, time::Duration};

use super::Defect;

thread_local! {
    static CURRENT: RefCell<Option<Settings>> = const { RefCell::new(None) };
}

struct Settings {
    defect: Option<Defect>,
    work_time: Box<dyn FnMut() -> Duration>,
}

/// While this value exists, its thread runs a simulation.
#[doc(hidden)]
#[derive(Debug)]
pub struct SimulationScope {
    /// The settings belong to one thread.
    _thread: PhantomData<*const ()>,
}

impl SimulationScope {
    /// Simulates on this thread. `work_time` returns the time that passes before and after blocking
    /// work.
    #[must_use]
    pub fn enter(defect: Option<Defect>, work_time: impl FnMut() -> Duration + 'static) -> Self {
        let work_time = Box::new(work_time);
        CURRENT.set(Some(Settings { defect, work_time }));
        Self {
            _thread: PhantomData,
        }
    }

    pub(super) fn defect() -> Option<Defect> {
        CURRENT.with_borrow(|current| current.as_ref()?.defect)
    }

    pub(super) fn work_times() -> Option<[Duration; 2]> {
        CURRENT.with_borrow_mut(|current| {
            let time = &mut current.as_mut()?.work_time;
            Some([time(), time()])
        })
    }
}

impl Drop for SimulationScope {
    fn drop(&mut self) {
        CURRENT.set(None);
    }
}
