/// Finds titles.
#[derive(Service)]
pub struct Catalog {
    titles: BTreeMap<String, String>,
}
