//! The links of all clients of one ATOM. A client on an ideal link has none, and costs nothing.

use serde::{Deserialize, Serialize};

use std::collections::BTreeMap;

use firmware_core::platform::{ClientId, Transport};

use super::lane::{Lane, Parcel, Pushed};
use super::settings::Settings;

/// Which way a message goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Direction {
    /// From a client to the ATOM.
    ToAtom,
    /// From the ATOM to a client.
    FromAtom,
}

impl Direction {
    /// Both.
    pub const ALL: [Self; 2] = [Self::ToAtom, Self::FromAtom];
}

/// The links of one ATOM.
#[derive(Debug, Clone)]
pub struct Links {
    seed: u64,
    lanes: BTreeMap<(ClientId, Direction), Lane>,
    /// Messages lost on lanes that are gone.
    lost_before: u64,
}

impl Links {
    /// No client yet.
    pub fn new(seed: u64) -> Self {
        Self { seed, lanes: BTreeMap::new(), lost_before: 0 }
    }

    /// The lane of a client, made if it has none.
    pub fn lane(&mut self, client: ClientId, direction: Direction) -> &mut Lane {
        let seed = self.seed;
        self.lanes.entry((client, direction)).or_insert_with(|| {
            let fork = u64::from(client.number) * 4 + if direction == Direction::ToAtom { 0 } else { 2 };
            Lane::new(is_stream(client), Settings::IDEAL, seed, fork)
        })
    }

    /// A client has a lane in this direction.
    pub fn has_lane(&self, client: ClientId, direction: Direction) -> bool {
        self.lanes.contains_key(&(client, direction))
    }

    /// Forgets a client and all that is on its way.
    pub fn remove(&mut self, client: ClientId) {
        for direction in Direction::ALL {
            if let Some(lane) = self.lanes.remove(&(client, direction)) {
                self.lost_before += lane.lost();
            }
        }
    }

    /// A message enters a link. `None`: the link is ideal, the message is there at once.
    pub fn push(
        &mut self,
        now_us: u64,
        client: ClientId,
        direction: Direction,
        bytes: &[u8],
    ) -> Option<Pushed> {
        let lane = self.lanes.get_mut(&(client, direction))?;
        if lane.is_transparent() { None } else { Some(lane.push(now_us, bytes)) }
    }

    /// A client closes. False: its link is ideal, the close is there at once.
    pub fn push_close(&mut self, now_us: u64, client: ClientId) -> bool {
        match self.lanes.get_mut(&(client, Direction::ToAtom)) {
            Some(lane) if !lane.is_transparent() => {
                lane.push_close(now_us);
                true
            }
            Some(_) | None => false,
        }
    }

    /// When the next message arrives anywhere (µs).
    pub fn next_due_us(&self) -> Option<u64> {
        self.lanes.values().filter_map(Lane::next_due_us).min()
    }

    /// The next message that has arrived by `now_us`, the earliest first.
    pub fn pop(&mut self, now_us: u64) -> Option<(ClientId, Direction, Parcel)> {
        let due = |lane: &Lane| lane.next_due_us().filter(|&at_us| at_us <= now_us);
        let (_, key) = self.lanes.iter().filter_map(|(&key, lane)| Some((due(lane)?, key))).min()?;
        let parcel = self.lanes.get_mut(&key)?.pop(now_us)?;
        Some((key.0, key.1, parcel))
    }

    /// Messages lost or refused so far on all links.
    pub fn lost(&self) -> u64 {
        self.lost_before + self.lanes.values().map(Lane::lost).sum::<u64>()
    }
}

/// A client's messages go over TCP.
pub fn is_stream(client: ClientId) -> bool {
    match client.transport {
        Transport::Udp => false,
        Transport::WebSocket => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::settings::Profile;

    const UDP: ClientId = ClientId { transport: Transport::Udp, number: 1 };
    const PAGE: ClientId = ClientId { transport: Transport::WebSocket, number: 2 };

    #[test]
    fn an_ideal_client_has_no_lane_and_its_messages_pass_at_once() {
        let mut links = Links::new(1);
        assert_eq!(links.push(0, UDP, Direction::ToAtom, &[1]), None);
        assert!(!links.push_close(0, UDP));
        assert_eq!((links.next_due_us(), links.lanes.len()), (None, 0));
    }

    #[test]
    fn messages_of_all_clients_come_in_order_of_arrival() {
        let mut links = Links::new(1);
        links.lane(UDP, Direction::ToAtom).set(0, Settings { base_us: 300, ..Settings::IDEAL });
        links.lane(PAGE, Direction::FromAtom).set(0, Settings { base_us: 200, ..Settings::IDEAL });
        assert_eq!(links.push(0, UDP, Direction::ToAtom, &[1]), Some(Pushed::Taken));
        assert_eq!(links.push(0, PAGE, Direction::FromAtom, &[2]), Some(Pushed::Taken));
        assert_eq!(links.next_due_us(), Some(200));
        assert_eq!(links.pop(199), None);
        assert_eq!(links.pop(300), Some((PAGE, Direction::FromAtom, Parcel::Message(vec![2]))));
        assert_eq!(links.pop(300), Some((UDP, Direction::ToAtom, Parcel::Message(vec![1]))));
    }

    #[test]
    fn a_client_more_does_not_change_the_luck_of_the_others() {
        let arrivals = |others: u32| {
            let mut links = Links::new(9);
            let hotspot = Profile::Hotspot.settings(false);
            for number in 0..=others {
                let other = ClientId { transport: Transport::Udp, number: 10 + number };
                links.lane(other, Direction::ToAtom).set(0, hotspot);
            }
            links.lane(UDP, Direction::ToAtom).set(0, hotspot);
            (0..50)
                .map(|i| {
                    links.push(i * 20_000, UDP, Direction::ToAtom, &[0]);
                    links.next_due_us()
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(arrivals(0), arrivals(5));
    }
}
