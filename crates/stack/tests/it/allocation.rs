//! A socket allocates nothing while it sends and receives.

use std::net::SocketAddr;

use hairpin_stack::Poller;
use hairpin_testbed::allocations;

use crate::support::{addresses, bind, each_configuration, eventually, stack, xdp_destination};

#[test]
#[ignore = "needs root"]
fn sending_and_receiving_allocates_nothing() {
    each_configuration(|testbed, mode| {
        let hosts = testbed.hosts();
        let stacks = [0, 1].map(|end| stack(&hosts[end], mode));
        for family in 0..2 {
            let places = [0, 1].map(|end| SocketAddr::new(addresses(&hosts[end])[family], 7_000));
            let [mut near, mut far] =
                [0, 1].map(|end| bind(&hosts[end], &stacks[end], places[end]));
            near.connect(places[1]).unwrap();
            xdp_destination(&near, places[1]);
            let mut back = xdp_destination(&far, places[0]);
            let mut poller = Poller::new().unwrap();
            poller.add(&near, 7).unwrap();
            let mut exchange = |rounds: u32| {
                for round in 0..rounds {
                    let length = 4 + round as usize % 1_400;
                    near.transmit(length, |payload| payload.fill(1)).unwrap();
                    assert!(eventually(|| far.receive(8, |_, _| ()).unwrap().count == 1));
                    far.transmit_to(&mut back, length, |payload| payload.fill(2)).unwrap();
                    far.send_to(&[3; 18], places[0]).unwrap();
                    let mut count = 0;
                    assert!(eventually(|| {
                        if poller.poll().unwrap() == [7] {
                            count += near.receive(8, |_, _| ()).unwrap().count;
                        }
                        count == 2
                    }));
                }
            };
            exchange(50);
            let before = allocations();
            exchange(1_000);
            assert_eq!(allocations() - before, 0, "{mode}, {}", places[0]);
        }
        let [mut near, mut far] = [0, 1].map(|end| stacks[end].raw_frames(0x88b5).unwrap());
        let before = allocations();
        for _ in 0..1_000 {
            let mut packet = near.frame(100).unwrap();
            near.bytes_mut(&mut packet).fill(0xb5);
            near.bytes_mut(&mut packet)[12] = 0x88;
            assert!(near.transmit(packet).unwrap().is_ok());
            let mut received = None;
            assert!(eventually(|| {
                received = far.receive().unwrap();
                received.is_some()
            }));
            far.release(received.unwrap());
        }
        assert_eq!(allocations() - before, 0, "{mode}, raw frames");
    });
}
