//! Parts of source files, which rustfmt lays out.

use std::{
    path::Path,
    process::{Command, Stdio},
};

/// Returns an attribute with its arguments.
pub(crate) fn attribute(name: &str, arguments: &[String]) -> String {
    format!("#[{name}({})]", arguments.join(", "))
}

/// Returns the head of a function, up to its opening brace. `keyword` is `fn` or `async fn`.
pub(crate) fn function_head(
    keyword: &str,
    name: &str,
    parameters: &[String],
    output: Option<&str>,
) -> String {
    let output = output.map_or_else(String::new, |output| format!(" -> {output}"));
    format!("{keyword} {name}({}){output} {{", parameters.join(", "))
}

/// Returns the body of a struct: its fields, each on a line of its own.
pub(crate) fn struct_body(declarations: &[String]) -> String {
    if declarations.is_empty() {
        return "{}".to_owned();
    }
    format!("{{\n    {}\n}}", declarations.join("\n    "))
}

/// Returns a struct literal.
pub(crate) fn struct_literal(name: &str, fields: &[(String, String)]) -> String {
    let fields = fields
        .iter()
        .map(|(name, value)| format!("{name}: {value}"));
    let fields: Vec<_> = fields.collect();
    format!("{name} {{ {} }}", fields.join(", "))
}

/// Returns the line of a test that fails with a sentence.
pub(crate) fn panic_line(sentence: &str) -> String {
    format!("        panic!(\"{sentence}\");")
}

/// Returns the imports of types by their paths.
pub(crate) fn imports(mut paths: Vec<String>) -> String {
    paths.sort_unstable();
    paths.dedup();
    let lines = paths.iter().map(|path| format!("use {path};\n"));
    lines.collect()
}

/// Lays out a file and the files of its modules. Returns a hint for the report if rustfmt is not there; the files compile
/// without it.
pub(crate) fn format_file(file: &Path) -> &'static str {
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--edition", "2024"]).arg(file);
    rustfmt
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    match rustfmt.status() {
        Ok(status) if status.success() => "",
        _ => "rustfmt did not run: `cargo fmt` lays out what is new.\n",
    }
}
