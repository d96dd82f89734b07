//! A bare gateway: it accepts every logon and reports every order as new.

use anyhow::{Context, Result, bail};
use hairpin_order_entry::messages::{
    BooleanFlag, Establish503, EstablishmentAck504, ExecutionReportNew522, Negotiate500,
    NegotiationResponse501, NewOrderSingle514, Terminate507,
};
use hairpin_sbe::MessageHeader;

/// The bytes before a message: the frame's length and encoding.
const FRAMING_HEADER: usize = 4;
/// The length of the report of a new order, with its framing header.
pub(super) const REPORT_BYTES: usize = FRAMING_HEADER + ExecutionReportNew522::ENCODED_LENGTH;

/// One connection of a bare gateway.
#[derive(Debug, Default)]
pub(super) struct BareGateway {
    /// The start of an incomplete frame.
    inbox: Vec<u8>,
    uuid: u64,
    /// The number of reports sent.
    reports: u32,
    /// The bytes to send.
    pub(super) outbox: Vec<u8>,
}

impl BareGateway {
    /// Handles bytes of the client and appends the answers to the outbox.
    ///
    /// # Errors
    /// Bytes that are not a frame; a message that cannot be decoded.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<()> {
        self.inbox.extend_from_slice(bytes);
        let inbox = std::mem::take(&mut self.inbox);
        let mut rest = &inbox[..];
        while let Some(size) = rest.first_chunk().map(|&size| usize::from(u16::from_le_bytes(size)))
        {
            if rest.len() < size {
                break;
            }
            let message = rest.get(FRAMING_HEADER..size).context("a frame without a message")?;
            self.answer(message)?;
            rest = &rest[size..];
        }
        let taken = inbox.len() - rest.len();
        self.inbox = inbox;
        self.inbox.drain(..taken);
        Ok(())
    }

    fn answer(&mut self, message: &[u8]) -> Result<()> {
        let (header, body) = MessageHeader::decode(message)?;
        match header.template_id {
            NewOrderSingle514::TEMPLATE_ID => {
                let mut scratch = NewOrderSingle514::SCRATCH;
                self.report(NewOrderSingle514::decode(&header, body, &mut scratch)?)
            }
            Negotiate500::TEMPLATE_ID => {
                let mut scratch = Negotiate500::SCRATCH;
                self.negotiated(Negotiate500::decode(&header, body, &mut scratch)?)
            }
            Establish503::TEMPLATE_ID => {
                let mut scratch = Establish503::SCRATCH;
                self.established(Establish503::decode(&header, body, &mut scratch)?)
            }
            Terminate507::TEMPLATE_ID => {
                let mut scratch = Terminate507::SCRATCH;
                self.terminated(Terminate507::decode(&header, body, &mut scratch)?)
            }
            // Keep-alives need no answer: reports are more frequent.
            _ => Ok(()),
        }
    }

    fn report(&mut self, order: NewOrderSingle514<'_>) -> Result<()> {
        let Some(price) = order.price() else { bail!("an order without a price") };
        self.reports += 1;
        let (uuid, seq_num) = (self.uuid, self.reports);
        let mut report =
            ExecutionReportNew522::encode(self.framed(ExecutionReportNew522::ENCODED_LENGTH))?;
        report
            .set_uuid(uuid)
            .set_seq_num(seq_num)
            .set_poss_retrans_flag(BooleanFlag::FALSE)
            .set_order_id(order.seq_num().into())
            .set_cl_ord_id(order.cl_ord_id())
            .set_security_id(order.security_id())
            .set_side(order.side())
            .set_order_qty(order.order_qty())
            .set_price(price);
        Ok(())
    }

    fn negotiated(&mut self, negotiate: Negotiate500<'_>) -> Result<()> {
        self.uuid = negotiate.uuid();
        let mut response =
            NegotiationResponse501::encode(self.framed(NegotiationResponse501::ENCODED_LENGTH))?;
        response
            .set_uuid(negotiate.uuid())
            .set_request_timestamp(negotiate.request_timestamp())
            .set_previous_uuid(0)
            .set_previous_seq_no(0);
        Ok(())
    }

    fn established(&mut self, establish: Establish503<'_>) -> Result<()> {
        let next = self.reports + 1;
        let mut ack =
            EstablishmentAck504::encode(self.framed(EstablishmentAck504::ENCODED_LENGTH))?;
        ack.set_uuid(establish.uuid())
            .set_request_timestamp(establish.request_timestamp())
            .set_next_seq_no(next)
            .set_previous_uuid(0)
            .set_previous_seq_no(0)
            .set_keep_alive_interval(establish.keep_alive_interval());
        Ok(())
    }

    fn terminated(&mut self, terminate: Terminate507<'_>) -> Result<()> {
        let mut answer = Terminate507::encode(self.framed(Terminate507::ENCODED_LENGTH))?;
        answer
            .set_uuid(terminate.uuid())
            .set_request_timestamp(terminate.request_timestamp())
            .set_error_codes(0);
        Ok(())
    }

    /// Returns space in the outbox for a message of `length` bytes, after its framing header.
    fn framed(&mut self, length: usize) -> &mut [u8] {
        let begin = self.outbox.len();
        let size = FRAMING_HEADER + length;
        self.outbox.resize(begin + size, 0);
        let frame = &mut self.outbox[begin..];
        frame[..2].copy_from_slice(&(size as u16).to_le_bytes());
        frame[2..4].copy_from_slice(&[0xFE, 0xCA]);
        &mut frame[FRAMING_HEADER..]
    }
}
