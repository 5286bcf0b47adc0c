pub enum Delivery {
    Collected,
    Sent {
        #[serde(rename = "to")]
        #[validate(text(max = 100))]
        recipient: String,
        addresses: Vec<Address>,
    },
    Posted(#[validate(range(min = 1))] u32),
}
