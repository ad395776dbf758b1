//! An HTTP gateway to named content: browsers, `curl`, players and data tools fetch it without knowing NDN.
//!
//! | request | answer |
//! |---|---|
//! | `GET /ndn/NAME` | the newest version of NAME: ranges, entity tags, conditions (RFC 9110) |
//! | `GET /uri/NAME/v=7` | that version: components as in NDN URIs |
//! | `GET /ndn/NAME/` | the listing of a folder, as a page or as JSON |
//! | `PROPFIND /ndn/NAME/` | the same for WebDAV (RFC 4918, class 1, read-only), so that a desktop mounts a folder |
//!
//! Content is verified before a byte of it leaves the gateway. A slow reader slows the fetch; a reader that takes nothing for
//! 30 s, or goes away, ends it. In a browser, pages run no scripts, and pages of other origins include no content.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let client = recoup::asynchronous::Client::connect().await?;
//! let router = recoup_gateway::router(client, recoup_gateway::Hosts::default());
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
//! recoup_gateway::serve(listener, router, std::future::pending()).await;
//! # Ok(())
//! # }
//! ```
mod dav;
mod error;
mod folder;
mod guard;
mod host;
mod memory;
mod object;
mod path;
mod peers;
mod server;

pub use host::Hosts;
pub use server::serve;

use axum::Router;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware;
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use error::Answer;
use memory::Memory;
use path::Place;
use recoup::asynchronous::Client;
use serde::Deserialize;

/// Methods that the gateway answers.
const METHODS: &str = "GET, HEAD, OPTIONS, PROPFIND";
/// A page shows what it includes from this gateway, and runs no scripts: they could read content of all names.
const SANDBOX: &str = "sandbox allow-downloads allow-forms allow-popups allow-same-origin";

/// The state from which answers are made.
#[derive(Clone)]
struct Gateway {
    client: Client,
    memory: Memory,
}

/// The routes of a gateway whose content `client` fetches and verifies. Requests that name another host than `hosts` are
/// rejected.
pub fn router(client: Client, hosts: Hosts) -> Router {
    Router::new()
        .route("/", get(start))
        .route("/open", get(open))
        .fallback(named)
        .with_state(Gateway { client, memory: Memory::default() })
        .layer(middleware::from_fn_with_state(hosts, guard::check))
}

/// The page with a field for a name.
async fn start() -> Html<&'static str> {
    Html(include_str!("start.html"))
}

#[derive(Deserialize)]
struct Wanted {
    name: String,
}

/// Leads from the field to the content.
async fn open(Query(wanted): Query<Wanted>) -> Result<Redirect, Answer> {
    let text = wanted.name.trim();
    let name = path::name_of_uri(text)
        .ok_or_else(|| Answer::new(StatusCode::BAD_REQUEST, format!("{text} is not a name")))?;
    Ok(Redirect::to(&path::of_name(&name, text.ends_with('/'))))
}

/// Everything that is named by its path.
async fn named(State(gateway): State<Gateway>, request: Request) -> Response {
    let answer = of_name(&gateway, request).await;
    let mut response = answer.unwrap_or_else(IntoResponse::into_response);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(SANDBOX));
    response
}

async fn of_name(gateway: &Gateway, request: Request) -> Result<Response, Answer> {
    let method = request.method().clone();
    let reads = [Method::GET, Method::HEAD].contains(&method);
    match method.as_str() {
        "OPTIONS" => return Ok(options(StatusCode::NO_CONTENT)),
        "PROPFIND" => {}
        _ if reads => {}
        _ => return Ok(options(StatusCode::METHOD_NOT_ALLOWED)),
    }
    let place = Place::new(request.uri().path())?;
    if !place.is_canonical {
        let path = path::of_name(&place.name, place.is_folder);
        return Ok(Redirect::temporary(&path).into_response());
    }
    match reads {
        true => object::answer(gateway, &request.into_parts().0, &place).await,
        false => dav::answer(gateway, request, &place.name).await,
    }
}

/// The methods, WebDAV among them.
fn options(status: StatusCode) -> Response {
    (status, [("allow", METHODS), ("dav", "1")]).into_response()
}

#[cfg(test)]
mod tests;
