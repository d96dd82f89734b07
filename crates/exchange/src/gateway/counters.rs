//! Counters of the gateway.

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Counters of the gateway. No event is counted as two errors.
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
        pub struct GatewayCounters {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl GatewayCounters {
            /// Returns every counter with its name, in the order of declaration.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }
        }
    };
}

counters! {
    /// Connections accepted.
    connections,
    /// Warnings: connections refused because all slots were taken.
    refused_connections,
    /// Warnings: connections refused because that gateway had failed.
    failed_connections,
    /// Warnings: connections closed because their session logged on again on another.
    displaced_connections,
    /// Warnings: connections without a logon closed in favor of new ones, because all slots or
    /// descriptors were taken.
    idle_connections_closed,
    /// Errors: connections closed because their client did not read, and the whole retransmit
    /// buffer was waiting for it.
    overflows,
    /// Whole frames received.
    frames,
    /// Errors: framing headers with an invalid length or encoding.
    bad_frames,
    /// Errors: frames of another schema, of a template that clients do not send, or shorter than
    /// their header declares.
    undecodable,
    /// Errors: messages in a wrong state or order, or with a wrong sequence number or UUID. Each
    /// ends the session.
    violations,
    /// Errors: connections without a logon in time.
    logon_timeouts,
    /// NegotiationResponses sent.
    negotiated,
    /// EstablishmentAcks sent.
    established,
    /// Errors: NegotiationRejects and EstablishmentRejects sent.
    logon_rejects,
    /// Errors: times a session's ports were closed, or a connection ended, at the fifth bad logon
    /// within a minute.
    port_closures,
    /// Errors: logons to a session whose ports are closed.
    turned_away,
    /// Terminates sent without a request of the client or the owner: for an error counted under its
    /// own name, a second lapse, or a displaced connection.
    terminates,
    /// Warnings: Sequences with a lapse sent: a client was silent for one keep-alive interval.
    lapses,
    /// Warnings: NotApplieds sent.
    not_applied,
    /// Gaps that a client filled by a Sequence.
    gap_fills,
    /// Retransmissions started.
    retransmissions,
    /// Errors: RetransmitRequests rejected.
    retransmit_rejects,
    /// Errors: messages rejected for exceeding the reject limit.
    throttled,
    /// Errors: sessions ended for exceeding the logout limit.
    volume_logouts,
    /// Errors: sessions ended because too many messages were queued behind a split one.
    split_overflows,
    /// Errors: business messages on the backup.
    backup_rejects,
    /// Sessions promoted from backup to primary.
    promotions,
    /// Warnings: lost sessions whose orders were canceled.
    disconnect_cancels,
    /// Warnings: sessions on the backup ended together with the primary session.
    orphaned_backups,
    /// NewOrderSingles received in sequence.
    orders,
    /// ExecutionReportNews sent.
    acknowledgements,
    /// Errors: ExecutionReportRejects sent.
    order_rejects,
    /// OrderCancelReplaceRequests received in sequence.
    replaces,
    /// ExecutionReportModifys sent.
    replaced,
    /// Errors: OrderCancelReplaceRejects sent.
    replace_rejects,
    /// OrderCancelRequests received in sequence.
    cancels,
    /// ExecutionReportCancels sent.
    cancelled,
    /// Errors: OrderCancelRejects sent.
    cancel_rejects,
    /// OrderStatusRequests and OrderMassStatusRequests received in sequence.
    status_requests,
    /// OrderMassActionRequests received in sequence.
    mass_actions,
    /// Errors: OrderMassActionRequests rejected.
    mass_action_rejects,
    /// PartyDetailsDefinitionRequests received in sequence.
    party_definitions,
    /// PartyDetailsListRequests received in sequence.
    party_requests,
    /// RequestForQuotes received in sequence.
    quote_requests,
    /// NewOrderCrosses and RequestForCrosses received in sequence.
    crosses,
    /// MassQuotes and MassQuoteRequests received in sequence.
    mass_quotes,
    /// Quote cancels received in sequence.
    quote_cancels,
    /// Errors: quotes rejected, and quote cancels, MassQuotes and RequestForQuotes rejected as a
    /// whole.
    quote_rejects,
    /// Errors: BusinessRejects sent for messages that could be decoded.
    business_rejects,
    /// Trades reported to sessions.
    fills,
    /// Eliminations reported to sessions.
    eliminations,
    /// Triggered stop orders reported to sessions.
    triggers,
    /// Orders of sessions canceled by self-match prevention.
    self_match_cancels,
    /// Warnings: QuoteCancelAcks sent for quotes that the exchange has removed.
    unsolicited_quote_cancels,
    /// Warnings: reports of trades, eliminations, triggers and cancels for disconnected sessions.
    /// They are stored for retransmission.
    unreported,
}
