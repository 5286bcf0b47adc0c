//! A compose file of the library, of which tests start the parts as processes of their own.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

/// The files for deployments.
pub(crate) fn ops_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("ops")
}

/// A compose file whose variables have values.
pub(crate) struct ComposeFile {
    pub(crate) document: Value,
    /// The folder to which its paths are relative.
    pub(crate) folder: PathBuf,
    variables: Vec<(&'static str, &'static str)>,
}

impl ComposeFile {
    /// Reads a file in the folder of deployments, with values for its variables.
    pub(crate) fn read(path: &str, variables: &[(&'static str, &'static str)]) -> Self {
        let path = ops_folder().join(path);
        let text = fs::read_to_string(&path).unwrap();
        Self {
            document: serde_saphyr::from_str(&text).unwrap(),
            folder: path.parent().unwrap().to_owned(),
            variables: variables.to_vec(),
        }
    }

    pub(crate) fn service(&self, name: &str) -> &Value {
        &self.document["services"][name]
    }

    /// The variables of a service's process.
    pub(crate) fn environment(&self, service: &str) -> Vec<(String, String)> {
        let environment = self.service(service)["environment"].as_object().unwrap();
        let text = |value: &Value| self.substitute(value.as_str().unwrap());
        let pairs = environment.iter();
        pairs
            .map(|(name, value)| (name.clone(), text(value)))
            .collect()
    }

    /// The texts of a list, such as a command.
    pub(crate) fn texts(&self, list: &Value) -> Vec<String> {
        let texts = list.as_array().unwrap().iter();
        texts
            .map(|text| self.substitute(text.as_str().unwrap()))
            .collect()
    }

    /// Replaces variables by their values. Each one has to be refused with a sentence if it is missing.
    fn substitute(&self, text: &str) -> String {
        let (plain, rest) = match text.split_once('$') {
            Some((plain, rest)) => (plain, rest),
            None => return text.to_owned(),
        };
        if let Some(rest) = rest.strip_prefix('$') {
            return format!("{plain}${}", self.substitute(rest));
        }
        let (variable, rest) = rest.strip_prefix('{').unwrap().split_once('}').unwrap();
        let (name, sentence) = variable.split_once(":?").expect("a variable is required");
        assert!(sentence.contains(name), "{sentence}");
        let mut values = self.variables.iter().filter(|(known, _)| *known == name);
        let (_, value) = values
            .next()
            .unwrap_or_else(|| panic!("{name} has no value"));
        format!("{plain}{value}{}", self.substitute(rest))
    }
}
