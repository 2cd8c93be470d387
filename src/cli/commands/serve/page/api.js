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

function addressOf(path, parameters) {
  const query = new URLSearchParams(parameters).toString();
  return new URL(query ? `${path}?${query}` : path, import.meta.url).href;
}

/** Asks for a path with parameters; rejects with the reason that the server gives. */
export function ask(path, parameters = {}) {
  const url = addressOf(path, parameters);
  return stored(url, () => fetched(url, {}, (response) => response.json()));
}

/** Asks for many positions of a board in one request: their answers, null where none is known. */
export function askAll(parameters, positions) {
  const url = addressOf("v1/positions", parameters);
  const body = positions.join("\n");
  const options = { method: "POST", headers: { "content-type": "text/plain" }, body };
  const read = async (response) => (await response.text()).trim().split("\n").map(JSON.parse);
  return stored(`${url} ${body}`, async () => {
    const answers = await fetched(url, options, read);
    return answers.map((answer) => (answer.error ? null : answer));
  });
}

function stored(key, make) {
  if (!known.has(key)) {
    if (known.size >= MOST) known.delete(known.keys().next().value);
    const answer = make();
    known.set(key, answer);
    // A failure may be over the next time.
    answer.catch(() => known.delete(key));
  }
  return known.get(key);
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

async function fetched(url, options, read) {
  const begun = visit;
  let waits = false;
  try {
    for (;;) {
      const found = await response(url, options);
      if (found.status === 202) {
        waits = true;
        if (visit === begun) tell((await found.json()).done);
        await pause(AGAIN);
        if (visit === begun) continue;
        throw Object.assign(new Error("Not solved: it was stopped."), { unknown: true });
      }
      if (!found.ok) {
        const { detail } = await found.json().catch(() => ({}));
        const error = new Error(detail || `The server answers ${found.status}.`);
        throw Object.assign(error, { unknown: found.status === 404 });
      }
      return await read(found);
    }
  } finally {
    if (waits) tell();
  }
}
