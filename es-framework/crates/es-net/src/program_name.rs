//! The name of the program, for hints that tell which command to run.

/// Returns the file name of the running program, such as `library-app`. It differs from the name of the
/// application, such as `library-service`.
#[doc(hidden)]
#[must_use]
pub fn program_name() -> String {
    let file = std::env::current_exe().ok();
    let name = file.as_deref().and_then(|file| file.file_name());
    name.map_or_else(
        || "the program".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}
