/// How books are lent.
#[derive(Settings)]
pub struct Lending {
    /// How many days a loan lasts.
    #[setting(default = 28)]
    pub loan_days: u32,
    /// Whom to write to.
    #[setting(env = "LENDING_DESK")]
    pub desk: String,
    /// When the library closes.
    pub closes_at: Option<u8>,
}
