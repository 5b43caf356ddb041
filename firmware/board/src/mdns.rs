//! Answers for `mycobot.local` and its WebSocket service, built by edge-mdns.

use core::net::{Ipv4Addr, Ipv6Addr};

use edge_mdns::domain::base::Ttl;
use edge_mdns::host::{Host, Service, ServiceAnswers};
use edge_mdns::{HostAnswersMdnsHandler, MdnsHandler, MdnsRequest, MdnsResponse};

use crate::websocket;

/// The name, with `.local` behind it.
pub const HOST_NAME: &str = "mycobot";
/// UDP port and multicast group of mDNS.
pub const PORT: u16 = 5353;
/// Multicast group of mDNS.
pub const GROUP: Ipv4Addr = Ipv4Addr::new(224, 0, 0, 251);
/// How long others may remember an answer (s).
const TTL_S: u32 = 60;

/// A packet to send.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer<'b> {
    /// The packet.
    pub packet: &'b [u8],
    /// To the multicast group, not to the asker.
    pub to_group: bool,
}

/// The answer to a packet from `from_port`; with no packet the announcement at a connect. `None`: nothing to say.
pub fn answer<'b>(ip: [u8; 4], question: Option<(&[u8], u16)>, buffer: &'b mut [u8]) -> Option<Answer<'b>> {
    let host = Host {
        hostname: HOST_NAME,
        ipv4: Ipv4Addr::from(ip),
        ipv6: Ipv6Addr::UNSPECIFIED,
        ttl: Ttl::from_secs(TTL_S),
    };
    let service = Service {
        name: HOST_NAME,
        priority: 1,
        weight: 1,
        service: "_http",
        protocol: "_tcp",
        port: websocket::PORT,
        service_subtypes: &[],
        txt_kvs: &[],
    };
    let request = match question {
        None => MdnsRequest::None,
        Some((data, from_port)) => MdnsRequest::Request { legacy: from_port != PORT, multicast: true, data },
    };
    let mut handler = HostAnswersMdnsHandler::new(ServiceAnswers::new(&host, &service));
    match handler.handle(request, buffer) {
        Ok(MdnsResponse::Reply { data, delay: _ }) => {
            let to_group = question.is_none_or(|(_, from_port)| from_port == PORT);
            Some(Answer { packet: data, to_group })
        }
        // A broken packet is nobody's question.
        Ok(MdnsResponse::None) | Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IP: [u8; 4] = [192, 168, 4, 20];

    /// A question for an A record.
    fn question(name: &str) -> std::vec::Vec<u8> {
        let mut packet = std::vec![0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        for label in [name, "local"] {
            packet.push(label.len() as u8);
            packet.extend(label.bytes());
        }
        packet.extend([0, 0, 1, 0, 1]);
        packet
    }

    fn contains(packet: &[u8], part: &[u8]) -> bool {
        packet.windows(part.len()).any(|window| window == part)
    }

    #[test]
    fn the_name_is_answered_with_the_address() {
        let mut buffer = [0; 1024];
        let asked = question("mycobot");
        let answer = answer(IP, Some((&asked, PORT)), &mut buffer).expect("an answer");
        assert!(answer.to_group);
        assert!(contains(answer.packet, &[0, 4, 192, 168, 4, 20]), "an A record: {:02x?}", answer.packet);
    }

    #[test]
    fn other_names_and_broken_packets_are_not_answered() {
        let mut buffer = [0; 1024];
        for packet in [question("other"), std::vec![1, 2, 3]] {
            assert_eq!(answer(IP, Some((&packet, PORT)), &mut buffer), None);
        }
    }

    #[test]
    fn the_announcement_names_the_service_and_its_port() {
        let mut buffer = [0; 1024];
        let answer = answer(IP, None, &mut buffer).expect("an announcement");
        assert!(contains(answer.packet, b"\x05_http\x04_tcp"));
        assert!(contains(answer.packet, &[0, 1, 0, 1, 0, 80]), "priority, weight, port");
    }
}
