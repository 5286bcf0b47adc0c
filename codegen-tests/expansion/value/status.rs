/// Where a copy is.
#[derive(Value)]
pub enum Status {
    Available,
    #[serde(rename = "lent-out")]
    Lent,
}
