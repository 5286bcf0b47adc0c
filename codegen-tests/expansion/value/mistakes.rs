#[derive(Value)]
struct Loan<'a> {
    reader: &'a str,
}
