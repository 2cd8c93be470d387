// Questions to the server, relative to this file. Answers never change, so each is asked for once.

const known = new Map();
const MOST = 500;
/** Between two questions about what is being solved, in ms. */
const AGAIN = 500;
/** Before the same question is asked again after a failure, in ms. */
const RETRIES = [500, 1000, 2000];

/** Grows when the page no longer waits for what is being solved. */
let visit = 0;
let tell = () => {};

const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

/**
 * Calls `told` with the share that is done, null behind another position, while an answer is
 * solved; then without.
 */
export function onProgress(told) { tell = told; }

/** Leaves what is being solved: questions that wait for it are rejected. */
export function leave() {
  visit += 1;
  tell();
}

/** Asks for a path with parameters, or about positions; rejects with the reason that the server gives. */
export function ask(path, parameters = {}, positions = null) {
  const query = new URLSearchParams(parameters).toString();
  const url = new URL(query ? `${path}?${query}` : path, import.meta.url).href;
  const body = positions?.join("\n");
  const key = `${url} ${body}`;
  if (!known.has(key)) {
    if (known.size >= MOST) known.delete(known.keys().next().value);
    const answer = answered(url, positions && { method: "POST", headers: { "content-type": "text/plain" }, body });
    known.set(key, answer);
    // A failure may be over the next time.
    answer.catch(() => known.delete(key));
  }
  return known.get(key);
}

/** Asks for many positions of a board in one request: their answers, null where none is known. */
export async function askAll(parameters, positions) {
  return (await ask("v1/positions", parameters, positions)).map((answer) => (answer.error ? null : answer));
}

/** One answer of the server, asked for again while it is lost or the server is too busy. */
async function response(url, options) {
  for (let failures = 0; ; failures += 1) {
    const found = await fetch(url, options).catch(() => null);
    if (found && found.status < 500) return found;
    if (failures === RETRIES.length) {
      const reason = found ? `The server answers ${found.status}.` : "No answer from the server.";
      throw Object.assign(new Error(reason), { lost: true });
    }
    await pause(RETRIES[failures]);
  }
}

/** What an answer says, once it is solved: a value, or of many positions one a line. */
async function answered(url, options) {
  const begun = visit;
  let found = await response(url, options ?? {});
  const waits = found.status === 202;
  try {
    while (found.status === 202) {
      const { done } = await found.json();
      if (visit === begun) tell(done);
      await pause(AGAIN);
      if (visit !== begun) throw Object.assign(new Error("Not solved: it was stopped."), { unknown: true });
      found = await response(url, options ?? {});
    }
  } finally {
    if (waits) tell();
  }
  if (found.ok) return options ? (await found.text()).trim().split("\n").map(JSON.parse) : found.json();
  const { detail } = await found.json().catch(() => ({}));
  throw Object.assign(new Error(detail || `The server answers ${found.status}.`), { unknown: found.status === 404 });
}
