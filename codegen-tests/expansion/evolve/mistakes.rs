#[evolve]
impl Book {
    async fn purchased(self) -> Book {
        self
    }
}
