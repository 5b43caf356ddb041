//! REG_READ and REG_WRITE: which are refused, and in which form.

use firmware_core::shared::{Request, State};

use crate::side::*;

#[test]
fn a_read_is_refused_while_busy_and_for_registers_that_are_none() {
    let mut side = Side::new();
    let refused = |side: &mut Side, bytes: &[u8], id: u8, address: u8| {
        assert_eq!(side.send(UDP, bytes), [[0x86, id, address, 0, 0xFF]], "{bytes:02x?}");
    };
    for state in [State::Playing, State::Moving, State::Jogging, State::Tracking] {
        side.state(state);
        refused(&mut side, &[0x09, 1, 62, 2], 1, 62);
    }
    side.state(State::Holding);
    refused(&mut side, &[0x09], 0, 0);
    refused(&mut side, &[0x09, 3], 3, 0);
    refused(&mut side, &[0x09, 3, 62], 3, 62);
    refused(&mut side, &[0x09, 0, 62, 2], 0, 62);
    refused(&mut side, &[0x09, 8, 62, 2], 8, 62);
    refused(&mut side, &[0x09, 1, 62, 0], 1, 62);
    refused(&mut side, &[0x09, 1, 62, 33], 1, 62);
    side.silent(UDP, &[0x09, 7, 255, 32, 99]);
    let asked = Request::RegisterRead { client: UDP, id: 7, address: 255, length: 32 };
    assert_eq!(side.pending(), Some(asked));
    refused(&mut side, &[0x09, 1, 62, 2], 1, 62);
    side.take();
    refused(&mut side, &[0x09, 1, 62, 2], 1, 62);
    side.finish(State::Error);
    side.silent(UDP, &[0x09, 1, 62, 2]);
    assert!(side.pending().is_some(), "in error registers are read");
}

#[test]
fn a_write_is_refused_in_its_own_form() {
    let mut side = Side::new();
    let refused = |side: &mut Side, bytes: &[u8], id: u8, address: u8, status: i8| {
        assert_eq!(side.send(UDP, bytes), [[0x87, id, address, status.cast_unsigned(), 0]], "{bytes:02x?}");
    };
    side.state(State::Jogging);
    refused(&mut side, &[0x0A, 1, 5, 1, 0], 1, 5, -1);
    side.state(State::Holding);
    refused(&mut side, &[0x0A], 0, 0, -1);
    refused(&mut side, &[0x0A, 2, 21], 2, 21, -1);
    refused(&mut side, &[0x0A, 2, 21, 0], 2, 21, -1);
    refused(&mut side, &[0x0A, 2, 21, 2, 0], 2, 21, -1);
    refused(&mut side, &[0x0A, 2, 21, 1, 0, 0], 2, 21, -1);
    refused(&mut side, &[0x0A, 0, 21, 1, 0], 0, 21, -1);
    refused(&mut side, &[0x0A, 8, 5, 1, 0], 8, 5, -1);
    refused(&mut side, &message(&[0x0A, 1, 5, 33], 4 + 33), 1, 5, -1);
}

#[test]
fn protected_registers_are_refused_with_minus_5() {
    for (address, length, allowed) in [
        (0, 1, false),
        (5, 1, false),
        (8, 1, false),
        (8, 2, false),
        (9, 1, true),
        (54, 1, true),
        (54, 2, false),
        (55, 1, false),
        (40, 16, false),
        (56, 24, true),
        (56, 25, false),
        (79, 1, true),
        (79, 2, false),
        (80, 1, false),
        (255, 32, false),
    ] {
        let mut side = Side::new();
        let bytes = message(&[0x0A, 4, address, length], 4 + usize::from(length));
        if allowed {
            side.silent(UDP, &bytes);
            let Some(Request::RegisterWrite { client: UDP, id: 4, data, .. }) = side.pending() else {
                panic!("{address}+{length}")
            };
            assert_eq!(data.len(), usize::from(length));
        } else {
            assert_eq!(side.send(UDP, &bytes), [[0x87, 4, address, 0xFB, 0]], "{address}+{length}");
            assert_eq!(side.pending(), None);
        }
    }
}

#[test]
fn a_write_without_control_is_refused_with_minus_2_in_its_own_form() {
    let mut side = Side::new();
    side.acked(WEB, &[0x0D, 1], 0);
    assert_eq!(side.send(UDP, &[0x0A, 2, 21, 1, 0]), [[0x87, 2, 21, 0xFE, 0]]);
    assert_eq!(side.send(UDP, &[0x0A]), [[0x87, 0, 0, 0xFE, 0]]);
    // Reading needs no control.
    side.silent(UDP, &[0x09, 1, 62, 2]);
    assert!(side.pending().is_some());
}
