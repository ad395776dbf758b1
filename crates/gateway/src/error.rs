//! Errors as answers: a status, and one line of text with the problem and the remedy.
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use recoup::{Error, ErrorKind};

/// A status with one line of text.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    text: String,
}

impl Answer {
    pub(crate) fn new(status: StatusCode, text: impl Into<String>) -> Self {
        Self { status, text: text.into() }
    }
}

impl From<Error> for Answer {
    fn from(error: Error) -> Self {
        tracing::info!(%error, "a request failed");
        Self::new(status_of(error.kind()), error.to_string())
    }
}

/// The status of RFC 9110 for a kind of error.
pub(crate) fn status_of(kind: ErrorKind) -> StatusCode {
    match kind {
        ErrorKind::NotFound => StatusCode::NOT_FOUND,
        ErrorKind::Usage => StatusCode::BAD_REQUEST,
        ErrorKind::TimedOut => StatusCode::GATEWAY_TIMEOUT,
        // A condition of the gateway: conditions of a request are judged before its content is fetched.
        ErrorKind::Verification | ErrorKind::Condition => StatusCode::BAD_GATEWAY,
        ErrorKind::Unreachable | ErrorKind::Cancelled => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let headers = [(header::CACHE_CONTROL, "no-store")];
        (self.status, headers, format!("{}\n", self.text)).into_response()
    }
}
