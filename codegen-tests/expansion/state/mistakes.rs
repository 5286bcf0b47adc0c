#[derive(State)]
#[serde(rename_all = "snake_case")]
enum Book {}
