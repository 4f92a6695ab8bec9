// The service, asked with the token of this tab. A snapshot that has not changed is not sent again.

const KEY = "graphbrain-token";
const kept = new Map();

export const token = () => sessionStorage.getItem(KEY) ?? "";
export const keep = (text) => (text ? sessionStorage.setItem(KEY, text) : sessionStorage.removeItem(KEY));

/** What the service says when it does not do what was asked. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function send(method, path, { query = {}, body, headers = {}, signal } = {}) {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const address = `/v1/${path}${given.length ? `?${new URLSearchParams(given)}` : ""}`;
  const sent = { ...headers };
  if (token()) sent.Authorization = `Bearer ${token()}`;
  if (body !== undefined) sent["Content-Type"] = "application/json";
  let answer;
  try {
    answer = await fetch(address, {
      method, headers: sent, signal, cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer",
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "The service does not answer; is 'graphbrain serve' running?");
  }
  if (answer.ok || answer.status === 304) return answer;
  const told = await answer.json().catch(() => null);
  throw new Refused(answer.status, told?.error?.message ?? `The service answered ${answer.status}.`);
}

export const get = async (path, query, signal) => (await send("GET", path, { query, signal })).json();
export const post = async (path, body) => (await send("POST", path, { body })).json();
export const text = async (path, query) => (await send("GET", path, { query })).text();

export const lines = async (path, query, signal) => {
  const found = (await (await send("GET", path, { query, signal })).text()).split("\n").filter(Boolean).map((line) => JSON.parse(line));
  const last = found.at(-1);
  if (last && typeof last.error === "object" && last.error !== null && "request_id" in last.error) {
    throw new Refused(503, last.error.message);
  }
  return found;
};

/** The first snapshot is not made yet; `progress`: the part of it that is, or null. */
export class Pending extends Error {
  constructor(progress) {
    super("being made");
    this.progress = progress;
  }
}

/** A snapshot, and whether it is another one than the last time. Throws Pending where there is none yet. */
export async function watch(path, query = {}, signal) {
  const name = `${path}?${new URLSearchParams(query)}`;
  const before = kept.get(name);
  const answer = await send("GET", `watch/${path}`, { query, signal, headers: before ? { "If-None-Match": before.tag } : {} });
  if (answer.status === 304) return { ...before.told, fresh: false };
  const told = await answer.json();
  if (told.data === null) throw new Pending(told.progress);
  kept.set(name, { tag: answer.headers.get("ETag"), told });
  if (kept.size > 50) kept.delete(kept.keys().next().value);
  return { ...told, fresh: true };
}
