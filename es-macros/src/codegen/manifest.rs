//! Reads the Cargo.toml of the crate that is being compiled. Macros read no other file.

use std::{env, fs, path::Path};

use toml::{Table, Value};

/// The key under which an application declares the package of its event types.
const METADATA: [&str; 3] = ["package", "metadata", "es-framework"];

/// The contents of `Cargo.toml`, or `None` if it cannot be read, for example because Cargo does not run the build.
#[derive(Debug)]
pub(crate) struct Manifest(Option<Table>);

impl Manifest {
    /// Reads the manifest of the crate that uses the macro.
    pub(crate) fn of_this_crate() -> Self {
        let text = env::var_os("CARGO_MANIFEST_DIR")
            .and_then(|folder| fs::read_to_string(Path::new(&folder).join("Cargo.toml")).ok());
        Self(text.and_then(|text| text.parse().ok()))
    }

    #[cfg(test)]
    pub(crate) fn parse(text: &str) -> Self {
        Self(Some(text.parse().unwrap()))
    }

    #[cfg(test)]
    pub(crate) fn absent() -> Self {
        Self(None)
    }

    /// Returns true if there is a manifest.
    pub(crate) fn exists(&self) -> bool {
        self.0.is_some()
    }

    /// Returns `package` in `[package.metadata.es-framework]`.
    pub(crate) fn event_package(&self) -> Option<&Value> {
        METADATA
            .iter()
            .try_fold(self.0.as_ref()?, |table, key| table.get(*key)?.as_table())?
            .get("package")
    }

    /// Returns true if the crate being compiled is `package`, not one that depends on it.
    pub(crate) fn has_package_name(&self, package: &str) -> bool {
        let name = self
            .0
            .as_ref()
            .and_then(|table| table.get("package")?.get("name")?.as_str());
        name == Some(package)
    }

    /// Returns the name under which the crate refers to its dependency `package`.
    pub(crate) fn dependency(&self, package: &str) -> Option<String> {
        let table = self.0.as_ref()?;
        let by_target = table.get("target").and_then(Value::as_table);
        let targets = by_target
            .into_iter()
            .flat_map(Table::values)
            .filter_map(Value::as_table);
        std::iter::once(table)
            .chain(targets)
            .flat_map(|table| [table.get("dependencies"), table.get("dev-dependencies")])
            .filter_map(|dependencies| dependencies?.as_table())
            .flatten()
            .find(|(name, dependency)| {
                let renamed = dependency.get("package").and_then(Value::as_str);
                renamed.unwrap_or(name) == package
            })
            .map(|(name, _)| name.replace('-', "_"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_event_package_is_in_the_metadata() {
        let manifest =
            Manifest::parse("[package.metadata.es-framework]\npackage = \"com.example.library\"");
        assert_eq!(
            manifest.event_package().and_then(Value::as_str),
            Some("com.example.library")
        );
        assert_eq!(Manifest::parse("[package]").event_package(), None);
        assert_eq!(Manifest::absent().event_package(), None);
    }

    #[test]
    fn a_dependency_is_found_under_its_own_name_or_another() {
        for (manifest, name) in [
            ("[dependencies]\nes-framework = \"1\"", Some("es_framework")),
            (
                "[dependencies]\nes-framework.workspace = true",
                Some("es_framework"),
            ),
            (
                "[dependencies]\nfw = { package = \"es-framework\" }",
                Some("fw"),
            ),
            (
                "[dev-dependencies]\nes-framework = \"1\"",
                Some("es_framework"),
            ),
            (
                "[target.'cfg(unix)'.dependencies]\ne-s = { package = \"es-framework\" }",
                Some("e_s"),
            ),
            (
                "[dependencies]\nes-framework = { package = \"other\" }",
                None,
            ),
            ("[dependencies]\nserde = \"1\"", None),
        ] {
            let found = Manifest::parse(manifest).dependency("es-framework");
            assert_eq!(found.as_deref(), name, "{manifest}");
        }
    }
}
