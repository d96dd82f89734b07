//! What has happened at the gateway.

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What has happened at the gateway, counted. Nothing is counted as two errors.
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
        pub struct GatewayCounters {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl GatewayCounters {
            /// Every counter with its name, in the order of declaration.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }
        }
    };
}

counters! {
    /// Connections accepted.
    connections,
    /// Warnings: connections refused because every place was taken.
    refused_connections,
    /// Warnings: connections refused because that gateway had failed.
    failed_connections,
    /// Warnings: connections ended because their session logged on again on another.
    displaced_connections,
    /// Errors: connections given up because their client did not read what was sent, though all
    /// that is kept of its session waited for it.
    overflows,
    /// Whole frames read.
    frames,
    /// Errors: framing headers of an impossible length or another encoding.
    bad_frames,
    /// Errors: frames of another schema, of a template that clients do not send, or shorter than
    /// they say.
    undecodable,
    /// Errors: messages that may not come then or in that order, or whose numbers or UUID are
    /// wrong: they end the session.
    violations,
    /// Errors: connections on which nobody had logged on in time.
    logon_timeouts,
    /// NegotiationResponses sent.
    negotiated,
    /// EstablishmentAcks sent.
    established,
    /// Errors: NegotiationRejects and EstablishmentRejects sent.
    logon_rejects,
    /// Errors: times the ports of a session were closed, or a connection ended, for the fifth bad
    /// logon within a minute.
    port_closures,
    /// Errors: logons that named a session whose ports are closed.
    turned_away,
    /// Terminates sent to end a session that was not asked to end: an error counted here under
    /// its own name, a second lapse, or a displaced connection.
    terminates,
    /// Warnings: Sequences with a lapse sent: a client was silent for an interval.
    lapses,
    /// Warnings: NotApplieds sent.
    not_applied,
    /// Gaps that a client filled by a Sequence.
    gap_fills,
    /// Retransmissions begun.
    retransmissions,
    /// Errors: RetransmitRequests refused.
    retransmit_rejects,
    /// Errors: messages above the limit for refusing them.
    throttled,
    /// Errors: sessions ended for messages above the limit for logging out.
    volume_logouts,
    /// Errors: sessions ended since too many messages waited behind a split one.
    split_overflows,
    /// Errors: business messages on the backup.
    backup_rejects,
    /// Sessions on the backup that became those on the primary.
    promotions,
    /// Warnings: sessions lost whose orders were cancelled for it.
    disconnect_cancels,
    /// Warnings: sessions on the backup ended with those on the primary.
    orphaned_backups,
    /// NewOrderSingles read in sequence.
    orders,
    /// ExecutionReportNews sent.
    acknowledgements,
    /// Errors: ExecutionReportRejects sent.
    order_rejects,
    /// OrderCancelReplaceRequests read in sequence.
    replaces,
    /// ExecutionReportModifys sent.
    replaced,
    /// Errors: OrderCancelReplaceRejects sent.
    replace_rejects,
    /// OrderCancelRequests read in sequence.
    cancels,
    /// ExecutionReportCancels sent.
    cancelled,
    /// Errors: OrderCancelRejects sent.
    cancel_rejects,
    /// OrderStatusRequests and OrderMassStatusRequests read in sequence.
    status_requests,
    /// OrderMassActionRequests read in sequence.
    mass_actions,
    /// Errors: OrderMassActionRequests refused.
    mass_action_rejects,
    /// PartyDetailsDefinitionRequests read in sequence.
    party_definitions,
    /// PartyDetailsListRequests read in sequence.
    party_requests,
    /// RequestForQuotes read in sequence.
    quote_requests,
    /// NewOrderCrosses and RequestForCrosses read in sequence.
    crosses,
    /// MassQuotes and MassQuoteRequests read in sequence.
    mass_quotes,
    /// Quote cancels read in sequence.
    quote_cancels,
    /// Errors: quotes refused, and quote cancels, MassQuotes and RequestForQuotes refused as a
    /// whole.
    quote_rejects,
    /// Errors: BusinessRejects sent for messages that could be read.
    business_rejects,
    /// Trades reported to sessions.
    fills,
    /// Eliminations reported to sessions.
    eliminations,
    /// Stop orders reported to sessions as triggered.
    triggers,
    /// Warnings: reports of trades, eliminations, triggers and cancels for sessions that were not
    /// there. They are kept, and sent when asked for.
    unreported,
}
