// @ts-check
// Everything a hub tells of its data through its public API, in a form that can be kept and compared: with it a fixture says
// what a later release must find.

import { createHash } from "node:crypto"

/** @typedef {{ url: string, token: string }} HubAddress */
/** @typedef {Record<string, any>} Json */

/** Fields that no restart and no upgrade may change. `state` is compared apart: an agent that is gone changes it. */
const SESSION_FIELDS =
  "id title agentSessionId cwd model permissionMode cliVersion archived createdAt turns costUsd tokens pendingAsks parent next lastResult"
const ASK_FIELDS =
  "id sessionId seq kind state requestId request inputHash toolName input askedAt settledAt settledBy via rule answer"

/**
 * @param {HubAddress} hub
 * @param {readonly string[]} words to search for
 * @returns {Promise<Json>}
 */
export async function takeStock(hub, words) {
  const { sessions } = await get(hub, "/api/sessions?limit=500")
  const { asks } = await get(hub, "/api/asks?limit=1000")
  const { tokens } = await get(hub, "/api/tokens")
  const { grants } = await get(hub, "/api/grants")
  const { records } = await get(hub, "/api/audit?limit=1000")
  const { runs } = await get(hub, "/api/runs")
  const { rules } = await get(hub, "/api/policy")
  return {
    sessions: sessions.map((/** @type {Json} */ session) => pick(session, SESSION_FIELDS)).toSorted(byId),
    events: Object.fromEntries(await Promise.all(sessions.map((/** @type {Json} */ { id }) => eventsOf(hub, id)))),
    asks: asks.map((/** @type {Json} */ ask) => shortened(pick(ask, ASK_FIELDS))).toSorted(byId),
    tokens: tokens.toSorted(byId),
    grants: grants.toSorted(byId),
    audit: records.map(shortened),
    runs,
    rules,
    search: Object.fromEntries(await Promise.all(words.map(async (word) => [word, await hitsOf(hub, word)]))),
  }
}

/** The state of each session. @param {HubAddress} hub @returns {Promise<Record<string, string>>} */
export async function statesOf(hub) {
  const { sessions } = await get(hub, "/api/sessions?limit=500")
  return Object.fromEntries(sessions.map((/** @type {Json} */ { id, state }) => [id, state]))
}

/** The places of a word. @param {HubAddress} hub @param {string} word @returns {Promise<string[]>} */
export async function hitsOf(hub, word) {
  const { hits } = await get(hub, `/api/search?q=${encodeURIComponent(word)}&limit=200`)
  return hits.map((/** @type {Json} */ { session, seq, field }) => `${session} ${seq} ${field}`).toSorted()
}

/** The hash of each event of a session, in order: of its number, time, source and message. @param {HubAddress} hub @param {string} id */
async function eventsOf(hub, id) {
  const hashes = []
  for (;;) {
    const { events, more } = await get(hub, `/api/sessions/${id}/events?after=${hashes.length}&limit=500`)
    for (const { seq, at, from, by, message } of events) hashes.push(hashOf([seq, at, from, by ?? null, message]))
    if (more !== true) return [id, hashes]
  }
}

/** @param {HubAddress} hub @param {string} path @returns {Promise<Json>} */
async function get({ url, token }, path) {
  const reply = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } })
  const text = await reply.text()
  if (!reply.ok) throw new Error(`GET ${path}: ${reply.status} ${text.slice(0, 500)}`)
  return JSON.parse(text)
}

/** @param {Json} value @param {string} fields */
function pick(value, fields) {
  const told = fields.split(" ").filter((field) => value[field] !== undefined)
  return Object.fromEntries(told.map((field) => [field, value[field]]))
}

const LONG_CHARS = 2_000

/** Long texts are kept as their hash: the stock is read by people too. @param {unknown} value @returns {any} */
function shortened(value) {
  const isLong = (/** @type {unknown} */ text) => typeof text === "string" && text.length > LONG_CHARS
  return JSON.parse(JSON.stringify(value, (_name, each) => (isLong(each) ? hashOf(each) : each)))
}

/** @param {unknown} value */
function hashOf(value) {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, 22)
}

/** @param {Json} one @param {Json} other */
function byId(one, other) {
  return one["id"] < other["id"] ? -1 : 1
}
