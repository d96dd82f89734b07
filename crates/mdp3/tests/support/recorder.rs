//! What a channel told, one line a callback.

use hairpin_mdp3::{
    Book, BookUpdate, Changes, ChannelReset, ChannelState, DefinitionUpdate, EndOfEvent, Error,
    Gap, InstrumentStateChange, Level, Listener, Packet, SyncState, Trade, UpdateSource, Volume,
    Warning,
};

/// Writes down everything but packets and messages, which it counts.
#[derive(Default)]
pub struct Recorder {
    lines: Vec<String>,
    pub packets: usize,
    pub messages: usize,
}

impl Recorder {
    /// What was written down since the last time.
    pub fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }
}

/// `quantity@price …| quantity@price …`, best first.
pub fn show(book: Book<'_>) -> String {
    let side = |levels: &[Level]| {
        let shown: Vec<_> =
            levels.iter().map(|level| format!("{}@{}", level.quantity, level.price)).collect();
        shown.join(" ")
    };
    format!("{} | {}", side(book.bids()), side(book.asks())).trim().to_owned()
}

/// `b` and `a` for the best levels, `B` and `A` if their price has changed too.
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
        assert!(update.book.is_in_sync(), "a book that is not in sync is not told");
        let source = match update.source {
            UpdateSource::Incremental => "book",
            _ => "restored",
        };
        self.lines.push(format!(
            "{source} {} {}: {}",
            update.book.security_id(),
            show_changes(update.changes),
            show(update.book)
        ));
    }

    fn on_trade(&mut self, trade: &Trade<'_>) {
        self.lines.push(format!("trade {} {}@{}", trade.security_id, trade.quantity, trade.price));
    }

    fn on_volume(&mut self, volume: &Volume<'_>) {
        self.lines.push(format!("volume {} {}", volume.security_id, volume.quantity));
    }

    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        let changed: String = event
            .changed()
            .map(|(_, book, changes)| format!(" {}{}", book.security_id(), show_changes(changes)))
            .collect();
        self.lines.push(format!("end {}{changed}", event.packet.sequence));
    }

    fn on_channel_reset(&mut self, _: &ChannelReset<'_>) {
        self.lines.push("reset".to_owned());
    }

    fn on_gap(&mut self, gap: &Gap) {
        self.lines.push(format!("gap {}+{}", gap.first, gap.count));
    }

    fn on_instrument_state(&mut self, change: &InstrumentStateChange<'_>) {
        assert_eq!(change.state, change.book.sync_state());
        let state = match change.state {
            SyncState::Unknown => "unknown",
            SyncState::OutOfSync => "out of sync",
            SyncState::InSync => "in sync",
        };
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
