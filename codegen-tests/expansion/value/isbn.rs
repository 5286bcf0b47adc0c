pub struct Isbn(#[validate(pattern("^97[89]"))] String);
