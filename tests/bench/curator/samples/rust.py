"""A rate limiter in Rust."""

from tests.bench.curator.samples.project import Project, Target


LIMITER = """\
//! A token bucket for each client.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::{Duration, Instant};

use crate::clock::Clock;

/// What a client gets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quota {
    pub burst: u32,
    pub per_second: f64,
}

<<< refill
/// Returns the tokens of a bucket after some time has passed.
///
/// A bucket never holds more than its burst.
pub fn refill(tokens: f64, quota: &Quota, elapsed: Duration) -> f64 {
    const LONGEST: Duration = Duration::from_secs(600);
    let elapsed = elapsed.min(LONGEST);
    let gained = elapsed.as_secs_f64() * quota.per_second;
    (tokens + gained).clamp(0.0, f64::from(quota.burst))
}

>>> refill
struct Bucket {
    tokens: f64,
    seen: Instant,
}

pub struct Limiter<C: Clock> {
    quota: Quota,
    buckets: HashMap<IpAddr, Bucket>,
    clock: C,
}

impl<C: Clock> Limiter<C> {
    pub fn new(quota: Quota, clock: C) -> Self {
        Self { quota, buckets: HashMap::new(), clock }
    }

    /// Takes a token of a client, and tells how long to wait if there is none.
    pub fn take(&mut self, client: IpAddr) -> Result<(), Duration> {
        let now = self.clock.now();
        let quota = self.quota;
        let bucket = self
            .buckets
            .entry(client)
            .or_insert(Bucket { tokens: f64::from(quota.burst), seen: now });
        bucket.tokens = refill(bucket.tokens, &quota, now - bucket.seen);
        bucket.seen = now;
        if bucket.tokens >= 1.0 {
            bucket.tokens -= 1.0;
            Ok(())
        } else {
            Err(Duration::from_secs_f64((1.0 - bucket.tokens) / quota.per_second))
        }
    }
}
"""

CLOCK = """\
//! Time, and a clock for tests.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

pub trait Clock {
    fn now(&self) -> Instant;
}

pub struct System;

impl Clock for System {
    fn now(&self) -> Instant {
        Instant::now()
    }
}

/// A clock that stands still until it is told to move.
#[derive(Clone)]
pub struct Manual {
    start: Instant,
    passed: Rc<Cell<Duration>>,
}

impl Manual {
    pub fn advance(&self, by: Duration) {
        self.passed.set(self.passed.get() + by);
    }
}

impl Clock for Manual {
    fn now(&self) -> Instant {
        self.start + self.passed.get()
    }
}
"""

BREAKER = """\
//! A circuit breaker for upstream services.

use std::time::{Duration, Instant};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Closed,
    Open { since: Instant },
    HalfOpen,
}

<<< Breaker
#[derive(Debug)]
pub struct Breaker {
    state: State,
    failures: u32,
}

impl Breaker {
    pub fn new() -> Self {
        Self { state: State::Closed, failures: 0 }
    }

    <<< record
    /// Counts the result of a call. After some failures in a row the breaker opens.
    pub fn record(&mut self, succeeded: bool, now: Instant) -> State {
        const THRESHOLD: u32 = 5;
        if succeeded {
            self.failures = 0;
            self.state = State::Closed;
        } else {
            self.failures += 1;
            if self.failures >= THRESHOLD || self.state == State::HalfOpen {
                self.state = State::Open { since: now };
            }
        }
        self.state
    }

    >>> record
    /// True if a call may be tried.
    pub fn allows(&mut self, now: Instant, pause: Duration) -> bool {
        if let State::Open { since } = self.state {
            if now.duration_since(since) < pause {
                return false;
            }
            self.state = State::HalfOpen;
        }
        true
    }
}

>>> Breaker
impl Default for Breaker {
    fn default() -> Self {
        Self::new()
    }
}
"""

CONFIG = """\
//! Settings of the gateway, read from a file.

use std::fs;
use std::path::Path;

<<< Upstream
/// A service behind the gateway.
#[derive(Debug, Clone, PartialEq)]
pub struct Upstream {
    pub name: String,
    pub address: String,
    /// In milliseconds.
    pub timeout: u64,
    pub retries: [u16; 3],
}

>>> Upstream
#[derive(Debug)]
pub enum ConfigError {
    Unreadable(std::io::Error),
    Invalid { line: usize, why: &'static str },
}

/// Reads one upstream a line: a name, an address and a timeout.
pub fn read(path: &Path) -> Result<Vec<Upstream>, ConfigError> {
    let text = fs::read_to_string(path).map_err(ConfigError::Unreadable)?;
    text.lines().enumerate().map(|(at, line)| parse(at + 1, line)).collect()
}

fn parse(line: usize, text: &str) -> Result<Upstream, ConfigError> {
    let invalid = |why| ConfigError::Invalid { line, why };
    let mut words = text.split_whitespace();
    let name = words.next().ok_or(invalid("no name"))?.to_owned();
    let address = words.next().ok_or(invalid("no address"))?.to_owned();
    let timeout = words.next().unwrap_or("2000").parse().map_err(|_| invalid("no number"))?;
    Ok(Upstream { name, address, timeout, retries: [100, 400, 1600] })
}
"""

PROJECT = Project(
    files={
        "Cargo.toml": '[package]\nname = "gateway"\nversion = "0.4.0"\nedition = "2021"\n',
        "src/lib.rs": "pub mod breaker;\npub mod clock;\npub mod config;\npub mod limiter;\n",
        "src/limiter.rs": LIMITER,
        "src/clock.rs": CLOCK,
        "src/breaker.rs": BREAKER,
        "src/config.rs": CONFIG,
    },
    remark="//",
    helper="""\
fn shortened(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    text.chars().take(most).collect::<String>() + "…"
}

""",
    targets=(
        Target(
            path="src/limiter.rs",
            symbol="refill",
            claim="A bucket is refilled for at most ten minutes, and never above its burst.",
            formatting=(
                "    (tokens + gained).clamp(0.0, f64::from(quota.burst))\n",
                "    (tokens + gained)\n        .clamp(\n            0.0,\n            f64::from(quota.burst),\n        )\n",
            ),
            docs=("A bucket never holds more than its burst.", "The burst is the most that a bucket holds."),
            signature=(
                "(tokens: f64, quota: &Quota, elapsed: Duration) -> f64",
                "(tokens: f64, quota: &Quota, elapsed: Duration) -> Option<f64>",
            ),
            constant=("from_secs(600)", "from_secs(60)"),
            logic=(".clamp(0.0, f64::from(quota.burst))", ".max(0.0)"),
            other=("if bucket.tokens >= 1.0 {", "if bucket.tokens >= 0.5 {"),
            renamed="replenish",
            renamed_file=("src/bucket.rs", ""),
            moved_to="src/clock.rs",
            imported="use crate::clock::refill;\n",
        ),
        Target(
            path="src/breaker.rs",
            symbol="Breaker::record",
            claim="The breaker opens after five failures in a row.",
            formatting=(
                "            if self.failures >= THRESHOLD || self.state == State::HalfOpen {\n",
                "            if self.failures >= THRESHOLD\n                || self.state == State::HalfOpen\n            {\n",
            ),
            docs=(
                "After some failures in a row the breaker opens.",
                "The breaker opens when several calls in a row failed.",
            ),
            signature=(
                "(&mut self, succeeded: bool, now: Instant) -> State",
                "(&mut self, outcome: Result<(), u16>, now: Instant) -> State",
            ),
            constant=("THRESHOLD: u32 = 5", "THRESHOLD: u32 = 50"),
            logic=(
                "            self.failures = 0;\n",
                "            self.failures = self.failures.saturating_sub(1);\n",
            ),
            other=("if now.duration_since(since) < pause {", "if now.duration_since(since) <= pause {"),
            renamed="observe",
            renamed_file=("src/circuit.rs", ""),
            moved_to="src/clock.rs",
            moves="Breaker",
            imported="use crate::clock::Breaker;\n",
        ),
        Target(
            path="src/config.rs",
            symbol="Upstream",
            claim="An upstream has a name, an address, a timeout in milliseconds and three retries.",
            formatting=(
                "    pub name: String,\n    pub address: String,\n",
                "    pub name:    String,\n\n    pub address: String,\n\n",
            ),
            docs=(
                "A service behind the gateway.",
                "One of the services to which the gateway passes requests.",
            ),
            signature=("    pub address: String,\n", "    pub addresses: Vec<String>,\n"),
            constant=("retries: [u16; 3]", "retries: [u16; 8]"),
            logic=("    pub timeout: u64,\n", "    pub timeout: Option<u64>,\n"),
            other=("retries: [100, 400, 1600]", "retries: [50, 200, 800]"),
            renamed="Backend",
            renamed_file=("src/config/mod.rs", ""),
            moved_to="src/clock.rs",
            imported="use crate::clock::Upstream;\n",
        ),
    ),
)
