//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, ValueEnum};

use crate::{
    field::Field,
    import::ImportArguments,
    names::{TypeName, TypePath, parse_field_name, parse_package_name},
    subject::PathTemplate,
};

/// Writes applications of es-framework and their features, and describes them.
#[derive(Debug, Parser)]
#[command(name = "cargo-es", bin_name = "cargo es", version)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) subcommand: Subcommand,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Subcommand {
    /// Writes a new application with a first command and its tests
    New(NewArguments),
    /// Adds a declaration to the application: one file with a test that fails until you have decided
    #[command(subcommand)]
    Add(Declaration),
    /// Compiles the application, and shows what the framework derived from a declaration
    Explain(ExplainArguments),
    /// Draws the model of the application: its commands, events, states, read models, queries and reactions
    Draw(DrawArguments),
    /// Prints the OpenAPI document of the application, or a page about it
    Openapi(OpenApiArguments),
    /// Prints the AsyncAPI document of the application: the public events that it sends
    Asyncapi(DescriptionArguments),
    /// Compares the OpenAPI document with a committed one. Fails if a change breaks clients, and names them and the
    /// ways out; lists the other changes
    Contract(ContractArguments),
    /// Prints a helper for clients, beside a generated client: safe retries, own writes, problems, pages and live
    /// queries
    Client(HelperArguments),
    /// Prints a helper for receivers of public events: verifies webhooks, and skips repetitions
    Receiver(HelperArguments),
    /// Imports a CSV file into a running service: each row becomes a command. Can be interrupted and repeated
    Import(ImportArguments),
}

#[derive(Debug, Args)]
pub(crate) struct DescriptionArguments {
    /// A file with what the application prints as `describe`; without it, the application in this folder is
    /// compiled, and prints it
    #[arg(long, value_name = "FILE")]
    pub(crate) description: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct DrawArguments {
    /// As a picture, as a Mermaid flowchart, or as data
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: DrawingFormat,
    /// Roles that callers can have, with commas between them. Marks the commands that need another role
    #[arg(long, value_name = "ROLES", value_delimiter = ',')]
    pub(crate) roles: Vec<String>,
    #[command(flatten)]
    pub(crate) description: DescriptionArguments,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(crate) enum DrawingFormat {
    #[default]
    Svg,
    Mermaid,
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct OpenApiArguments {
    /// As the document itself, or as a page that lists what commands and queries take and answer
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: OpenApiFormat,
    /// The version of the specification. Some generators read 3.0 only
    #[arg(long, value_enum, default_value_t, conflicts_with = "format")]
    pub(crate) openapi_version: OpenApiVersion,
    #[command(flatten)]
    pub(crate) description: DescriptionArguments,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(crate) enum OpenApiFormat {
    #[default]
    Json,
    Markdown,
}

#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(crate) enum OpenApiVersion {
    #[default]
    #[value(name = "3.1")]
    V3_1,
    #[value(name = "3.0")]
    V3_0,
}

#[derive(Debug, Args)]
pub(crate) struct ContractArguments {
    /// Path of the committed document
    #[arg(value_name = "FILE", default_value = "openapi.json")]
    pub(crate) committed: PathBuf,
    #[command(flatten)]
    pub(crate) description: DescriptionArguments,
}

#[derive(Debug, Args)]
pub(crate) struct HelperArguments {
    /// The language
    #[arg(value_enum)]
    pub(crate) language: ClientLanguage,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ClientLanguage {
    #[value(name = "typescript")]
    TypeScript,
    Python,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// The name of a declared type, such as BorrowBookCommand, or the type of an event
    #[arg(value_name = "TYPE")]
    pub(crate) name: String,
}

#[derive(Debug, Args)]
pub(crate) struct NewArguments {
    /// The name of the application, of its Cargo package and of its folder
    #[arg(value_parser = parse_package_name)]
    pub(crate) name: String,
    /// Writes the application of the tutorial, instead of one with a first command of your own
    #[arg(long, value_enum, value_name = "EXAMPLE")]
    pub(crate) example: Option<Example>,
    #[command(flatten)]
    pub(crate) first: FirstCommandArguments,
    /// The folder of a checkout of es-framework, instead of the released version
    #[arg(long, value_name = "PATH")]
    pub(crate) framework_path: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Example {
    Library,
}

/// The first command of a new application.
#[derive(Debug, Args)]
pub(crate) struct FirstCommandArguments {
    /// The first command in the imperative, such as BookAppointment
    #[arg(long, required_unless_present = "example", conflicts_with = "example", value_parser = TypeName::command)]
    pub(crate) command: Option<TypeName>,
    /// Its event in the past tense, such as AppointmentBooked
    #[arg(long, required_unless_present = "example", conflicts_with = "example", value_parser = TypeName::event)]
    pub(crate) event: Option<TypeName>,
    /// The subject of the event, such as "/appointments/{id}"
    #[arg(long, required_unless_present = "example", conflicts_with = "example", value_parser = PathTemplate::subject)]
    pub(crate) subject: Option<PathTemplate>,
    /// A field of the command, such as patient:Uuid; a field `id` of the subject needs no option, and is a Uuid
    #[arg(long = "field", value_name = "NAME:TYPE", conflicts_with = "example")]
    pub(crate) fields: Vec<Field>,
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Declaration {
    /// Adds a command with its event and its handler
    Command(NewCommandArguments),
    /// Adds an event with a subject of its own
    Event(NewEventArguments),
    /// Adds a state, which handlers take to decide
    State(NewStateArguments),
    /// Adds a read model and its projection
    ReadModel(NewReadModelArguments),
    /// Adds a query on a read model
    Query(NewQueryArguments),
    /// Adds a reaction, which sends a command or calls another system after an event
    Reaction(NewReactionArguments),
    /// Adds a reaction that sends a command at the times of a cron expression
    Schedule(NewScheduleArguments),
    /// Adds a public event, which other systems receive
    PublicEvent(NewPublicEventArguments),
    /// Adds a publication, which decides whether a public event follows from an event
    Publication(NewPublicationArguments),
}

#[derive(Debug, Args)]
pub(crate) struct NewCommandArguments {
    /// The name in the imperative, such as BorrowBook
    #[arg(value_parser = TypeName::command)]
    pub(crate) name: TypeName,
    /// The subject of its event, such as "/books/{id}"
    #[arg(long, value_parser = PathTemplate::subject)]
    pub(crate) subject: PathTemplate,
    /// A field, such as reader:Uuid; a field `id` of the subject needs no option, and is a Uuid
    #[arg(long = "field", value_name = "NAME:TYPE")]
    pub(crate) fields: Vec<Field>,
    /// The name of its event in the past tense, such as BookBorrowed
    #[arg(long, value_parser = TypeName::event)]
    pub(crate) event: TypeName,
    /// Rejects the command if the subject has an event already
    #[arg(long)]
    pub(crate) pristine: bool,
    /// A field whose value no other subject has, such as email
    #[arg(long = "unique", value_name = "FIELD", value_parser = parse_field_name)]
    pub(crate) unique: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct NewEventArguments {
    /// The name in the past tense, such as LoanOpened
    #[arg(value_parser = TypeName::event)]
    pub(crate) name: TypeName,
    /// Its subject, such as "/readers/{reader}"
    #[arg(long, value_parser = PathTemplate::subject)]
    pub(crate) subject: PathTemplate,
    /// A field, such as reader:Uuid; a field `id` of the subject needs no option, and is a Uuid
    #[arg(long = "field", value_name = "NAME:TYPE")]
    pub(crate) fields: Vec<Field>,
}

#[derive(Debug, Args)]
pub(crate) struct NewStateArguments {
    /// The name of the thing, such as Book
    #[arg(value_parser = TypeName::plain)]
    pub(crate) name: TypeName,
    /// An event that changes it; the first one creates it
    #[arg(long = "event", value_name = "EVENT", required = true, value_parser = TypePath::event)]
    pub(crate) events: Vec<TypePath>,
    /// A field, such as lent:bool
    #[arg(long = "field", value_name = "NAME:TYPE")]
    pub(crate) fields: Vec<Field>,
}

#[derive(Debug, Args)]
pub(crate) struct NewReadModelArguments {
    /// The name of a row, such as OpenLoan
    #[arg(value_parser = TypeName::plain)]
    pub(crate) name: TypeName,
    /// The subject whose fields are the key of a row, such as "/books/{id}"
    #[arg(long, required_unless_present = "each", value_parser = PathTemplate::subject)]
    pub(crate) subject: Option<PathTemplate>,
    /// The list in each event, such as seats, instead of a subject: each of its elements is the key of a row, and has
    /// the type of the first field
    #[arg(long, value_name = "LIST", conflicts_with = "subject", value_parser = parse_field_name)]
    pub(crate) each: Option<String>,
    /// An event that changes a row; the first one creates it
    #[arg(long = "event", value_name = "EVENT", required = true, value_parser = TypePath::event)]
    pub(crate) events: Vec<TypePath>,
    /// A column, such as title:String; a key `id` needs no option, and is a Uuid
    #[arg(long = "field", value_name = "NAME:TYPE")]
    pub(crate) fields: Vec<Field>,
}

#[derive(Debug, Args)]
pub(crate) struct NewQueryArguments {
    /// The name in the imperative, such as BrowseLoans
    #[arg(value_parser = TypeName::plain)]
    pub(crate) name: TypeName,
    /// The read model whose rows it returns
    #[arg(long, value_parser = TypePath::plain)]
    pub(crate) read_model: TypePath,
    /// The path of its route, such as /loans; with a key, as in "/loans/{id}", it returns one row
    #[arg(long, value_parser = PathTemplate::path)]
    pub(crate) path: PathTemplate,
    /// A column that clients filter by, such as title:String
    #[arg(long = "field", value_name = "NAME:TYPE")]
    pub(crate) fields: Vec<Field>,
    /// Writes a handler, which can do more than filter, and returns pages
    #[arg(long)]
    pub(crate) handler: bool,
}

#[derive(Debug, Args)]
pub(crate) struct NewReactionArguments {
    /// The name, such as LoanReminder
    #[arg(value_parser = TypeName::plain)]
    pub(crate) name: TypeName,
    /// The event that starts it
    #[arg(long, value_parser = TypePath::event)]
    pub(crate) event: TypePath,
    /// The command that it sends; without it, the reaction calls another system
    #[arg(long, value_parser = TypePath::command)]
    pub(crate) command: Option<TypePath>,
}

#[derive(Debug, Args)]
pub(crate) struct NewScheduleArguments {
    /// The name, such as NightlyCount
    #[arg(value_parser = TypeName::plain)]
    pub(crate) name: TypeName,
    /// The minute, hour, day of the month, month and day of the week, such as "0 6 * * *"
    #[arg(long)]
    pub(crate) cron: String,
    /// The time zone, such as Europe/Berlin; without it, the times are in UTC
    #[arg(long)]
    pub(crate) zone: Option<String>,
    /// The command that it sends
    #[arg(long, value_parser = TypePath::command)]
    pub(crate) command: TypePath,
}

#[derive(Debug, Args)]
pub(crate) struct NewPublicEventArguments {
    /// The name in the past tense, such as CopyLent
    #[arg(value_parser = TypeName::plain)]
    pub(crate) name: TypeName,
    /// A field, such as id:Uuid
    #[arg(long = "field", value_name = "NAME:TYPE")]
    pub(crate) fields: Vec<Field>,
}

#[derive(Debug, Args)]
pub(crate) struct NewPublicationArguments {
    /// The name, such as CopyReturned; it is part of the ids of its public events
    #[arg(value_parser = TypeName::plain)]
    pub(crate) name: TypeName,
    /// The event from which the public event follows
    #[arg(long, value_parser = TypePath::event)]
    pub(crate) event: TypePath,
    /// The public event
    #[arg(long, value_parser = TypePath::plain)]
    pub(crate) public_event: TypePath,
}
