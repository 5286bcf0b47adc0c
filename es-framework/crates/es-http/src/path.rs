//! The paths of declarations, with parameters in braces: `/books/{id}/borrow`.

/// Returns the name of the parameter in a segment.
fn name(segment: &str) -> Option<&str> {
    segment.strip_prefix('{')?.strip_suffix('}')
}

/// Returns whether a segment is a parameter.
pub(super) fn is_parameter(segment: &str) -> bool {
    name(segment).is_some()
}

/// Returns the path with this value for each parameter.
pub(super) fn fill_parameters(path: &str, value: &str) -> String {
    let segments = path.split('/').map(|segment| match name(segment) {
        Some(_) => value,
        None => segment,
    });
    segments.collect::<Vec<_>>().join("/")
}

/// Returns the names of a path's parameters, in order.
pub(super) fn parameter_names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(name)
}

/// Returns the path of a route in the router. Its parameters are named by their positions, so that
/// two routes may name the same segment differently.
pub(super) fn to_axum_path(path: &str) -> String {
    let mut position = 0_usize..;
    let segments = path.split('/').map(|segment| match name(segment) {
        Some(_) => format!("{{p{}}}", position.next().unwrap_or_default()),
        None => segment.to_owned(),
    });
    segments.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_routes_may_call_the_same_segment_differently() {
        assert_eq!(
            to_axum_path("/books/{id}/copies/{copy}"),
            "/books/{p0}/copies/{p1}"
        );
        assert_eq!(to_axum_path("/books/{isbn}"), to_axum_path("/books/{id}"));
        assert_eq!(to_axum_path("/books/purchase"), "/books/purchase");
    }

    #[test]
    fn a_path_names_its_parameters_in_order() {
        let names = parameter_names("/books/{id}/copies/{copy}/borrow");
        assert_eq!(names.collect::<Vec<_>>(), ["id", "copy"]);
    }
}
