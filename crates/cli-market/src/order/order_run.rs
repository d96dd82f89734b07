//! `hairpin order FILE`: a session that runs the commands of a script.

mod parties;
mod quotes;

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, anyhow, bail};
use hairpin_cli_harness::datapath::{BufferSize, OpenTransport};
use hairpin_cli_harness::run_loop::{Activity, RunLoop, Task, Turn, poll};
use hairpin_cli_harness::signals::Signals;
use hairpin_cli_harness::usage::usage_error;
use hairpin_cli_harness::{refused_gateway, stdout};
use hairpin_host::Clock;
use hairpin_mapped::Direction;
use hairpin_order_entry::{
    CancelOnQuit, CancelOrder, ClOrdId, MESSAGE_RECORD, MassCancel, MassStatus, NewOrder, Operator,
    OrderStatusRequest, Outgoing, ReplaceOrder, Sent, State, redact_keys,
};
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::{Duration, Instant, Now};
use hairpin_xdp::ReceiveStamps;

use super::active_session::ActiveSession;
use super::args::{Format, OrderArgs};
use super::console::OrderConsole;
use super::input::{Input, Next};
use super::orders::{Order, OrderStatus, Position};
use super::script::{
    Command, Enter, ExpectedEvent, HELP, OrderNaming, PartyTerms, Target, convert,
};
use super::settings::OrderSettings;

/// The longest sleep of the loop: signals and standard input are handled within this time.
const MAX_SLEEP: Duration = Duration::from_millis(10);
/// The limit for the exchange to answer a Terminate, and before it a cancel of all orders.
const TERMINATE_TIMEOUT: Duration = Duration::from_secs(2);
/// The limit for the exchange to accept an order that is to be replaced or canceled.
const ORDER_TIMEOUT: Duration = Duration::from_secs(5);

/// Logs on, runs the commands of the script or of standard input, and logs off.
///
/// # Errors
/// Wrong settings or a wrong script, a locked journal, a failed logon, a command that failed, or an
/// unmet expectation.
pub(super) fn run(arguments: &OrderArgs, settings: &Path) -> Result<ExitCode> {
    if arguments.transport.bypasses_kernel() || arguments.interface.is_none() {
        arguments.transport.check_interface(arguments.interface.as_deref())?;
    } else {
        usage_error!("--interface is for --transport xdp and preload");
    }
    let settings = OrderSettings::read(settings, arguments)?;
    let script = arguments.script.as_deref();
    let script = script.map(|path| Input::script(path, &settings)).transpose()?;
    let interface = arguments.interface.as_deref().unwrap_or_default();
    let transport = OpenTransport::open(
        &arguments.transport.for_tcp(),
        interface,
        BufferSize::Default,
        ReceiveStamps::Off,
    )?;
    let line = settings.line(transport.transport().clone())?;
    let signals = Signals::take()?;
    let (input, above) = match script {
        Some(script) => (script, None),
        None => Input::standard()?,
    };
    let out: Box<dyn Write> = match above {
        Some(above) => Box::new(above),
        None => Box::new(stdout::lock()),
    };
    let is_terminal = io::stdout().is_terminal();
    let usual = if is_terminal { Format::Short } else { Format::Text };
    let format = arguments.format.unwrap_or(usual);
    let clock = Clock::from_kernel();
    let mut run = OrderRun {
        line,
        console: OrderConsole::new(format, settings.symbols(), out),
        reactor: Reactor::new(Wait::Epoll)?,
        // ClOrdIDs keep rising from run to run.
        next_id: clock.now().utc.as_nanos() / 1_000_000,
        settings,
        clock,
        input,
        operator: None,
        on_demand: None,
        pending: None,
        cancel: CancelOnQuit::Off,
        canceling: None,
        leaving: None,
        timed_out: false,
        journal_failed: false,
        failure: None,
    };
    // The reason is on standard error, so a terminal would have it twice.
    run.console.prints_reason_at_end = !run.settings.is_kept() && is_terminal;
    let outcome = run.run(transport, &signals);
    let abandoned = run.abandon();
    let closed = run.line.close_journal();
    let broken = run.console.broken.take();
    let left = run.console.orders.left(run.cancel);
    let left = (!left.is_empty()).then(|| format!("hairpin: {left}, or use --cancel-on-quit"));
    if let (Some(left), true) = (&left, run.input.is_edited()) {
        run.console.line(left);
    } else if let Some(left) = left {
        let _ = writeln!(io::stderr(), "{left}");
    }
    let journal_failure = closed.err().map(|error| run.settings.journal_failure(&error));
    if let (Ok(()), Some(error)) = (&outcome, broken) {
        return Err(error.into());
    }
    outcome.and(abandoned)?;
    journal_failure.map_or(Ok(()), Err)?;
    Ok(signals.exit_status().unwrap_or(ExitCode::SUCCESS))
}

impl Task for OrderRun {
    fn turn(&mut self) -> Result<Turn> {
        let deadline = self.line.next_deadline();
        let (now, ready) = poll(&self.clock, &mut self.reactor, deadline, MAX_SLEEP)?;
        self.console.turn(now.utc, self.line.session().progress().uuid);
        let failures = self.line.session().counters().failures;
        self.line.process(now, ready, &mut self.reactor, &mut self.console)?;
        self.end_turn(now, failures);
        self.check_journal(now);
        if self.console.broken.is_some() {
            self.leave(now);
        } else if self.canceling.is_some() {
            self.end_canceling(now);
        } else if self.line.session().state() == State::Established && self.leaving.is_none() {
            self.run_commands(now);
        }
        self.timed_out = self.leaving.is_some_and(|until| now.monotonic >= until);
        Ok(Turn { now: now.monotonic, activity: Activity::Idle })
    }

    fn stop(&mut self, _: Instant) -> Result<()> {
        self.leave(self.clock.now());
        Ok(())
    }

    fn is_finished(&self) -> bool {
        self.timed_out || self.line.is_over(self.console.is_over, self.leaving.is_some())
    }

    fn clock(&mut self) -> Option<&mut Clock> {
        Some(&mut self.clock)
    }
}

/// What the current command waits for.
enum Pending {
    Sleep(Instant),
    Expect(ExpectedEvent, Instant),
    /// The exchange has yet to confirm the order.
    Order(Command, Instant),
}

struct OrderRun {
    clock: Clock,
    reactor: Reactor,
    line: ActiveSession,
    console: OrderConsole<Box<dyn Write>>,
    settings: OrderSettings,
    input: Input,
    next_id: u64,
    /// The operator with the party details of the last `party`, if any.
    operator: Option<Operator>,
    /// Party details for the next order alone.
    on_demand: Option<PartyTerms>,
    /// The current wait, and the line of its command.
    pending: Option<(usize, Pending)>,
    /// The cancel of all orders before the session logs off.
    cancel: CancelOnQuit,
    /// A cancel of all orders was sent: when the wait for its answer ends.
    canceling: Option<Instant>,
    /// A Terminate was sent: when the wait for its answer ends.
    leaving: Option<Instant>,
    /// The exchange has not answered the Terminate in time.
    timed_out: bool,
    /// The journal could not be written to disk.
    journal_failed: bool,
    /// The first error; the session is terminated before it is returned.
    failure: Option<anyhow::Error>,
}

impl OrderRun {
    fn run(&mut self, transport: OpenTransport, signals: &Signals) -> Result<()> {
        self.line.start(self.clock.now())?;
        RunLoop::with_transport(transport).run(self, || signals.stop_requested())?;
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        if self.leaving.is_none() {
            return Err(self.reason());
        }
        Ok(())
    }

    /// Prints why a connection has failed, if there are more than `before` failures.
    fn end_turn(&mut self, now: Now, before: u64) {
        let session = self.line.session();
        let failure = session.last_failure().filter(|_| session.counters().failures > before);
        let failure = failure.map(|it| {
            let advice = refused_gateway::advice(it, &self.settings.gateways());
            format!("{it}{advice}")
        });
        let uuid = session.progress().uuid;
        self.console.end_turn(now.utc, uuid, failure);
    }

    /// Ends the run if the journal cannot be written to disk, unless the file says to continue.
    fn check_journal(&mut self, now: Now) {
        let journal = self.line.session().journal();
        if self.journal_failed || !journal.has_failed() {
            return;
        }
        self.journal_failed = true;
        if let (true, Some(error)) = (self.settings.stops_without_journal(), journal.failure()) {
            let error = self.settings.journal_failure(&error);
            self.fail(now, error.context("no more orders are sent"));
        }
    }

    /// Returns why the session ended by itself.
    fn reason(&mut self) -> anyhow::Error {
        let reason = self.console.reason.take();
        let reason = reason.unwrap_or_else(|| "connection closed".to_owned());
        let what = if self.console.was_established { "session ended" } else { "cannot log on" };
        anyhow!("{what}: {reason}")
    }

    /// Cancels all orders if that is set, then logs off, or aborts a logon.
    fn leave(&mut self, now: Now) {
        if self.canceling.is_some() || self.leaving.is_some() {
            return;
        }
        if !self.cancels(now) {
            self.log_off(now);
        }
    }

    /// Sends a cancel of all orders, once, if that is set and there are any. Returns `true` if the
    /// exchange must answer it.
    fn cancels(&mut self, now: Now) -> bool {
        let has_orders = self.console.orders.open().next().is_some();
        if !self.settings.cancels_on_quit() || self.cancel != CancelOnQuit::Off || !has_orders {
            return false;
        }
        self.cancel = match self.send(now, &MassCancel::all()) {
            Ok(_) => CancelOnQuit::Sent,
            Err(_) => CancelOnQuit::NotSent,
        };
        let is_sent = self.cancel == CancelOnQuit::Sent;
        self.canceling = is_sent.then_some(now.monotonic + TERMINATE_TIMEOUT);
        is_sent
    }

    /// Logs off once the exchange has canceled all orders, or has not answered in time.
    fn end_canceling(&mut self, now: Now) {
        let is_on = self.line.session().state() == State::Established;
        let is_late = self.canceling.is_some_and(|until| now.monotonic >= until);
        if !is_on || is_late || self.console.orders.open().next().is_none() {
            self.canceling = None;
            self.log_off(now);
        }
    }

    fn log_off(&mut self, now: Now) {
        if self.leaving.is_none() {
            let is_on = self.line.session().state() == State::Established;
            self.leaving =
                Some(now.monotonic + if is_on { TERMINATE_TIMEOUT } else { Duration::ZERO });
            self.line.stop(now);
        }
    }

    /// Leaves the reactor, if the loop ended before the session.
    fn abandon(&mut self) -> Result<()> {
        let now = self.clock.now();
        self.line.abandon(now, &mut self.reactor, &mut self.console)
    }

    /// Continues the pending command, or starts the next ones.
    fn run_commands(&mut self, now: Now) {
        while self.leaving.is_none() && self.canceling.is_none() {
            let (line, outcome) = match self.pending.take() {
                Some((line, pending)) => (line, self.wait(now, pending)),
                None => match self.input.next(&self.settings) {
                    Next::Command(line, command) => (line, self.begin(now, command)),
                    Next::Wrong(what) => {
                        self.fail(now, anyhow!(what));
                        continue;
                    }
                    Next::Later => return,
                    Next::End => return self.leave(now),
                },
            };
            match outcome {
                Ok(None) => {}
                Ok(Some(pending)) => {
                    self.pending = Some((line, pending));
                    return;
                }
                Err(error) if self.input.is_typed() => self.fail(now, error),
                Err(error) => self.fail(now, error.context(format!("line {line}"))),
            }
        }
    }

    /// Reports an error. A person at the prompt may continue; otherwise the session is terminated.
    fn fail(&mut self, now: Now, error: anyhow::Error) {
        let message = format!("hairpin: {error:#}");
        // A line may have been pasted by mistake, and be a key.
        let message = redact_keys(&message);
        if self.input.is_edited() {
            self.console.line(&message);
        } else if self.input.is_typed() {
            let _ = writeln!(io::stderr(), "{message}");
        } else {
            self.failure = Some(error);
            self.leave(now);
        }
    }

    /// Checks whether the current wait is over.
    fn wait(&mut self, now: Now, pending: Pending) -> Result<Option<Pending>> {
        let is_late = |until| now.monotonic >= until;
        match pending {
            Pending::Sleep(until) if is_late(until) => Ok(None),
            Pending::Expect(what, _) if self.console.expect(what) => Ok(None),
            Pending::Expect(what, until) if is_late(until) => {
                bail!("expected {what}: timeout")
            }
            Pending::Order(command, until) => self.with_order(now, command, until),
            waits => Ok(Some(waits)),
        }
    }

    fn begin(&mut self, now: Now, command: Command) -> Result<Option<Pending>> {
        if !command.waits_for_order() {
            self.console.forget(command.causes());
        }
        match command {
            Command::Enter(enter) => self.enter(now, &enter)?,
            Command::CancelAll(security_id) => {
                let cancel = security_id.map_or(MassCancel::all(), MassCancel::instrument);
                self.send(now, &cancel)?;
            }
            Command::Status(None) => self.status(now),
            Command::Sleep(span) => return Ok(Some(Pending::Sleep(now.monotonic + span))),
            Command::Expect { what, within } => {
                return self.wait(now, Pending::Expect(what, now.monotonic + within));
            }
            Command::Orders => self.orders(now),
            Command::Positions => self.positions(now),
            Command::Help => HELP.lines().for_each(|line| self.console.line(line)),
            Command::Quit => self.leave(now),
            Command::MassStatus(security_id) => {
                self.send(now, &MassStatus::instrument(security_id))?;
            }
            Command::Party(terms) => self.party(now, terms)?,
            Command::Quote { set, quotes } => self.quote(now, set, &quotes)?,
            Command::CancelQuotes(scope) => self.cancel_quotes(now, scope)?,
            Command::RequestQuote { security_id, quantity } => {
                self.request_quote(now, security_id, quantity)?;
            }
            Command::Cross { quantity, price, security_id } => {
                self.cross(now, quantity, price, security_id)?;
            }
            command @ (Command::Replace { .. }
            | Command::Cancel { .. }
            | Command::Status(Some(_))) => {
                return self.with_order(now, command, now.monotonic + ORDER_TIMEOUT);
            }
        }
        Ok(None)
    }

    fn enter(&mut self, now: Now, enter: &Enter) -> Result<()> {
        let id = enter.cl_ord_id.unwrap_or_else(|| self.new_id());
        if self.console.orders.find(Target::Id(id)).is_some() {
            bail!("order {id} exists already");
        }
        let Enter { security_id, side, pricing, quantity, .. } = *enter;
        let order = NewOrder {
            time_in_force: enter.qualifier,
            min_quantity: enter.min_quantity,
            display_quantity: enter.display_quantity,
            ..NewOrder::new(security_id, side, pricing, quantity, id)
        };
        let seq_num = match self.on_demand.take() {
            Some(terms) => self.send_on_demand(now, terms, &order)?,
            None => self.send(now, &order)?,
        };
        self.console.orders.push(order, seq_num);
        Ok(())
    }

    /// Runs a command about an order that the exchange has, once it has confirmed it.
    fn with_order(
        &mut self,
        now: Now,
        command: Command,
        until: Instant,
    ) -> Result<Option<Pending>> {
        let (Command::Replace { target, .. }
        | Command::Cancel { target, .. }
        | Command::Status(Some(target))) = command
        else {
            return Ok(None);
        };
        let Some(order) = self.console.orders.find(target) else {
            match target {
                Target::Last => bail!("no order entered yet"),
                Target::Id(id) => bail!("no order {id}"),
            }
        };
        let Some(order_id) = order.order_id else {
            let id = order.terms.cl_ord_id;
            match order.status {
                OrderStatus::Over => bail!("the exchange rejected order {id}"),
                OrderStatus::Missed => bail!("the exchange never received order {id}"),
                _ if now.monotonic >= until => bail!("no report of order {id}"),
                _ => return Ok(Some(Pending::Order(command, until))),
            }
        };
        let order = order.clone();
        self.console.forget(command.causes());
        match command {
            Command::Cancel { naming, .. } => self.cancel(now, &order, order_id, naming)?,
            command @ Command::Replace { .. } => {
                let terms = self.replace(now, &order, order_id, &command)?;
                if let Some(order) = self.console.orders.find(target) {
                    order.replacement = terms;
                }
            }
            _ => {
                self.send(now, &OrderStatusRequest::new(order_id))?;
            }
        }
        Ok(None)
    }

    /// Sends a replacement. Returns the new terms of the order.
    fn replace(
        &mut self,
        now: Now,
        order: &Order,
        order_id: u64,
        command: &Command,
    ) -> Result<Option<NewOrder>> {
        let &Command::Replace { quantity, pricing, qualifier, mitigation, naming, .. } = command
        else {
            return Ok(None);
        };
        let id = match naming {
            OrderNaming::OrderId => self.new_id(),
            OrderNaming::ClOrdId => order.cl_ord_id,
        };
        let mut terms = NewOrder { cl_ord_id: id, ..order.terms };
        terms.quantity = quantity.unwrap_or(terms.quantity);
        if let Some(pricing) = pricing {
            let id = terms.security_id.0;
            terms.pricing = convert(pricing, |price| self.settings.wire_price(id, price))?;
        }
        terms.time_in_force = qualifier.unwrap_or(terms.time_in_force);
        if let &Command::Replace { display_quantity: display @ Some(_), .. } = command {
            terms.display_quantity = display;
        }
        let replacement = match naming {
            OrderNaming::OrderId => ReplaceOrder::from_order(order_id, &terms),
            OrderNaming::ClOrdId => ReplaceOrder::by_cl_ord_id(&terms),
        };
        self.send(now, &ReplaceOrder { in_flight_mitigation: mitigation, ..replacement })?;
        Ok(Some(terms))
    }

    fn cancel(
        &mut self,
        now: Now,
        order: &Order,
        order_id: u64,
        naming: OrderNaming,
    ) -> Result<()> {
        let NewOrder { security_id, side, .. } = order.terms;
        let cancel = match naming {
            OrderNaming::OrderId => CancelOrder::new(order_id, security_id, side, self.new_id()),
            OrderNaming::ClOrdId => CancelOrder::by_cl_ord_id(order.cl_ord_id, security_id, side),
        };
        self.send(now, &cancel).map(drop)
    }

    /// Prints the state of the session, and every open order.
    fn status(&mut self, now: Now) {
        let progress = self.line.session().progress();
        let (ours, theirs) = (progress.next_outgoing, progress.next_incoming);
        let text = format!("next sequence numbers: ours {ours}, the exchange's {theirs}");
        let state = self.line.session().state().to_string();
        self.console.print_event(now.utc, progress.uuid, &state, Some(text));
        self.orders(now);
    }

    /// Prints every open order of this run.
    fn orders(&mut self, now: Now) {
        let uuid = self.line.session().progress().uuid;
        let open: Vec<Order> = self.console.orders.open().cloned().collect();
        open.iter().for_each(|order| self.console.order(now.utc, uuid, order));
        if open.is_empty() {
            self.console.print_event(now.utc, uuid, "orders", Some("none of this run".to_owned()));
        }
    }

    /// Prints the position in each instrument with fills in this run.
    fn positions(&mut self, now: Now) {
        let uuid = self.line.session().progress().uuid;
        let positions: Vec<_> = self.console.positions.iter().collect();
        for (security_id, Position { bought, sold }) in positions {
            let text = format!("net {}: bought {bought}, sold {sold}", bought - sold);
            let symbol = self.settings.symbol(security_id);
            self.console.position(now.utc, uuid, &symbol, text);
        }
        if self.console.positions.iter().next().is_none() {
            let text = "no fill in this run".to_owned();
            self.console.print_event(now.utc, uuid, "positions", Some(text));
        }
    }

    /// Sends a message and prints it; returns its number.
    fn send<M: Outgoing>(&mut self, now: Now, message: &M) -> Result<u32> {
        let mut sender = self.line.sender(now);
        let sent = match &self.operator {
            Some(operator) => sender.send_as(operator, message)?,
            None => sender.send(message)?,
        };
        self.print_sent(sent, sent.seq_num);
        Ok(sent.seq_num)
    }

    /// Prints the sent messages from the number `from` on.
    fn print_sent(&mut self, sent: Sent, from: u32) {
        let session = self.line.session();
        let (uuid, journal) = (session.progress().uuid, session.journal());
        let numbers = from..=sent.seq_num;
        for (record, _) in journal.replay(Direction::Outbound, MESSAGE_RECORD, uuid, numbers) {
            self.console.sent(journal, record);
        }
    }

    fn new_id(&mut self) -> ClOrdId {
        self.next_id += 1;
        ClOrdId::from(self.next_id)
    }
}
