//! Incremental messages without RptSeq entries.

use hairpin_cme_codecs::mdp3 as codec;
use hairpin_sbe::DecodeError;

use crate::instrument::definition_decoder;
use crate::market::Market;
use crate::message::entries::{self, Root};
use crate::{Error, Listener, Message, Packet, Warning};

impl Market {
    /// Applies a message without RptSeq entries.
    pub(crate) fn apply_other_message(
        &mut self,
        packet: &Packet,
        message: Message<'_>,
        listener: &mut impl Listener,
    ) {
        let template_id = message.header.template_id;
        let decoded = definition_decoder::decode(&message.header, message.body, &mut self.related);
        let root = match decoded {
            Some(Ok(decoded)) => {
                self.apply_definition(packet, &decoded, true, listener);
                Ok(Some(Root {
                    transact_time: decoded.definition.last_update_time,
                    match_event: decoded.match_event,
                }))
            }
            Some(Err(error)) => Err(error),
            None => self.apply_message_without_entries(packet, &message, listener),
        };
        match root {
            Ok(Some(root)) => {
                if template_id == codec::ChannelReset4::TEMPLATE_ID {
                    self.reset_channel(packet, root, listener);
                }
                self.end_parts(packet, root, listener);
            }
            Ok(None) if template_id == codec::AdminHeartbeat12::TEMPLATE_ID => {
                self.report_heartbeat(packet, listener);
            }
            Ok(None) => self.warn(&Warning::UnknownTemplate { template_id }, listener),
            Err(error) => {
                self.mark_contents_lost(
                    packet,
                    &Error::MalformedMessage { template_id, error },
                    listener,
                );
            }
        }
    }

    /// Applies a message with neither RptSeq entries nor a definition. Returns its root block.
    fn apply_message_without_entries(
        &mut self,
        packet: &Packet,
        message: &Message<'_>,
        listener: &mut impl Listener,
    ) -> Result<Option<Root>, DecodeError> {
        let root = match message.header.template_id {
            codec::SecurityStatus30::TEMPLATE_ID => {
                self.apply_security_status(packet, message, listener)?
            }
            codec::SecurityStatusWorkup60::TEMPLATE_ID => {
                self.apply_workup(packet, message, listener)?
            }
            codec::QuoteRequest39::TEMPLATE_ID => {
                self.apply_quote_request(packet, message, listener)?
            }
            codec::CollateralMarketValue62::TEMPLATE_ID => {
                self.apply_collateral(packet, message, listener)?
            }
            _ => return entries::decode_root(message),
        };
        Ok(Some(root))
    }

    /// Reports a heartbeat.
    pub(crate) fn report_heartbeat(&mut self, packet: &Packet, listener: &mut impl Listener) {
        self.counters.heartbeats += 1;
        listener.on_heartbeat(packet);
    }
}
