//! Messages to a service manager, as `sd_notify(3)` describes them: datagrams to the socket that
//! `NOTIFY_SOCKET` names.

use std::ffi::OsStr;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

/// A service manager that wants to know.
pub struct Notify {
    socket: UnixDatagram,
    address: SocketAddr,
    watchdog: Option<Duration>,
}

impl Notify {
    /// Returns the service manager that started this process, if one did.
    pub fn of_environment() -> Option<Notify> {
        let address = address(&std::env::var_os("NOTIFY_SOCKET")?)?;
        let socket = UnixDatagram::unbound().ok()?;
        // A manager that does not read must not hold up the work.
        socket.set_nonblocking(true).ok()?;
        let number = |name: &str| std::env::var(name).ok()?.parse::<u64>().ok();
        // A watchdog of another process is none of ours.
        let is_ours = number("WATCHDOG_PID").is_none_or(|pid| pid == u64::from(std::process::id()));
        let watchdog = number("WATCHDOG_USEC").filter(|micros| is_ours && *micros > 0).map(Duration::from_micros);
        Some(Notify { socket, address, watchdog })
    }

    /// Returns the time between two messages: half of what a watchdog waits, and two seconds
    /// without one.
    pub fn keepalive(&self) -> Option<Duration> {
        Some(self.watchdog.map_or(Duration::from_secs(2), |limit| limit / 2).min(Duration::from_secs(2)))
    }

    /// Sends a message; lines are assignments. A failure is ignored.
    pub fn send(&self, state: &str) {
        let _ = self.socket.send_to_addr(state.as_bytes(), &self.address);
    }
}

/// A path, or after `@` a name that is in no folder.
fn address(name: &OsStr) -> Option<SocketAddr> {
    match name.as_bytes() {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name).ok(),
        [b'/', ..] => SocketAddr::from_pathname(name).ok(),
        _ => None,
    }
}
