//! The volume and duration of a run: the last lines of `--stats`.

use hairpin_feed_handler::Message;
use hairpin_host::Clock;
use hairpin_measure::counted;
use hairpin_time::Instant;

use super::statistics::Traffic;
use crate::decode::Format;

/// The number of ids counted separately; CME's are below.
const TEMPLATES: usize = 128;

/// Messages by template since the beginning.
#[derive(Debug)]
pub(super) struct Throughput {
    clock: Clock,
    begun: Instant,
    /// By id; the last one counts all higher ids.
    templates: [u64; TEMPLATES + 1],
}

impl Throughput {
    /// Starts the clock.
    pub(super) fn begin() -> Self {
        let clock = Clock::from_kernel();
        Self { begun: clock.instant(), clock, templates: [0; TEMPLATES + 1] }
    }

    /// Counts a message that the channel processes.
    #[inline]
    pub(super) fn count(&mut self, message: &Message<'_>) {
        let id = usize::from(message.header.template_id).min(TEMPLATES);
        self.templates[id] += 1;
    }

    /// Returns the totals so far: rates on this host's clock, and the messages of each template.
    pub(super) fn lines(&self, traffic: &Traffic, format: Format) -> String {
        let nanos = (self.clock.instant() - self.begun).as_nanos();
        self.lines_of(nanos.max(1) as f64 / 1e9, traffic, format)
    }

    fn lines_of(&self, seconds: f64, traffic: &Traffic, format: Format) -> String {
        let messages: u64 = self.templates.iter().sum();
        let Traffic { packets, bytes, .. } = traffic;
        let [per_second, packet_rate] =
            [messages, *packets].map(|count| (count as f64 / seconds).round());
        let seen = self.templates.iter().enumerate().filter(|(_, count)| **count > 0);
        let name = |id: usize| match id {
            TEMPLATES => "others".to_owned(),
            id => id.to_string(),
        };
        match format {
            Format::Text => {
                let each = seen.map(|(id, count)| format!("{} {count}", name(id)));
                let each = each.collect::<Vec<_>>().join(", ");
                let megabytes = *bytes as f64 / 1e6 / seconds;
                format!(
                    "{} in {seconds:.3} s: {per_second:.0} messages/s, {packet_rate:.0} \
                     packets/s, {megabytes:.0} MB/s of payload\n\
                     messages by template: {each}",
                    counted(messages, "message")
                )
            }
            Format::Json => {
                let each = seen.map(|(id, count)| (name(id), (*count).into()));
                let each: serde_json::Map<String, serde_json::Value> = each.collect();
                serde_json::json!({ "throughput": {
                    "seconds": seconds,
                    "messages": messages,
                    "messages_per_second": per_second,
                    "packets": packets,
                    "packets_per_second": packet_rate,
                    "bytes": bytes,
                    "messages_by_template": each,
                }})
                .to_string()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use hairpin_sbe::MessageHeader;

    use super::*;

    fn noted(ids: &[u16]) -> Throughput {
        let mut throughput = Throughput::begin();
        for &template_id in ids {
            let header = MessageHeader { block_length: 0, template_id, schema_id: 1, version: 13 };
            throughput.count(&Message { header, body: &[], bytes: &[] });
        }
        throughput
    }

    #[test]
    fn rates_are_of_all_the_time_and_messages_are_told_by_template() {
        let throughput = noted(&[46, 48, 46, 900, 128]);
        let traffic = Traffic { packets: 3, bytes: 2_000_000, ..Traffic::default() };
        let text = throughput.lines_of(0.5, &traffic, Format::Text);
        let expected = "5 messages in 0.500 s: 10 messages/s, 6 packets/s, 4 MB/s of payload\n\
                        messages by template: 46 2, 48 1, others 2";
        assert_eq!(text, expected);
        let json = throughput.lines_of(0.5, &traffic, Format::Json);
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["throughput"]["messages_per_second"], 10.0);
        assert_eq!(value["throughput"]["messages_by_template"]["46"], 2);
    }
}
