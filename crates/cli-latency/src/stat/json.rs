//! Live counters as JSON, one document per line. Fields may be added, never renamed.

use serde::Serialize;

use super::snapshot::{CounterSnapshot, ProcessPage};

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    time: String,
    processes: Vec<Process<'a>>,
    refused: Vec<Refused>,
    unreadable: usize,
}

#[derive(Serialize)]
struct Process<'a> {
    pid: u32,
    command: &'a str,
    title: &'a str,
    started: String,
    page: &'a str,
    values: Vec<Value<'a>>,
}

#[derive(Serialize)]
struct Value<'a> {
    name: &'a str,
    kind: &'static str,
    unit: &'static str,
    value: u64,
}

#[derive(Serialize)]
struct Refused {
    pid: u32,
    reason: String,
}

/// Returns the document and the end of its line.
pub(super) fn render(snapshot: &CounterSnapshot<'_>) -> serde_json::Result<String> {
    let refused = snapshot.refused.iter();
    let document = Document {
        schema: "hairpin.stat/1",
        time: snapshot.taken.to_string(),
        processes: snapshot.pages.iter().map(process).collect(),
        refused: refused.map(|(pid, why)| Refused { pid: *pid, reason: why.to_string() }).collect(),
        unreadable: snapshot.unreadable,
    };
    Ok(serde_json::to_string(&document)? + "\n")
}

fn process<'a>(page: &'a ProcessPage<'a>) -> Process<'a> {
    let value = |(metric, value): &(&'a hairpin_mapped::Metric, u64)| Value {
        name: &metric.name,
        kind: metric.kind.text(),
        unit: metric.unit.text(),
        value: *value,
    };
    Process {
        pid: page.process,
        command: page.title.split(' ').next().unwrap_or_default(),
        title: page.title,
        started: page.started.to_string(),
        page: page.name,
        values: page.values.iter().map(value).collect(),
    }
}

#[cfg(test)]
mod tests {
    use hairpin_mapped::{Kind, PageError, Unit};

    use super::super::snapshot::tests::{metric, page, snapshot};
    use super::*;

    #[test]
    fn renders_snapshot_as_one_line() {
        let waiting = metric("session.waiting", Kind::Gauge, Unit::Bytes);
        let mut snapshot = snapshot(2, vec![page(7, 1, vec![(&waiting, u64::MAX)])]);
        let error = PageError::Newer(2);
        snapshot.refused.push((8, &error));
        snapshot.unreadable = 3;
        let expected = concat!(
            r#"{"schema":"hairpin.stat/1","time":"1970-01-01T00:00:02.000000000Z","#,
            r#""processes":[{"pid":7,"command":"exchange","title":"exchange --interface lo","#,
            r#""started":"1970-01-01T00:00:01.000000000Z","page":"exchange","values":["#,
            r#"{"name":"session.waiting","kind":"gauge","unit":"bytes","#,
            r#""value":18446744073709551615}]}],"#,
            r#""refused":[{"pid":8,"reason":"unsupported page version 2: this program supports "#,
            r#"version 1"}],"unreadable":3}"#,
            "\n"
        );
        assert_eq!(render(&snapshot).unwrap(), expected);
    }
}
