//! Panics of the application's code, which fail one event and nothing else.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// Calls code of the application. Returns the message of a panic.
///
/// # Errors
/// The code panicked.
#[doc(hidden)]
pub fn catch_panic<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| panic_text(&*panic))
}

/// Returns the message of a panic.
#[doc(hidden)]
#[must_use]
pub fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "without a message".to_owned())
}
