// The walk of one permission request: which of our files it passes. A real hub and runner serve a simulated agent that
// asks a few times; V8 counts the calls of every function while it asks and while it is answered, and while nothing
// happens. A file is on the walk if some function of it is called more often than in quiet times, in every round.
//
// `node scripts/trace-request.mjs` prints the walk; `--write` puts it into docs/architecture.md. Needs `npm run build`.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout as delay } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { root } from "./setup.mjs"

/** @typedef {{ file: string, at: number, count: number }} Call */
/** @typedef {Map<string, Call>} Calls */
/** @typedef {{ asked: readonly string[], answered: readonly string[] }} Walk */

const ROUNDS = 3
/** The agent asks once in this time, and says nothing else: each request has its own window, and so have quiet times. */
const PERIOD_MS = 10_000
/** Long enough for everything that happens again and again: heartbeats, samples, reports. */
const QUIET_MS = 20_000
const LOOK_MS = 200
const REQUEST = {
  type: "control_request",
  request_id: "request-{{n}}",
  request: { subtype: "can_use_tool", tool_name: "Bash", input: { command: "make" }, tool_use_id: "toolu_{{n}}" },
}
const SCENARIO = {
  turns: [
    {
      steps: [
        { emit: { ...REQUEST, request_id: "first" } },
        { pause: QUIET_MS + PERIOD_MS },
        { loop: 5 * ROUNDS, steps: [{ emit: REQUEST }, { pause: PERIOD_MS }] },
      ],
    },
  ],
}
/** Rooms in the order in which a request passes them; the simulator stands for `claude`, which is not ours. */
const ROOMS = {
  asked: ["runner", "transport", "hub", "policy", "protocol", "client"],
  answered: ["client", "hub", "policy", "protocol", "transport", "runner"],
}

/** Counts of all processes since the last time. @returns {Promise<Calls>} */
async function take(/** @type {string} */ folder, /** @type {{ number: number }} */ counter) {
  const number = String(++counter.number)
  writeFileSync(join(folder, "take.part"), number)
  renameSync(join(folder, "take.part"), join(folder, "take"))
  /** @type {Calls} */
  const calls = new Map()
  const names = readdirSync(folder).flatMap((file) => /^alive-(.+)$/.exec(file)?.[1] ?? [])
  for (const name of names) {
    const file = join(folder, `calls-${number}-${name}`)
    while (!existsSync(file)) {
      if (!existsSync(join(folder, `alive-${name}`))) break
      await delay(5)
    }
    if (!existsSync(file)) continue
    /** @type {Call[]} */
    const counted = JSON.parse(readFileSync(file, "utf8"))
    for (const call of counted) {
      const key = `${call.file} ${call.at}`
      calls.set(key, { ...call, count: call.count + (calls.get(key)?.count ?? 0) })
    }
    rmSync(file)
  }
  return calls
}

/** Counts until nothing is called any more: what one process passed on, another may still work at. */
async function takeUntilQuiet(/** @type {string} */ folder, /** @type {{ number: number }} */ counter) {
  /** @type {Calls} */
  const all = new Map()
  for (let quiet = 0; quiet < 2; ) {
    const calls = await take(folder, counter)
    for (const [key, call] of calls) all.set(key, { ...call, count: call.count + (all.get(key)?.count ?? 0) })
    quiet = calls.size === 0 ? quiet + 1 : 0
    await delay(LOOK_MS)
  }
  return all
}

/** @param {readonly Calls[]} rounds @param {readonly Calls[]} quiet @param {readonly string[]} rooms */
function passedIn(rounds, quiet, rooms) {
  const usual = (/** @type {string} */ key) => Math.max(0, ...quiet.map((calls) => calls.get(key)?.count ?? 0))
  const [first, ...others] = rounds
  const files = [...(first ?? [])].flatMap(([key, { file, count }]) => {
    const counts = [count, ...others.map((round) => round.get(key)?.count ?? 0)]
    return Math.min(...counts) > usual(key) ? [file] : []
  })
  const roomOf = (/** @type {string} */ file) => rooms.indexOf(file.split("/")[0] ?? "")
  return [...new Set(files)]
    .filter((file) => roomOf(file) >= 0)
    .sort((a, b) => roomOf(a) - roomOf(b) || (a < b ? -1 : 1))
}

/** @returns {Promise<Walk>} */
async function traceRequest() {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-trace-"))
  const scenario = join(folder, "asks.json")
  writeFileSync(scenario, JSON.stringify(SCENARIO))
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    SIGNALBOX_TRACE: folder,
    SIGNALBOX_SIM_SCENARIO: scenario,
    NODE_OPTIONS: `--import=${join(root, "scripts/trace-hook.mjs")}`,
  }
  const signalbox = (/** @type {readonly string[]} */ args) =>
    spawn(process.execPath, [join(root, "packages/cli/bin/signalbox.mjs"), ...args, "--data", join(folder, "data")], {
      stdio: ["ignore", "pipe", "inherit"],
      env,
    })
  const hub = signalbox(["up", "--port", "0", "--json"])
  process.env["SIGNALBOX_TRACE"] = folder
  await import("./trace-hook.mjs")
  try {
    const [line] = await once(createInterface({ input: hub.stdout }), "line")
    return await ask(folder, JSON.parse(line))
  } finally {
    await once(signalbox(["down", "--agents"]), "exit")
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** @param {string} folder @param {{ url: string, token: string }} hubAddress @returns {Promise<Walk>} */
async function ask(folder, { url, token }) {
  const { connectHub } = await import("../packages/client/dist/index.js")
  const client = connectHub({ url, token })
  const counter = { number: 0 }
  /** @type {{ asked: Calls[], answered: Calls[], quiet: Calls[] }} */
  const counts = { asked: [], answered: [], quiet: [] }
  try {
    while ((await client.runners.list()).every(({ connected }) => !connected)) await delay(LOOK_MS)
    const { id } = await client.launch({ agent: "simulator", cwd: folder, prompt: "go" })
    let [isFirst, endedAt] = [true, 0]
    for await (const item of client.session(id).follow({ after: 0 })) {
      if (item.type !== "ask" || item.ask.state !== "pending") continue
      const since = Date.parse(item.ask.askedAt)
      // A request that came while the one before it was still counted has no window of its own.
      const isAlone = endedAt < since
      const asked = await takeUntilQuiet(folder, counter)
      await client.answer(item.ask.id, { behavior: "allow" })
      const answered = await takeUntilQuiet(folder, counter)
      // The first request loads what is loaded late; behind it is a long time in which nothing happens.
      if (isFirst) {
        await delay(QUIET_MS)
        counts.quiet.push(await take(folder, counter))
        if (Date.now() - since > QUIET_MS + PERIOD_MS) break
      } else if (isAlone && Date.now() - since < PERIOD_MS) {
        counts.asked.push(asked)
        counts.answered.push(answered)
      }
      isFirst = false
      endedAt = Date.now()
      if (counts.asked.length === ROUNDS) break
    }
    await client.session(id).stop()
  } finally {
    client.close()
  }
  if (counts.asked.length < ROUNDS) throw new Error("the machine is too busy to tell one request from the next")
  return {
    asked: passedIn(counts.asked, counts.quiet, ROOMS.asked),
    answered: passedIn(counts.answered, counts.quiet, ROOMS.answered),
  }
}

const PAGE = join(root, "docs/architecture.md")
const MARKS = { begin: "<!-- The walk: written by scripts/trace-request.mjs -->", end: "<!-- The walk ends. -->" }

/** Behind these interfaces every line takes the same way, whatever it says: the walk stops there. */
const SEAMS = [/^transport\//, /^hub\/src\/store\//]
const isBehind = (/** @type {string} */ file) => SEAMS.some((seam) => seam.test(file))

/** One line for each folder. @param {readonly string[]} files */
function list(files) {
  /** @type {Map<string, string[]>} */
  const folders = new Map()
  for (const file of files) {
    const folder = dirname(file).replace("/src", "")
    folders.set(folder, [...(folders.get(folder) ?? []), `[${basename(file, ".ts")}](../packages/${file})`])
  }
  return [...folders].map(([folder, links]) => `- \`${folder}\`: ${links.join(", ")}`).join("\n")
}

/** @param {Walk} walk */
function walkText({ asked, answered }) {
  const own = { asked: asked.filter((file) => !isBehind(file)), answered: answered.filter((file) => !isBehind(file)) }
  const all = new Set([...asked, ...answered])
  const count = [...all].filter((file) => !isBehind(file)).length
  return `${MARKS.begin}

One request passes ${count} files, and ${all.size - count} more behind the seams (\`Transport\`, \`EventLog\` and \`Directory\`), where every
line takes the same way.

**The agent asks**

${list(own.asked)}

**Somebody answers**

${list(own.answered)}

${MARKS.end}`
}

/** The walk as the page has it. @param {string} page */
function walkIn(page) {
  return page.slice(page.indexOf(MARKS.begin), page.indexOf(MARKS.end) + MARKS.end.length)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = walkText(await traceRequest())
  if (process.argv.includes("--write")) {
    const page = readFileSync(PAGE, "utf8")
    writeFileSync(
      PAGE,
      page.replace(walkIn(page), () => text),
    )
  } else console.log(text)
}
