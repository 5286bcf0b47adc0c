#[derive(Command)]
#[command(subject = "/books/{id}", backdate_role = "importer")]
pub struct PurchaseBookCommand {
    pub id: Uuid,
    #[validate(text(min = 2, max = LONGEST), pattern("^97[89]"))]
    pub isbn: String,
    #[validate(email)]
    pub purchased_by: Option<String>,
    #[validate(url, with = is_of_a_shop)]
    pub offer: Option<String>,
    #[validate(items(max = 9), each(text(max = 20), with = is_known))]
    pub tags: Vec<String>,
    pub copies: Vec<Copy>,
}
