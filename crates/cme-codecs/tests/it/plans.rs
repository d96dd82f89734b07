//! The on-the-fly decoder on CME's schema files against the codecs generated from ours.
//!
//! Release builds generate a million messages. Debug builds generate fewer, because a million would
//! take most of a minute.

use crate::captures::{Sample, samples};
use crate::message_generator::MessageGenerator;
use crate::test_data::shared;
use hairpin_cme_codecs::{ilink3, mdp3};
use hairpin_cme_copy::{PlainValue, ValueLog, VisitLog};
use hairpin_sbe::compare::{Comparison, Difference, Listing, Scratch, compare, compare_in};
use hairpin_sbe::plan::Plan;
use hairpin_sbe::{BlockLayout, Message, MessageHeader};

/// The number of messages generated for each of the two schemas.
const GENERATED: usize = if cfg!(debug_assertions) { 50_000 } else { 500_000 };
/// The number of messages within which a modified schema must be detected.
const DETECTION_LIMIT: usize = 2_000;

const MDP3: &str = include_str!("../../../../schemas/mdp3-v13.xml");
const ILINK3: &str = include_str!("../../../../schemas/ilink3-v9.xml");

/// Returns the text of a CME file, if available.
fn cme(file: &str) -> Option<String> {
    Some(std::fs::read_to_string(shared(file)?).unwrap())
}

/// Generates `count` messages of all templates. Returns the first message on which codecs and plan
/// differ, or else the number of values.
fn first_difference(
    codecs: &'static [&'static Message],
    plan: &Plan<'_>,
    count: usize,
) -> Result<usize, Difference> {
    let (mut generator, mut scratch, mut values) =
        (MessageGenerator::new(1), Scratch::default(), 0);
    for message in codecs.iter().cycle().take(count) {
        let header = generator.generate(message);
        match compare_in(codecs, plan, &header, &generator.body, &mut scratch)? {
            Comparison::Values(seen) => values += seen,
            refused => panic!("a made message was not whole: {header:?}: {refused:?}"),
        }
    }
    Ok(values)
}

fn check_made(file: &str, version: u16, ours: &str, codecs: &'static [&'static Message]) {
    let text = cme(file);
    let plan = Plan::parse(text.as_deref().unwrap_or(ours)).unwrap();
    assert_eq!(plan.version(), version);
    assert_eq!(plan.messages().count(), codecs.len());
    let values =
        first_difference(codecs, &plan, GENERATED).unwrap_or_else(|found| panic!("{found}"));
    println!("{GENERATED} messages made, {values} values agree");
    assert!(values > 20 * GENERATED, "only {values} values");
    if text.is_some() {
        let ours = Plan::parse(ours).unwrap();
        first_difference(codecs, &ours, DETECTION_LIMIT).unwrap_or_else(|found| panic!("{found}"));
    }
}

#[test]
fn plan_matches_codecs_on_generated_market_data() {
    check_made("schemas/Cme.Futures.Mdp3.Sbe.v1.13.xml", 13, MDP3, mdp3::MESSAGES);
}

#[test]
fn plan_matches_codecs_on_generated_order_entry() {
    check_made("schemas/Cme.Futures.iLink3.Sbe.v8.9.xml", 9, ILINK3, ilink3::MESSAGES);
}

#[test]
fn plan_matches_getters() {
    type Copy = fn(&MessageHeader, &[u8], &mut [u8], &mut ValueLog) -> usize;
    let schemas: [(_, _, Copy); 2] = [
        (MDP3, mdp3::MESSAGES, hairpin_cme_copy::mdp3::copy),
        (ILINK3, ilink3::MESSAGES, hairpin_cme_copy::ilink3::copy),
    ];
    for (text, codecs, copy) in schemas {
        let plan = Plan::parse(text).unwrap();
        // A getter returns zero for a truncated field without a null.
        let mut generator = MessageGenerator::new(2);
        generator.may_shorten = false;
        for message in codecs.iter().cycle().take(DETECTION_LIMIT) {
            let header = generator.generate(message);
            let (mut visited, mut seen) = (VisitLog::default(), ValueLog::default());
            plan.visit(&header, &generator.body, &mut visited).unwrap();
            copy(&header, &generator.body, &mut vec![0; 1 << 18], &mut seen);
            // The getter of a constant does not depend on the version.
            let is_constant = |name: &str| {
                let groups = message.groups.iter().map(|group| &group.block);
                let blocks = [&message.block].into_iter().chain(groups);
                let fields = blocks.flat_map(|block| block.fields);
                fields.into_iter().any(|field| field.name == name && field.kind.size == 0)
            };
            assert_eq!(visited.0.len(), seen.0.len(), "{}", message.name);
            for ((name, item), got) in visited.0.iter().zip(&seen.0) {
                let is_new_constant = *item == PlainValue::Null && is_constant(name);
                assert!(
                    item == got || is_new_constant,
                    "{}.{name}: {item:?} {got:?}",
                    message.name
                );
            }
        }
    }
}

#[test]
fn compiles_every_cme_schema() {
    for (file, id, version, count) in [
        ("schemas/Cme.Futures.Mdp3.Sbe.v1.9.xml", 1, 9, 29),
        ("schemas/Cme.Futures.Mdp3.Sbe.v1.12.xml", 1, 12, 31),
        ("schemas/Cme.Futures.Mdp3.Sbe.v1.13.xml", 1, 13, 31),
        ("schemas/Cme.Futures.iLink3.Sbe.v8.5.xml", 8, 5, 48),
        ("schemas/Cme.Futures.iLink3.Sbe.v8.8.xml", 8, 8, 50),
        ("schemas/Cme.Futures.iLink3.Sbe.v8.9.xml", 8, 9, 56),
    ] {
        let Some(text) = cme(file) else { return };
        let plan = Plan::parse(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
        let is = (plan.id(), plan.version(), plan.messages().count());
        assert_eq!(is, (id, version, count), "{file}");
    }
}

/// Returns the difference found after one change to our schema.
fn altered(ours: &str, from: &str, to: &str, codecs: &'static [&'static Message]) -> Difference {
    let text = ours.replacen(from, to, 1);
    assert_ne!(text, ours, "{from} is not there");
    let plan = Plan::parse(&text).unwrap();
    let found = first_difference(codecs, &plan, DETECTION_LIMIT).expect_err("nothing was found");
    println!("{found}");
    found
}

#[test]
fn detects_a_modified_offset() {
    let from = "name=\"TradeableSize\" type=\"Int32NULL\" offset=\"27\"";
    let to = from.replace("27", "28");
    let found = altered(MDP3, from, &to, mdp3::MESSAGES);
    assert_eq!(found.template_id, 46);
    assert!(found.one.contains("].TradeableSize="), "{found}");
}

#[test]
fn detects_a_modified_null() {
    let from = "<type name=\"Int32NULL\" primitiveType=\"int32\" presence=\"optional\" \
                nullValue=\"2147483647\"/>";
    let found = altered(MDP3, from, &from.replace("3647", "3646"), mdp3::MESSAGES);
    let (one, other) = (found.one.ends_with("=-"), found.other.ends_with("=2147483647"));
    assert!(one && other, "{found}");
}

#[test]
fn detects_a_modified_since_version() {
    let from = "type=\"Int32NULL\" offset=\"27\" sinceVersion=\"10\"";
    let found = altered(MDP3, from, &from.replace("10", "9"), mdp3::MESSAGES);
    assert_eq!(found.template_id, 46);
    assert!(found.one.ends_with(".TradeableSize=-"), "{found}");
}

#[test]
fn detects_modified_names_and_constants() {
    let found = altered(MDP3, ">J</type>", ">K</type>", mdp3::MESSAGES);
    assert!(found.one.ends_with("=J") && found.other.ends_with("=K"), "{found}");
    let found = altered(ILINK3, "name=\"ClOrdID\"", "name=\"ClOrdIDs\"", ilink3::MESSAGES);
    assert!(found.other.contains("ClOrdIDs="), "{found}");
    let from = "<validValue name=\"Sell\">2</validValue>";
    let found = altered(MDP3, from, &from.replace("Sell", "Seller"), mdp3::MESSAGES);
    assert!(found.one.ends_with("Sell(2)") && found.other.ends_with("Seller(2)"), "{found}");
}

/// Returns the codecs and CME's newest file for a capture's messages.
fn newest(sample: &Sample) -> (&'static [&'static Message], Option<String>) {
    match sample.header.schema_id {
        mdp3::SCHEMA_ID => (mdp3::MESSAGES, cme("schemas/Cme.Futures.Mdp3.Sbe.v1.13.xml")),
        _ => (ilink3::MESSAGES, cme("schemas/Cme.Futures.iLink3.Sbe.v8.9.xml")),
    }
}

#[test]
fn plan_matches_codecs_on_all_captures() {
    let mut unknown = Vec::new();
    for sample in samples() {
        let (codecs, text) = newest(&sample);
        let plan = text.unwrap();
        let plan = Plan::parse(&plan).unwrap();
        match compare(codecs, &plan, &sample.message) {
            Ok(Comparison::Values(values)) => assert!(values > 0),
            Ok(_) => unknown.push(sample.header.template_id),
            Err(difference) => panic!("{}: {difference}", sample.file),
        }
    }
    // Templates removed after version 9.
    unknown.sort_unstable();
    unknown.dedup();
    assert!(unknown.is_empty() || unknown == [32, 42], "{unknown:?}");
}

/// Returns all values that the codecs list except those missing in an older schema's plan. The
/// missing ones must be null, or an empty group.
fn as_old(codecs: Listing, plan: &Listing) -> Vec<(String, String)> {
    let has = |path: &str| plan.lines.iter().any(|line| line.path == path);
    let (old, new): (Vec<_>, _) = codecs.lines.into_iter().partition(|line| has(&line.path));
    for line in new {
        let is_nothing = line.value == "-" || line.value == "0" && line.path.starts_with("No");
        assert!(is_nothing, "{}={}", line.path, line.value);
    }
    old.into_iter().map(|line| (line.path, line.value)).collect()
}

#[test]
fn plans_of_older_schemas_match_codecs_on_older_captures() {
    let (mut both, mut removed) = (0, Vec::new());
    for sample in samples() {
        let file = match (sample.header.schema_id, sample.header.version) {
            (1, ..=9) => "schemas/Cme.Futures.Mdp3.Sbe.v1.9.xml",
            (1, _) => "schemas/Cme.Futures.Mdp3.Sbe.v1.12.xml",
            _ => "schemas/Cme.Futures.iLink3.Sbe.v8.5.xml",
        };
        let text = cme(file).unwrap();
        let plan = Plan::parse(&text).unwrap();
        let (header, body) = (&sample.header, sample.body());
        let listed = Listing::new(&plan, header, body);
        let length = listed.lines.last().map(|line| (line.path.as_str(), line.value.clone()));
        assert_eq!(length, Some(("length", sample.message.len().to_string())), "{}", sample.file);
        let (codecs, _) = newest(&sample);
        if codecs.iter().all(|message| message.template_id != header.template_id) {
            removed.push(header.template_id);
            continue;
        }
        let new = as_old(Listing::new(codecs, header, body), &listed);
        let old: Vec<_> = listed.lines.into_iter().map(|line| (line.path, line.value)).collect();
        assert_eq!(new.len(), old.len(), "{}", sample.file);
        for (new, old) in new.into_iter().zip(old) {
            // In version 5 of order entry some enumerations had no null yet, but were sent with
            // one.
            let is_null_now = new.1 == "-" && ["?(\\x00)", "?(255)"].contains(&old.1.as_str());
            let is_excused = header.schema_id == ilink3::SCHEMA_ID && is_null_now;
            assert!(new == old || new.0 == old.0 && is_excused, "{}: {new:?} {old:?}", sample.file);
        }
        both += 1;
    }
    println!("{both} messages compare, templates {removed:?} are the older schema's alone");
    assert!(both == 0 || both >= 10, "only {both} messages");
}

/// Returns the fields of a block that version 9 did not have.
fn newer(block: &BlockLayout) -> impl Iterator<Item = &'static str> + use<> {
    block.fields.iter().filter(|field| field.since > 9).map(|field| field.name)
}

#[test]
fn fields_missing_in_version_9_are_null() {
    let text = cme("schemas/Cme.Futures.Mdp3.Sbe.v1.13.xml").unwrap_or_else(|| MDP3.into());
    let plan = Plan::parse(&text).unwrap();
    let mut nulls = 0;
    for sample in samples().into_iter().filter(|sample| sample.file.contains("v1.9")) {
        let (header, body) = (&sample.header, sample.body());
        let message =
            mdp3::MESSAGES.iter().find(|known| known.template_id == header.template_id).unwrap();
        let groups = message.groups.iter().flat_map(|group| newer(&group.block));
        let fields: Vec<_> = newer(&message.block).chain(groups).collect();
        let decoders = [
            ("codecs", Listing::new(mdp3::MESSAGES, header, body)),
            ("plan", Listing::new(&plan, header, body)),
        ];
        for (decoder, listing) in decoders {
            for line in listing.lines {
                let name = line.path.rsplit('.').next().unwrap();
                if fields.contains(&name) {
                    assert_eq!(line.value, "-", "{decoder}: {}", line.path);
                    nulls += 1;
                }
            }
        }
        check_getters(header, body, &fields);
    }
    // TradeableSize in each of 25 entries, by two decoders; zero if no captures are available.
    println!("{nulls} nulls");
    assert!(nulls == 0 || nulls >= 50, "only {nulls} values");
}

/// Checks that the getters return null too.
fn check_getters(header: &MessageHeader, body: &[u8], fields: &[&str]) {
    let (mut visited, mut seen) = (VisitLog::default(), ValueLog::default());
    mdp3::visit(header, body, &mut visited).unwrap();
    hairpin_cme_copy::mdp3::copy(header, body, &mut vec![0; 1 << 16], &mut seen);
    for ((name, _), item) in visited.0.iter().zip(&seen.0) {
        assert!(!fields.contains(&name.as_str()) || *item == PlainValue::Null, "{name}: {item:?}");
    }
}
