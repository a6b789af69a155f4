// @ts-check
// The promises of the hub in the scripted year, written down by whoever it promised it to, and whether it kept it.

import { createHash } from "node:crypto"

/**
 * @import { HubUnderTest, Json } from "./hub-under-test.mjs"
 * @typedef {{ messages: Map<string, number>, asks: Map<string, string>, said: string[], events: string[] }} Kept
 *   a session that is kept: its messages' numbers by `uuid`, how its asks were settled, what its agent said by `uuid`, and
 *   the hash of each event that could be read when the session was over
 */

const PAGE = 500

export class Ledger {
  /** In the order in which they were kept. @type {Map<string, Kept>} */
  kept = new Map()
  /** Sessions to be pruned, and when they ended. @type {Map<string, number>} */
  ended = new Map()
  created = 0
  pruned = 0
  asks = 0
  messages = 0
  /** @type {string[]} */
  violations = []

  /** @param {boolean} holds @param {() => string} what */
  require(holds, what) {
    if (!holds && this.violations.length < 100) this.violations.push(what())
  }

  /** Sessions that ended this long ago must be gone; a sample is looked for. @param {HubUnderTest} hub @param {number} before @param {number} sample */
  async checkPruned(hub, before, sample) {
    const due = [...this.ended].filter(([, at]) => at < before).map(([id]) => id)
    for (const id of due.slice(0, sample)) {
      const paths = [`/api/sessions/${id}`, `/api/sessions/${id}/events`]
      const replies = await Promise.all(paths.map((path) => hub.call("GET", path)))
      const isGone = replies.every(({ status }) => status === 404)
      this.require(isGone, () => `${id} was pruned and is still told: ${JSON.stringify(replies).slice(0, 2_000)}`)
    }
    for (const id of due) this.ended.delete(id)
    this.pruned += due.length
  }

  /** The first of the sessions that are kept, and all that was promised of each. @param {HubUnderTest} hub @param {number} count */
  async checkKept(hub, count = this.kept.size) {
    for (const [id, kept] of [...this.kept].slice(0, count)) await this.#checkOne(hub, id, kept)
  }

  /** Nothing is left but what is kept. @param {HubUnderTest} hub */
  async checkList(hub) {
    const left = new Set()
    let cursor = ""
    do {
      const page = await hub.must(
        "GET",
        `/api/sessions?limit=${PAGE}${cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`}`,
      )
      for (const { id } of page["sessions"]) left.add(id)
      cursor = page["cursor"] ?? ""
    } while (cursor !== "")
    const missing = [...this.kept.keys()].filter((id) => !left.has(id))
    this.require(
      missing.length === 0,
      () => `${missing.length} kept sessions are in no list: ${missing.slice(0, 3).join()}`,
    )
    this.require(left.size === this.kept.size, () => `${left.size} sessions are left, and ${this.kept.size} were kept`)
  }

  /** @param {HubUnderTest} hub @param {string} id @param {Kept} kept */
  async #checkOne(hub, id, kept) {
    const events = await readEvents(hub, id)
    if (events === undefined) return this.require(false, () => `${id} was kept and is gone`)
    this.require(
      events.every(({ seq }, at) => seq === at + 1),
      () => `${id}: its events are not dense`,
    )
    const hashes = events.map(hashOf)
    this.require(
      kept.events.every((hash, at) => hashes[at] === hash),
      () => `${id}: an event is not as it was`,
    )
    const uuids = events.flatMap(({ message }) => message.uuid ?? [])
    this.require(new Set(uuids).size === uuids.length, () => `${id}: something is there twice`)
    for (const [uuid, seq] of kept.messages)
      this.require(events[seq - 1]?.["message"].uuid === uuid, () => `${id}: message ${uuid} was confirmed as ${seq}`)
    const said = uuids.filter((uuid) => kept.said.includes(uuid))
    this.require(said.join() === kept.said.join(), () => `${id}: what its agent said is not there, or in another order`)
    for (const [ask, state] of kept.asks) {
      const { status, body } = await hub.call("GET", `/api/asks/${ask}`)
      this.require(
        status === 200 && body["state"] === state,
        () => `${id}: ask ${ask} was ${state}, is ${body["state"]}`,
      )
    }
  }
}

/** @param {HubUnderTest} hub @param {string} id @returns {Promise<Json[] | undefined>} undefined when there is no such session */
export async function readEvents(hub, id) {
  /** @type {Json[]} */
  const events = []
  for (;;) {
    const { status, body } = await hub.call("GET", `/api/sessions/${id}/events?after=${events.length}&limit=${PAGE}`)
    if (status !== 200) return undefined
    events.push(...body["events"])
    if (body["more"] !== true) return events
  }
}

/** @param {Json} event */
export function hashOf({ seq, at, from, message }) {
  return createHash("sha256")
    .update(JSON.stringify([seq, at, from, message]))
    .digest("base64url")
    .slice(0, 22)
}
