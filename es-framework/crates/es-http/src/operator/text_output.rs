//! Prints the answers of the subcommands.

use std::io::{self, Write as _};

use es_event::{Error, Result, foreign_text::escape_for_terminal};

/// Waits for a text and writes it to standard output.
pub(super) fn print_text(text: impl Future<Output = Result<String>>) -> Result<()> {
    let text = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::because("the asynchronous runtime cannot start", error))?
        .block_on(text)?;
    let mut out = io::stdout().lock();
    out.write_all(escape_for_terminal(&text).as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Error::because("cannot write to standard output", error))
}
