//! Connections over HTTP: accepted up to a limit, served, and finished when the server stops.
//!
//! A client that never reads its answer would hold its connection forever, so a write that makes no
//! progress for a while fails and ends the connection. The limits here bound reads of heads, the
//! routes bound reads of bodies.
//!
//! # Invariants
//! 1. Silent connections, those without a request at work, do not exclude others: when all places
//!    are taken, a new connection replaces a silent one of the client with the most connections.
//! 2. A client, identified by its address, has requests at work on at most half of the places. Its
//!    further requests, and all requests while every place has one, are [`Crowded`]: the routes
//!    refuse those that cost anything. They get a few places beyond the limit, for health checks.

use axum::Router;
use axum::body::{Body, Bytes};
use hyper::Request;
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use parking_lot::Mutex;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv6Addr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::{interval, sleep, timeout};
use tokio_io_timeout::TimeoutWriter;

/// The limits for clients.
#[derive(Clone, Copy)]
pub struct Limits {
    /// The most connections that are served at a time.
    pub connections: usize,
    /// Longest head of a request, in bytes; at least 8 KiB.
    pub head_bytes: usize,
    /// How long a client can take for the head of a request, stay idle between requests, or not
    /// read an answer.
    pub patience: Duration,
}

/// How long a stop waits for requests at work.
const LAST_CALL: Duration = Duration::from_secs(5);
/// How often the stop flag is checked.
const TICK: Duration = Duration::from_millis(50);
/// Places beyond the limit, for requests that cost nothing.
const SPARE: usize = 32;

/// Marks a request for which there is no room.
#[derive(Clone, Copy)]
pub struct Crowded;

/// The open connections, in order of arrival.
#[derive(Default)]
struct Connections {
    count: u64,
    open: BTreeMap<u64, Connection>,
}

struct Connection {
    client: IpAddr,
    is_busy: bool,
    /// Ends the connection.
    end: Arc<Notify>,
}

impl Connections {
    /// Admits a connection; if `most` are open, replaces a silent one. `None` if there is no place.
    fn admit(&mut self, client: IpAddr, most: usize) -> Option<(u64, Arc<Notify>)> {
        if self.open.len() >= most {
            let mut counts = BTreeMap::<IpAddr, usize>::new();
            self.open.values().for_each(|connection| *counts.entry(connection.client).or_default() += 1);
            let silent = self.open.iter().filter(|(_, connection)| !connection.is_busy);
            let oldest = silent.max_by_key(|(number, connection)| (counts[&connection.client], Reverse(**number)));
            match oldest.map(|(number, _)| *number).and_then(|number| self.open.remove(&number)) {
                Some(silent) => silent.end.notify_one(),
                None if self.open.len() >= most + SPARE => return None,
                None => {}
            }
        }
        self.count += 1;
        let end = Arc::new(Notify::new());
        self.open.insert(self.count, Connection { client, is_busy: false, end: end.clone() });
        Some((self.count, end))
    }

    /// Begins a request on a connection; returns whether there is room for it.
    fn begin(&mut self, number: u64, most: usize) -> bool {
        let Some(client) = self.open.get(&number).map(|connection| connection.client) else { return false };
        let busy = self.open.values().filter(|connection| connection.is_busy);
        let (all, own) = busy.fold((0, 0), |(all, own), busy| (all + 1, own + usize::from(busy.client == client)));
        self.rest(number, true);
        all < most && own < most / 2
    }

    fn rest(&mut self, number: u64, is_busy: bool) {
        if let Some(connection) = self.open.get_mut(&number) {
            connection.is_busy = is_busy;
        }
    }
}

/// A request at work, until its answer has been sent.
struct AtWork(Arc<Mutex<Connections>>, u64);

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.lock().rest(self.1, false);
    }
}

/// The body of an answer, with its request.
struct Answer(Body, #[expect(dead_code, reason = "it is dropped with the body")] AtWork);

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.0).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

/// Returns the identity of a client: its address, or for IPv6 the network.
fn client(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

/// Serves until `stop` is set, then lets the requests at work finish for a while.
///
/// # Errors
/// Returns the system's, if the address can no longer be listened on.
pub async fn serve(
    listener: std::net::TcpListener,
    routes: Router,
    limits: Limits,
    stop: Arc<AtomicBool>,
    open: Arc<AtomicU64>,
) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let listener = TcpListener::from_std(listener)?;
    let graceful = GracefulShutdown::new();
    let connections = Arc::new(Mutex::new(Connections::default()));
    let routes = TowerToHyperService::new(routes);
    let mut tick = interval(TICK);
    let mut http = http1::Builder::new();
    // A client can close its side after its request.
    http.half_close(true);
    http.timer(TokioTimer::new()).header_read_timeout(limits.patience).max_buf_size(limits.head_bytes);
    while !stop.load(Ordering::Relaxed) {
        let accepted = tokio::select! {
            accepted = accept(&listener) => accepted,
            _ = tick.tick() => continue,
        };
        let Some((stream, address)) = accepted else { continue };
        let Some((number, end)) = connections.lock().admit(client(address), limits.connections) else { continue };
        let mut stream = TimeoutWriter::new(stream);
        stream.set_timeout(Some(limits.patience));
        let (routes, of_requests) = (routes.clone(), connections.clone());
        let service = service_fn(move |mut request: Request<Incoming>| {
            if !of_requests.lock().begin(number, limits.connections) {
                request.extensions_mut().insert(Crowded);
            }
            let at_work = AtWork(of_requests.clone(), number);
            let answer = routes.call(request);
            async move { Ok::<_, std::convert::Infallible>(answer.await?.map(|body| Answer(body, at_work))) }
        });
        let connection = graceful.watch(http.serve_connection(TokioIo::new(Box::pin(stream)), service));
        let (open, connections) = (open.clone(), connections.clone());
        open.fetch_add(1, Ordering::Relaxed);
        tokio::spawn(async move {
            // A broken connection is not an error of the server.
            tokio::select! {
                _ = connection => {}
                () = end.notified() => {}
            }
            open.fetch_sub(1, Ordering::Relaxed);
            connections.lock().open.remove(&number);
        });
    }
    drop(listener);
    let _ = timeout(LAST_CALL, graceful.shutdown()).await;
    Ok(())
}

/// Accepts a connection.
async fn accept(listener: &TcpListener) -> Option<(TcpStream, IpAddr)> {
    match listener.accept().await {
        Ok((stream, address)) => {
            let _ = stream.set_nodelay(true);
            Some((stream, address.ip()))
        }
        Err(_) => {
            // No open files are left, or the client is gone already.
            sleep(TICK).await;
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    const MOST: usize = 8;

    /// Connections of clients by number, with a request at work on the busy ones.
    fn taken(clients: &[(u8, bool)]) -> Connections {
        let mut connections = Connections::default();
        for (client, is_busy) in clients {
            let (number, _) = connections.admit([10, 0, 0, *client].into(), MOST).expect("a place");
            connections.rest(number, *is_busy);
        }
        connections
    }

    #[test]
    fn silent_connections_make_room() {
        let mut connections = taken(&[(1, false), (2, true), (2, false), (2, true), (2, true), (3, false), (2, false)]);
        let open = |connections: &Connections| connections.open.keys().copied().collect::<Vec<_>>();
        // The oldest silent ones of the client with the most, then those of the others.
        let last = connections.admit([10, 0, 0, 4].into(), MOST).expect("the last place");
        connections.rest(last.0, true);
        for (number, leaves) in [(9, 3), (10, 7), (11, 1)] {
            let (admitted, _) = connections.admit([10, 0, 0, 5].into(), MOST).expect("a silent one leaves");
            connections.rest(admitted, true);
            assert_eq!((admitted, open(&connections).contains(&leaves)), (number, false), "{:?}", open(&connections));
            assert_eq!(connections.open.len(), MOST);
        }
    }

    /// Reads an answer of 16 MiB in steps, with a pause before each; another connection never
    /// reads. Returns whether the first answer arrived whole; `None` if a step took too long.
    fn read_slowly(patience: Duration) -> Option<bool> {
        const TURN: usize = 2 << 20;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.expect("threads");
        let body = Bytes::from(vec![7; 8 * TURN]);
        let routes = Router::new().route("/", axum::routing::get(move || async move { body }));
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let (address, open) = (listener.local_addr().expect("an address"), Arc::<AtomicU64>::default());
        let limits = Limits { connections: MOST, head_bytes: 8 << 10, patience };
        runtime.spawn(serve(listener, routes, limits, Arc::default(), open.clone()));
        let connect = async || {
            let socket = tokio::net::TcpSocket::new_v4()?;
            // So that most of an answer waits in the server.
            socket.set_recv_buffer_size(1 << 16)?;
            socket.connect(address).await?.into_std()
        };
        let [mut reader, mut sleeper] = [(); 2].map(|()| runtime.block_on(connect()).expect("a connection"));
        for stream in [&mut reader, &mut sleeper] {
            stream.set_nonblocking(false).expect("a socket");
            stream.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").expect("a request");
        }
        let (mut turn, mut read, mut is_late) = (vec![0; TURN], 0, false);
        while read < 8 * TURN {
            let begin = std::time::Instant::now();
            std::thread::sleep(patience / 4);
            match reader.read_exact(&mut turn) {
                Ok(()) => read += TURN,
                Err(_) => break,
            }
            is_late |= begin.elapsed() > patience / 2;
        }
        processes::wait_until("all ended", || open.load(Ordering::Relaxed) == 0);
        (!is_late).then_some(read == 8 * TURN)
    }

    /// Each stall has its own time limit: an answer can take any time while its client reads, and
    /// the connection of a client that never reads ends.
    #[test]
    fn a_client_may_read_slowly_but_not_never() {
        let read = (0..6).find_map(|attempt| read_slowly(Duration::from_secs(1 << attempt)));
        assert_ne!(read, Some(false));
    }

    #[test]
    fn requests_of_one_client_leave_places_to_others_and_to_health() {
        let mut connections = taken(&[(1, true); MOST / 2]);
        for (client, has_room) in [(1, false), (2, true)] {
            let (number, _) = connections.admit([10, 0, 0, client].into(), MOST).expect("a place");
            assert_eq!(connections.begin(number, MOST), has_room, "{client}");
        }
        // All places are busy: connections are admitted as long as there is a spare place.
        let mut connections =
            taken(&[(1, true), (2, true), (3, true), (4, true), (5, true), (6, true), (7, true), (8, true)]);
        for _ in 0..SPARE {
            let (number, _) = connections.admit([10, 0, 0, 9].into(), MOST).expect("a spare place");
            assert!(!connections.begin(number, MOST));
        }
        assert!(connections.admit([10, 0, 0, 9].into(), MOST).is_none());
        // Addresses of one IPv6 network are one client.
        let [one, same, other] =
            ["2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"].map(|ip| client(ip.parse().expect("an address")));
        assert!(one == same && one != other);
        assert_eq!(client("::ffff:10.0.0.1".parse().expect("an address")), IpAddr::from([10, 0, 0, 1]));
    }
}
