//! The kernel's answers that are not files.

use std::io;

use hairpin_host::{ClockSync, clock_sync, interface_address};
use hairpin_stack::{StackSettings, plan_interface};
use hairpin_xdp::{
    CapabilityError, Device, DeviceError, DriverSettings, InterfaceError, InterfacePlan, LinkOwner,
    check_capabilities,
};

use hairpin_stack::{Chain, TrafficControl};

use crate::netlink::{self, Link};

/// The reason why a host cannot be examined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExamineError {
    /// The interface does not exist, or cannot be queried.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The kernel does not list its interfaces.
    #[error("cannot list the interfaces: {0}")]
    Links(io::Error),
}

/// The kernel's answers about the host. A query that failed has its cause as text.
#[derive(Debug, Clone)]
pub(crate) struct KernelAnswers {
    /// All interfaces.
    pub(crate) links: Vec<Link>,
    /// The missing capabilities.
    pub(crate) missing_capabilities: Vec<String>,
    pub(crate) allowed_cores: Vec<usize>,
    pub(crate) chains: Result<Vec<Chain>, String>,
    pub(crate) clock_sync: Option<ClockSync>,
}

/// The kernel's answers about an interface.
#[derive(Debug, Clone)]
pub(crate) struct InterfaceAnswers {
    pub(crate) device: Device,
    pub(crate) link: Link,
    pub(crate) settings: DriverSettings,
    pub(crate) traffic_control: Result<TrafficControl, String>,
    /// The process that has attached the interface's XDP program, if that can be found.
    pub(crate) owner: Option<LinkOwner>,
    /// `true` if the interface has an IPv4 address.
    pub(crate) has_address: bool,
}

impl KernelAnswers {
    pub(crate) fn query() -> Result<Self, ExamineError> {
        let missing_capabilities = match check_capabilities() {
            Err(CapabilityError::Missing(missing)) => {
                missing.capabilities().iter().map(ToString::to_string).collect()
            }
            _ => Vec::new(),
        };
        Ok(Self {
            links: netlink::links().map_err(ExamineError::Links)?,
            missing_capabilities,
            allowed_cores: hairpin_host::allowed_cores().unwrap_or_default(),
            chains: hairpin_stack::chains().map_err(|error| error.to_string()),
            clock_sync: clock_sync().ok(),
        })
    }
}

impl InterfaceAnswers {
    pub(crate) fn query(link: &Link) -> Result<Self, ExamineError> {
        let device = Device::from_name(&link.name)?;
        let owner = link.program.and_then(|_| LinkOwner::find(link.index));
        let traffic_control = hairpin_stack::traffic_control(link.index);
        Ok(Self {
            device,
            link: link.clone(),
            settings: DriverSettings::query(&link.name).unwrap_or_default(),
            traffic_control: traffic_control.map_err(|error| error.to_string()),
            owner,
            has_address: interface_address(&link.name).is_ok(),
        })
    }
}

/// Plans the use of a device as `hairpin run` and `--transport xdp` do, with the settings of a
/// stack.
pub(crate) fn plan(device: &Device, tcp: bool) -> Result<InterfacePlan, InterfaceError> {
    plan_interface(device, &StackSettings { tcp, ..StackSettings::default() })
}
