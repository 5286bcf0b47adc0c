#[derive(Settings)]
struct Lending {
    #[setting(defualt = 28)]
    loan_days: u32,
}
