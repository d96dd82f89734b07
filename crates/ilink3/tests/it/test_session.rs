//! A session in a given state, and frames for it.

use hairpin_cme_codecs::ilink3::{EstablishmentAck504, NegotiationResponse501, Terminate507};
use hairpin_ilink3::*;
use hairpin_sbe::MessageHeader;
use hairpin_time::{Duration, Instant, Now, Utc};

pub(crate) const UTC: u64 = 1_700_000_000_000_000_000;
pub(crate) const UUID: u64 = UTC / 1_000;

/// A sink that accepts everything and keeps nothing.
#[derive(Default)]
pub(crate) struct Discard(Vec<u8>);

impl OutboundSink for Discard {
    fn claim(&mut self, max: usize) -> Result<&mut [u8], OutboundError> {
        self.0.resize(max, 0);
        Ok(&mut self.0)
    }

    fn commit(&mut self, _: usize, _: Option<u32>) -> Delivery {
        Delivery::Written
    }
}

pub(crate) fn now(millis: u64) -> Now {
    Now {
        monotonic: Instant::ZERO + Duration::from_millis(millis),
        utc: Utc::from_nanos(UTC) + Duration::from_millis(millis),
    }
}

pub(crate) fn framed(length: usize, write: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut frame = vec![0; 4 + length];
    write(&mut frame[4..]);
    let size = frame.len() as u16;
    frame[..2].copy_from_slice(&size.to_le_bytes());
    frame[2..4].copy_from_slice(&ENCODING_TYPE.to_le_bytes());
    frame
}

pub(crate) fn settings() -> Settings {
    let key = SecretKey::from_base64url("AAECAwQFBgcICQoLDA0ODw").unwrap();
    Settings {
        access_key_id: "ACCESS-KEY-ID-123456".into(),
        secret_key: key,
        session: "ABC".into(),
        firm: "DEFGH".into(),
        trading_system_name: "Test".into(),
        trading_system_version: "1".into(),
        trading_system_vendor: "Test".into(),
        keep_alive_interval: KEEP_ALIVE_DEFAULT,
        operator: Operator::automated("TRADER", "US,IL").unwrap(),
    }
}

/// Creates a session in `state` with all its messages sent.
pub(crate) fn session(state: State) -> Session {
    let mut session = Session::new(settings(), Progress::default()).unwrap();
    session.connect(now(0), Binding::New).unwrap();
    session.poll_action();
    session.handle_connected(now(0), &mut Discard::default(), &mut ());
    transmit(&mut session, now(0));
    if state == State::Negotiating {
        return session;
    }
    let response = framed(NegotiationResponse501::ENCODED_LENGTH, |buffer| {
        let mut message = NegotiationResponse501::encode(buffer).unwrap();
        message.set_uuid(UUID).set_request_timestamp(session.progress().request_timestamp);
    });
    session.handle_bytes(now(0), &response, &mut Discard::default(), &mut ());
    transmit(&mut session, now(0));
    if state == State::Establishing {
        return session;
    }
    let ack = framed(EstablishmentAck504::ENCODED_LENGTH, |buffer| {
        let mut message = EstablishmentAck504::encode(buffer).unwrap();
        message.set_uuid(UUID).set_request_timestamp(session.progress().request_timestamp);
        message.set_next_seq_no(1).set_keep_alive_interval(10_000);
        message.set_previous_uuid(0).set_previous_seq_no(0);
    });
    session.handle_bytes(now(0), &ack, &mut Discard::default(), &mut ());
    transmit(&mut session, now(0));
    if state == State::Terminating {
        session.terminate(now(0));
        transmit(&mut session, now(0));
    }
    assert_eq!(session.state(), state);
    session
}

/// Transmits everything pending and returns the ErrorCodes of a Terminate, if one is sent.
pub(crate) fn transmit(session: &mut Session, now: Now) -> Option<u16> {
    let mut buffer = [0; CONTROL_LENGTH];
    let mut code = None;
    while let Some(length) = session.poll_transmit(now, &mut buffer) {
        let (header, body) = MessageHeader::decode(&buffer[4..length]).unwrap();
        assert_eq!(code, None, "nothing is sent after a Terminate");
        if header.template_id == Terminate507::TEMPLATE_ID {
            let mut scratch = Terminate507::SCRATCH;
            code = Some(Terminate507::decode(&header, body, &mut scratch).unwrap().error_codes());
        }
    }
    code
}
