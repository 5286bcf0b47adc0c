//! The arguments of `cargo es import`.

use std::path::PathBuf;

use clap::{Args, builder::NonEmptyStringValueParser};

use super::assigned_column::AssignedColumn;

#[derive(Debug, Args)]
#[command(after_help = "\
Example: cargo es import books.csv --to https://library.example.com --command PurchaseBook \\
  --id id=Barcode --map isbn=ISBN --map title=Title --map author=Author --map numPages=Pages

Repeat the same command after an interruption: rows that were carried out are not carried out again.")]
pub(crate) struct ImportArguments {
    /// The CSV file, in UTF-8, with the names of its columns in the first row
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The address of the running service
    #[arg(long, value_name = "URL")]
    pub(crate) to: String,
    /// The command that each row becomes, such as PurchaseBook
    #[arg(long, value_name = "NAME")]
    pub(crate) command: String,
    /// A field of the command and the column with its values. A list takes the character behind the name of the column
    /// as the separator of its elements: authors='Authors;'
    #[arg(long = "map", value_name = "FIELD=COLUMN")]
    pub(crate) columns: Vec<AssignedColumn>,
    /// A field whose UUID follows from the text of a column, always the same for the same text. Without a column, it
    /// follows from the file and the number of the row
    #[arg(long = "id", value_name = "FIELD[=COLUMN]")]
    pub(crate) ids: Vec<AssignedColumn>,
    /// The column with the time at which the event happened, such as 2019-03-01T10:00:00Z or 2019-03-01
    #[arg(long, value_name = "COLUMN")]
    pub(crate) occurred_at: Option<String>,
    /// The character between two cells
    #[arg(long, value_name = "CHARACTER", default_value_t = ',')]
    pub(crate) delimiter: char,
    /// A file with the bearer token. Without it, the token is in the environment variable CARGO_ES_TOKEN
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// The file for refused rows. Without it, books.csv leads to books.refused.csv
    #[arg(long, value_name = "FILE", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) refused: Option<String>,
}
