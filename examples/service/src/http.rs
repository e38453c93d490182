//! What is served: whether the service lives and is ready, how far its migrations are, and the users.

use std::io;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::extract::{FromRef, Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use axum::{Json, Router};
use tokio::net::TcpListener;
use tokio::time::sleep;

use crate::progress::{Board, Deferred};
use crate::stop::Stop;
use crate::users::{User, Users};

/// Empty until the schema is there: then the service is ready.
pub(crate) type Ready = Arc<OnceLock<Users>>;

/// What the answers come from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Service {
    pub(crate) ready: Ready,
    pub(crate) board: Board,
}

/// How long requests under way may take once the service stops.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// Serves until the stop is requested, and then until what is under way is answered.
pub(crate) async fn serve(listener: TcpListener, service: Service, stop: Stop) -> io::Result<()> {
    let server = axum::serve(listener, router(service)).with_graceful_shutdown(stop.clone().requested());
    let cut_off = async {
        stop.requested().await;
        sleep(DRAIN_TIMEOUT).await;
    };
    tokio::select! {
        ended = server => ended,
        () = cut_off => Ok(()),
    }
}

impl FromRef<Service> for Ready {
    fn from_ref(service: &Service) -> Self {
        Self::clone(&service.ready)
    }
}

impl FromRef<Service> for Board {
    fn from_ref(service: &Service) -> Self {
        service.board.clone()
    }
}

fn router(service: Service) -> Router {
    Router::new()
        // A process that migrates is well: whoever restarts it only makes the next one wait for its lease.
        .route("/live", get("live\n"))
        .route("/ready", get(is_ready))
        .route("/progress", get(progress))
        .route("/users/{id}", get(user))
        .with_state(service)
}

async fn is_ready(State(ready): State<Ready>) -> (StatusCode, &'static str) {
    match ready.get() {
        Some(_) => (StatusCode::OK, "ready\n"),
        None => (StatusCode::SERVICE_UNAVAILABLE, "migrating\n"),
    }
}

async fn progress(State(board): State<Board>) -> Json<Deferred> {
    Json(board.get())
}

async fn user(State(ready): State<Ready>, Path(id): Path<i64>) -> Result<Json<User>, StatusCode> {
    let users = ready.get().ok_or(StatusCode::SERVICE_UNAVAILABLE)?;
    let user = users.find(id).await.map_err(|error| {
        tracing::error!(id, %error, "a user could not be read");
        StatusCode::SERVICE_UNAVAILABLE
    })?;
    user.map(Json).ok_or(StatusCode::NOT_FOUND)
}
