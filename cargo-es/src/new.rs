//! The subcommand `new`: a folder with an application.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::{
    command_line::NewArguments,
    error::ToolError,
    files::{self, NewFile},
    source_template,
};

/// The paths of an application's files, with their templates.
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
        "Cargo.toml",
        include_str!("../templates/application/Cargo.toml.template"),
    ),
    (
        "Containerfile",
        include_str!("../templates/application/Containerfile"),
    ),
    (
        "README.md",
        include_str!("../templates/application/README.md"),
    ),
    (
        "src/main.rs",
        include_str!("../templates/application/src/main.rs"),
    ),
    (
        "src/purchase_book.rs",
        include_str!("../templates/application/src/purchase_book.rs"),
    ),
    (
        "src/stock.rs",
        include_str!("../templates/application/src/stock.rs"),
    ),
    (
        "src/tests.rs",
        include_str!("../templates/application/src/tests.rs"),
    ),
];

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
    let name = arguments.name.as_str();
    let root = folder.join(name);
    if root.symlink_metadata().is_ok() {
        return Err(ToolError::new(format!("{} exists", root.display())));
    }
    let framework = match &arguments.framework_path {
        None => FrameworkSource::released(),
        Some(path) => FrameworkSource::checkout(&folder.join(path))?,
    };
    let package = format!("com.example.{}", arguments.name.to_event_type_segment());
    let values = [
        ("name", name),
        ("package", &package),
        ("framework", &framework.dependency),
        ("copy framework", &framework.copy),
        ("build context", &framework.build_context),
    ];
    let files = FILES.iter().map(|(path, template)| NewFile {
        path,
        text: source_template::fill_template(template, &values),
    });
    files::create_application(&root, &files.collect::<Vec<_>>())?;
    Ok(format!(
        "{name} is a new application. Its tests: cd {name} && cargo test\nIt runs: cargo run\n"
    ))
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
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    let manifest: toml::Table = manifest.parse().unwrap_or_default();
    let package = manifest
        .get("package")
        .and_then(|package| package.get("name"));
    package.and_then(toml::Value::as_str) == Some(name)
}
