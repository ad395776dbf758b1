//! Requests that are rejected before their path is read: for other hosts, and from other sites.
use crate::error::Answer;
use crate::host::Hosts;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

const CROSS_ORIGIN_RESOURCE_POLICY: HeaderName =
    HeaderName::from_static("cross-origin-resource-policy");

/// Answers requests that pass all checks.
pub(crate) async fn check(State(hosts): State<Hosts>, request: Request, next: Next) -> Response {
    let rejected = check_host(&hosts, &request).and_then(|()| check_site(&request));
    let mut response = match rejected {
        Ok(()) => next.run(request).await,
        Err(answer) => answer.into_response(),
    };
    let headers = response.headers_mut();
    for (field, value) in [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (CROSS_ORIGIN_RESOURCE_POLICY, "same-origin"),
    ] {
        headers.insert(field, HeaderValue::from_static(value));
    }
    response
}

/// Rejects requests for other hosts: a page of a foreign site whose host leads here (DNS rebinding) reads nothing.
///
/// The host of an absolute target replaces that of the field, which there is once (RFC 9112, sections 3.2 and 3.2.2).
fn check_host(hosts: &Hosts, request: &Request) -> Result<(), Answer> {
    let mut fields = request.headers().get_all(header::HOST).iter();
    let (Some(field), None) = (fields.next(), fields.next()) else {
        return Err(Answer::new(StatusCode::BAD_REQUEST, "a request has one Host field"));
    };
    let host = match request.uri().authority() {
        Some(authority) => Some(authority.as_str()),
        None => field.to_str().ok(),
    };
    match host.is_some_and(|host| hosts.contains(host)) {
        true => Ok(()),
        false => {
            let text = "this gateway does not answer for that host; name it with --host";
            Err(Answer::new(StatusCode::MISDIRECTED_REQUEST, text))
        }
    }
}

/// Rejects what a page of another origin includes or requests (Fetch Metadata, W3C): a person may follow a link from there,
/// and nothing else. Programs that are no browsers send no such fields.
fn check_site(request: &Request) -> Result<(), Answer> {
    let field = |name| request.headers().get(name).map(HeaderValue::as_bytes);
    let is_own = matches!(field("sec-fetch-site"), None | Some(b"same-origin" | b"none"));
    let is_link = [Method::GET, Method::HEAD].contains(request.method())
        && field("sec-fetch-mode") == Some(b"navigate")
        && field("sec-fetch-dest") == Some(b"document");
    match is_own || is_link {
        true => Ok(()),
        false => {
            let text = "pages of other sites cannot include this content; open it by a link";
            Err(Answer::new(StatusCode::FORBIDDEN, text))
        }
    }
}
