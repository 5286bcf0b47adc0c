//! `cargo es import`: each row of a CSV file becomes a command of a running service.
//!
//! Nothing is kept between two runs. The idempotency key of a row follows from the bytes of the file, the command and the
//! number of the row, so the service knows which rows it has carried out.

mod arguments;
mod assigned_column;
mod command_schema;
mod field_value;
mod progress_line;
mod refused_rows;
mod row_mapping;
mod row_reader;
mod service_client;

use std::{
    fs::File,
    io::{self, Write},
    path::{Path, PathBuf},
};

use es_event::foreign_text::read_text;
use sha2::{Digest as _, Sha256};

use crate::error::ToolError;

pub(crate) use arguments::ImportArguments;
use command_schema::CommandSchema;
use progress_line::ProgressLine;
use refused_rows::RefusedRows;
use row_mapping::RowMapping;
use row_reader::{Row, RowReader};
use service_client::ServiceClient;

/// The number of rows in a request. The keys of rows depend on it.
const BATCH: usize = 1_000;
/// The length of the cells, in bytes, from which on a request takes no more rows. The keys of rows depend on it, too.
const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// Imports a file, and returns a sentence about it.
pub(crate) fn import_file(arguments: &ImportArguments) -> Result<String, ToolError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| ToolError::new(format!("the import does not start: {error}")))?;
    runtime.block_on(import_rows(arguments))
}

async fn import_rows(arguments: &ImportArguments) -> Result<String, ToolError> {
    let mut reader = RowReader::open(&arguments.file, arguments.delimiter)?;
    let mut refused = RefusedRows::new(refused_path(arguments), &reader.header)?;
    let service = ServiceClient::new(&arguments.to, read_token(arguments)?)?;
    let document = service.openapi().await?;
    let schema = CommandSchema::find(&document, &arguments.command)?;
    let mapping = RowMapping::new(arguments, &schema, &reader.header)?;
    let file_key = file_key(&arguments.file, &schema.path)?;
    let mut progress = ProgressLine::new();
    let mut total = 0_u64;
    loop {
        let (mut rows, mut bytes) = (Vec::new(), 0_usize);
        while rows.len() < BATCH
            && bytes < BATCH_BYTES
            && let Some(row) = reader.next_row()?
        {
            let cells = row.cells.iter();
            bytes += cells.map(String::len).sum::<usize>();
            rows.push(row);
        }
        if rows.is_empty() {
            break;
        }
        let key = format!("{file_key}-{total}");
        import_batch(&service, &schema.path, &mapping, &key, &rows, &mut refused).await?;
        total = total.saturating_add(u64::try_from(rows.len()).unwrap_or(u64::MAX));
        progress.show(total, refused.count);
    }
    progress.end();
    let count = refused.count;
    match refused.finish()? {
        None => Ok(format!("All {total} rows were carried out.\n")),
        Some(path) => Err(ToolError::new(format!(
            "{count} of {total} rows were refused: {} has them with the reasons. Correct them there, and import that file",
            path.display()
        ))),
    }
}

/// Sends the rows of one request, and notes those that are refused.
async fn import_batch(
    service: &ServiceClient,
    path: &str,
    mapping: &RowMapping,
    key: &str,
    rows: &[Row],
    refused: &mut RefusedRows,
) -> Result<(), ToolError> {
    let mut unsent = std::collections::HashMap::new();
    let mut commands = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        let command = match &row.reason {
            Some(reason) => Err(reason.clone()),
            None => mapping.command(&row.cells, &format!("{key}-{index}")),
        };
        match command {
            Ok(command) => commands.push(Some(command)),
            Err(reason) => {
                commands.push(None);
                unsent.insert(index, reason);
            }
        }
    }
    let mut reasons = service.send(path, key, &mut commands).await?;
    reasons.extend(unsent);
    for (index, row) in rows.iter().enumerate() {
        if let Some(reason) = reasons.get(&index) {
            refused.add(&row.cells, reason)?;
        }
    }
    Ok(())
}

fn refused_path(arguments: &ImportArguments) -> PathBuf {
    match &arguments.refused {
        Some(path) => path.into(),
        None => arguments.file.with_extension("refused.csv"),
    }
}

fn read_token(arguments: &ImportArguments) -> Result<Option<String>, ToolError> {
    let Some(file) = &arguments.token_file else {
        // The command line of a process is visible to other users, so the token is no argument.
        return Ok(std::env::var("CARGO_ES_TOKEN").ok());
    };
    let text = read_text(file).map_err(|error| ToolError::io(file, &error))?;
    Ok(Some(text.trim().to_owned()))
}

/// Returns the part of the idempotency keys that all rows of a file have.
fn file_key(file: &Path, path: &str) -> Result<String, ToolError> {
    struct Hasher(Sha256);
    impl Write for Hasher {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.update(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut hasher = Hasher(Sha256::new_with_prefix(path));
    let copied = File::open(file).and_then(|mut file| io::copy(&mut file, &mut hasher));
    copied.map_err(|error| ToolError::io(file, &error))?;
    let hex = es_event::hex(hasher.0.finalize().iter().take(16));
    Ok(format!("import-{hex}"))
}
