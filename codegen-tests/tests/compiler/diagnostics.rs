//! Every wrong use of a macro has its own message; every message has a case in `ui`.

// Two tests, for without a program to link all cases are checked at once.

#[test]
fn the_compiler_says_what_to_write_instead() {
    trybuild::TestCases::new().compile_fail("ui/*/fail/*.rs");
}

#[test]
fn what_is_right_compiles_without_a_warning() {
    trybuild::TestCases::new().pass("ui/*/pass/*.rs");
}
