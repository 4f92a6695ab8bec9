// A polite crawler on a graphbrain service. node crawler.mjs; it needs nothing but Node 20 or later.
//
// GRAPHBRAIN_SERVICE_URL and GRAPHBRAIN_SERVICE_TOKEN say where; http_proxy is obeyed for pages.
// The brain keeps the delays: whatever it hands out may be fetched at once. It also hands out the robots.txt and the
// sitemaps of hosts, which are fetched and reported as pages are; it reads and obeys them itself.
import { randomUUID } from "node:crypto";
import http from "node:http";
import https from "node:https";
import { gzipSync } from "node:zlib";

const { GRAPHBRAIN_SERVICE_URL: service, GRAPHBRAIN_SERVICE_TOKEN: token, http_proxy: proxy } = process.env;
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
let said = ""; // the last sentence about a wait, which is said once
const say = (sentence) => sentence === said || console.error((said = sentence));
// The crawl has ended when nothing can be claimed for so many seconds; pages that have failed and will be tried again do
// not count. A page that another crawler holds is waited for, because it may bring links.
const patience = 60;
// Bytes that are reported; ten pages go into one request, which may have 16 MB. Sitemaps are packed.
const longest = { page: 1 << 20, robots: 1 << 20, sitemap: 50 << 20 };
const kinds = ["page", "robots", "sitemap"];
const LINK = /<a\s[^>]*href\s*=\s*["']?([^"'\s>]+)/gi;

/** Calls a verb. What may succeed later is sent again by the same key, so that nothing is done twice. */
async function post(verb, body) {
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json", "Idempotency-Key": randomUUID() };
  for (let ms = 100; ; ms = Math.min(2 * ms, 10_000)) {
    let told;
    try {
      told = await (await fetch(`${service}/v1/${verb}`, { method: "POST", headers, body: JSON.stringify(body) })).json();
    } catch (error) {
      say(`${service} does not answer (${error.cause?.message ?? error.message}); it is asked again.`);
      await pause(ms);
      continue;
    }
    if (!told.error) return told;
    if (!told.error.try_again) throw new Error(`${verb}: ${told.error.message}`);
    await pause(ms);
  }
}

/** What is claimed; a page has no kind. */
const kindOf = (claim) => claim.kind ?? "page";

/** One GET, by the proxy if there is one. No redirect is followed: the brain knows when it is the turn of its host. */
function get({ url, etag, last_modified }, most) {
  const target = new URL(url);
  const by = proxy && target.protocol === "http:" ? new URL(proxy) : target;
  const path = by === target ? target.pathname + target.search : url;
  const headers = { Host: target.host, "User-Agent": "graphbrain-example" };
  if (etag) headers["If-None-Match"] = etag; // what has not changed since the last visit is not sent again
  if (last_modified) headers["If-Modified-Since"] = last_modified;
  const options = { host: by.hostname, port: by.port, path, headers, signal: AbortSignal.timeout(30_000) };
  return new Promise((done, fail) => {
    const client = target.protocol === "https:" ? https : http;
    const request = client.get(options, (answer) => {
      const parts = [];
      answer.on("data", (part) => parts.push(part)).on("error", fail);
      const body = () => Buffer.concat(parts).subarray(0, most);
      answer.on("end", () => done({ status: answer.statusCode, headers: answer.headers, body: body() }));
    });
    request.on("error", fail);
  });
}

/** Fetches one page and makes a report of it. */
async function visit(claim) {
  const report = { url: claim.url, claim };
  try {
    const { status, headers, body } = await get(claim, longest[kindOf(claim)]);
    Object.assign(report, { status, content_type: headers["content-type"] });
    if (status === 304) return { ...report, not_modified: true };
    if (status >= 400) return { ...report, failed: true, retry_after: headers["retry-after"] };
    if (status >= 300) return { ...report, redirected_to: headers.location };
    report.body_base64 = (kindOf(claim) === "sitemap" ? gzipSync(body) : body).toString("base64");
    if (kindOf(claim) === "robots") return report;
    Object.assign(report, { etag: headers.etag, last_modified: headers["last-modified"] });
    if (kindOf(claim) === "sitemap") return report;
    const found = [...body.toString().matchAll(LINK)].map((match) => match[1].replaceAll("&amp;", "&"));
    report.links = found.filter((to) => URL.canParse(to, claim.url)).map((to) => new URL(to, claim.url).href);
  } catch (error) {
    const code = String(error.code); // HPE_: what the host has answered is no HTTP, or has too many headers
    report.fault = code.startsWith("HPE_") ? "not_understood" : code === "ERR_INVALID_URL" ? "not_sent" : "silent";
    report.error = String(error.message);
  }
  return report;
}

/** Ends with a sentence, not with a stack. */
function end(sentence, code = 1) {
  console.error(sentence);
  process.exit(code);
}

// Ctrl-C: what is claimed, or is just being claimed, goes back; a second one ends at once.
const stopped = new Promise((done) => process.once("SIGINT", () => done(true)));

/** Gives pages back, else nobody may fetch them for five minutes, and ends. */
async function giveBack(claims) {
  if (claims.length) await post("give_back", { claims });
  end(`Stopped: ${claims.length} pages are given back.`, 130);
}

async function crawl() {
  for (let pages = 0; ; ) {
    const answer = await post("next_urls", { n: 10, wait: 10, kinds });
    const { claims, next_ready, next_unfailed, next_because, paused, now } = answer;
    if (paused) {
      say("The brain is paused: nothing is handed out until 'graphbrain resume'.");
      if (await Promise.race([stopped, pause(1_000)])) await giveBack([]); // a second, for a service that does not wait
      continue;
    }
    said = "";
    const isLate = next_unfailed > now + patience && next_because !== "lease";
    if (!claims.length && (next_unfailed === null || isLate)) {
      console.log(pages, "pages");
      if (next_ready) console.log("The next one may be fetched from", new Date(1000 * next_ready).toLocaleString(), "on.");
      if (!pages) end("Nothing was fetched: no page waits for this crawler now.");
      return;
    }
    const reports = await Promise.race([stopped, Promise.all(claims.map(visit))]);
    if (reports === true) await giveBack(claims);
    const { answers } = await post("report", { reports });
    for (const { url, reason } of answers.filter((answer) => !answer.accepted)) console.error(`${url}: ${reason}`);
    pages += claims.filter((claim) => kindOf(claim) === "page").length;
    if (claims.length) console.log(pages, "pages so far");
  }
}

if (!service || !token) end("Set GRAPHBRAIN_SERVICE_URL and GRAPHBRAIN_SERVICE_TOKEN: see docs/tutorials/http.md.");
await crawl().catch((error) => end(error.message));
process.exit(0);
