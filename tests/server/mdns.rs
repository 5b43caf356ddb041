//! The name on the local network.

use mdns_sd::{ServiceDaemon, ServiceEvent};

use super::simulator::{SOON, Simulator, now, run};

#[test]
fn a_browser_of_services_finds_the_simulator_by_its_name() {
    let name = format!("atom-sim-test-{}", std::process::id());
    let simulator = Simulator::start(&["--host", "0.0.0.0", "--mdns", &name]);
    let browser = ServiceDaemon::new().expect("a responder");
    let found = browser.browse("_http._tcp.local.").expect("a browser");
    let until = now() + SOON;
    loop {
        let event = found.recv_timeout(until.saturating_duration_since(now())).expect("it is found in time");
        if let ServiceEvent::ServiceResolved(service) = event
            && service.get_hostname() == format!("{name}.local.")
        {
            assert_eq!(service.get_port(), simulator.websocket.port());
            break;
        }
    }
    browser.shutdown().expect("it runs");
}

#[test]
fn a_name_without_a_network_is_refused_in_one_line() {
    let output = run(&["--port", "0", "--udp-port", "0", "--mdns"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("--mdns") && error.contains("--host 0.0.0.0"), "{error}");
}
