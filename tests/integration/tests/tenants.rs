//! Many keyspaces with the same migrations.

use std::sync::Arc;

use integration::{Keyspace, connect, within};
use kandra_migrate::{Code, EachReport, Migration, Outcome, Registry, RunEach, migration};

#[migration(version = 1)]
mod create_notes {
    use kandra_migrate::prelude::*;
    fn up() -> impl IntoPlan {
        cql("CREATE TABLE ${keyspace}.notes (id int PRIMARY KEY, text text)")
    }
}

static MIGRATIONS: &[&Migration] = &[&create_notes::MIGRATION];

async fn run_each(tenants: &[Keyspace], more: &[&str], each: RunEach) -> EachReport {
    let registry = Registry::of(MIGRATIONS.iter().copied());
    let names = tenants.iter().map(|tenant| tenant.name.clone());
    let names = names.chain(more.iter().map(|name| (*name).to_owned()));
    within("each run ends", tenants[0].runner(&registry).run_each(names, each)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn each_tenant_is_migrated_by_one_of_the_instances() {
    const TENANTS: usize = 6;
    let session = connect().await;
    let mut tenants = Vec::new();
    for _ in 0..TENANTS {
        tenants.push(Keyspace::through(Arc::clone(&session), "tenant", 3).await);
    }
    let each = RunEach::default();
    let (first, second) = tokio::join!(
        run_each(&tenants, &["no_such_tenant"], each),
        run_each(&tenants, &["no_such_tenant"], each)
    );
    for tenant in &tenants {
        let reports = [&first[&tenant.name], &second[&tenant.name]].map(|result| result.as_ref().unwrap());
        assert_eq!(reports.iter().map(|report| report.applied.len()).sum::<usize>(), 1, "{reports:?}");
    }
    for reports in [&first, &second] {
        assert_eq!(reports["no_such_tenant"].as_ref().unwrap_err().code(), Code::KeyspaceMissing);
        assert_eq!(reports.len(), TENANTS + 1);
    }
    let again = run_each(&tenants, &[], each).await;
    assert!(
        again.values().all(|result| result.as_ref().unwrap().outcome == Outcome::AlreadyCurrent),
        "{again:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_error_ends_it_on_request() {
    let tenants = [Keyspace::fresh("tenant_stop").await];
    let each = RunEach { stop_on_error: true, concurrency: 0, ..RunEach::default() };
    let missing = ["no_such_tenant_1", "no_such_tenant_2", "no_such_tenant_3"];
    let reports = run_each(&tenants, &missing, each).await;
    assert_eq!(reports.values().filter(|result| result.is_err()).count(), 1, "{reports:?}");
}
