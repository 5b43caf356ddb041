//! The name of a client in files: `udp-1`, `websocket-2`. Numbers count the clients of both kinds in order of connection.

use firmware_core::platform::{ClientId, Transport};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

/// The name of a client.
pub fn name(client: ClientId) -> String {
    let kind = match client.transport {
        Transport::Udp => "udp",
        Transport::WebSocket => "websocket",
    };
    format!("{kind}-{}", client.number)
}

/// The client of a name.
pub fn parse(name: &str) -> Option<ClientId> {
    let (kind, number) = name.split_once('-')?;
    let transport = match kind {
        "udp" => Transport::Udp,
        "websocket" => Transport::WebSocket,
        _ => return None,
    };
    Some(ClientId { transport, number: number.parse().ok()? })
}

fn expect<E: Error>(text: &str) -> Result<ClientId, E> {
    parse(text)
        .ok_or_else(|| E::custom(format!("expected a client such as udp-1 or websocket-2, found {text}")))
}

/// For serde.
///
/// # Errors
/// The serializer's.
pub fn serialize<S: Serializer>(client: &ClientId, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&name(*client))
}

/// For serde.
///
/// # Errors
/// A text that is no client's name.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ClientId, D::Error> {
    expect(&String::deserialize(deserializer)?)
}

/// The same for one client or all.
pub mod optional {
    use super::{ClientId, Deserialize, Deserializer, Serializer, expect, name};

    /// For serde.
    ///
    /// # Errors
    /// The serializer's.
    pub fn serialize<S: Serializer>(client: &Option<ClientId>, serializer: S) -> Result<S::Ok, S::Error> {
        match client {
            Some(client) => serializer.serialize_some(&name(*client)),
            None => serializer.serialize_none(),
        }
    }

    /// For serde.
    ///
    /// # Errors
    /// A text that is no client's name.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<ClientId>, D::Error> {
        Option::<String>::deserialize(deserializer)?.map(|text| expect(&text)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_back() {
        for transport in [Transport::Udp, Transport::WebSocket] {
            let client = ClientId { transport, number: 12 };
            assert_eq!(parse(&name(client)), Some(client));
        }
        assert_eq!([parse("tcp-1"), parse("udp"), parse("udp-x")], [None; 3]);
    }
}
