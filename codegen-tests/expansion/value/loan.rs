#[derive(Value)]
#[serde(tag = "kind")]
pub enum Loan {
    Short { days: u8 },
    #[schemars(title = "Without an end")]
    Endless(Reason),
}
