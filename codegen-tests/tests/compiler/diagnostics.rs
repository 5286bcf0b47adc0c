//! Every wrong use of a macro has its own message, and every message has a case in `ui`. A file holds the
//! cases of one topic, because each file costs a run of the compiler. Correct uses are modules of
//! `accepted.rs`: with a program to link, trybuild would build all dependencies again instead of checking
//! them.

#[test]
fn the_compiler_says_what_to_write_instead() {
    trybuild::TestCases::new().compile_fail("ui/*/fail/*.rs");
}
