//! What awaiting the library costs an application's own futures.
//!
//! The compiler follows futures into one another up to the `recursion_limit` of the crate that awaits them, 128 by default.
//! That this compiles with 64 says that half of it is left to the application. With 48 the driver's `Session` alone is too
//! deep.
#![recursion_limit = "64"]

use std::time::Duration;

use kandra_migrate::cli::{self, Cli};
use kandra_migrate::prelude::*;
use kandra_migrate::{Registry, RunEach, Runner};

/// Of a future that the library gives, which the application's own one contains. From 16 KiB on clippy calls one large.
const SIZE_MAX_BYTES: usize = 6 * 1024;

type App = Runner<'static>;

fn check<T, F: Future>(what: &str, _: impl FnOnce(T) -> F) {
    let bytes = size_of::<F>();
    assert!(bytes <= SIZE_MAX_BYTES, "{what}: {bytes} bytes");
}

fn check_send<T, F: Future + Send>(what: &str, make: impl FnOnce(T) -> F) {
    check(what, make);
}

#[test]
fn the_verbs_of_a_runner_are_shallow_and_small() {
    check_send("run", App::run);
    check_send("run_to", |app: App| app.run_to(1));
    check_send("run_deferred", App::run_deferred);
    check_send("run_each", |app: App| app.run_each(["shop".to_owned()], RunEach::default()));
    check_send("verify", App::verify);
    check_send("plan", App::plan);
    check_send("drift", App::drift);
    check_send("status", App::status);
    check_send("wait_until_applied", App::wait_until_applied);
    check_send("a command", |app: App| async move { app.control().hold(Duration::ZERO, "why").await });
    check_send("an edit", |app: App| async move { app.control().rerun_step(1, 1, "why").await });
    check_send("events", |app: App| async move { app.control().events(1).await });
}

#[test]
fn the_command_line_is_shallow_and_small() {
    check("main", |registry: &'static Registry| cli::main(registry));
    check("Cli::main", Cli::main);
    check("kandra", |()| cli::kandra());
}

#[test]
fn what_a_task_does_is_shallow_and_small() {
    check_send("rows", |cx: TaskContext| async move { cx.rows::<(i64,)>("", (1,)).await });
    check_send("execute", |cx: TaskContext| async move { cx.execute("", (1, "Ada")).await });
    check_send("prepare", |cx: TaskContext| async move { cx.prepare("").await });
    check_send("save_checkpoint", |cx: TaskContext| async move { cx.save_checkpoint(&1).await });
    check_send("for_each_row", |cx: TaskContext| {
        cx.backfill("users")
            .for_each_row("id", async |cx: TaskContext, (id,): (i64,)| cx.execute("", (id,)).await)
    });
    check_send("rewrite", |cx: TaskContext| {
        cx.backfill("users").rewrite("a", "b", async |(b,): (i64,)| Ok(Some((b,))))
    });
    check_send("copy", |cx: TaskContext| cx.backfill("users").copy_into("people").run());
    check_send("verify", |cx: TaskContext| cx.backfill("users").copy_into("people").verify(1));
}
