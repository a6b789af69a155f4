// A hub on PostgreSQL against a bare program that writes the same rows in the same batches over one connection, how long lines take
// with many agents beside each other, and how long to a viewer on another hub than the agent.
import { execFile } from "node:child_process"
import { hash, randomUUID } from "node:crypto"
import { rmSync } from "node:fs"
import { createServer } from "node:net"
import { promisify } from "node:util"
import pg from "pg"
import { PostgresServer } from "../scripts/postgres-server.mjs"
import { ensurePostgres } from "../scripts/system-package.mjs"
import { crowdThroughHub } from "./hub-crowd.bench.mjs"
import { call, here, startHub } from "./hub-process.mjs"
import { lineOf } from "./load-parts.mjs"
import { best, figureOf, samplesInTurns } from "./measure.mjs"

/** @typedef {import("./hub-process.mjs").RunningHub} RunningHub */

const runNode = promisify(execFile)
const LINES = 30_000
const ROUNDS = 5
/** An agent that speaks, as the figures of one hub have it. */
const PACED = { mode: "paced", kind: "mixed", lines: 20_000, perSecond: 2_000, viewers: 4 }

/** The columns and indexes that a hub has for an event. */
const TABLES = `
  CREATE TABLE heads (log int PRIMARY KEY, last_seq int NOT NULL);
  INSERT INTO heads VALUES (1, 0);
  CREATE TABLE events (
    id bigint GENERATED ALWAYS AS IDENTITY, log int NOT NULL, seq int NOT NULL, at bigint NOT NULL, origin text NOT NULL,
    by text, key text COLLATE "C", key_id uuid, bytes int NOT NULL, line text COLLATE "C" NOT NULL, PRIMARY KEY (log, seq)
  );
  CREATE UNIQUE INDEX ON events (log, key_id) WHERE key_id IS NOT NULL`
const INSERT = `
  WITH head AS (UPDATE heads SET last_seq = last_seq + $1 WHERE log = 1 RETURNING last_seq - $1 AS base)
  INSERT INTO events (log, seq, at, origin, key, key_id, bytes, line)
  SELECT 1, head.base + n.rank, n.at, 'agent', n.key, n.key_id, n.bytes, n.line
  FROM head, unnest($2::bigint[], $3::text[], $4::uuid[], $5::int[], $6::text[])
    WITH ORDINALITY AS n (at, key, key_id, bytes, line, rank)`

/** A port that is free now. @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once("error", reject)
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })
}

/** Commits so far. @param {RunningHub} hub */
async function commitsOf(hub) {
  const reply = await fetch(`${hub.url}/metrics`, { headers: { authorization: `Bearer ${hub.token}` } })
  return Number(/^signalbox_log_commit_seconds_count (\d+)/m.exec(await reply.text())?.[1] ?? Number.NaN)
}

/** One agent that says as much as it can, and one viewer who sees what is durable. @param {RunningHub} hub */
async function throughHub(hub) {
  const session = await call(hub, "/api/sessions", { agent: "external" })
  const subscribe = JSON.stringify({ op: "subscribe", session: session.id, after: 0 })
  const viewer = { url: `${hub.url.replace("http", "ws")}/api/stream`, token: hub.token, subscribe }
  const load = { mode: "burst", kind: "event", lines: LINES, viewers: 1, agent: session.ingress, viewer }
  const before = await commitsOf(hub)
  const { stdout } = await runNode(process.execPath, [here("./hub-load.mjs"), JSON.stringify(load)])
  return { wallMs: JSON.parse(stdout).wallMs, batch: LINES / ((await commitsOf(hub)) - before) }
}

/** @param {pg.Client} client @param {number} batch */
async function bare(client, batch) {
  await client.query("TRUNCATE events")
  await client.query("UPDATE heads SET last_seq = 0")
  const begun = performance.now()
  for (let done = 0; done < LINES; done += batch) {
    const rows = Array.from({ length: Math.min(batch, LINES - done) }, () => {
      const key = randomUUID()
      return { key, id: hash("sha256", key).slice(0, 32), line: lineOf("event", { session_id: "bare", uuid: key }) }
    })
    const lines = rows.map(({ line }) => line)
    const bytes = lines.map((line) => Buffer.byteLength(line))
    const keys = [rows.map(({ key }) => key), rows.map(({ id }) => id)]
    await client.query({
      name: "insert",
      text: INSERT,
      values: [rows.length, rows.map(() => done), ...keys, bytes, lines],
    })
  }
  return { wallMs: performance.now() - begun }
}

/** @param {PostgresServer} server */
async function throughput(server) {
  const hub = await startHub(undefined, ["--store", await server.createDatabase()])
  const client = new pg.Client({ connectionString: await server.createDatabase() })
  await client.connect()
  await client.query(TABLES)
  const { batch } = await throughHub(hub)
  const size = Math.max(1, Math.round(batch))
  const [ours = [], theirs = []] = await samplesInTurns([() => throughHub(hub), () => bare(client, size)], ROUNDS)
  await client.end()
  await hub.stop()
  rmSync(hub.data, { recursive: true })
  return { ours: LINES / (best(ours, "wallMs") / 1000), theirs: LINES / (best(theirs, "wallMs") / 1000), size }
}

/** A hub among several. @param {string} store */
async function startAmongHubs(store) {
  const port = String(await freePort())
  const place = ["--port", port, "--cluster-url", `http://127.0.0.1:${port}`]
  return startHub(undefined, ["--store", store, ...place])
}

/** Lines of an agent at one hub to viewers at another. @param {RunningHub} at @param {RunningHub} watched */
async function acrossHubs(at, watched) {
  const session = await call(at, "/api/sessions", { agent: "external" })
  const subscribe = JSON.stringify({ op: "subscribe", session: session.id, after: 0 })
  const viewer = { url: `${watched.url.replace("http", "ws")}/api/stream`, token: watched.token, subscribe }
  const load = { ...PACED, agent: session.ingress, viewer }
  const { stdout } = await runNode(process.execPath, [here("./hub-load.mjs"), JSON.stringify(load)])
  const { p50, p99, delivered, wanted } = JSON.parse(stdout)
  if (delivered !== wanted) throw new Error(`${wanted - delivered} lines did not arrive`)
  return { p50, p99 }
}

/** @param {string} store */
async function twoHubs(store) {
  const [at, beside] = [await startAmongHubs(store), await startAmongHubs(store)]
  const [far = [], near = []] = await samplesInTurns([() => acrossHubs(at, beside), () => acrossHubs(at, at)], ROUNDS)
  for (const hub of [at, beside]) {
    await hub.stop()
    rmSync(hub.data, { recursive: true })
  }
  const nearP99 = best(near, "p99")
  return figureOf({
    title: `several hubs, ${PACED.perSecond} lines/s of one agent (1 durable event to 20 deltas) → ${PACED.viewers} viewers on another hub: p99 against 2 × that of the agent's hub + 2 ms`,
    unit: "ms",
    atMost: 1,
    rows: [
      { name: "another hub, p99", value: best(far, "p99") },
      { name: "another hub, p50", value: best(far, "p50") },
      { name: "the agent's hub, p99", value: nearP99 },
      { name: "the agent's hub, p50", value: best(near, "p50") },
      { name: "2 × its p99 + 2", value: 2 * nearP99 + 2 },
    ],
  })
}

export async function figures() {
  if (ensurePostgres() === undefined) return []
  const server = await PostgresServer.start({ port: await freePort() })
  try {
    const { ours, theirs, size } = await throughput(server)
    const [onPostgres, onSqlite] = [
      await crowdThroughHub(["--store", await server.createDatabase()]),
      await crowdThroughHub(),
    ]
    return [
      figureOf({
        title: `hub on PostgreSQL, ${LINES} durable lines of one agent with a viewer, against the same rows in batches of ${size} by a bare program`,
        unit: "",
        atLeast: 0.5,
        rows: [
          { name: "hub, lines/s", value: ours },
          { name: "hub, p99 with 200 agents in ms", value: onPostgres.p99 },
          { name: "hub, p50 with 200 agents in ms", value: onPostgres.p50 },
          { name: "hub on SQLite, p99 of these in ms", value: onSqlite.p99 },
          { name: "bare program, lines/s", value: theirs },
        ],
      }),
      await twoHubs(await server.createDatabase()),
    ]
  } finally {
    await server.dispose()
  }
}
