//! PostgreSQL alone: one `INSERT` a transaction, which is the least that a store on it does.

use sqlx::{PgPool, Row as _};

use super::{Purchase, Store};

#[derive(Clone)]
pub struct PostgresTable {
    pool: PgPool,
}

impl PostgresTable {
    pub async fn create(database: &str) -> Self {
        let pool = super::pool(database).await;
        let table =
            "CREATE TABLE events (id bigserial, subject text, number bigint, type text, data text,
            PRIMARY KEY (subject, number))";
        sqlx::query(table).execute(&pool).await.unwrap();
        Self { pool }
    }
}

impl Store for PostgresTable {
    async fn append(&self, subject: &str, number: usize) {
        let insert =
            sqlx::query("INSERT INTO events (subject, number, type, data) VALUES ($1, $2, $3, $4)");
        let data = serde_json::to_string(&Purchase::example()).unwrap();
        let insert = insert
            .bind(subject)
            .bind(number as i64)
            .bind(Purchase::TYPE)
            .bind(data);
        insert.execute(&self.pool).await.unwrap();
    }

    /// The primary key is the condition.
    async fn append_first(&self, subject: &str) {
        self.append(subject, 0).await;
    }

    async fn read(&self, subject: &str) -> usize {
        let select = sqlx::query("SELECT data FROM events WHERE subject = $1 ORDER BY number");
        let rows = select.bind(subject).fetch_all(&self.pool).await.unwrap();
        let purchases = rows
            .iter()
            .map(|row| serde_json::from_str::<Purchase>(row.get(0)));
        purchases.map(Result::unwrap).count()
    }
}
