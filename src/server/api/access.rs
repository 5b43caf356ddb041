//! Who may use the command API: by default programs on this machine, and no web page of another origin.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{HOST, ORIGIN};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::error::{ApiError, Code};

/// A browser's own word on where a request comes from.
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Who may use the command API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Access {
    /// Nobody.
    Off,
    /// Programs on this machine.
    #[default]
    Local,
    /// Every machine that reaches the port.
    Anyone,
}

/// Lets a request through, or answers why not.
pub(super) async fn guard(
    State(access): State<Access>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    match check(access, peer.ip(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    }
}

fn check(access: Access, peer: IpAddr, headers: &HeaderMap) -> Result<(), ApiError> {
    match access {
        Access::Off => {
            return Err(ApiError::new(Code::Off, "the command API is off; start with --commands local"));
        }
        Access::Local if !peer.to_canonical().is_loopback() => {
            return Err(ApiError::new(
                Code::RemoteRefused,
                format!(
                    "the request comes from {peer}, no loopback address: ask by 127.0.0.1 on this machine; other machines may use the command API only if it is started with --commands anyone"
                ),
            ));
        }
        Access::Local | Access::Anyone => {}
    }
    let host = text(headers, &HOST).unwrap_or_default();
    if !is_own_name(host) {
        return Err(ApiError::new(
            Code::HostRefused,
            format!(
                "the request names the host \"{host}\"; expected an IP address, localhost or a name that ends in .local"
            ),
        ));
    }
    let same_origin =
        text(headers, &ORIGIN).is_none_or(|origin| origin.strip_prefix("http://") == Some(host));
    let same_site = text(headers, &SEC_FETCH_SITE).is_none_or(|site| site == "same-origin" || site == "none");
    if same_origin && same_site {
        return Ok(());
    }
    Err(ApiError::new(
        Code::OriginRefused,
        "a web page of another origin may not use the command API; pages use /ws, tests call the API from outside the page",
    ))
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    // A header that is not text, or is there twice, is as wrong as one with a wrong text.
    Some(value.to_str().ok().filter(|_| values.next().is_none()).unwrap_or("\u{fffd}"))
}

/// The name in a Host header is one that a foreign web page cannot have pointed here.
fn is_own_name(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    let name = authority.host().trim_start_matches('[').trim_end_matches(']');
    let lower = name.to_ascii_lowercase();
    name.parse::<IpAddr>().is_ok() || lower == "localhost" || lower.strip_suffix(".local").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    fn code(access: Access, peer: &str, headers: &[(&'static str, &str)]) -> Option<Code> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().expect("a header"));
        }
        check(access, peer.parse().expect("an address"), &map).err().map(|error| error.code())
    }

    #[test]
    fn this_machine_may_and_others_may_when_the_option_says_so() {
        let host = [("host", "192.168.1.5:8281")];
        for (access, peer, expected) in [
            (Access::Local, "127.0.0.1", None),
            (Access::Local, "127.3.2.1", None),
            (Access::Local, "::1", None),
            (Access::Local, "::ffff:127.0.0.1", None),
            (Access::Local, "192.168.1.9", Some(Code::RemoteRefused)),
            (Access::Local, "::ffff:192.168.1.9", Some(Code::RemoteRefused)),
            (Access::Anyone, "192.168.1.9", None),
            (Access::Off, "127.0.0.1", Some(Code::Off)),
        ] {
            assert_eq!(code(access, peer, &host), expected, "{access:?} {peer}");
        }
    }

    #[test]
    fn pages_of_other_origins_are_refused() {
        let host = ("host", "127.0.0.1:8281");
        let here = HERE.to_string();
        let refused = Some(Code::OriginRefused);
        for (name, value, expected) in [
            ("origin", "http://127.0.0.1:8281", None),
            ("origin", "http://127.0.0.1:8282", refused),
            ("origin", "https://127.0.0.1:8281", refused),
            ("origin", "http://example.org", refused),
            ("origin", "null", refused),
            ("sec-fetch-site", "same-origin", None),
            ("sec-fetch-site", "none", None),
            ("sec-fetch-site", "same-site", refused),
            ("sec-fetch-site", "cross-site", refused),
        ] {
            assert_eq!(code(Access::Local, &here, &[host, (name, value)]), expected, "{name}: {value}");
        }
    }

    #[test]
    fn a_header_that_is_there_twice_is_refused() {
        let (host, own) = (("host", "localhost"), ("origin", "http://localhost"));
        let here = HERE.to_string();
        let foreign = ("origin", "http://example.org");
        let code = |headers: &[(&'static str, &str)]| code(Access::Local, &here, headers);
        assert_eq!(code(&[host, own]), None);
        assert_eq!(code(&[host, own, foreign]), Some(Code::OriginRefused));
        assert_eq!(code(&[host, ("host", "example.org")]), Some(Code::HostRefused));
    }

    #[test]
    fn a_foreign_name_that_points_here_is_refused() {
        let here = HERE.to_string();
        for (host, own) in [
            ("localhost:8281", true),
            ("LOCALHOST", true),
            ("[::1]:8281", true),
            ("mycobot.local:8281", true),
            ("evil.example:8281", false),
            ("127.0.0.1.evil.example", false),
            ("local", false),
            ("", false),
        ] {
            let refused = code(Access::Local, &here, &[("host", host)]) == Some(Code::HostRefused);
            assert_eq!(refused, !own, "{host}");
        }
    }
}
