//! Bodies of requests: JSON, bounded. An empty body is an empty object, so that `curl -X POST` alone works.

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use serde::de::DeserializeOwned;

use super::error::{ApiError, Code};
use crate::server::http::Asked;

/// Longest body of a request (bytes).
pub(super) const BODY_BYTES_MAX: usize = 256 * 1024;

/// A body that takes longer is given up: its connection holds one of the places that all requests share.
const BODY_TIMEOUT: Duration = Duration::from_secs(10);

/// The body of a request. Its content type does not matter: pages of other origins are refused before.
pub(super) struct Body<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let asked = request.extensions().get::<Asked>().cloned();
        let bytes = tokio::time::timeout(BODY_TIMEOUT, Bytes::from_request(request, state))
            .await
            .map_err(|_| {
                ApiError::new(Code::TooSlow, "the body did not come in time; send it with its request")
            })?
            .map_err(unreadable)?;
        // Now its connection keeps its place.
        asked.inspect(Asked::now);
        let json: &[u8] = if bytes.trim_ascii().is_empty() { b"{}" } else { &bytes };
        serde_json::from_slice(json).map(Self).map_err(|error| {
            ApiError::new(Code::InvalidBody, format!("the body is not what this path takes: {error}"))
        })
    }
}

fn unreadable(rejection: BytesRejection) -> ApiError {
    let message = rejection.body_text();
    match rejection.into_response().status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            ApiError::new(Code::TooLarge, format!("a body has at most {BODY_BYTES_MAX} bytes"))
        }
        _ => ApiError::new(Code::InvalidBody, format!("the body cannot be read: {message}")),
    }
}
