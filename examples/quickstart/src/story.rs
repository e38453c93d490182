//! What the quickstart shows, in order; each part checks what it claims.

use std::fmt::Display;
use std::sync::Arc;

use kandra_migrate::{MigrationStatus, Runner, Status};
use scylla::client::session::Session;

use crate::Failure;
use crate::fleet::{Fleet, Line, Site};
use crate::migrations::{BATCH, FIRST_RELEASE, MIGRATIONS, USERS};

/// How many users have their initials when an instance is killed, of [`USERS`].
const KILLED_AFTER: u64 = 3 * BATCH;

pub(crate) async fn tell(session: &Arc<Session>, site: &Site) -> Result<(), Failure> {
    start_three(site).await?;
    show_history(session, site).await?;
    show_users(session, site).await?;
    start_again(site).await?;
    kill_one(session, site).await?;
    println!("\nAll of this was checked.");
    Ok(())
}

async fn start_three(site: &Site) -> Result<(), Failure> {
    println!(
        "\n1. Three instances start at once on an empty keyspace: one migrates, the others wait for it.\n"
    );
    let lines = Fleet::start(&["instance 1", "instance 2", "instance 3"], "first", site)?.finish().await?;
    check(count(&lines, "ready: applied 5 ") == 1, "one instance applies the five migrations")?;
    check(count(&lines, "ready: ") == 3, "all three are ready")
}

async fn show_history(session: &Arc<Session>, site: &Site) -> Result<(), Failure> {
    println!("\n2. The history, from the ledger in the keyspace. Version 6 comes with the next release.\n");
    let status = status(session, site).await?;
    println!("{}", indented(&status));
    let completed = status.migrations.iter().filter(|migration| migration.is_completed()).count();
    check(completed == 5, "five migrations are completed")?;
    check(status.holder.is_none(), "nobody holds the lease")
}

async fn show_users(session: &Session, site: &Site) -> Result<(), Failure> {
    println!("\n3. The table: by the new index on the new column, as the data task has filled it.\n");
    let by_index =
        format!("SELECT id, name, first_name FROM {}.users WHERE first_name = 'Ada'", site.keyspace);
    let rows = session.query_unpaged(by_index, ()).await?.into_rows_result()?;
    let mut users = rows.rows::<(i64, String, String)>()?.collect::<Result<Vec<_>, _>>()?;
    users.sort_unstable();
    println!("  {:>3}  {:<14}  first_name", "id", "name");
    for (id, name, first_name) in &users[..users.len().min(4)] {
        println!("  {id:>3}  {name:<14}  {first_name}");
    }
    println!("  … {} rows", users.len());
    check(users.len() == 10, "ten of the users are called Ada")
}

async fn start_again(site: &Site) -> Result<(), Failure> {
    println!("\n4. Another start of the same release: nothing to do, and that takes one read.\n");
    let lines = Fleet::start(&["instance 1"], "first", site)?.finish().await?;
    let [Line { text, .. }] = lines.as_slice() else { return Err("more than one line".into()) };
    check(text.starts_with("ready: nothing to do"), "there is nothing to do")?;
    check(text.ends_with("requests: 1)"), "the driver was asked for one request")
}

async fn kill_one(session: &Arc<Session>, site: &Site) -> Result<(), Failure> {
    println!("\n5. The next release starts. Whoever migrates is killed in the middle of it.\n");
    let mut fleet = Fleet::start(&["instance 4", "instance 5"], "second", site)?;
    let (killed, killed_done) = loop {
        let line = fleet.line().await?.ok_or("no instance got to work")?;
        if let Some(done) = progress(&line).filter(|done| *done >= KILLED_AFTER) {
            break (line.instance, done);
        }
    };
    fleet.kill(&killed).await?;
    let left = status(session, site).await?;
    let holder = left.holder.unwrap_or_default();
    let begun = left.migrations.iter().find(|migration| migration.version > FIRST_RELEASE);
    let begun = begun.ok_or("there is no newer version")?;
    println!("\n   The ledger: the lease is held by {holder},");
    println!("   version {} {} is {}.", begun.version, begun.name, begun.state);
    println!(
        "   The lease lapses after 9 s. What was sent under it gets 30 s more to land: 20 s by a clock that runs fast.\n"
    );
    check(holder.ends_with(&format!("({killed})")), "the killed instance still has the lease")?;
    check(begun.state == "RUNNING", "the newer version is begun and not completed")?;

    let lines = fleet.finish().await?;
    check(count(&lines, "ready: applied 1 ") == 1, "the other instance completes it")?;
    let last_done = |is_killed: bool| {
        let of_one = lines.iter().filter(|line| (line.instance == killed) == is_killed);
        of_one.filter_map(progress).next_back()
    };
    // It may have said more between the line that was waited for and its end.
    let killed_done = last_done(true).unwrap_or(killed_done);
    let successor_done = last_done(false).ok_or("the other instance had nothing to do")?;
    println!(
        "\n   {killed} had reported {killed_done} of {USERS} users, its successor did {successor_done}."
    );
    // It may have been killed after it had stored a checkpoint, and before it could report it.
    let unreported = USERS.checked_sub(killed_done + successor_done);
    check(matches!(unreported, Some(0 | BATCH)), "the work was resumed from the last checkpoint")?;

    let initials = format!("SELECT initials FROM {}.users", site.keyspace);
    let rows = session.query_unpaged(initials, ()).await?.into_rows_result()?;
    let filled = rows.rows::<(Option<String>,)>()?.filter(|row| matches!(row, Ok((Some(_),)))).count();
    check(filled as u64 == USERS, "each user has initials")?;
    let completed = status(session, site).await?.migrations.iter().all(MigrationStatus::is_completed);
    check(completed, "all versions are completed")
}

async fn status(session: &Arc<Session>, site: &Site) -> Result<Status, Failure> {
    Ok(Runner::new(Arc::clone(session), &MIGRATIONS).keyspace(&site.keyspace).status().await?)
}

/// How far a code task says it is.
fn progress(line: &Line) -> Option<u64> {
    line.text.strip_prefix("task progress done=")?.parse().ok()
}

fn count(lines: &[Line], prefix: &str) -> usize {
    lines.iter().filter(|line| line.text.starts_with(prefix)).count()
}

fn indented(text: &impl Display) -> String {
    text.to_string().lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

fn check(is_so: bool, claim: &str) -> Result<(), Failure> {
    if is_so { Ok(()) } else { Err(format!("it is not so that {claim}").into()) }
}
