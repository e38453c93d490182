//! A binary whose migration is in a function, as in a test.

use kandra_migrate::migration;

fn main() {
    #[migration(version = 1, crate = kandra_migrate)]
    mod create_users {
        use kandra_migrate::prelude::*;

        fn up() -> Plan {
            Plan::new([cql("CREATE TABLE ${keyspace}.users (id bigint PRIMARY KEY)")])
        }
    }

    assert_eq!(create_users::MIGRATION.name(), "create_users");
    assert_eq!(create_users::MIGRATION.version().get(), 1);
}
