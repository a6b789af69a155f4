// @ts-check
// A year of a hub in minutes: `node soak/year.mjs [--days 365] [--sessions 200000] [--kills 100] [--seed N]`. Each day makes
// its share of sessions, ends most of them and prunes those; backups are made in between, and the hub is killed at moments
// that follow from the seed. The last third of the year has no kills, so that one process shows how its memory grows; there the hub
// prunes by itself, as its settings say, and compresses what is kept. Prints a table, and fails when a promise was broken or a
// bound is passed.

import { rmSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { parseArgs } from "node:util"
import { HubUnderTest } from "./hub-under-test.mjs"
import { Ledger } from "./ledger.mjs"
import { liveOneSession } from "./one-session.mjs"

const MAX_GROWTH_MB_PER_DAY = 1
/**
 * The room that purged sessions take for ever: their audit (made, stopped, purged, and a token given and revoked) and, of each third
 * one, a decision. 2.1 were measured. The tokens themselves would be 0.65 more.
 */
const MAX_MB_PER_1000_PURGED = 2.4
/** In the database when all is over: a turn or two, compressed; and an empty database. */
const MAX_LEFT_MB = { empty: 1, perKept: 0.04 }
/** With the search index, and before it is compressed. */
const MAX_MB_PER_KEPT = 0.2
/** The write-ahead log alone may take 128. */
const BASE_MB = 256
/** A slope of fewer days than this is noise. */
const DAYS_FOR_A_SLOPE = 20
const AT_ONCE = 16
/** The hub's own clock: soak/fast-clock.mjs. */
const DAY_MS = 2_000
const PURGE_MS = 300_000
const BACKUPS = 12
/** A hub that runs for so long has begun to prune by itself and to compress; a short year has none. */
const SETTLED_MS = 90_000
const NEEDED = ["prune", "backup", "restore"]

const { values } = parseArgs({
  options: {
    days: { type: "string", default: "365" },
    sessions: { type: "string", default: "200000" },
    kills: { type: "string", default: "100" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
})
const days = Number(values.days)
const sessions = Number(values.sessions)
const kills = Number(values.kills)
const seed = Number(values.seed)
if (!(days >= 3 && sessions >= days && kills >= 0 && seed >= 0)) {
  process.stderr.write("Give at least 3 days, and a session for each day.\n")
  process.exit(2)
}

const hub = new HubUnderTest()
const ledger = new Ledger()
const perDay = Math.ceil(sessions / days)
/** One of a hundred, and a few of a short year too. */
const keptShare = Math.max(0.01, 20 / sessions)
/** From this day on nothing is killed. */
const quietFrom = Math.ceil((days * 2) / 3)
const memory = /** @type {[day: number, mb: number][]} */ ([])
let largestMb = 0
/** The database's pages in use when all that was to be pruned is gone. */
let leftMb = 0
let backups = 0
/** Days on which the hub pruned by itself. */
let automaticDays = 0
/** A backup that is restored at the end, and how many sessions were kept when it was begun. @type {{ file: string, kept: number } | undefined} */
let middle
const startedAt = Date.now()

/** @param {number} start @returns {() => number} from 0 to 1, the same for the same start */
function seeded(start) {
  let state = (start * 2_654_435_761) >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** When the hub is killed: so many sessions of a day were begun; all of them: while it prunes. */
const killMoments = new Map(Array.from({ length: days }, (_, day) => [day, /** @type {number[]} */ ([])]))
const choose = seeded(seed)
const withKills = Array.from({ length: quietFrom }, (_, day) => ({ day, rank: choose() })).toSorted(
  (one, other) => one.rank - other.rank,
)
for (let kill = 0; kill < kills; kill += 1)
  killMoments.get(withKills[kill % quietFrom]?.day ?? 0)?.push(choose() < 0.25 ? perDay : Math.floor(choose() * perDay))

/** @param {number} day */
async function liveOneDay(day) {
  const moments = killMoments.get(day) ?? []
  const killsAt = (/** @type {number} */ moment) => moments.filter((each) => each === moment).length
  const isBackupDay = day % Math.max(1, Math.floor(days / BACKUPS)) === 0
  let begun = 0
  const kept = ledger.kept.size
  const beside = isBackupDay ? backUp(day, kept) : undefined
  const work = async () => {
    while (begun < perDay) {
      const index = begun
      begun += 1
      for (let left = killsAt(index); left > 0; left -= 1) killNow()
      await liveOneSession({ hub, ledger, keptShare, random: seeded(seed * 1_000_003 + day * perDay + index) })
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  await beside
  await hub.isBack()
  if (day === quietFrom) {
    const settings = await hub.must("GET", "/api/settings")
    await hub.must("PUT", "/api/settings", { ...settings, retention: { olderThan: "1d" } })
  }
  if (day >= quietFrom && isSettled()) await isPrunedByItself()
  else await prune(killsAt(perDay))
  largestMb = Math.max(largestMb, hub.sizeMb())
  if (day < quietFrom) return
  await pause(300)
  memory.push([day, hub.memoryMb()])
}

function killNow() {
  hub.kill().catch((error) => ledger.require(false, () => `the hub did not come back from a kill: ${String(error)}`))
}

/** Under load. One that the hub's end cuts off is begun again. @param {number} day @param {number} kept */
async function backUp(day, kept) {
  const file = join(hub.base, `day-${day}.backup`)
  await insistOn("backup", file)
  backups += 1
  // The last backup of the year's first half is kept, to be restored in the end.
  const old = day <= days / 2 ? middle?.file : file
  if (day <= days / 2) middle = { file, kept }
  if (old !== undefined) rmSync(old, { force: true })
}

/** In the last third of a long year. */
function isSettled() {
  return automaticDays > 0 || (hub.kills === kills && Date.now() - hub.startedAt > SETTLED_MS)
}

/** Sessions that are due are gone without anybody asking for it. */
async function isPrunedByItself() {
  const before = Date.now() - DAY_MS - 1_000
  const deadline = Date.now() + PURGE_MS
  const [newest] = [...ledger.ended].filter(([, at]) => at < before).at(-1) ?? ["nobody"]
  while ((await hub.call("GET", `/api/sessions/${newest}`)).status !== 404) {
    if (Date.now() > deadline) throw new Error(`the hub did not prune by itself within ${PURGE_MS} ms`)
    await pause(50)
  }
  await isPurged()
  await ledger.checkPruned(hub, before, 5)
  automaticDays += 1
}

/** A hub that is killed begins its prune again a minute later: the same prune again is faster. @param {number} times it is killed */
async function prune(times) {
  const before = Date.now() - DAY_MS - 1_000
  const kill = async () => {
    for (let left = times; left > 0; left -= 1) {
      await pause(300 + choose() * 1_200)
      await hub.kill()
    }
  }
  const killed = kill()
  for (let isDone = false; !isDone; ) {
    const killsBefore = hub.kills
    await insistOn("prune", "--older-than", "1d", "--state", "ended", "--json")
    await isPurged()
    await killed
    isDone = hub.kills === killsBefore
  }
  await ledger.checkPruned(hub, before, 5)
}

/** The hub deletes in the background. */
async function isPurged() {
  const deadline = Date.now() + PURGE_MS
  while ((await hub.must("GET", "/api/store"))["purging"] > 0) {
    if (Date.now() > deadline) throw new Error(`a prune is not done after ${PURGE_MS} ms`)
    await pause(50)
  }
}

/** A command that fails because the hub was killed under it is given again; one that fails without a kill has failed. @param {string[]} words */
async function insistOn(...words) {
  for (;;) {
    const killsBefore = hub.kills
    try {
      return await hub.run(...words, "--data", hub.data)
    } catch (error) {
      await hub.must("GET", "/healthz")
      if (hub.kills === killsBefore) throw error
    }
  }
}

/** Least squares. @param {readonly (readonly [number, number])[]} points */
function slopeOf(points) {
  const mean = (/** @type {number[]} */ numbers) => numbers.reduce((sum, each) => sum + each, 0) / numbers.length
  const [x, y] = [mean(points.map(([at]) => at)), mean(points.map(([, mb]) => mb))]
  const spread = points.reduce((sum, [at]) => sum + (at - x) ** 2, 0)
  return spread === 0 ? 0 : points.reduce((sum, [at, mb]) => sum + (at - x) * (mb - y), 0) / spread
}

/** A backup is another hub's data: all that was kept when it was begun is in it, and the tokens still sign in. */
async function checkBackup() {
  if (middle === undefined) return ledger.require(false, () => "no backup was made in the first half of the year")
  const data = join(hub.base, "restored")
  await hub.run("restore", middle.file, "--data", data)
  const restored = new HubUnderTest(data)
  await restored.start()
  try {
    ledger.require(await restored.accepts(hub.token), () => "the admin's token is not valid in the restored backup")
    await ledger.checkKept(restored, middle.kept)
  } finally {
    await restored.dispose()
  }
}

function checkBounds() {
  const purgedMb = (ledger.pruned / 1000) * MAX_MB_PER_1000_PURGED
  const leftLimitMb = MAX_LEFT_MB.empty + ledger.kept.size * MAX_LEFT_MB.perKept + purgedMb
  const limitMb = BASE_MB + ledger.kept.size * MAX_MB_PER_KEPT + purgedMb
  ledger.require(
    leftMb <= leftLimitMb,
    () => `the database is left with ${leftMb.toFixed(1)} MB, and ${leftLimitMb.toFixed(1)} are allowed`,
  )
  ledger.require(
    largestMb <= limitMb,
    () => `the data took ${largestMb.toFixed(0)} MB, and ${limitMb.toFixed(0)} are allowed`,
  )
  const [growth, starts] = [
    slopeOf(memory),
    slopeOf(hub.startsMb.map((mb, at) => /** @type {const} */ ([(at * days) / hub.startsMb.length, mb]))),
  ]
  for (const [name, points, slope] of /** @type {const} */ ([
    ["memory", memory, growth],
    ["memory at start", hub.startsMb, starts],
  ]))
    ledger.require(
      points.length < DAYS_FOR_A_SLOPE || slope < MAX_GROWTH_MB_PER_DAY,
      () => `${name} grows by ${slope.toFixed(2)} MB a day`,
    )
  const judged = (/** @type {number} */ count) =>
    count < DAYS_FOR_A_SLOPE ? ` (not judged: ${count} of ${DAYS_FOR_A_SLOPE} points)` : ""
  return {
    "database in the end": `${leftMb.toFixed(1)} MB of ${leftLimitMb.toFixed(1)}`,
    "data at its largest": `${largestMb.toFixed(1)} MB of ${limitMb.toFixed(0)}`,
    "memory, a day": `${growth.toFixed(3)} MB${judged(memory.length)}`,
    "memory at start, a day": `${starts.toFixed(3)} MB${judged(hub.startsMb.length)}`,
  }
}

// Stopping the year stops its hub too.
for (const signal of ["SIGINT", "SIGTERM"])
  process.once(signal, () => void hub.dispose().finally(() => process.exit(1)))
process.stderr.write(`soak: ${days} days, ${sessions} sessions, ${kills} kills, seed ${seed}\n`)
try {
  const help = await hub.run("--help")
  const missing = NEEDED.filter((word) => !new RegExp(`^ +${word}\\b`, "m").test(help))
  if (missing.length > 0) throw new Error(`this signalbox has no ${missing.join(", ")}: a year cannot be lived without`)
  await hub.start()
  for (let day = 0; day < days; day += 1) {
    await liveOneDay(day)
    if (process.stderr.isTTY) process.stderr.write(`\rday ${day + 1}, ${ledger.created} sessions, ${hub.kills} kills `)
  }
  await pause(2 * DAY_MS)
  await prune(0)
  await ledger.checkList(hub)
  const { bytes, freeBytes } = await hub.must("GET", "/api/store")
  leftMb = (bytes - freeBytes) / 1024 / 1024
  ledger.require(hub.kills === kills, () => `${hub.kills} kills happened, and ${kills} were asked for`)
  const [, compressed] = /form="compressed"\} (\d+)/.exec(await hub.metrics()) ?? []
  const isLong = automaticDays > 0 || Date.now() - hub.startedAt > 2 * SETTLED_MS
  ledger.require(!isLong || automaticDays > 0, () => "the hub never pruned by itself")
  ledger.require(!isLong || Number(compressed) > 0, () => "nothing was compressed")
  await ledger.checkKept(hub)
  await hub.kill()
  await ledger.checkKept(hub)
  await checkBackup()
} catch (error) {
  ledger.violations.push(error instanceof Error ? (error.stack ?? error.message) : String(error))
}
const counts = { sessions: ledger.created, kept: ledger.kept.size, pruned: ledger.pruned, kills: hub.kills }
const more = {
  messages: ledger.messages,
  asks: ledger.asks,
  backups,
  "days it pruned itself": automaticDays,
  minutes: Math.round((Date.now() - startedAt) / 6000) / 10,
}
const bounds = ledger.violations.length > 0 && memory.length === 0 ? {} : checkBounds()
for (const [name, value] of Object.entries({ ...counts, ...more, ...bounds, seed }))
  process.stdout.write(`${name.padEnd(24)}${value}\n`)
for (const violation of ledger.violations) process.stdout.write(`BROKEN: ${violation}\n`)
await hub.dispose()
process.stdout.write(
  ledger.violations.length === 0 ? "The year held.\n" : `${ledger.violations.length} promises were broken.\n`,
)
process.exitCode = ledger.violations.length === 0 ? 0 : 1
