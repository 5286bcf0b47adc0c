//! The paths that are for operators, which pages of other origins never reach.

use std::sync::Arc;

/// The path of the console.
pub(super) const CONSOLE: &str = "/console";

/// The paths of the operator API and of the console.
#[derive(Debug, Clone)]
pub(super) struct OperatorPaths(Arc<[String]>);

impl OperatorPaths {
    pub(super) fn new<R>(routes: &[(String, R)], has_console: bool) -> Self {
        let fixed = |path: &str| path.split("/{").next().unwrap_or_default().to_owned();
        let console = has_console.then(|| CONSOLE.to_owned());
        let routes = routes.iter().map(|(path, _)| fixed(path));
        Self(routes.chain(console).collect())
    }

    pub(super) fn contains(&self, path: &str) -> bool {
        let is_below = |one: &String| {
            let rest = path.strip_prefix(one.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.0.iter().any(is_below)
    }
}
