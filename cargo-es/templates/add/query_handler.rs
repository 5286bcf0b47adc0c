
#[query_handler(reads = [{{model}}])]
async fn {{function}}({{parameter}}: {{name}}, context: &QueryContext<'_>) -> Result<Page<{{model}}>, QueryError> {
    let rows = context.rows::<{{model}}>();
{{filters}}    rows.page(context.paging()).await
}
