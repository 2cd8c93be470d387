// Questions to the server. Answers never change, so each is asked for once.

const known = new Map();
const MOST = 500;
/** Between two questions about what is being solved, in ms. */
const AGAIN = 500;

/** Grows when the page no longer waits for what is being solved. */
let visit = 0;
let tell = () => {};

/** Calls `told` with the share that is done, null behind another position, while an answer is solved; then without. */
export function onProgress(told) { tell = told; }

/** Leaves what is being solved: questions that wait for it are rejected. */
export function leave() {
  visit += 1;
  tell();
}

function addressOf(path, parameters) {
  const query = new URLSearchParams(parameters).toString();
  return query ? `${path}?${query}` : path;
}

/** Whether this was asked for already. */
export function isAsked(path, parameters) { return known.has(addressOf(path, parameters)); }

/** Asks for a path with parameters; rejects with the reason that the server gives. */
export function ask(path, parameters = {}) {
  const url = addressOf(path, parameters);
  if (!known.has(url)) {
    if (known.size >= MOST) known.delete(known.keys().next().value);
    const answer = fetched(url);
    known.set(url, answer);
    // A failure may be over the next time.
    answer.catch(() => known.delete(url));
  }
  return known.get(url);
}

async function fetched(url) {
  const begun = visit;
  let waits = false;
  try {
    for (;;) {
      const response = await fetch(url).catch(() => { throw new Error("the server does not answer"); });
      const body = await response.json().catch(() => ({}));
      if (response.status === 202 && visit === begun) {
        waits = true;
        tell(body.done);
        await new Promise((done) => { setTimeout(done, AGAIN); });
        if (visit === begun) continue;
      }
      if (response.status === 202) throw Object.assign(new Error("Not solved: it was left."), { unknown: true });
      if (!response.ok) {
        const error = new Error(body.detail || `the server answers ${response.status}`);
        error.unknown = response.status === 404;
        throw error;
      }
      return body;
    }
  } finally {
    if (waits) tell();
  }
}
