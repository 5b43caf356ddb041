//! What lanes do to messages, by value.

use super::*;
use crate::link::settings::{Profile, STREAM_BUFFER_BYTES, Stalls};

fn lane(stream: bool, settings: Settings) -> Lane {
    Lane::new(stream, settings, 42, 0)
}

/// Everything that arrives up to `until_us`, one tick of 100 µs after another: time and first byte.
fn arrivals(lane: &mut Lane, until_us: u64) -> Vec<(u64, u8)> {
    let mut out = Vec::new();
    while let Some(at_us) = lane.next_due_us().filter(|&at_us| at_us <= until_us) {
        let Some(Parcel::Message(bytes)) = lane.pop(at_us) else { panic!("due, but nothing there") };
        out.push((at_us, bytes[0]));
    }
    out
}

#[test]
fn a_delay_is_a_delay() {
    let mut lane = lane(false, Settings { base_us: 5_000, ..Settings::IDEAL });
    lane.push(1_000, &[7]);
    assert_eq!(lane.pop(5_999), None);
    assert_eq!(lane.pop(6_000), Some(Parcel::Message(vec![7])));
}

#[test]
fn jitter_stays_in_its_range_and_keeps_the_order() {
    let mut lane = lane(false, Settings { base_us: 1_000, jitter_us: 9_000, ..Settings::IDEAL });
    let mut last_us = 0;
    for i in 0..200u64 {
        lane.push(i * 20_000, &[i as u8]);
        let [(at_us, byte)] = arrivals(&mut lane, u64::MAX)[..] else { panic!("one message each") };
        assert_eq!(byte, i as u8);
        assert!((i * 20_000 + 1_000..=i * 20_000 + 10_000).contains(&at_us), "{at_us}");
        assert!(at_us > last_us);
        last_us = at_us;
    }
}

#[test]
fn a_stall_of_datagrams_ends_in_a_burst() {
    let mut lane = lane(false, Settings::IDEAL);
    lane.set_gate(Gate::Held);
    for i in 0..10 {
        assert_eq!(lane.push(u64::from(i) * 20_000, &[i]), Pushed::Taken);
    }
    assert_eq!((lane.next_due_us(), lane.pop(250_000)), (None, None));
    lane.set_gate(Gate::Open);
    let burst: Vec<Parcel> = std::iter::from_fn(|| lane.pop(250_000)).collect();
    assert_eq!(burst, (0..10).map(|i| Parcel::Message(vec![i])).collect::<Vec<_>>());
    assert!(lane.is_transparent(), "after the burst the lane is ideal again");
}

#[test]
fn a_stall_loses_the_datagrams_past_the_buffer_and_a_stream_refuses_them() {
    for stream in [false, true] {
        let mut lane = lane(stream, Settings { buffer_bytes: 5 * 116, ..Settings::IDEAL });
        lane.set_gate(Gate::Held);
        let pushed: Vec<Pushed> = (0..8).map(|i| lane.push(i, &[0; 100])).collect();
        assert_eq!(pushed[..5], [Pushed::Taken; 5]);
        assert_eq!(pushed[5..], [Pushed::Lost; 3]);
        assert_eq!((lane.lost(), lane.queued_bytes()), (3, 5 * 116));
    }
}

#[test]
fn losses_and_duplicates_have_their_rates() {
    let mut lane = lane(false, Settings { loss: 0.1, duplicate: 0.2, ..Settings::IDEAL });
    let mut count = 0;
    for i in 0..10_000u64 {
        lane.push(i * 1_000, &[0]);
        count += arrivals(&mut lane, u64::MAX).len();
    }
    assert!((900..1_100).contains(&lane.lost()), "{} lost", lane.lost());
    let expected = 10_000.0 * 0.9 * 1.2;
    assert!((count as f64 - expected).abs() < 250.0, "{count} arrived");
}

#[test]
fn a_reordered_datagram_is_overtaken_and_a_stream_never_reorders_loses_or_doubles() {
    let settings =
        Settings { reorder: 0.3, reorder_us: 50_000, loss: 0.2, duplicate: 0.2, ..Settings::IDEAL };
    let run = |stream| {
        let mut lane = lane(stream, settings);
        (0..200u8).for_each(|i| {
            lane.push(u64::from(i) * 10_000, &[i]);
        });
        arrivals(&mut lane, u64::MAX).into_iter().map(|(_, byte)| byte).collect::<Vec<_>>()
    };
    assert!(!run(false).is_sorted());
    assert_eq!(run(true), (0..200).collect::<Vec<u8>>());
}

#[test]
fn a_stream_that_loses_a_segment_delivers_it_a_retransmission_later() {
    let mut lane = lane(true, Settings { loss: 1.0, base_us: 1_000, ..Settings::IDEAL });
    lane.push(0, &[1]);
    assert_eq!(lane.next_due_us(), Some(201_000));
}

#[test]
fn bandwidth_spaces_messages_out() {
    let mut lane = lane(true, Settings { bandwidth_bytes_s: Some(10_000), ..Settings::IDEAL });
    (0..3).for_each(|i| {
        lane.push(0, &[i; 100]);
    });
    assert_eq!(arrivals(&mut lane, u64::MAX), [(10_000, 0), (20_000, 1), (30_000, 2)]);
}

#[test]
fn what_has_not_left_leaves_at_the_new_bandwidth() {
    for stream in [false, true] {
        let settings = |bytes_s| Settings { bandwidth_bytes_s: bytes_s, base_us: 1_000, ..Settings::IDEAL };
        let mut lane = lane(stream, settings(Some(100)));
        (0..4).for_each(|i| {
            lane.push(0, &[i; 100]);
        });
        // At 1,001 ms one message has arrived; the second of four would need until 2 s.
        assert_eq!(arrivals(&mut lane, 1_001_000), [(1_001_000, 0)]);
        lane.set(1_500_000, settings(Some(10_000)));
        assert_eq!(lane.next_due_us(), Some(1_511_000));
        lane.set(1_500_000, settings(None));
        lane.push(1_500_000, &[4]);
        assert_eq!(arrivals(&mut lane, u64::MAX), [1, 2, 3, 4].map(|i| (1_501_000, i)));
        assert_eq!(lane.queued_bytes(), 0);
    }
}

#[test]
fn a_close_stays_behind_what_a_new_bandwidth_sends_earlier() {
    let mut lane = lane(true, Settings { bandwidth_bytes_s: Some(100), ..Settings::IDEAL });
    lane.push(0, &[7; 100]);
    lane.push(0, &[8; 100]);
    lane.push_close(10);
    lane.set(20, Settings::IDEAL);
    let rest: Vec<Parcel> = std::iter::from_fn(|| lane.pop(20)).collect();
    assert_eq!(rest, [Parcel::Message(vec![7; 100]), Parcel::Message(vec![8; 100]), Parcel::Close]);
}

#[test]
fn a_slow_reader_is_bounded_in_memory() {
    let choked =
        Settings { bandwidth_bytes_s: Some(100), buffer_bytes: STREAM_BUFFER_BYTES, ..Settings::IDEAL };
    let mut lane = lane(true, choked);
    (0..100_000u64).for_each(|i| {
        lane.push(i * 10, &[0; 98]);
    });
    assert!(lane.queued_bytes() <= STREAM_BUFFER_BYTES);
    assert!(lane.lost() > 99_900);
}

#[test]
fn nothing_leaves_a_broken_lane_and_a_stream_goes_on_after_it() {
    for stream in [false, true] {
        let mut lane = lane(stream, Settings::IDEAL);
        lane.set_gate(Gate::Broken);
        lane.push(0, &[9]);
        assert_eq!((lane.next_due_us(), lane.pop(u64::MAX)), (None, None));
        lane.set_gate(Gate::Open);
        assert_eq!(lane.pop(1_000).is_some(), stream, "datagrams are lost, a stream keeps them");
    }
}

#[test]
fn a_close_comes_behind_all_before_it() {
    let mut lane = lane(true, Settings { base_us: 1_000, jitter_us: 5_000, ..Settings::IDEAL });
    lane.push(0, &[1]);
    lane.push_close(0);
    assert!(matches!(lane.pop(u64::MAX), Some(Parcel::Message(_))));
    assert_eq!(lane.pop(u64::MAX), Some(Parcel::Close));
}

#[test]
fn a_fault_that_comes_and_goes_leaves_the_later_luck_as_it_was() {
    let run = |faulty: bool| {
        let mut lane = lane(false, Settings { loss: 0.5, jitter_us: 1_000, ..Settings::IDEAL });
        (0..100u64)
            .map(|i| {
                if i == 20 && faulty {
                    lane.set(
                        i * 10_000,
                        Settings { loss: 0.5, duplicate: 0.5, reorder: 0.5, ..Settings::IDEAL },
                    );
                }
                if i == 40 {
                    lane.set(i * 10_000, Settings { loss: 0.5, jitter_us: 1_000, ..Settings::IDEAL });
                }
                lane.push(i * 10_000, &[i as u8]);
                arrivals(&mut lane, i * 10_000 + 9_999)
            })
            .skip(41)
            .collect::<Vec<_>>()
    };
    assert_eq!(run(true), run(false));
}

/// Round trips (µs) of pings sent every 20 ms for a minute, and gaps (µs) of a 50 Hz stream.
fn measure(profile: Profile) -> (Vec<u64>, Vec<u64>) {
    let settings = profile.settings(false);
    let (mut there, mut back) = (Lane::new(false, settings, 1, 0), Lane::new(false, settings, 1, 2));
    let mut round_trips = Vec::new();
    for i in 0..3_000u64 {
        there.push(i * 20_000, &[0]);
    }
    let mut gaps = Vec::new();
    let mut last_us = 0;
    for (i, (at_us, _)) in arrivals(&mut there, u64::MAX).into_iter().enumerate() {
        gaps.push(at_us - last_us);
        last_us = at_us;
        back.push(at_us, &[0]);
        if let Some(&(back_us, _)) = arrivals(&mut back, u64::MAX).last() {
            round_trips.push(back_us - i as u64 * 20_000);
        }
    }
    round_trips.sort_unstable();
    gaps.sort_unstable();
    (round_trips, gaps)
}

#[test]
fn the_lab_has_round_trips_of_12_to_23_ms_and_a_stall_now_and_then() {
    let (round_trips, gaps) = measure(Profile::Lab);
    assert!((12_000..12_500).contains(&round_trips[0]), "{}", round_trips[0]);
    let p95 = round_trips[round_trips.len() * 95 / 100];
    assert!((20_000..23_001).contains(&p95), "{p95}");
    let longest = gaps[gaps.len() - 1];
    assert!((200_000..320_001).contains(&longest), "{longest}");
    let stalls = gaps.iter().filter(|&&gap_us| gap_us > 150_000).count();
    assert!((1..8).contains(&stalls), "{stalls} stalls in a minute");
}

#[test]
fn the_hotspot_has_round_trips_of_16_to_84_ms_and_p99_gaps_above_100_ms() {
    let (round_trips, gaps) = measure(Profile::Hotspot);
    assert!((16_000..24_000).contains(&round_trips[0]), "{}", round_trips[0]);
    let median = round_trips[round_trips.len() / 2];
    assert!((45_000..75_000).contains(&median), "{median}");
    let p99 = gaps[gaps.len() * 99 / 100];
    assert!((100_001..260_000).contains(&p99), "{p99}");
}

#[test]
fn stalls_come_with_their_mean_interval() {
    let stalls = Stalls { mean_interval_us: 1_000_000, min_us: 100_000, max_us: 100_000 };
    let mut lane = lane(false, Settings { stalls: Some(stalls), ..Settings::IDEAL });
    let mut count = 0;
    for i in 0..60_000u64 {
        lane.push(i * 10_000, &[0]);
        count +=
            arrivals(&mut lane, u64::MAX).iter().filter(|(at_us, _)| at_us - i * 10_000 > 90_000).count();
    }
    assert!((480..610).contains(&count), "{count} stalls in 600 s");
}
