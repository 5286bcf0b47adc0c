//! The subcommand `new`: a folder with an application.

use std::{
    fs,
    path::{Path, PathBuf},
};

use heck::ToLowerCamelCase as _;
use serde_json::{Map, Value, json};

use crate::{
    add::command,
    command_line::{Example, FirstCommandArguments, NewArguments, NewCommandArguments},
    error::ToolError,
    field::{Field, sample_literal},
    files::{self, NewFile},
    source_template,
};

/// The paths of the files that every application has, with their templates.
const FILES: &[(&str, &str)] = &[
    (".ci/run", include_str!("../templates/application/ci-run")),
    (
        ".dockerignore",
        include_str!("../templates/application/dockerignore"),
    ),
    (
        ".gitignore",
        include_str!("../templates/application/gitignore"),
    ),
    (
        "AGENTS.md",
        include_str!("../templates/application/AGENTS.md"),
    ),
    (
        "Cargo.toml",
        include_str!("../templates/application/Cargo.toml.template"),
    ),
    (
        "Containerfile",
        include_str!("../templates/application/Containerfile"),
    ),
];

/// The files of an application of any domain, whose first command is a file of its own.
const DOMAIN_FILES: &[(&str, &str)] = &[
    (
        "README.md",
        include_str!("../templates/application/README.md"),
    ),
    (
        "src/tests.rs",
        include_str!("../templates/application/src/tests.rs"),
    ),
];

const LIBRARY_LOCK: &str = include_str!("../templates/library/events.lock.json");

const MAIN: &str = include_str!("../templates/application/src/main.rs");

/// The files of the tutorial's application.
const LIBRARY_FILES: &[(&str, &str)] = &[
    ("README.md", include_str!("../templates/library/README.md")),
    ("events.lock.json", LIBRARY_LOCK),
    (
        "src/purchase_book.rs",
        include_str!("../templates/library/src/purchase_book.rs"),
    ),
    (
        "src/stock.rs",
        include_str!("../templates/library/src/stock.rs"),
    ),
    (
        "src/tests.rs",
        include_str!("../templates/library/src/tests.rs"),
    ),
];

/// The last test of the first command.
const TEST: &str = include_str!("../templates/application/command_test.rs");

/// The version of the framework that was released with this program.
const RELEASE: &str = env!("CARGO_PKG_VERSION");

/// The place of the framework that an application depends on.
struct FrameworkSource {
    /// The source in Cargo.toml.
    dependency: String,
    /// The line of the Containerfile that copies a checkout of the framework. It is empty for a release.
    copy: String,
    /// The option of the command that builds a container.
    build_context: String,
}

/// Writes an application into a new folder. Returns a report.
pub(crate) fn create_application(
    folder: &Path,
    arguments: &NewArguments,
) -> Result<String, ToolError> {
    let name = &arguments.name;
    let root = folder.join(name);
    if root.symlink_metadata().is_ok() {
        return Err(ToolError::new(format!("{} exists", root.display())));
    }
    let framework = match &arguments.framework_path {
        None => FrameworkSource::released(),
        Some(path) => FrameworkSource::checkout(&folder.join(path))?,
    };
    let package = format!("com.example.{}", name.replace('-', "_"));
    let values = [
        ("name", name.as_str()),
        ("package", &package),
        ("framework", &framework.dependency),
        ("copy framework", &framework.copy),
        ("build context", &framework.build_context),
    ];
    let mut files = fill_templates(FILES, &values);
    match (arguments.example, first_command(&arguments.first)) {
        (None, Some(command)) => files.extend(domain_files(&command, &package, &values)?),
        (Some(Example::Library), _) | (None, None) => {
            files.extend(fill_templates(LIBRARY_FILES, &values));
            files.push(main_file(&values, "mod purchase_book;\nmod stock;"));
        }
    }
    files::create_application(&root, &files)?;
    let hint = files::format_source(&root.join("src/main.rs"));
    Ok(format!(
        "{name} is a new application. Its tests: cd {name} && cargo test\nIt runs: cargo run\n{hint}"
    ))
}

fn fill_templates(templates: &[(&str, &str)], values: &[(&str, &str)]) -> Vec<NewFile> {
    let files = templates.iter().map(|(path, template)| NewFile {
        path: (*path).to_owned(),
        text: source_template::fill_template(template, values),
    });
    files.collect()
}

fn main_file(values: &[(&str, &str)], modules: &str) -> NewFile {
    let own = [("modules", modules)];
    let values: Vec<_> = values.iter().copied().chain(own).collect();
    NewFile {
        path: "src/main.rs".to_owned(),
        text: source_template::fill_template(MAIN, &values),
    }
}

/// Returns the first command, or `None` for an example.
fn first_command(first: &FirstCommandArguments) -> Option<NewCommandArguments> {
    Some(NewCommandArguments {
        name: first.command.clone()?,
        subject: first.subject.clone()?,
        fields: first.fields.clone(),
        event: first.event.clone()?,
        pristine: true,
        unique: Vec::new(),
    })
}

/// Returns the files that depend on the first command.
fn domain_files(
    arguments: &NewCommandArguments,
    package: &str,
    values: &[(&str, &str)],
) -> Result<Vec<NewFile>, ToolError> {
    let (command, event) = (arguments.name.to_string(), arguments.event.to_string());
    let module = command::command_module(arguments, TEST)?;
    let fields = arguments.subject.complete_fields(&arguments.fields)?;
    let own = [
        ("command", command.as_str()),
        ("sample", &sample_literal(&arguments.name, &fields)),
        ("module", &module.name),
    ];
    let values: Vec<_> = values.iter().copied().chain(own).collect();
    let mut files = fill_templates(DOMAIN_FILES, &values);
    files.push(main_file(&values, &format!("mod {};", module.name)));
    files.push(NewFile {
        path: "events.lock.json".to_owned(),
        text: lock_file(&format!("{package}.{event}"), &fields)?,
    });
    files.push(NewFile {
        path: format!("src/{}.rs", module.name),
        text: module.text,
    });
    Ok(files)
}

/// Returns the schema lock of one event.
fn lock_file(event_type: &str, fields: &[Field]) -> Result<String, ToolError> {
    let properties: Map<String, Value> = fields
        .iter()
        .map(|field| {
            (
                field.name.to_lower_camel_case(),
                field.field_type.json_schema(),
            )
        })
        .collect();
    let mut required: Vec<_> = fields
        .iter()
        .filter(|field| !field.field_type.is_optional())
        .map(|field| field.name.to_lower_camel_case())
        .collect();
    required.sort_unstable();
    let mut schema = Map::from_iter([
        ("properties".to_owned(), properties.into()),
        ("type".to_owned(), "object".into()),
    ]);
    if !required.is_empty() {
        schema.insert("required".to_owned(), required.into());
    }
    let events = serde_json::to_string_pretty(&json!({ event_type: schema }))
        .map_err(|error| ToolError::new(error.to_string()))?;
    let head = LIBRARY_LOCK
        .split_once("{\n    ")
        .map_or("", |(head, _)| head);
    Ok(format!("{head}{}\n}}\n", events.replace('\n', "\n  ")))
}

impl FrameworkSource {
    fn released() -> Self {
        let version = RELEASE
            .rsplit_once('.')
            .map_or(RELEASE, |(version, _)| version);
        Self {
            dependency: format!("version = \"{version}\""),
            copy: String::new(),
            build_context: String::new(),
        }
    }

    /// Finds the framework in the folder of a checkout, or in its folder `es-framework`.
    fn checkout(path: &Path) -> Result<Self, ToolError> {
        let is_framework = |folder: &PathBuf| is_package(folder, "es-framework");
        let folders = [path.join("es-framework"), path.to_owned()];
        let Some(framework) = folders.into_iter().find(is_framework) else {
            return Err(ToolError::new(format!(
                "{} is no checkout of es-framework",
                path.display()
            )));
        };
        let framework =
            fs::canonicalize(&framework).map_err(|error| ToolError::io(&framework, &error))?;
        let checkout = framework.parent().unwrap_or(&framework);
        let (Some(framework), Some(checkout)) = (framework.to_str(), checkout.to_str()) else {
            return Err(ToolError::new("the path of the checkout is no UTF-8"));
        };
        if checkout.contains(|one: char| one == '"' || one == '\\' || one.is_whitespace()) {
            return Err(ToolError::new(format!(
                "the path {checkout} holds a character that Cargo.toml and the Containerfile cannot"
            )));
        }
        Ok(Self {
            dependency: format!("path = \"{framework}\""),
            copy: format!("\n# The checkout of the framework.\nCOPY --from=framework . {checkout}"),
            build_context: format!(" --build-context framework={checkout}"),
        })
    }
}

/// Returns whether a folder has the manifest of this package.
fn is_package(folder: &Path, name: &str) -> bool {
    let text = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    let manifest: toml::Table = text.parse().unwrap_or_default();
    let package = manifest
        .get("package")
        .and_then(|package| package.get("name"));
    package.and_then(toml::Value::as_str) == Some(name)
}
