//! A recorder of a channel's callbacks, one line each.

use super::orders::show_order_update;
use hairpin_mdp3::{
    Book, BookUpdate, Changes, ChannelReset, ChannelState, DefinitionUpdate, EndOfEvent, Error,
    Gap, ImpliedBook, InstrumentStateChange, Levels, Listener, OrderBookStateChange, OrderUpdate,
    Packet, ReplayUpdate, SecurityStatus, Silence, SilenceScope, SilenceState, StatusScope,
    SyncState, Trade, UpdateSource, Volume, Warning,
};

/// Records all callbacks except packets and messages, which it counts.
#[derive(Default)]
pub struct Recorder {
    lines: Vec<String>,
    pub packets: usize,
    pub messages: usize,
}

impl Recorder {
    /// Returns the lines recorded since the last call.
    pub fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }
}

/// Formats a book: `quantity@price …| quantity@price …`, best first.
pub fn show(book: Book<'_>) -> String {
    show_sides(book.bids(), book.asks())
}

/// Formats an implied book in the same way.
pub fn show_implied(book: ImpliedBook<'_>) -> String {
    show_sides(book.bids(), book.asks())
}

fn show_sides(bids: Levels<'_>, asks: Levels<'_>) -> String {
    let side = |levels: Levels<'_>| {
        let shown: Vec<_> =
            levels.iter().map(|level| format!("{}@{}", level.quantity, level.price)).collect();
        shown.join(" ")
    };
    format!("{} | {}", side(bids), side(asks)).trim().to_owned()
}

/// Formats changes: `i` for the implied book, with `e` and `f` for its best levels.
fn show_implied_changes(changes: Changes) -> String {
    let letters = [
        (Changes::IMPLIED, 'i'),
        (Changes::BEST_IMPLIED_BID, 'e'),
        (Changes::BEST_IMPLIED_ASK, 'f'),
    ];
    letters.iter().filter(|(bit, _)| changes.contains(*bit)).map(|(_, letter)| letter).collect()
}

/// Formats changes: `b` and `a` for the best levels, `B` and `A` if their price has changed too.
fn show_changes(changes: Changes) -> &'static str {
    let letter =
        |best, price, small, capital| match (changes.contains(best), changes.contains(price)) {
            (false, _) => "",
            (true, false) => small,
            (true, true) => capital,
        };
    let bid = letter(Changes::BEST_BID, Changes::BEST_BID_PRICE, "b", "B");
    let ask = letter(Changes::BEST_ASK, Changes::BEST_ASK_PRICE, "a", "A");
    match (bid, ask) {
        ("", "") => "-",
        ("", ask) => ask,
        (bid, "") => bid,
        ("b", "a") => "ba",
        ("b", _) => "bA",
        (_, "a") => "Ba",
        _ => "BA",
    }
}

fn show_state(state: SyncState) -> &'static str {
    match state {
        SyncState::Unknown => "unknown",
        SyncState::OutOfSync => "out of sync",
        SyncState::NaturallyRefreshed => "naturally refreshed",
        SyncState::InSync => "in sync",
    }
}

impl Listener for Recorder {
    fn on_packet(&mut self, _: &Packet) {
        self.packets += 1;
    }

    fn on_message(&mut self, _: &Packet, _: &hairpin_mdp3::Message<'_>) {
        self.messages += 1;
    }

    fn on_definition(&mut self, update: &DefinitionUpdate<'_>) {
        let definition = update.definition;
        self.lines.push(format!(
            "definition {} {} {:?}",
            definition.security_id, definition.symbol, definition.action
        ));
    }

    fn on_book_update(&mut self, update: &BookUpdate<'_>) {
        let is_refreshed = update.source == UpdateSource::NaturalRefresh;
        let state = if is_refreshed { SyncState::NaturallyRefreshed } else { SyncState::InSync };
        assert_eq!(update.book.sync_state(), state, "other books are not reported");
        let source = match update.source {
            UpdateSource::Incremental => "book",
            UpdateSource::NaturalRefresh => "refreshed",
            _ => "restored",
        };
        let changes = update.changes;
        let direct = if changes.contains(Changes::BOOK) { show_changes(changes) } else { "" };
        let implied = if update.implied().bids().is_empty() && update.implied().asks().is_empty() {
            String::new()
        } else {
            format!(" ~ {}", show_implied(update.implied()))
        };
        // Omits an implied book that is empty before and after.
        let letters = if source == "restored" && implied.is_empty() {
            String::new()
        } else {
            show_implied_changes(changes)
        };
        self.lines.push(format!(
            "{source} {} {direct}{letters}: {}{implied}",
            update.book.security_id(),
            show(update.book)
        ));
    }

    fn on_order_update(&mut self, update: &OrderUpdate<'_>) {
        self.lines.push(show_order_update(update));
    }

    fn on_order_book_state(&mut self, change: &OrderBookStateChange<'_>) {
        assert_eq!(change.state, change.book.sync_state());
        let state = show_state(change.state);
        self.lines.push(format!("orders of {} {state}", change.book.security_id()));
    }

    fn on_trade(&mut self, trade: &Trade<'_>) {
        self.lines.push(format!("trade {} {}@{}", trade.security_id, trade.quantity, trade.price));
    }

    fn on_security_status(&mut self, status: &SecurityStatus<'_>) {
        let scope = match status.scope {
            StatusScope::Instrument { security_id, .. } => security_id.to_string(),
            StatusScope::Group { security_group, asset } => format!("{security_group}/{asset}"),
            _ => unreachable!(),
        };
        let number = |value: Option<u8>| value.map_or("-".to_owned(), |value| value.to_string());
        let source = if status.source == UpdateSource::Snapshot { " restored" } else { "" };
        self.lines.push(format!(
            "status{source} {scope}: {} {} {}",
            number(status.trading_status.map(|status| status.0)),
            number(status.halt_reason.map(|reason| reason.0)),
            number(status.event.map(|event| event.0)),
        ));
    }

    fn on_volume(&mut self, volume: &Volume<'_>) {
        self.lines.push(format!("volume {} {}", volume.security_id, volume.quantity));
    }

    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        let changed: String = event
            .changed()
            .map(|(_, book, changes)| {
                let direct =
                    if changes.contains(Changes::BOOK) { show_changes(changes) } else { "" };
                format!(" {}{direct}{}", book.security_id(), show_implied_changes(changes))
            })
            .collect();
        let orders: String =
            event.changed_orders().map(|(_, book)| format!(" {}o", book.security_id())).collect();
        self.lines.push(format!("end {}{changed}{orders}", event.packet.sequence));
    }

    fn on_channel_reset(&mut self, _: &ChannelReset<'_>) {
        self.lines.push("reset".to_owned());
    }

    fn on_gap(&mut self, gap: &Gap) {
        self.lines.push(format!("gap {}+{}", gap.first, gap.count));
    }

    fn on_replay(&mut self, update: &ReplayUpdate) {
        self.lines.push(match update {
            ReplayUpdate::Requested { first, last, attempt } => {
                format!("replay {first}-{last} attempt {attempt}")
            }
            ReplayUpdate::Filled { first, last } => format!("replay {first}-{last} filled"),
            ReplayUpdate::GivenUp { first, last, reason } => {
                format!("replay {first}-{last} given up: {reason:?}")
            }
            _ => unreachable!(),
        });
    }

    fn on_silence(&mut self, silence: &Silence) {
        let scope = match silence.scope {
            SilenceScope::FeedLine { feed, line } => format!("{feed} {line}"),
            SilenceScope::Feed(feed) => feed.to_string(),
            SilenceScope::Channel => "channel".to_owned(),
            _ => unreachable!(),
        };
        let state = match silence.state {
            SilenceState::Begins => "silent",
            _ => "active again",
        };
        self.lines.push(format!("{scope} {state}"));
    }

    fn on_instrument_state(&mut self, change: &InstrumentStateChange<'_>) {
        assert_eq!(change.state, change.book.sync_state());
        let state = show_state(change.state);
        self.lines.push(format!("{} {state}", change.book.security_id()));
    }

    fn on_channel_state(&mut self, state: ChannelState) {
        self.lines.push(format!("channel {state:?}"));
    }

    fn on_error(&mut self, _: Option<&Packet>, error: &Error) {
        self.lines.push(format!("error {error}"));
    }

    fn on_warning(&mut self, warning: &Warning) {
        self.lines.push(format!("warning {warning}"));
    }
}
