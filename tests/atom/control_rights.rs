//! Control: one client at a time, UDP and WebSocket mixed.

use atom_sim::atom::Options;
use firmware_core::protocol::codes;
use firmware_core::protocol::reply::{RegisterWritten, Reply};
use firmware_core::protocol::request::build;
use firmware_core::shared::State;

use crate::support::{Bench, ack, done_of, replies_to};

fn bench() -> Bench {
    Bench::new(&Options::default())
}

#[test]
fn the_first_who_needs_control_takes_it_even_if_the_request_is_refused() {
    let mut bench = bench();
    let (udp, web) = (bench.udp(), bench.web());
    assert_eq!(bench.ask_ms(udp, &[codes::MOVE_TO, 0], 5), [ack(codes::MOVE_TO, -1)]);
    assert_eq!(bench.ask_ms(web, &build::control(1), 5), [ack(codes::CONTROL, -2)]);
    assert_eq!(bench.ask_ms(web, &build::move_to(&[1.0; 6], 0), 5), [ack(codes::MOVE_TO, -2)]);
    assert_eq!(bench.ask_ms(web, &build::jog(&[1.0; 6]), 5), [ack(codes::JOG, -2)]);
    let refused = RegisterWritten { id: 1, address: 21, status: -2, servo_error: 0 };
    assert_eq!(bench.ask_ms(web, &build::reg_write(1, 21, &[30]), 5), [Reply::RegisterWritten(refused)]);
    assert_eq!(bench.atom.truth().holder, Some(udp));
}

#[test]
fn questions_need_no_control() {
    let mut bench = bench();
    let (udp, web) = (bench.udp(), bench.web());
    bench.ask_ms(udp, &build::control(1), 5);
    for message in [&[codes::PING][..], &[codes::STATE], &build::reg_read(1, 62, 2)] {
        assert_eq!(bench.ask_ms(web, message, 10).len(), 1, "{message:?}");
    }
    assert_eq!(bench.ask_ms(web, &[codes::STOP], 5), [ack(codes::STOP, 0)]);
    assert_eq!(bench.ask_ms(web, &[codes::HOLD], 50), [ack(codes::HOLD, 0)]);
}

#[test]
fn control_ends_2_s_after_the_last_message_of_the_holder() {
    let mut bench = bench();
    let (udp, web) = (bench.udp(), bench.web());
    bench.ask_ms(udp, &build::control(1), 5);
    bench.run_ms(1_900);
    // Any message with a code byte restarts the time, an unknown code too; an empty one does not.
    bench.ask_ms(udp, &[0x7E], 1_900);
    bench.ask_ms(udp, &[], 50);
    assert_eq!(bench.ask_ms(web, &build::control(1), 1), [ack(codes::CONTROL, -2)]);
    bench.run_ms(60);
    assert_eq!(bench.ask_ms(web, &build::control(1), 5), [ack(codes::CONTROL, 0)]);
}

#[test]
fn control_does_not_expire_during_a_run_and_its_2_s_start_at_the_end() {
    let mut bench = bench();
    let (udp, web) = (bench.udp(), bench.web());
    bench.ask_ms(udp, &build::move_to(&[20.0, 0.0, 0.0, 0.0, 0.0, 0.0], 4_000), 4_700);
    assert_eq!(bench.atom.state(), State::Moving, "it settles");
    assert_eq!(bench.ask_ms(web, &build::control(1), 5), [ack(codes::CONTROL, -2)]);
    bench.run_ms(150);
    assert_eq!(bench.atom.state(), State::Holding);
    bench.run_ms(1_800);
    assert_eq!(
        bench.ask_ms(web, &build::control(1), 5),
        [ack(codes::CONTROL, -2)],
        "not yet 2 s since the end"
    );
    bench.run_ms(250);
    assert_eq!(bench.ask_ms(web, &build::control(1), 5), [ack(codes::CONTROL, 0)]);
}

#[test]
fn release_and_take_over_follow_the_rules() {
    let mut bench = bench();
    let (udp, web) = (bench.udp(), bench.web());
    bench.ask_ms(udp, &build::control(1), 5);
    assert_eq!(
        bench.ask_ms(web, &build::control(0), 5),
        [ack(codes::CONTROL, 0)],
        "releasing what one has not"
    );
    assert_eq!(bench.atom.truth().holder, Some(udp), "changes nothing");
    assert_eq!(bench.ask_ms(web, &build::control(2), 5), [ack(codes::CONTROL, 0)], "take over");
    assert_eq!(bench.atom.truth().holder, Some(web));
    assert_eq!(bench.ask_ms(udp, &[codes::CONTROL], 5), [ack(codes::CONTROL, -2)], "no byte is take");
    bench.ask_ms(web, &build::move_to(&[20.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0), 100);
    assert_eq!(bench.ask_ms(udp, &build::control(2), 5), [ack(codes::CONTROL, -1)], "it moves");
    assert_eq!(bench.ask_ms(web, &build::control(200), 5), [ack(codes::CONTROL, 0)], "the holder may");
    assert_eq!(bench.ask_ms(web, &build::control(0), 5), [ack(codes::CONTROL, 0)]);
    assert_eq!(bench.atom.truth().holder, None);
}

#[test]
fn a_closed_websocket_loses_control_at_once_and_its_move_runs_on() {
    let mut bench = bench();
    let (udp, web) = (bench.udp(), bench.web());
    bench.ask_ms(web, &build::move_to(&[20.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0), 200);
    bench.atom.close(web);
    bench.run_ms(10);
    assert_eq!(bench.atom.truth().holder, None);
    assert_eq!(bench.atom.state(), State::Moving);
    bench.run_ms(2_500);
    assert!((bench.atom.deg(0) - 20.0).abs() < 0.1);
    assert_eq!(bench.ask_ms(udp, &build::control(1), 5), [ack(codes::CONTROL, 0)]);
}

#[test]
fn a_bystander_s_stop_keeps_a_streaming_page_from_starting_again_for_500_ms() {
    for code in [codes::STOP, codes::HOLD] {
        let mut bench = bench();
        let (page, bystander) = (bench.web(), bench.udp());
        let jog = build::jog(&[10.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        bench.repeat_ms(page, &jog, 20, 400);
        assert_eq!(bench.atom.state(), State::Jogging);
        assert_eq!(bench.ask_ms(bystander, &[code], 5), [ack(code, 0)]);
        let outputs = bench.repeat_ms(page, &jog, 20, 480);
        let refused = |reply: &&Reply| **reply == ack(codes::JOG, -1);
        assert_eq!(replies_to(page, &outputs).iter().filter(refused).count(), 24);
        assert_eq!(bench.atom.state(), State::Holding);
        let stopped_at = bench.atom.deg(0);
        bench.repeat_ms(page, &jog, 20, 400);
        assert_eq!(bench.atom.state(), State::Jogging, "after 500 ms it may");
        assert!(bench.atom.deg(0) > stopped_at + 1.0);
    }
}

#[test]
fn the_holder_s_own_stop_blocks_nothing() {
    let mut bench = bench();
    let page = bench.web();
    let jog = build::jog(&[10.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    bench.repeat_ms(page, &jog, 20, 400);
    bench.ask_ms(page, &[codes::STOP], 300);
    assert_eq!(bench.atom.state(), State::Holding);
    assert_eq!(bench.ask_ms(page, &jog, 50), []);
    assert_eq!(bench.atom.state(), State::Jogging);
}

#[test]
fn every_reply_goes_to_its_sender_alone() {
    let mut bench = bench();
    let clients = [bench.udp(), bench.web(), bench.udp(), bench.web()];
    let replies = bench.ask_ms(clients[2], &build::move_to(&[5.0; 6], 0), 3_000);
    assert_eq!(replies[0], ack(codes::MOVE_TO, 0));
    assert_eq!(done_of(&replies).expect("DONE").result, 0);
    for other in [clients[0], clients[1], clients[3]] {
        assert!(crate::support::replies_to(other, &bench.outputs).is_empty());
    }
}

#[test]
fn the_questions_of_others_do_not_keep_a_lease() {
    for question in [&build::reg_read(1, 62, 2)[..], &[codes::STATE], &[codes::PING]] {
        let mut bench = bench();
        let (gone, bystander) = (bench.udp(), bench.web());
        bench.ask_ms(gone, &build::control(1), 5);
        bench.repeat_ms(bystander, question, 300, 1_900);
        assert_eq!(bench.atom.truth().holder, Some(gone));
        bench.repeat_ms(bystander, question, 300, 300);
        assert_eq!(bench.atom.truth().holder, None, "{question:?}");
    }
}
