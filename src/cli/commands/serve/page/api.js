// Questions to the server. Answers never change, so each is asked for once.

const known = new Map();
const MOST = 500;

/** Asks for a path with parameters; rejects with the reason that the server gives. */
export function ask(path, parameters = {}) {
  const query = new URLSearchParams(parameters).toString();
  const url = query ? `${path}?${query}` : path;
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
  let response;
  try {
    response = await fetch(url);
  } catch {
    throw new Error("the server does not answer");
  }
  const body = await response.json().catch(() => ({}));
  if (!response.ok) {
    const error = new Error(body.detail || `the server answers ${response.status}`);
    error.unknown = response.status === 404;
    throw error;
  }
  return body;
}
