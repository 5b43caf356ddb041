//! The UDP reader: every datagram becomes an input of its source.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::UdpSocket;

use super::inputs::{Input, Inputs, Share, SimulationEnded};

/// Pause after a failed receive: an error that lasts must not take a core.
const RECEIVE_PAUSE: Duration = Duration::from_millis(10);
/// Longest datagram that is taken (bytes); a longer one is ignored.
pub const DATAGRAM_BYTES_MAX: usize = 1500;

/// Sources whose shares are known; those with nothing in the queue are forgotten then.
const SOURCES_MAX: usize = 2_048;

/// Reads datagrams until the simulation ends. Empty and overlong ones are ignored; one that finds its
/// share of the queue taken is lost, as datagrams may be: a flood of one source costs the others nothing here.
pub(super) async fn read(socket: UdpSocket, inputs: Inputs) -> SimulationEnded {
    // One byte more than allowed tells an overlong datagram from a full one.
    let mut buffer = [0; DATAGRAM_BYTES_MAX + 1];
    let everybody = Share::of_datagrams();
    let mut sources: BTreeMap<SocketAddr, Share> = BTreeMap::new();
    let mut lost: u64 = 0;
    loop {
        let (length, source) = match socket.recv_from(&mut buffer).await {
            Ok(received) => received,
            Err(error) => {
                // Some systems report here that an earlier reply found nobody.
                tracing::debug!("UDP receive: {error}");
                tokio::time::sleep(RECEIVE_PAUSE).await;
                continue;
            }
        };
        let Some(bytes) = buffer.get(..length).filter(|_| (1..=DATAGRAM_BYTES_MAX).contains(&length)) else {
            tracing::debug!("datagram of {length} bytes from {source} ignored");
            continue;
        };
        if sources.len() >= SOURCES_MAX {
            sources.retain(|_, share| !share.is_free());
        }
        let own = sources.entry(source).or_insert_with(Share::of_one_source);
        match inputs.offer_within([own, &everybody], Input::Datagram { source, bytes: bytes.to_vec() }) {
            Ok(true) => {}
            Ok(false) => {
                lost += 1;
                if lost.is_power_of_two() {
                    tracing::warn!("more datagrams than the simulation can take: {lost} lost so far");
                }
            }
            Err(ended) => return ended,
        }
    }
}
