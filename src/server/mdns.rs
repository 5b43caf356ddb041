//! The name of the ATOM on the local network (mDNS), as the robot's `mycobot.local`.

use std::net::SocketAddr;

use mdns_sd::{ServiceDaemon, ServiceInfo};

/// What browsers of services look for.
const SERVICE: &str = "_http._tcp.local.";
/// Longest name of a host (bytes), as DNS has it.
const NAME_BYTES_MAX: usize = 63;

/// Why the name cannot be announced. The message says what failed and what to do.
#[derive(Debug, thiserror::Error)]
pub enum MdnsError {
    /// A name that no host can have.
    #[error("the mDNS name \"{name}\" is none: expected 1 to 63 letters, digits or hyphens, such as mycobot")]
    Name {
        /// The name wanted.
        name: String,
    },
    /// It serves this machine alone.
    #[error(
        "only this machine reaches {address}: serve the network, with --host 0.0.0.0, to have a name on it"
    )]
    Loopback {
        /// Where it serves.
        address: SocketAddr,
    },
    /// The network cannot be used.
    #[error(
        "cannot announce {name}.local: {error}; leave --mdns out, or check that UDP port 5353 may be used"
    )]
    Network {
        /// The name wanted.
        name: String,
        /// The responder's answer.
        error: mdns_sd::Error,
    },
}

/// A name that is answered for on the local network until this is dropped.
pub struct Announcement(ServiceDaemon);

impl std::fmt::Debug for Announcement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Announcement")
    }
}

impl Announcement {
    /// Answers for `NAME.local`, which stands for the address it serves on, or for every address of this machine.
    ///
    /// # Errors
    /// A name that is none, an address that only this machine reaches, or a network that cannot be used.
    pub fn start(name: &str, address: SocketAddr) -> Result<Self, MdnsError> {
        let service = service(name, address)?;
        let failed = |error| MdnsError::Network { name: name.to_owned(), error };
        let daemon = ServiceDaemon::new().map_err(failed)?;
        daemon.register(service).map_err(failed)?;
        tracing::info!("announcing {name}.local");
        Ok(Self(daemon))
    }
}

impl Drop for Announcement {
    fn drop(&mut self) {
        // It says goodbye on its own thread; an error means that there is nothing left to end.
        let _ = self.0.shutdown();
    }
}

fn service(name: &str, address: SocketAddr) -> Result<ServiceInfo, MdnsError> {
    let letters = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let hyphens = name.starts_with('-') || name.ends_with('-');
    if !letters || hyphens || !(1..=NAME_BYTES_MAX).contains(&name.len()) {
        return Err(MdnsError::Name { name: name.to_owned() });
    }
    if address.ip().is_loopback() {
        return Err(MdnsError::Loopback { address });
    }
    let host = format!("{name}.local.");
    let properties = [("path", "/ws")];
    let every = address.ip().is_unspecified();
    let ip = if every { String::new() } else { address.ip().to_string() };
    let service = ServiceInfo::new(SERVICE, name, &host, ip, address.port(), &properties[..])
        .map_err(|error| MdnsError::Network { name: name.to_owned(), error })?;
    Ok(if every { service.enable_addr_auto() } else { service })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_stands_for_the_address_and_port_it_serves_on() {
        let service = service("mycobot", "192.168.1.5:8281".parse().expect("an address")).expect("a service");
        assert_eq!((service.get_hostname(), service.get_port()), ("mycobot.local.", 8281));
        assert!(!service.is_addr_auto());
        assert_eq!(service.get_property_val_str("path"), Some("/ws"));
    }

    #[test]
    fn every_address_of_the_machine_is_announced_when_it_serves_on_all() {
        let service = service("mycobot-2", "0.0.0.0:80".parse().expect("an address")).expect("a service");
        assert!(service.is_addr_auto());
    }

    #[test]
    fn names_that_are_none_and_loopback_are_refused() {
        let everywhere: SocketAddr = "0.0.0.0:80".parse().expect("an address");
        for name in ["", "my.cobot", "-a", "a-", "ä", "a b", &"x".repeat(64)] {
            assert!(matches!(service(name, everywhere), Err(MdnsError::Name { .. })), "{name}");
        }
        let here = "127.0.0.1:8281".parse().expect("an address");
        assert!(matches!(service("mycobot", here), Err(MdnsError::Loopback { .. })));
    }
}
