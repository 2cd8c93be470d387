//! `trinim serve` over real connections: answers compared with `trinim probe`, the description with
//! the answers, tags, and what the paths say about each other.

use crate::client::{Server, query};
use crate::common::program::text;
use crate::common::schemas::{compiled, has_plain_names, paths};
use crate::common::scratch;
use crate::oracle::{Oracle, triangle};
use crate::page::rows;
use serde_json::Value;
use std::collections::BTreeSet;
use trinim::cli::{board, stats};
use trinim::database::{Keep, Values};
use trinim::game::Takes;
use trinim::job::KeepChoice;
use trinim::random::Random;
use trinim::{Board, Database, Rule};

#[test]
fn positions_are_answered_as_probe_answers_them() {
    let folder = scratch();
    let path = folder.path();
    triangle(5, Rule::Normal).run(&path.join("five")).unwrap();
    triangle(6, Rule::Misere).keep(KeepChoice::Exactly(Keep::Counts)).run(&path.join("six")).unwrap();
    let oracle = Oracle::new(&Board::triangle(5, None).unwrap(), Rule::Normal, Some(&path.join("five")));
    let server = Server::start(path, &["five", "six", "--layers", "4", "--spot-pieces", "12"]);
    let mut random = Random::new(5);
    let masks: Vec<u64> = (0..300).map(|_| random.bits() & 0x7fff).collect();
    let positions: Vec<String> = masks.iter().map(|mask| format!("{mask:#x}")).collect();
    for (position, mask) in positions[..60].iter().zip(&masks) {
        let mut found = server.get(&format!("/v1/position?{}", query("triangle:5", "normal", position))).json();
        let object = found.as_object_mut().unwrap();
        assert_eq!(object.remove("schema").unwrap(), "trinim.position/1");
        assert_eq!(object.remove("board").unwrap(), "triangle:5");
        assert_eq!(object.remove("rule").unwrap(), "normal");
        let canonical = object.remove("canonical").unwrap();
        assert_eq!(found, oracle.probed(*mask));
        // The image of an image is the same, and so is its value.
        let again = query("triangle:5", "normal", canonical.as_str().unwrap());
        let again = server.get(&format!("/v1/position?{again}")).json();
        assert_eq!((&again["canonical"], &again["value"]), (&canonical, &found["value"]));
    }
    // Many at once: one answer for each line, including errors and empty lines.
    let mut lines = positions.clone();
    lines[7] = "nonsense".into();
    lines[9] = "\"1/11/111/1111/11111\"".into();
    let body = lines.join("\n\n") + "\r\n \n";
    let many = server.post("/v1/positions?board=triangle:5&rule=normal", &body);
    assert_eq!((many.status, many.header("content-type")), (200, Some("application/x-ndjson")));
    let answers: Vec<Value> = text(&many.body).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), lines.len());
    for (line, answer) in lines.iter().zip(&answers).filter(|(line, _)| line.starts_with("0x")) {
        let one = server.get(&format!("/v1/position?{}", query("triangle:5", "normal", line)));
        assert_eq!(one.json(), *answer, "{line}");
    }
    assert!(answers[7]["error"].as_str().unwrap().contains("not a position of triangle:5"), "{}", answers[7]);
    assert_eq!((&answers[7]["position"], &answers[9]["hex"]), (&"nonsense".into(), &"0x7fff".into()));
    // Values that are not kept are solved up to 12 pieces, or not known.
    let solved = server.get(&format!("/v1/position?{}", query("triangle:6", "misere", "0x7"))).json();
    assert_eq!((&solved["value"], &solved["moves_not_kept"]), (&"win".into(), &0.into()));
    let unknown = server.get(&format!("/v1/position?{}", query("triangle:6", "misere", "0x1fff")));
    assert_eq!(unknown.status, 404);
    assert!(unknown.problem().contains("not known"), "{}", unknown.problem());
    assert_eq!(server.get(&format!("/v1/position?{}", query("triangle:6", "misere", "0x1fffff"))).status, 200);
    let full = "1/11/111/1111/11111/111111/1111111/11111111/111111111";
    for rule in ["misere", "normal"] {
        let start = server.get(&format!("/v1/position?{}", query("triangle:9", rule, full))).json();
        assert_eq!((&start["value"], &start["moves_not_kept"]), (&"win".into(), &0.into()));
    }
    let stats = server.get("/v1/stats?board=triangle:5&rule=normal").json();
    let counted = stats::json(&Database::open(&path.join("five")).unwrap()).unwrap();
    assert_eq!(stats, serde_json::from_str::<Value>(&counted).unwrap());
    assert_eq!(server.end("TERM").0, Some(0));
}

/// Positions of up to the reported number of pieces are solved, at once and in a folder.
#[test]
fn positions_are_solved_up_to_the_pieces_that_are_said() {
    let folder = scratch();
    let path = folder.path();
    // The largest board that is solved at the start.
    let boards = Server::start(path, &["--layers", "7"]).get("/v1/boards").json();
    assert_eq!(
        (&boards["boards"][0]["board"], &boards["boards"][0]["keep"]),
        (&"triangle:7".into(), &"database".into())
    );
    for most in ["0", "5", "28", "29"] {
        let server = Server::start(path, &["--layers", "3", "--spot-pieces", most]);
        let boards = server.get("/v1/boards").json();
        let said: Vec<&Value> = boards["boards"].as_array().unwrap().iter().map(|one| &one["spot_pieces"]).collect();
        let most: u64 = most.parse().unwrap();
        let expected = if most == 0 { Value::Null } else { most.into() };
        assert_eq!(said, [&Value::Null, &Value::Null, &expected, &expected]);
        let ask = |pieces: u64| {
            let position = format!("{:#x}", (1u64 << pieces) - 1);
            ["/v1/position", "/v1/reply"]
                .map(|path| server.own(&format!("{path}?{}", query("triangle:9", "misere", &position))))
        };
        let [more, guess] = ask(most + 1);
        assert_eq!((more.status, &guess.json()["move"]["guess"]), (404, &true.into()), "{most}");
        let [found, reply] = ask(most);
        match most {
            0 => assert_eq!(found.status, 404),
            29 => assert_eq!((found.status, found.header("retry-after")), (202, Some("1"))),
            _ => assert_eq!((found.status, &reply.json()["move"]["guess"]), (200, &false.into()), "{most}"),
        }
    }
}

/// One at a time, while a client asks for it; the result answers for all subsets.
#[test]
fn positions_that_take_long_say_how_far_they_are() {
    let folder = scratch();
    let path = folder.path();
    let server = Server::start(path, &["--layers", "4"]);
    let of = |path: &str, mask: u64| format!("{path}?{}", query("triangle:9", "misere", &format!("{mask:#x}")));
    let is_left = || std::fs::read_dir(path).unwrap().next().is_some();
    // 36 pieces: a minute's work. 32 pieces that are no subset of them.
    let (long, short) = (0xf_ffff_ffff, 0x1fff_0007_ffff);
    let begun = server.own(&of("/v1/position", long));
    assert_eq!((begun.status, begun.header("retry-after"), begun.header("etag")), (202, Some("1"), None));
    assert_eq!((&begun.json()["schema"], &begun.json()["done"]), (&"trinim.solving/1".into(), &0.0.into()));
    let waits = server.own(&of("/v1/reply", short));
    assert_eq!((waits.status, &waits.json()["done"]), (202, &Value::Null));
    // Many positions at a time do not wait for one of them.
    let body = format!("{short:#x}\n0x7");
    let many = server.ask("POST", "/v1/positions?board=triangle:9", "origin: http://localhost\r\n", body.as_bytes());
    let lines: Vec<Value> = text(&many.body).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines[0]["error"].as_str().unwrap().contains("not known here"), "{}", lines[0]);
    assert_eq!(lines[1]["value"], "win");
    // No client asks for the long one any more: it is abandoned, and the other one is solved.
    let mut shares = Vec::new();
    let reply = loop {
        let found = server.own(&of("/v1/reply", short));
        if found.status == 200 {
            break found;
        }
        assert_eq!(found.status, 202);
        shares.extend(found.json()["done"].as_f64());
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    assert!(shares.is_sorted() && shares.iter().all(|share| (0.0..=1.0).contains(share)), "{shares:?}");
    assert!(is_left());
    // Also for another question, for a part of the pieces, and for clients other than the page.
    let mut random = Random::new(31);
    let parts = (0..6).map(|_| short & !(1 << random.below(19)));
    for mask in [short].into_iter().chain(parts) {
        let found = server.get(&of("/v1/position", mask)).json();
        let probed = Oracle::new(&Board::triangle(9, None).unwrap(), Rule::Misere, None).probed(mask);
        assert_eq!((&found["value"], &found["moves"]), (&probed["value"], &probed["moves"]), "{mask:#x}");
        let wins = |moved: &Value| moved["value"] == "loss";
        if mask == short && probed["value"] == "win" {
            let moves = probed["moves"].as_array().unwrap();
            let played = moves.iter().find(|one| one["cells"] == reply.json()["move"]["cells"]);
            assert!(wins(played.unwrap()), "{}", reply.json());
        }
    }
    // The server ends at once, and leaves no files.
    assert_eq!(server.own(&of("/v1/position", long)).status, 202);
    assert_eq!(server.end("TERM").0, Some(0));
    assert!(!is_left());
}

/// A failed solve is reported once, in words that the description has, and begins again on request.
#[test]
fn a_solve_that_fails_is_an_error_in_words() {
    let folder = scratch();
    let path = folder.path().join("removed");
    std::fs::create_dir(&path).unwrap();
    let server = Server::start(&path, &["--layers", "3"]);
    std::fs::remove_dir(&path).unwrap();
    let asked = format!("/v1/position?{}", query("triangle:9", "misere", "0x1fffffff"));
    for _ in 0..2 {
        assert_eq!(server.own(&asked).status, 202);
        let ended = (0..).map(|_| server.own(&asked)).find(|found| found.status != 202).unwrap();
        assert_eq!((ended.status, &*ended.problem()), (500, "the position cannot be solved"));
    }
    let described = &server.get("/v1/openapi.json").json()["components"]["responses"]["Broken"]["description"];
    assert!(described.as_str().unwrap().contains("the position cannot be solved"), "{described}");
}

/// A client that may not begin a solve gets the value that is stored, even if moves are unknown.
/// The answer has no tag then, because the server's own page gets the rest.
#[test]
fn stored_values_are_answered_to_all_clients() {
    let folder = scratch();
    let server = Server::start(folder.path(), &["--layers", "3", "--spot-pieces", "40"]);
    for (pieces, is_whole) in [(36, false), (38, false), (41, true), (45, true)] {
        let position = format!("{:#x}", (1_u64 << pieces) - 1);
        let one = server.get(&format!("/v1/position?{}", query("triangle:9", "misere", &position)));
        assert_eq!((one.status, one.header("etag").is_some()), (200, is_whole), "{pieces}: {}", text(&one.body));
        assert_eq!(one.json(), server.post("/v1/positions?board=triangle:9", &position).json(), "{pieces}");
        let reply = server.get(&format!("/v1/reply?{}", query("triangle:9", "misere", &position)));
        assert_eq!(reply.status, if is_whole { 200 } else { 403 }, "{pieces}");
    }
    assert!(std::fs::read_dir(folder.path()).unwrap().next().is_none(), "a solve has begun");
}

/// The traces of one request in the server (a solve, a cached frame, an open file) do not change
/// the answer to another: random questions about both rules of several boards, with deep positions.
#[test]
fn questions_in_any_order_are_answered_as_probe_answers_them() {
    let folder = scratch();
    let path = folder.path();
    triangle(5, Rule::Misere).run(&path.join("five")).unwrap();
    triangle(6, Rule::Misere).keep(KeepChoice::Exactly(Keep::Counts)).run(&path.join("six")).unwrap();
    let server = Server::start(path, &["five", "six", "--layers", "4,5"]);
    let mut random = Random::new(8);
    let mut asked = Vec::new();
    for rule in ["misere", "normal"] {
        for (layers, cells) in
            [(4, 10), (5, 15), (6, 21), (9, 45)].into_iter().filter(|one| one.0 != 6 || rule == "misere")
        {
            let scattered = |random: &mut Random| random.bits() & random.bits() & ((1 << cells) - 1);
            let mut masks: Vec<u64> = (0..12).map(|_| scattered(&mut random)).collect();
            if layers == 9 {
                // More than a request solves at once, a part of them, and others.
                masks.extend([0x1ff_ff7f_e00f, 0x1ff_ff7f_e00e, 0x1fff_8000_7fff]);
            }
            let source = match (layers, rule) {
                (5, "misere") => Some(path.join("five")),
                (6, _) => Some(path.join("six")),
                _ => None,
            };
            let oracle = Oracle::new(&Board::triangle(layers, None).unwrap(), rule.parse().unwrap(), source.as_deref());
            let board = format!("triangle:{layers}");
            asked.extend(masks.into_iter().map(|mask| (board.clone(), rule, mask, oracle.probed(mask))));
        }
    }
    assert!(asked.iter().filter(|(_, _, mask, _)| mask.count_ones() > 28).count() == 6);
    for round in 0..2 {
        for last in (1..asked.len()).rev() {
            asked.swap(last, random.index(last + 1));
        }
        for (board, rule, mask, probed) in &asked {
            let asked = query(board, rule, &format!("{mask:#x}"));
            let mut found = server.own(&format!("/v1/position?{asked}"));
            while found.status == 202 {
                std::thread::sleep(std::time::Duration::from_millis(5));
                found = server.own(&format!("/v1/position?{asked}"));
            }
            let found = found.json();
            for field in ["position", "value", "moves", "moves_not_kept"] {
                assert_eq!(found[field], probed[field], "round {round}, {asked}: {field}");
            }
        }
    }
    let counts = text(&server.get("/metrics").body);
    // Each request was counted with its time: hundreds, in less than their number of minutes.
    let figure = |name: &str| counts.lines().find_map(|line| line.strip_prefix(name)?.parse::<f64>().ok()).unwrap();
    let (requests, seconds) = (figure("trinim_request_seconds_count "), figure("trinim_request_seconds_sum "));
    assert!(requests >= 2.0 * asked.len() as f64, "{counts}");
    let buckets: Vec<f64> = ["0.0005", "0.001", "0.005", "0.025", "0.1", "1", "10", "+Inf"]
        .map(|bound| figure(&format!("trinim_request_seconds_bucket{{le=\"{bound}\"}} ")))
        .to_vec();
    assert!(buckets.is_sorted() && buckets[7] == requests, "{buckets:?}");
    // The sum lies between the bounds of the buckets.
    let least: f64 = buckets
        .windows(2)
        .zip([0.0005, 0.001, 0.005, 0.025, 0.1, 1.0, 10.0])
        .map(|(two, bound)| (two[1] - two[0]) * bound)
        .sum();
    assert!(seconds >= least * 0.99, "{seconds} s, but at least {least}");
}

/// Boards of families and of files, under both rules, compared with `probe`.
#[test]
fn other_boards_are_solved_at_the_start() {
    let folder = scratch();
    let path = folder.path();
    let star = "name = \"star\"\ncells = 5\nlines = [[0, 3], [0, 4], [1, 2], [1, 4], [2, 3]]\n";
    let file = path.join("star.toml");
    std::fs::write(&file, star).unwrap();
    let server = Server::start(path, &["--layers", "4", "--board", "rect:3x3", "--board", "file:star.toml"]);
    for (name, board) in [("rect:3x3", "rect:3x3"), ("star", &*format!("file:{}", file.display()))] {
        let board = board::read("--board", board, Takes::ANY).unwrap();
        for rule in ["misere", "normal"] {
            let oracle = Oracle::new(&board, rule.parse().unwrap(), None);
            for position in (0..1 << board.cells()).step_by(7) {
                let probed = oracle.probed(position);
                let position = format!("{position:#x}");
                let found = server.get(&format!("/v1/position?{}", query(name, rule, &position))).json();
                // Nimbers and distances, too.
                for field in ["value", "nimber", "distance", "moves"] {
                    assert_eq!(found[field], probed[field], "{position} {field}");
                }
                assert_eq!(found["nimber"].is_number(), rule == "normal");
            }
            assert_eq!(server.get(&format!("/v1/stats?board={name}&rule={rule}")).status, 200);
        }
    }
    let boards = server.get("/v1/boards").json();
    let named: Vec<&str> =
        boards["boards"].as_array().unwrap().iter().map(|one| one["board"].as_str().unwrap()).collect();
    assert_eq!(named.iter().filter(|name| **name == "star").count(), 2);
}

#[test]
fn the_description_is_true() {
    let folder = scratch();
    let server = Server::start(folder.path(), &["--layers", "4"]);
    let description = server.get("/v1/openapi.json").json();
    assert!(has_plain_names(&description), "alternatives of constants");
    let described = description["paths"].as_object().unwrap();
    assert_eq!(described.len(), 10);
    for (path, methods) in described {
        for (method, about) in methods.as_object().unwrap() {
            let parameters = about["parameters"].as_array().unwrap();
            let text_of = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let given: Vec<String> = parameters
                .iter()
                .filter(|parameter| parameter.get("example").is_some())
                .map(|parameter| format!("{}={}", parameter["name"].as_str().unwrap(), text_of(&parameter["example"])))
                .collect();
            let with =
                |given: &[String]| if given.is_empty() { path.clone() } else { format!("{path}?{}", given.join("&")) };
            let (method, body) = match method.as_str() {
                "post" => ("POST", text_of(&about["requestBody"]["content"]["text/plain"]["example"])),
                _ => ("GET", String::new()),
            };
            let found = server.ask(method, &with(&given), "", body.as_bytes());
            assert_eq!(found.status, 200, "{path}: {}", text(&found.body));
            let content = about["responses"]["200"]["content"].as_object().unwrap();
            let (kind, schema) = content.iter().next().unwrap();
            assert_eq!(found.header("content-type"), Some(kind.as_str()), "{path}");
            assert_eq!(found.header("access-control-allow-origin"), None, "{path}");
            let schema = &schema["schema"];
            let values: Vec<Value> = match kind.as_str() {
                "application/json" => vec![found.json()],
                "application/x-ndjson" => {
                    text(&found.body).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
                }
                _ => Vec::new(),
            };
            // The schema of a line, if there are several.
            let schema =
                if schema["contentSchema"].is_object() { &schema["contentSchema"]["oneOf"][0] } else { schema };
            let name = schema["$ref"].as_str().map(|place| place.rsplit('/').next().unwrap());
            for value in values.iter().filter(|_| name.is_some()) {
                let schema = &description["components"]["schemas"][name.unwrap()];
                let shipped = [(path.clone(), schema.clone())];
                let (schemas, index) = compiled(&shipped);
                if let Err(error) = schemas.validate(value, index[path]) {
                    panic!("{path}: {error:#}");
                }
                let mut printed = BTreeSet::new();
                paths(value, "", &mut printed);
                let listed: BTreeSet<String> = rows(schema).into_iter().map(|row| row.path).collect();
                assert!(printed.is_subset(&listed), "{path}: {:?}", printed.difference(&listed));
            }
            // Every documented parameter is accepted, every other one refused; required ones are
            // needed.
            for parameter in parameters {
                let name = parameter["name"].as_str().unwrap();
                let bad = given.iter().map(|one| match one.split_once('=') {
                    Some((other, _)) if other == name => format!("{name}=%00"),
                    _ => one.clone(),
                });
                let mut bad: Vec<String> = bad.collect();
                if !bad.iter().any(|one| one.starts_with(&format!("{name}="))) {
                    bad.push(format!("{name}=%00"));
                }
                let refused = server.ask(method, &with(&bad), "", body.as_bytes());
                assert!([400, 404].contains(&refused.status), "{path} {name}");
                assert!(!refused.problem().contains("unknown parameter"), "{path} {name}");
                if parameter["required"] == true {
                    let less: Vec<String> =
                        given.iter().filter(|one| !one.starts_with(&format!("{name}="))).cloned().collect();
                    assert!(server.ask(method, &with(&less), "", body.as_bytes()).problem().contains("missing"));
                }
            }
            if about["responses"]["400"].is_object() {
                let more = [&given[..], &["frobnicate=1".to_owned()]].concat();
                let refused = server.ask(method, &with(&more), "", body.as_bytes());
                assert!(refused.status == 400 && refused.problem().contains("\"frobnicate\""), "{path}");
                if let Some(first) = given.first() {
                    let twice = [&given[..], std::slice::from_ref(first)].concat();
                    assert!(server.ask(method, &with(&twice), "", body.as_bytes()).problem().contains("twice"));
                }
            }
            // The other method.
            let other = if method == "GET" { "POST" } else { "GET" };
            assert_eq!(server.ask(other, &with(&given), "", b"").status, 405, "{path}");
        }
    }
    assert!(server.get("/v1/nothing").problem().contains("no such path"));
    let long = server.get(&format!("/v1/position?p={}", "1".repeat(70_000)));
    assert_eq!(long.status, 414);
}

#[test]
fn boards_lines_replies_and_random_positions_agree_with_each_other() {
    let folder = scratch();
    let server = Server::start(folder.path(), &["--layers", "3,4", "--spot-pieces", "28"]);
    let boards = server.get("/v1/boards").json()["boards"].as_array().unwrap().clone();
    let names: Vec<String> =
        boards.iter().map(|one| format!("{} {}", one["board"], one["rule"]).replace('"', "")).collect();
    let expected = ["triangle:3", "triangle:4", "triangle:9"]
        .map(|board| ["normal", "misere"].map(|rule| format!("{board} {rule}")));
    assert_eq!(names, expected.concat());
    for one in &boards[..4] {
        let (board, rule) = (one["board"].as_str().unwrap(), one["rule"].as_str().unwrap());
        let line = server.get(&format!("/v1/mainline?{}", query(board, rule, one["start"].as_str().unwrap()))).json();
        assert_eq!(line["complete"], true);
        for step in line["moves"].as_array().unwrap() {
            let position = step["position"].as_str().unwrap();
            let here = server.get(&format!("/v1/position?{}", query(board, rule, position))).json();
            assert_eq!(here["value"], step["value"]);
            let reply = server.get(&format!("/v1/reply?{}", query(board, rule, position))).json();
            let moves = here["moves"].as_array().unwrap();
            let chosen = moves.iter().find(|one| one["cells"] == reply["move"]["cells"]).unwrap();
            assert_eq!((&chosen["child"], &chosen["value"]), (&reply["move"]["child"], &reply["move"]["value"]));
            assert_eq!(reply["move"]["guess"], false);
            // Perfect play never gives a won game away.
            assert_eq!(here["value"] == "win", chosen["value"] == "loss");
        }
        assert_eq!(server.get(&format!("/v1/reply?{}", query(board, rule, "0"))).json()["move"], Value::Null);
        // So many pieces are lost if no two are adjacent, and won if they are on a line.
        let pieces = if rule == "misere" { 3 } else { 2 };
        for value in ["win", "loss"] {
            let path = format!("/v1/random?board={board}&rule={rule}&pieces={pieces}&value={value}");
            let drawn = server.get(&format!("{path}&seed=8")).json();
            assert_eq!(drawn["value"], value);
            assert_eq!(drawn["position"].as_str().unwrap().matches('1').count(), pieces);
            assert_eq!(drawn, server.get(&format!("{path}&seed=8")).json());
        }
    }
    // The book does not have 36 pieces, and with this option they are not solved.
    let dark = "1/11/111/1111/11111/111111/1111111/11111111/000000000";
    let reply = server.get(&format!("/v1/reply?{}", query("triangle:9", "misere", dark))).json();
    assert_eq!((&reply["move"]["value"], &reply["move"]["guess"]), (&Value::Null, &true.into()));
    let many: BTreeSet<String> = (0..20).map(|_| text(&server.get("/v1/random?board=triangle:4").body)).collect();
    assert!(many.len() > 5, "{}", many.len());
    assert_eq!(server.get("/v1/random?board=triangle:4&pieces=11").status, 404);
    for wins in [0, 1, 2] {
        let drawn = server.get(&format!("/v1/random?board=triangle:4&wins={wins}&seed=6")).json();
        let winning = drawn["moves"].as_array().unwrap().iter().filter(|taken| taken["value"] == "loss").count();
        assert_eq!((winning, drawn["value"] == "loss"), (wins, wins == 0), "{drawn}");
    }
    assert_eq!(server.get("/v1/random?board=triangle:4&wins=1&value=loss").status, 404);
    assert_eq!(server.get("/v1/random?board=triangle:4&wins=one").status, 400);
    // A book has nearly full boards, and a draw finds one.
    assert_eq!(server.get("/v1/random?board=triangle:9&seed=4").status, 200);
    assert_eq!(server.get("/v1/random?board=triangle:9&seed=4&pieces=10&value=loss").status, 200);
    assert_eq!(server.get("/v1/random?board=triangle:9&seed=4&pieces=30").status, 404);
}

/// Every file that the page names exists, and none is elsewhere.
#[test]
fn the_page_needs_nothing_from_elsewhere() {
    let folder = scratch();
    let server = Server::start(folder.path(), &["--layers", "4"]);
    let (mut open, mut seen) = (vec!["/".to_owned()], BTreeSet::new());
    while let Some(path) = open.pop().filter(|path| seen.insert(path.clone())) {
        let file = server.get(&path);
        assert_eq!(file.status, 200, "{path}");
        let policy = file.header("content-security-policy");
        assert!(
            path.starts_with("/v1/") || policy.is_some_and(|policy| policy.contains("default-src 'self'")),
            "{path}"
        );
        let text = text(&file.body);
        if !path.starts_with("/v1/") {
            let elsewhere = text.replace("http://www.w3.org/2000/svg", "").replace("url(#", "");
            assert!(!elsewhere.contains("://") && !elsewhere.contains("url("), "{path}");
        }
        // Addresses are relative, so that the page works below any path.
        let is_file = |part: &&str| [".js", ".css", ".svg", ".json"].iter().any(|end| part.ends_with(end));
        let named = text.split(['"', '\'']).filter(is_file).filter(|part| !part.contains(' ') && part.len() < 40);
        for part in named {
            assert!(!part.starts_with('/') || path.starts_with("/v1/"), "{path}: {part}");
            open.push(format!("/{}", part.trim_start_matches("./").trim_start_matches('/')));
        }
        // Clients need not fetch it again, but must ask whether it has changed.
        let tag = file.header("etag").unwrap().replace("w/", "W/");
        let again = server.ask("GET", &path, &format!("if-none-match: {tag}\r\n"), b"");
        assert_eq!(again.status, 304, "{path}");
        open.retain(|path| !seen.contains(path));
    }
    let files = seen.iter().filter(|path| !path.starts_with("/v1/")).count();
    assert_eq!(files, 11, "{seen:?}");
}

/// The answers of a database of nimbers have them, and other tags than those of wins and losses.
#[test]
fn nimbers_are_answered_where_they_are_known() {
    let folder = scratch();
    let path = folder.path();
    triangle(4, Rule::Normal).values(Values::Nimbers).run(&path.join("nimbers")).unwrap();
    triangle(4, Rule::Normal).run(&path.join("outcomes")).unwrap();
    let asked = format!("/v1/position?{}", query("triangle:4", "normal", "0x2ff"));
    let (known, plain) = (Server::start(path, &["nimbers"]), Server::start(path, &["outcomes"]));
    let (with, without) = (known.get(&asked), plain.get(&asked));
    let board = Board::triangle(4, None).unwrap();
    let probed = Oracle::new(&board, Rule::Normal, Some(&path.join("nimbers"))).probed(0x2ff);
    assert_eq!((&with.json()["nimber"], &with.json()["moves"]), (&probed["nimber"], &probed["moves"]));
    assert!(probed["nimber"].is_number() && without.json()["nimber"].is_null());
    assert_eq!(with.json()["value"], without.json()["value"]);
    assert_ne!(with.header("etag"), without.header("etag"));
}
