//! A crate that knows `kandra-migrate` by other names only.

/// By a name of its own, from `Cargo.toml`.
#[km::migration(version = 1, crate = km)]
pub mod by_another_name {
    use km::prelude::*;

    fn up() -> impl IntoPlan {
        cql("CREATE TABLE ${keyspace}.a (id bigint PRIMARY KEY)")
    }
}

/// Through a crate that passes it on.
#[facade::kandra_migrate::migration(version = 2, crate = facade::kandra_migrate)]
pub mod through_a_facade {
    use facade::kandra_migrate::prelude::*;

    fn up() -> impl IntoPlan {
        cql("DROP TABLE ${keyspace}.a")
    }
}

km::registry!(
    /// Those by one name and by the other.
    pub static MIGRATIONS
);
km::cql_dir!("migrations");
