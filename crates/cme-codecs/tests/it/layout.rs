//! Every fact in the generated layouts against CME's file.

use crate::cme_schema::{self, Block, CmeSchema, named, number};
use hairpin_cme_codecs::{ilink3, mdp3};
use hairpin_sbe::{BlockLayout, Encoding, Field, Message, Named, Presence};

/// Returns both schemas, CME's file and our layouts, if the files are available.
fn schemas() -> impl Iterator<Item = (CmeSchema, &'static [&'static Message])> {
    [(cme_schema::MDP3, mdp3::MESSAGES), (cme_schema::ILINK3, ilink3::MESSAGES)]
        .into_iter()
        .filter_map(|(file, messages)| Some((CmeSchema::read(file)?, messages)))
}

/// Calls `check` with every block of every message from both sources, and with a name for failures.
fn for_each_block(mut check: impl FnMut(&str, &Block, &BlockLayout)) {
    let mut blocks = 0;
    for (cme, messages) in schemas() {
        for (theirs, ours) in cme.messages.iter().zip(messages) {
            check(&theirs.name, theirs, &ours.block);
            blocks += 1;
            for (group, layout) in theirs.groups.iter().zip(ours.groups) {
                check(&format!("{}.{}", theirs.name, group.name), group, &layout.block);
                blocks += 1;
            }
        }
        assert_ne!(blocks, 0);
    }
}

fn for_each_field(mut check: impl FnMut(&str, &cme_schema::Field, &Field)) {
    for_each_block(|name, theirs, ours| {
        assert_eq!(theirs.fields.len(), ours.fields.len(), "{name}");
        for (theirs, ours) in theirs.fields.iter().zip(ours.fields) {
            check(&format!("{name}.{}", theirs.name), theirs, ours);
        }
    });
}

#[test]
fn schema_ids_and_versions_match_cme() {
    let ours =
        [(mdp3::SCHEMA_ID, mdp3::SCHEMA_VERSION), (ilink3::SCHEMA_ID, ilink3::SCHEMA_VERSION)];
    assert_eq!(ours, [(1, 13), (8, 9)]);
    for ((cme, messages), (id, version)) in schemas().zip(ours) {
        assert_eq!(number(cme.root, "id"), usize::from(id));
        assert_eq!(number(cme.root, "version"), usize::from(version));
        for message in messages {
            assert_eq!((message.schema_id, message.version), (id, version), "{}", message.name);
        }
    }
}

#[test]
fn message_names_and_types_match_cme() {
    for (cme, messages) in schemas() {
        assert_eq!(cme.messages.len(), messages.len());
        for (theirs, ours) in cme.messages.iter().zip(messages) {
            assert_eq!(theirs.id, ours.template_id, "{}", theirs.name);
            assert_eq!(theirs.name, ours.name);
            assert_eq!(
                theirs.node.attribute("semanticType"),
                Some(ours.semantic_type),
                "{}",
                ours.name
            );
            let data: Vec<_> = named(theirs.node, "data")
                .map(|data| {
                    (
                        data.attribute("name").unwrap(),
                        number(data, "id"),
                        number(data, "sinceVersion"),
                    )
                })
                .collect();
            let our_data: Vec<_> = ours
                .data
                .iter()
                .map(|data| (data.name, data.tag.into(), data.since.into()))
                .collect();
            assert_eq!(data, our_data, "{}", ours.name);
        }
    }
}

#[test]
fn block_lengths_match_cme() {
    for_each_block(|name, theirs, ours| assert_eq!(theirs.length, ours.length.into(), "{name}"));
}

#[test]
fn field_names_and_tags_match_cme() {
    for_each_field(|name, theirs, ours| {
        assert_eq!(theirs.name, ours.name, "{name}");
        assert_eq!(number(theirs.node, "id"), ours.tag.into(), "{name}");
    });
}

#[test]
fn offsets_match_cme() {
    for_each_field(|name, theirs, ours| {
        assert_eq!(theirs.offset.is_none(), ours.kind.presence == Presence::Constant, "{name}");
        assert_eq!(theirs.offset.unwrap_or(0), ours.offset.into(), "{name}");
    });
}

#[test]
fn since_versions_match_cme() {
    for_each_block(|name, theirs, ours| assert_eq!(theirs.since, ours.since, "{name}"));
    for_each_field(|name, theirs, ours| assert_eq!(theirs.since, ours.since, "{name}"));
}

#[test]
fn types_and_sizes_match_cme() {
    for_each_field(|name, theirs, ours| {
        assert_eq!(theirs.kind.attribute("name"), Some(ours.kind.name), "{name}");
        assert_eq!(theirs.size(), ours.kind.size.into(), "{name}");
        let parts: Vec<_> = theirs.parts.iter().map(|part| part.primitive.as_str()).collect();
        let mut ours_parts = match ours.kind.encoding {
            Encoding::Text => vec!["char".to_owned()],
            Encoding::MonthYear => ["uint16", "uint8", "uint8", "uint8"].map(Into::into).into(),
            Encoding::Scalar(primitive)
            | Encoding::Enumeration(primitive, _)
            | Encoding::Set(primitive, _) => vec![format!("{primitive:?}").to_lowercase()],
            Encoding::Decimal(primitive, _) | Encoding::Float(primitive) => {
                vec![format!("{primitive:?}").to_lowercase(), "int8".into()]
            }
        };
        ours_parts.iter_mut().for_each(|part| *part = part.to_lowercase());
        assert_eq!(parts, ours_parts, "{name}");
    });
}

#[test]
fn nulls_match_cme() {
    for_each_field(|name, theirs, ours| {
        let null = theirs.null().filter(|null| !null.is_empty());
        match ours.kind.presence {
            Presence::Optional => assert_eq!(null.unwrap_or_default(), ours.kind.value, "{name}"),
            _ => assert_eq!(null, None, "{name}"),
        }
    });
}

#[test]
fn constants_match_cme() {
    for_each_field(|name, theirs, ours| match &ours.kind.encoding {
        _ if theirs.is_constant() => {
            let [part] = &theirs.parts[..] else { panic!("{name}") };
            let text = part.constant.as_ref().unwrap();
            assert_eq!(ours.kind.presence, Presence::Constant, "{name}");
            match part.primitive.as_str() {
                "char" => assert_eq!(text.as_bytes(), ours.kind.value, "{name}"),
                _ => assert_eq!(part.literal(text).to_le_bytes()[..1], *ours.kind.value, "{name}"),
            }
        }
        Encoding::Decimal(_, exponent) => {
            let text = theirs.parts[1].constant.as_ref().unwrap();
            assert_eq!(*text, exponent.to_string(), "{name}");
        }
        _ => assert!(theirs.parts.iter().all(|part| part.constant.is_none()), "{name}"),
    });
}

#[test]
fn enumeration_values_and_set_bits_match_cme() {
    let mut checked = 0;
    for_each_field(|name, theirs, ours| {
        let (item, names) = match ours.kind.encoding {
            Encoding::Enumeration(_, names) => ("validValue", names),
            Encoding::Set(_, names) => ("choice", names),
            _ => {
                return assert!(!matches!(theirs.kind.tag_name().name(), "enum" | "set"), "{name}");
            }
        };
        let is_char = item == "validValue" && theirs.parts[0].primitive == "char";
        let values: Vec<_> = named(theirs.kind, item)
            .map(|node| {
                let text = node.text().unwrap();
                let value = if is_char { text.as_bytes()[0].into() } else { text.parse().unwrap() };
                (node.attribute("name").unwrap(), value, number(node, "sinceVersion") as u16)
            })
            .collect();
        let ours: Vec<_> =
            names.iter().map(|Named { name, value, since }| (*name, *value, *since)).collect();
        assert_eq!(values, ours, "{name}");
        checked += 1;
    });
    assert!(checked == 0 || checked > 300, "only {checked} fields");
}

#[test]
fn groups_and_dimensions_match_cme() {
    for (cme, messages) in schemas() {
        for (theirs, ours) in cme.messages.iter().zip(messages) {
            assert_eq!(theirs.groups.len(), ours.groups.len(), "{}", theirs.name);
            for (group, layout) in theirs.groups.iter().zip(ours.groups) {
                let name = format!("{}.{}", theirs.name, group.name);
                assert_eq!((group.name.as_str(), group.id), (layout.name, layout.tag), "{name}");
                assert_eq!(number(group.node, "sinceVersion"), layout.since.into(), "{name}");
                let kind = group.node.attribute("dimensionType").unwrap();
                assert_eq!(kind, layout.dimension.name, "{name}");
                let members: Vec<_> = named(cme.kind(kind), "type").collect();
                assert_eq!(members[0].attribute("primitiveType"), Some("uint16"), "{name}");
                let count_offset = number(members[1], "offset").max(2);
                let count_size = match members[1].attribute("primitiveType") {
                    Some("uint8") => 1,
                    Some("uint16") => 2,
                    other => panic!("{name} {other:?}"),
                };
                let dimension = layout.dimension;
                assert_eq!(dimension.block_length_offset, 0, "{name}");
                assert_eq!(usize::from(dimension.count_offset), count_offset, "{name}");
                assert_eq!(usize::from(dimension.count_size), count_size, "{name}");
                assert_eq!(usize::from(dimension.length), count_offset + count_size, "{name}");
            }
        }
    }
}
