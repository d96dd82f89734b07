//! `hairpin order FILE`: a session that does what a script says.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use hairpin_host::Clock;
use hairpin_mapped::Direction;
use hairpin_order_entry::{CancelOrder, ClOrdId, NewOrder, Outgoing, ReplaceOrder, State};
use hairpin_reactor::{Reactor, Wait};
use hairpin_time::{Duration, Instant, Now};

use super::arguments::Arguments;
use super::desk::Desk;
use super::input::{Input, Next};
use super::line::Line;
use super::orders::{Order, Standing};
use super::request::{AskStatus, CancelAll};
use super::script::{Command, Enter, Happening, Target};
use super::settings::OrderSettings;
use crate::signals::Signals;

/// How long the loop may sleep without looking at signals and standard input.
const LOOK: Duration = Duration::from_millis(10);
/// For the exchange to answer a Terminate.
const GOODBYE_PATIENCE: Duration = Duration::from_secs(2);
/// For the exchange to take an order that is to be replaced or cancelled.
const ORDER_PATIENCE: Duration = Duration::from_secs(5);

/// Logs on, does what the script or standard input says, and logs off.
///
/// # Errors
/// Settings or a script that are wrong, a journal that somebody has open, a logon that failed, a
/// command that could not be done, an expectation that was not met.
pub(super) fn run(arguments: &Arguments, settings: &Path) -> Result<ExitCode> {
    let settings = OrderSettings::read(settings, arguments.segment, arguments.journal.as_deref())?;
    let script = arguments.script.as_deref();
    let script = script.map(|path| Input::script(path, &settings)).transpose()?;
    let line = settings.line()?;
    let signals = Signals::take()?;
    let (input, above) = match script {
        Some(script) => (script, None),
        None => Input::standard()?,
    };
    let out: Box<dyn Write> = match above {
        Some(above) => Box::new(above),
        None => Box::new(io::stdout().lock()),
    };
    let clock = Clock::from_kernel();
    let mut run = Run {
        line,
        desk: Desk::new(arguments.format, out),
        reactor: Reactor::new(Wait::Epoll)?,
        // ClOrdIDs go on rising from run to run.
        next_id: clock.now().utc.as_nanos() / 1_000_000,
        settings,
        clock,
        input,
        pending: None,
        leaving: None,
        failure: None,
    };
    let outcome = run.run(&signals);
    let abandoned = run.abandon();
    let broken = run.desk.broken.take();
    if let (Ok(()), Some(error)) = (&outcome, broken) {
        return Err(error).context("standard output");
    }
    outcome.and(abandoned)?;
    Ok(signals.exit_status().unwrap_or(ExitCode::SUCCESS))
}

/// What the command that was begun waits for.
enum Pending {
    Sleep(Instant),
    Expect(Happening, Instant),
    /// The exchange has yet to say that it has the order.
    Order(Command, Instant),
}

struct Run {
    clock: Clock,
    reactor: Reactor,
    line: Line,
    desk: Desk<Box<dyn Write>>,
    settings: OrderSettings,
    input: Input,
    next_id: u64,
    /// What is waited for, and the line that asked for it.
    pending: Option<(usize, Pending)>,
    /// A Terminate was asked for: until when its answer is waited for.
    leaving: Option<Instant>,
    /// What went wrong; the session is ended first.
    failure: Option<anyhow::Error>,
}

impl Run {
    fn run(&mut self, signals: &Signals) -> Result<()> {
        self.line.start(self.clock.now())?;
        while !self.line.is_over(self.desk.is_over, self.leaving.is_some()) {
            let before = self.clock.now().monotonic;
            let look = before + LOOK;
            let deadline = self.line.next_deadline().map_or(look, |due| due.min(look));
            let ready = self.reactor.wait(before, Some(deadline))?;
            let now = self.clock.now();
            self.desk.turn(now.utc, self.line.session().progress().uuid);
            let failures = self.line.session().counters().failures;
            self.line.process(now, ready, &mut self.reactor, &mut self.desk)?;
            self.look_at_failures(now, failures);
            if signals.asked_to_stop() || self.desk.broken.is_some() {
                self.leave(now);
            } else if self.line.session().state() == State::Established && self.leaving.is_none() {
                self.turn(now);
            }
            if self.leaving.is_some_and(|until| now.monotonic >= until) {
                break;
            }
        }
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        if self.leaving.is_none() {
            return Err(self.reason());
        }
        Ok(())
    }

    /// Tells why a connection has failed, if one has since there were so many.
    fn look_at_failures(&mut self, now: Now, before: u64) {
        let session = self.line.session();
        let failure = session.last_failure().filter(|_| session.counters().failures > before);
        let uuid = session.progress().uuid;
        if let Some(failure) = failure.map(ToString::to_string) {
            self.desk.failed(now.utc, uuid, failure);
        }
    }

    /// Why the session ended by itself.
    fn reason(&mut self) -> anyhow::Error {
        let reason = self.desk.reason.take();
        let reason = reason.unwrap_or_else(|| "the connection closed".to_owned());
        let what = if self.desk.was_established { "session ended" } else { "logon failed" };
        anyhow!("the {what}: {reason}")
    }

    /// Logs off, or gives a logon up.
    fn leave(&mut self, now: Now) {
        if self.leaving.is_none() {
            let is_on = self.line.session().state() == State::Established;
            self.leaving =
                Some(now.monotonic + if is_on { GOODBYE_PATIENCE } else { Duration::ZERO });
            self.line.stop(now);
        }
    }

    /// Leaves the reactor, if the loop ended before the session did.
    fn abandon(&mut self) -> Result<()> {
        let now = self.clock.now();
        self.line.abandon(now, &mut self.reactor, &mut self.desk)
    }

    /// Goes on with the command that waits, or with those that come next.
    fn turn(&mut self, now: Now) {
        while self.leaving.is_none() {
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
                Err(error) => self.fail(now, error.context(format!("line {line}"))),
            }
        }
    }

    /// Says what went wrong; who types goes on, else this is the end.
    fn fail(&mut self, now: Now, error: anyhow::Error) {
        if self.input.is_edited() {
            self.desk.line(&format!("hairpin: {error:#}"));
        } else if self.input.is_typed() {
            let _ = writeln!(io::stderr(), "hairpin: {error:#}");
        } else {
            self.failure = Some(error);
            self.leave(now);
        }
    }

    /// Looks whether what was waited for has come.
    fn wait(&mut self, now: Now, pending: Pending) -> Result<Option<Pending>> {
        let is_late = |until| now.monotonic >= until;
        match pending {
            Pending::Sleep(until) if is_late(until) => Ok(None),
            Pending::Expect(what, _) if self.desk.expect(what) => Ok(None),
            Pending::Expect(what, until) if is_late(until) => {
                bail!("expected {what}, and it has not come in time")
            }
            Pending::Order(command, until) => self.with_order(now, command, until),
            waits => Ok(Some(waits)),
        }
    }

    fn begin(&mut self, now: Now, command: Command) -> Result<Option<Pending>> {
        match command {
            Command::Enter(enter) => self.enter(now, &enter)?,
            Command::CancelAll(security_id) => {
                self.send(now, &CancelAll { security_id })?;
            }
            Command::Status(None) => self.status(now),
            Command::Sleep(span) => return Ok(Some(Pending::Sleep(now.monotonic + span))),
            Command::Expect { what, within } => {
                return self.wait(now, Pending::Expect(what, now.monotonic + within));
            }
            Command::Quit => self.leave(now),
            command @ (Command::Replace { .. } | Command::Cancel(_) | Command::Status(Some(_))) => {
                return self.with_order(now, command, now.monotonic + ORDER_PATIENCE);
            }
        }
        Ok(None)
    }

    fn enter(&mut self, now: Now, enter: &Enter) -> Result<()> {
        let id = enter.cl_ord_id.unwrap_or_else(|| self.new_id());
        if self.desk.orders.find(Target::Id(id)).is_some() {
            bail!("there is an order {id} already");
        }
        let Enter { security_id, side, pricing, quantity, .. } = *enter;
        let order = NewOrder {
            time_in_force: enter.qualifier,
            min_quantity: enter.min_quantity,
            display_quantity: enter.display_quantity,
            ..NewOrder::new(security_id, side, pricing, quantity, id)
        };
        let seq_num = self.send(now, &order)?;
        self.desk.orders.push(order, seq_num);
        Ok(())
    }

    /// Does what concerns an order the exchange has, once it has said so.
    fn with_order(
        &mut self,
        now: Now,
        command: Command,
        until: Instant,
    ) -> Result<Option<Pending>> {
        let (Command::Replace { target, .. }
        | Command::Cancel(target)
        | Command::Status(Some(target))) = command
        else {
            return Ok(None);
        };
        let Some(order) = self.desk.orders.find(target) else {
            match target {
                Target::Last => bail!("no order was entered"),
                Target::Id(id) => bail!("there is no order {id}"),
            }
        };
        let Some(order_id) = order.order_id else {
            let id = order.terms.cl_ord_id;
            match order.standing {
                Standing::Over => bail!("the exchange has refused order {id}"),
                Standing::Missed => bail!("order {id} has not reached the exchange"),
                _ if now.monotonic >= until => bail!("the exchange says nothing of order {id}"),
                _ => return Ok(Some(Pending::Order(command, until))),
            }
        };
        let order = order.clone();
        match command {
            Command::Cancel(_) => self.cancel(now, &order, order_id)?,
            Command::Replace { quantity, pricing, qualifier, .. } => {
                let mut terms = NewOrder { cl_ord_id: self.new_id(), ..order.terms };
                terms.quantity = quantity.unwrap_or(terms.quantity);
                terms.pricing = pricing.unwrap_or(terms.pricing);
                terms.time_in_force = qualifier.unwrap_or(terms.time_in_force);
                self.send(now, &ReplaceOrder::from_order(order_id, &terms))?;
                if let Some(order) = self.desk.orders.find(target) {
                    order.replacement = Some(terms);
                }
            }
            _ => {
                self.send(now, &AskStatus { order_id })?;
            }
        }
        Ok(None)
    }

    fn cancel(&mut self, now: Now, order: &Order, order_id: u64) -> Result<()> {
        let NewOrder { security_id, side, .. } = order.terms;
        let id = self.new_id();
        self.send(now, &CancelOrder::new(order_id, security_id, side, id)).map(drop)
    }

    /// Prints where the session stands, and every order that works.
    fn status(&mut self, now: Now) {
        let progress = self.line.session().progress();
        let (ours, theirs) = (progress.next_outgoing, progress.next_incoming);
        let text = format!("our next message is {ours}, the exchange's {theirs}");
        let state = self.line.session().state().to_string();
        self.desk.say(now.utc, progress.uuid, &state, Some(text));
        let open: Vec<Order> = self.desk.orders.open().cloned().collect();
        open.iter().for_each(|order| self.desk.order(now.utc, progress.uuid, order));
    }

    /// Sends a message and prints it; its number.
    fn send<M: Outgoing>(&mut self, now: Now, message: &M) -> Result<u32> {
        let sent = self.line.sender(now).send(message)?;
        let journal = self.line.session().journal();
        if let Some(record) = journal.last(Direction::Outbound) {
            self.desk.sent(journal, record);
        }
        Ok(sent.seq_num)
    }

    fn new_id(&mut self) -> ClOrdId {
        self.next_id += 1;
        ClOrdId::from(self.next_id)
    }
}
