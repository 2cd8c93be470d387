//! `trinim serve`: its arguments, and the start and the end of the server.

use crate::app::App;
use crate::connections::{self, Limits};
use crate::offer::Offers;
use crate::origin::{self, Origins};
use crate::router;
use clap::Args;
use pipeline::parallel::check_threads;
use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::thread::available_parallelism;
use std::time::Duration;
use terminal::exit::{Exit, Refused};
use terminal::output::{Out, counted};
use terminal::signals::Signals;
use terminal::values;
use trinim::cli::answers;
use trinim::cli::args::{self, Size};
use trinim::cli::board;
use trinim::game::{Board, Takes};
use trinim::job::{USUAL_BYTES, modest_bytes};
use trinim::solve::parts::{PIECES_LIMIT, PIECES_MAX};

/// The limits for clients.
const LIMITS: Limits = Limits { connections: 512, head_bytes: 64 << 10, patience: Duration::from_secs(20) };

/// How long an idle thread waits for work: for ever, because a later thread might be refused.
const FOREVER: Duration = Duration::from_secs(u32::MAX as u64);

const EXAMPLES: &str = "\
Examples:
  trinim serve                                      small boards and nine layers, for this machine
  trinim serve trinim-k5-misere --listen 127.0.0.1:0    a finished solve, on any free port

Try curl 'http://127.0.0.1:8080/v1/position?board=triangle:4&p=1/11/111/1111'. The page to play on is at the address \
itself. Paths: /v1/boards, /v1/position, /v1/positions (POST, one position a line), /v1/mainline, /v1/reply, \
/v1/stats, /v1/random, /healthz, /metrics; /v1/openapi.json describes them. The server reads nothing outside the \
folders. Pages of other origins and requests with an unknown Host are refused. Anyone who can reach the address can \
use it: put a proxy with encryption in front of an address outside this machine. SIGINT and SIGTERM let running \
requests finish and end with exit code 0.";

/// Serve positions over HTTP, with a page to play on
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct ServeArgs {
    /// Folders of finished solves, or their db folders; nine layers are built in
    #[arg(value_name = "DIR")]
    folders: Vec<PathBuf>,

    /// Address and port; port 0 takes any free one
    #[arg(long, value_name = "ADDRESS", value_parser = values::address, default_value = "127.0.0.1:8080")]
    listen: SocketAddr,

    /// Also answer pages of this origin, like https://nim.example; * for all; repeatable
    ///
    /// They can have positions of more than 28 pieces solved, like the server's own page; with *,
    /// all pages and programs can.
    #[arg(long, value_name = "ORIGIN", value_parser = origin::origin)]
    allow_origin: Vec<String>,

    /// Also answer to this name, of a proxy or of this machine; * for all; repeatable
    ///
    /// The address and localhost are always known.
    #[arg(long, value_name = "NAME", value_parser = origin::host)]
    allow_host: Vec<String>,

    /// Layers to solve at startup, under both rules
    #[arg(long, help_heading = "Game", short = 'k', value_name = "K,..", value_delimiter = ',',
          value_parser = args::layers, default_value = "4,5,6")]
    layers: Vec<u32>,

    /// Boards to solve like --layers: rect:RxC, hex:SIDE, cram:RxC or file:PATH; repeatable
    #[arg(long, help_heading = "Game", value_name = "BOARD")]
    board: Vec<String>,

    /// Memory for the values read from all folders [default: 1GiB, or half of what this process may
    /// use if that is less]
    #[arg(long, help_heading = "Resources", value_name = "SIZE", value_parser = args::memory,
          env = "TRINIM_MEMORY", hide_env = true)]
    memory: Option<Size>,

    /// Most pieces of a position to solve on the spot, 0 to 40
    ///
    /// Up to 28 pieces take 64 MiB for each such board and an instant. Larger positions are solved
    /// one at a time, with progress, only for the server's own page and --allow-origin: 36 pieces
    /// take 512 MiB, 1 GiB in the folder for temporary files and up to a minute.
    #[arg(long, value_name = "N", default_value_t = PIECES_MAX,
          value_parser = clap::value_parser!(u32).range(..=i64::from(PIECES_LIMIT)))]
    spot_pieces: u32,
}

impl ServeArgs {
    /// Returns the boards to solve at the start, each with its option.
    fn boards(&self) -> anyhow::Result<Vec<(String, Board)>> {
        let read = |option: &str, shown: &str, name: &str| {
            Ok((format!("{option} {shown}"), board::read(option, name, Takes::ANY)?))
        };
        let layers = self.layers.iter().map(|k| read("--layers", &k.to_string(), &format!("triangle:{k}")));
        layers.chain(self.board.iter().map(|name| read("--board", name, name))).collect()
    }
}

/// Runs the subcommand.
pub fn run(args: ServeArgs, out: &mut Out) -> anyhow::Result<Exit> {
    if let Some(port) = args.folders.iter().find_map(|folder| answers::number(folder)) {
        let message = format!("{port} is not the folder of a solve");
        let hint = match u16::try_from(port) {
            Ok(port) => format!("trinim serve --listen 127.0.0.1:{port}"),
            Err(_) => "trinim serve --help".to_owned(),
        };
        return Err(Refused::new(message, hint).into());
    }
    let memory_bytes = args.memory.map_or_else(|| modest_bytes(USUAL_BYTES), |memory| memory.0);
    let cache_bytes = usize::try_from(memory_bytes).unwrap_or(usize::MAX);
    let small = args.boards()?;
    let refused = |error: std::io::Error| {
        let message = format!("cannot listen on {}: {error}", args.listen);
        Refused::with(Exit::System, message, "choose another address with --listen, like 127.0.0.1:0 for any free port")
    };
    let listener = TcpListener::bind(args.listen).map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    // Solves take longer than finding out that an address is in use.
    let offers = Offers::open(&args.folders, &small, cache_bytes, args.spot_pieces, out)?;
    let boards = offers.all().len() as u64;
    // The runtime panics if the system refuses a thread: its own, one for look-ups, which is kept,
    // and one for a long solve.
    check_threads(available_parallelism().map_or(1, usize::from) + 2)?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().thread_keep_alive(FOREVER).enable_io().enable_time().build();
    let runtime = runtime.map_err(refused)?;
    runtime.spawn_blocking(|| ());
    let signals = Signals::register()?;
    writeln!(out, "listening on http://{address}/ with {}", counted(boards, "board"))?;
    out.flush()?;
    if !address.ip().is_loopback() {
        out.warn("anyone who can reach this address can use it, and nothing is encrypted");
    }
    out.remark("press Ctrl-C to stop");
    let app = App::new(offers, Origins::new(address, &args.allow_host, &args.allow_origin));
    let (open, deep) = (app.metrics.connections.clone(), app.deep.clone());
    let routes = router::router(app);
    runtime.block_on(connections::serve(listener, routes, LIMITS, signals.stop.clone(), open)).map_err(refused)?;
    deep.close();
    // A lookup that is still running has no client any more.
    runtime.shutdown_timeout(Duration::from_millis(200));
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::Problem;
    use crate::{api, batch, deep, offer, request};
    use axum::http::{HeaderMap, StatusCode, Uri, header};
    use axum::response::IntoResponse;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Instant;
    use terminal::output::ColorChoice;
    use trinim::game::Rule;

    /// The built-in books, with few pieces solved on the spot.
    fn app() -> Arc<App> {
        let out = Out::new(ColorChoice::Never, true);
        let origins = Origins::new(SocketAddr::from(([127, 0, 0, 1], 80)), &[], &[]);
        App::new(Offers::open(&[], &[], 1 << 20, 4, &out).expect("what is built in"), origins)
    }

    fn offer(app: &App) -> Arc<offer::Offer> {
        app.offers.find("triangle:9", Rule::Misere).expect("nine layers").clone()
    }

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_multi_thread().enable_time().build().expect("threads")
    }

    /// A client that stored a line that was cut off for lack of time would never see the rest.
    #[test]
    fn an_answer_that_may_change_has_no_tag() {
        let (app, runtime) = (app(), runtime());
        let offer = offer(&app);
        for (most, is_whole) in [(Duration::ZERO, false), (Duration::MAX, true)] {
            let (line, is_same) = api::line_within(most, &offer, 0b111).expect("a line");
            assert_eq!((is_same, line.contains("\"complete\":true")), (is_whole, is_whole), "{line}");
            let request = request::ApiRequest {
                app: app.clone(),
                uri: Uri::from_static("/x"),
                headers: HeaderMap::new(),
                may_solve: false,
            };
            let answer =
                runtime.block_on(request.answer(&offer, true, move |_| Ok((line, is_same)))).expect("an answer");
            for name in [header::ETAG, header::CACHE_CONTROL] {
                assert_eq!(answer.headers().contains_key(&name), is_whole, "{name}");
            }
        }
    }

    /// A request keeps its permit until its work is done; a request that gets none in time is
    /// refused.
    #[test]
    fn work_has_places() {
        let mut app = Arc::into_inner(app()).expect("the only one");
        (app.places, app.wait) = (Arc::new(tokio::sync::Semaphore::new(2)), Duration::from_millis(20));
        let (app, runtime, at_work) = (Arc::new(app), runtime(), Arc::new(AtomicUsize::new(0)));
        let answers = runtime.block_on(async {
            let (end, ends) = std::sync::mpsc::channel::<()>();
            let ends = Arc::new(parking_lot::Mutex::new(ends));
            let requests: Vec<_> = (0..6)
                .map(|_| {
                    let (app, at_work, ends) = (app.clone(), at_work.clone(), ends.clone());
                    let job = move || {
                        at_work.fetch_add(1, Ordering::Relaxed);
                        let _ = ends.lock().recv();
                        Ok(())
                    };
                    tokio::spawn(async move { app.work(job).await.map_err(|problem| problem.into_response().status()) })
                })
                .collect();
            tokio::time::sleep(Duration::from_millis(200)).await;
            assert_eq!(at_work.load(Ordering::Relaxed), 2);
            drop(end);
            let mut answers = Vec::new();
            for request in requests {
                answers.push(request.await.expect("an answer"));
            }
            answers.sort_unstable_by_key(Result::is_err);
            // Work that fails or panics returns its permit, too.
            for number in 0..6 {
                let job = move || if number % 2 == 0 { Err(Problem::missing("x")) } else { panic!("of a test") };
                assert!(app.work::<()>(job).await.is_err());
            }
            assert_eq!(app.places.available_permits(), 2);
            answers
        });
        let busy = Err(StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(answers, [Ok(()), Ok(()), busy, busy, busy, busy]);
    }

    /// A solve continues for as long as a client asks, and is abandoned if none does.
    #[test]
    fn a_solve_lasts_as_long_as_somebody_asks() {
        let (out, runtime) = (Out::new(ColorChoice::Never, true), runtime());
        let offers = Offers::open(&[], &[], 1 << 20, 36, &out).expect("what is built in");
        let offer = offers.find("triangle:9", Rule::Misere).expect("nine layers").clone();
        let patience = Duration::from_millis(500);
        let deep = Arc::new(deep::DeepSolver::with_patience(patience));
        // The share that is done; null while another position is solved.
        let asked = |position: u64| {
            let response = deep.answers(&offer, position, true).err()?.into_response();
            assert_eq!(response.status(), StatusCode::ACCEPTED);
            let body = runtime.block_on(axum::body::to_bytes(response.into_body(), 1000)).expect("a body");
            Some(serde_json::from_slice::<serde_json::Value>(&body).expect("JSON")["done"].clone())
        };
        let within = |time: Duration, is_over: &dyn Fn() -> bool| {
            let begin = Instant::now();
            while !is_over() {
                assert!(begin.elapsed() < time, "no end in {time:?}");
                std::thread::sleep(Duration::from_millis(20));
            }
            begin.elapsed()
        };
        let first = |pieces: u32| (1_u64 << pieces) - 1;
        // Enough pieces that the solve takes longer than the patience on this machine.
        let lasts = |pieces| within(Duration::from_secs(100), &|| asked(first(pieces)).is_none()) > patience;
        assert!((29..36).any(lasts), "every solve is too short to try anything");
        // A minute's work that is not asked about again.
        assert_eq!(asked(first(36)), Some(0.0.into()));
        let short = 0x1fff_8000_7fff;
        assert_eq!(asked(short), Some(serde_json::Value::Null));
        within(Duration::from_secs(30), &|| asked(short).is_some_and(|done| done.is_number()));
        deep.close();
    }

    #[test]
    fn folders_share_the_cache() {
        let folder = tempfile::tempdir().expect("a folder");
        let folders =
            [(3, Rule::Misere), (3, Rule::Normal), (4, Rule::Misere), (4, Rule::Normal)].map(|(layers, rule)| {
                let place = folder.path().join(format!("{layers}{rule}"));
                let game = trinim::database::Game::triangle(layers, rule, 4).expect("a game");
                trinim::Solve::from(&game).run(&place).expect("a solve");
                place
            });
        let (out, cache_bytes) = (Out::new(ColorChoice::Never, true), 64 << 20);
        let offers = Offers::open(&folders, &[], cache_bytes, 4, &out).expect("four folders");
        let limits: Vec<u64> =
            offers.all().iter().filter_map(|offer| Some(offer.watched.as_ref()?.cache_bytes())).collect();
        assert_eq!((limits.len(), limits.iter().sum()), (4, cache_bytes as u64));
    }

    /// Every line has an answer in its place, even when the time for the request is over.
    #[test]
    fn lines_whose_turn_comes_too_late_are_answered_by_an_error() {
        let (app, runtime) = (app(), runtime());
        let offer = offer(&app);
        let lines: Vec<String> = (0..100).map(|number| format!("{:#x}", number % 16)).collect();
        let now = Instant::now();
        for (end, is_late) in [(now, true), (now + Duration::from_secs(3600), false)] {
            let text = runtime.block_on(async {
                let (mut chunks, mut text) =
                    (batch::answer_until(end, app.clone(), offer.clone(), lines.clone()), String::new());
                while let Some(chunk) = chunks.recv().await {
                    text.push_str(std::str::from_utf8(&chunk).expect("JSON"));
                }
                text
            });
            assert_eq!(text.lines().count(), 100);
            for (line, position) in text.lines().zip(&lines) {
                assert_eq!(line.contains("this request took too long"), is_late, "{line}");
                assert_eq!(line.contains(&format!("\"position\":\"{position}\"")), is_late, "{line}");
            }
        }
    }

    /// Clients must never store an error, and only a temporary error says when to try again.
    #[test]
    fn errors_are_not_stored() {
        for (status, wait) in [(StatusCode::SERVICE_UNAVAILABLE, Some("1")), (StatusCode::NOT_FOUND, None)] {
            let response = Problem::with(status, "a reason").into_response();
            let said = |name: header::HeaderName| response.headers().get(name).and_then(|value| value.to_str().ok());
            assert_eq!((said(header::CACHE_CONTROL), said(header::RETRY_AFTER)), (Some("no-store"), wait));
        }
    }
}
