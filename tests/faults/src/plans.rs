//! The migrations that instances run, by name, and what the checker expects of each.
//!
//! Code tasks write a row for each execution into `faults.effects`, a table that the tests make in a keyspace of theirs.

use std::time::Duration;

use kandra_migrate::{Migration, Registry, migration};

use crate::check::{Effect, Spec, StepSpec, VersionSpec};

#[migration(version = 1)]
mod create_items {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        [
            cql("CREATE TABLE ${keyspace}.items (id int PRIMARY KEY, name text)"),
            cql("CREATE TABLE ${keyspace}.tags (tag text PRIMARY KEY, item int)"),
        ]
    }
}

#[migration(version = 2)]
mod fill_items {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        [
            cql("INSERT INTO ${keyspace}.items (id, name) VALUES (1, 'migrated')"),
            cql("ALTER TABLE ${keyspace}.items ADD price int"),
            code("price items", price).idempotent(),
        ]
    }
    async fn price(cx: TaskContext) -> TaskResult {
        let execution = uuid::Uuid::new_v4();
        cx.execute(
            "INSERT INTO faults.effects (scene, task, execution) VALUES (?, 'price items', ?)",
            (cx.keyspace(), execution),
        )
        .await?;
        cx.execute("UPDATE ${keyspace}.items SET price = 10 WHERE id = 1", ()).await
    }
}

#[migration(version = 3)]
mod notify {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        [code("notify", notify).once(), cql("CREATE INDEX items_name ON ${keyspace}.items (name)")]
    }
    async fn notify(cx: TaskContext) -> TaskResult {
        let execution = uuid::Uuid::new_v4();
        cx.execute(
            "INSERT INTO faults.effects (scene, task, execution) VALUES (?, 'notify', ?)",
            (cx.keyspace(), execution),
        )
        .await
    }
}

#[migration(version = 2)]
mod slow {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("slow", slow).idempotent()
    }
    /// Longer than three heartbeats.
    async fn slow(cx: TaskContext) -> TaskResult {
        let execution = uuid::Uuid::new_v4();
        cx.execute(
            "INSERT INTO faults.effects (scene, task, execution) VALUES (?, 'slow', ?)",
            (cx.keyspace(), execution),
        )
        .await?;
        tokio::time::sleep(std::time::Duration::from_secs(8)).await;
        Ok(())
    }
}

#[migration(version = 2)]
mod fails {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        [
            cql("INSERT INTO ${keyspace}.items (id, name) VALUES (1, 'migrated')"),
            code("always fails", fail).idempotent(),
        ]
    }
    async fn fail(cx: TaskContext) -> TaskResult {
        let execution = uuid::Uuid::new_v4();
        cx.execute(
            "INSERT INTO faults.effects (scene, task, execution) VALUES (?, 'always fails', ?)",
            (cx.keyspace(), execution),
        )
        .await?;
        Err(TaskError::msg("this task always fails"))
    }
}

#[migration(version = 2)]
mod hangs {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("hangs", hang).idempotent().stall_timeout(std::time::Duration::from_secs(20))
    }
    async fn hang(cx: TaskContext) -> TaskResult {
        let execution = uuid::Uuid::new_v4();
        cx.execute(
            "INSERT INTO faults.effects (scene, task, execution) VALUES (?, 'hangs', ?)",
            (cx.keyspace(), execution),
        )
        .await?;
        std::future::pending().await
    }
}

#[migration(version = 2)]
mod fill_first_name {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        code("fill", fill).idempotent()
    }
    /// Slow enough that there is time to do something to it.
    async fn fill(cx: TaskContext) -> TaskResult {
        let execution = uuid::Uuid::new_v4();
        cx.execute(
            "INSERT INTO faults.effects (scene, task, execution) VALUES (?, 'fill', ?)",
            (cx.keyspace(), execution),
        )
        .await?;
        cx.backfill("people")
            .concurrency(4)
            .rows_per_second(1000)
            .range_rows(200)
            .for_each_row("id, name", async |cx, (id, name): (i32, String)| {
                let first = name.split(' ').next();
                cx.execute("UPDATE ${keyspace}.people SET first_name = ? WHERE id = ?", (first, id)).await
            })
            .await
    }
}

mod poisoned {
    #[kandra_migrate::migration(version = 2)]
    pub(super) mod poison {
        use kandra_migrate::prelude::*;
        fn up() -> impl IntoPlan {
            [
                cql("INSERT INTO ${keyspace}.items (id, name) VALUES (1, 'migrated')"),
                code("poison", die).idempotent(),
            ]
        }
        async fn die(cx: TaskContext) -> TaskResult {
            let execution = uuid::Uuid::new_v4();
            cx.execute(
                "INSERT INTO faults.effects (scene, task, execution) VALUES (?, 'poison', ?)",
                (cx.keyspace(), execution),
            )
            .await?;
            std::process::abort()
        }
    }
}

mod repaired {
    #[kandra_migrate::migration(version = 2)]
    pub(super) mod poison {
        use kandra_migrate::prelude::*;
        fn up() -> impl IntoPlan {
            [
                cql("INSERT INTO ${keyspace}.items (id, name) VALUES (1, 'migrated')"),
                code("poison", live).idempotent(),
            ]
        }
        async fn live(cx: TaskContext) -> TaskResult {
            let execution = uuid::Uuid::new_v4();
            cx.execute(
                "INSERT INTO faults.effects (scene, task, execution) VALUES (?, 'poison', ?)",
                (cx.keyspace(), execution),
            )
            .await
        }
    }
}

/// A set of migrations, as one build of a service has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Image {
    /// Schema, data and code steps, one of them `once`.
    Base,
    /// The same without the newest version.
    Older,
    /// A step that takes several heartbeats.
    Slow,
    /// A step that always fails.
    Failing,
    /// A step that never ends.
    Hanging,
    /// A step that kills its process.
    Poisoned,
    /// The poisoned one's repair.
    Repaired,
    /// A backfill of the table `people`, which is the test's.
    Backfill,
}

impl Image {
    /// Its migrations.
    #[must_use]
    pub fn registry(self) -> Registry {
        let second: &[&'static Migration] = match self {
            Self::Base => &[&fill_items::MIGRATION, &notify::MIGRATION],
            Self::Older => &[&fill_items::MIGRATION],
            Self::Slow => &[&slow::MIGRATION],
            Self::Failing => &[&fails::MIGRATION],
            Self::Hanging => &[&hangs::MIGRATION],
            Self::Poisoned => &[&poisoned::poison::MIGRATION],
            Self::Repaired => &[&repaired::poison::MIGRATION],
            Self::Backfill => &[&fill_first_name::MIGRATION],
        };
        Registry::of([&create_items::MIGRATION].into_iter().chain(second.iter().copied()))
    }

    /// How long it counts on that data statements of a dead holder may still land. Where it is taken over from again and
    /// again, half a minute each time would be most of the test.
    #[must_use]
    pub fn drain(self) -> Duration {
        match self {
            Self::Backfill => Duration::from_secs(4),
            _ => Duration::from_secs(20),
        }
    }

    /// What is to be there once it is applied.
    #[must_use]
    pub fn spec(self) -> Spec {
        let first = VersionSpec {
            version: 1,
            steps: vec![StepSpec::of(Effect::Table("items")), StepSpec::of(Effect::Table("tags"))],
        };
        let insert = || StepSpec::of(Effect::Item(1));
        let code = |task| StepSpec::of(Effect::Execution(task));
        let second = |steps| VersionSpec { version: 2, steps };
        let fill =
            || second(vec![insert(), StepSpec::of(Effect::Column("items", "price")), code("price items")]);
        let more = match self {
            Self::Base => {
                let steps = vec![code("notify").once(), StepSpec::of(Effect::Index("items_name"))];
                vec![fill(), VersionSpec { version: 3, steps }]
            }
            Self::Older => vec![fill()],
            Self::Slow => vec![second(vec![code("slow")])],
            Self::Failing => vec![second(vec![insert(), code("always fails").failing()])],
            Self::Hanging => vec![second(vec![code("hangs").failing()])],
            Self::Poisoned | Self::Repaired => vec![second(vec![insert(), code("poison")])],
            Self::Backfill => vec![second(vec![code("fill")])],
        };
        Spec { versions: std::iter::once(first).chain(more).collect() }
    }
}
