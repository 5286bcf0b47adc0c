//! Paths of source files, relative to their package.

use es_event::Declaration;

/// The folders that a package has for source files.
const FOLDERS: [&str; 4] = ["src", "tests", "examples", "benches"];

/// Returns the path of a declaration's file from its package on, because the compiler's path depends on
/// the folder in which the build was started.
pub(crate) fn path_from_package(declaration: &Declaration) -> String {
    let file = declaration.file.replace('\\', "/");
    let parts: Vec<_> = file.split('/').collect();
    let begin = parts.iter().rposition(|part| FOLDERS.contains(part));
    let from_folder = parts.get(begin.unwrap_or_default()..);
    from_folder.unwrap_or(&parts).join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(file: &'static str) -> String {
        let here = es_event::declaration!();
        path_from_package(&Declaration { file, ..here })
    }

    #[test]
    fn a_path_begins_in_its_package() {
        assert_eq!(path("library-app/src/book/borrow.rs"), "src/book/borrow.rs");
        assert_eq!(path("src/main.rs"), "src/main.rs");
        assert_eq!(path(r"C:\work\shop\src\cart.rs"), "src/cart.rs");
        assert_eq!(path("/home/ada/src/shop/tests/cart.rs"), "tests/cart.rs");
        assert_eq!(path("cart.rs"), "cart.rs");
    }
}
