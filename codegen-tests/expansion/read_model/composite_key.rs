#[derive(ReadModel)]
#[read_model(table = "days", subject = "/days/{day}/doctors/{doctor}")]
struct DoctorsDay {
    #[key]
    doctor: Uuid,
    #[key]
    day: String,
    minutes: u32,
}
