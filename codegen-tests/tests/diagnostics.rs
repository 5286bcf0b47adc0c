//! Every wrong use of a macro has its own message; every message has a case here.

#[test]
fn the_compiler_says_what_to_write_instead() {
    let cases = trybuild::TestCases::new();
    cases.pass("ui/*/pass/*.rs");
    cases.compile_fail("ui/*/fail/*.rs");
}
