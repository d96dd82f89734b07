//! A finding: what was found, what it costs, and the command that changes it.

use serde::Serialize;

/// The importance of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something does not work, or works only by luck.
    Important,
    /// A change would make messages faster or losses rarer.
    Advice,
    /// A fact to know.
    Note,
}

impl Severity {
    /// Every severity, the most important first.
    pub const ALL: [Self; 3] = [Self::Important, Self::Advice, Self::Note];

    /// Returns the heading of the findings of this severity.
    #[must_use]
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Important => "Important",
            Self::Advice => "Advice",
            Self::Note => "Notes",
        }
    }
}

/// A finding about the host, an interface or a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The area and the name, such as `queues.coalescing`. It is stable between versions.
    pub id: &'static str,
    /// The importance.
    pub severity: Severity,
    /// The interface; `None` for a finding about the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<String>,
    /// The state that was found.
    pub found: String,
    /// What the state costs.
    pub cost: String,
    /// The command that changes it, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

impl Finding {
    pub(crate) fn new(
        severity: Severity,
        id: &'static str,
        found: impl Into<String>,
        cost: impl Into<String>,
    ) -> Self {
        let (found, cost) = (found.into(), cost.into());
        Self { id, severity, interface: None, found, cost, command: None }
    }

    pub(crate) fn important(
        id: &'static str,
        found: impl Into<String>,
        cost: impl Into<String>,
    ) -> Self {
        Self::new(Severity::Important, id, found, cost)
    }

    pub(crate) fn advice(
        id: &'static str,
        found: impl Into<String>,
        cost: impl Into<String>,
    ) -> Self {
        Self::new(Severity::Advice, id, found, cost)
    }

    pub(crate) fn note(
        id: &'static str,
        found: impl Into<String>,
        cost: impl Into<String>,
    ) -> Self {
        Self::new(Severity::Note, id, found, cost)
    }

    pub(crate) fn command(self, command: impl Into<String>) -> Self {
        Self { command: Some(command.into()), ..self }
    }

    pub(crate) fn on(self, interface: &str) -> Self {
        Self { interface: Some(interface.to_owned()), ..self }
    }
}
