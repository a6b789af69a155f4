import { type EventPage, type EventQuery, HubClientError, type HubEvent } from "@signalbox/client"
import { expect, it } from "vitest"
import { ForkedLog, type SessionAt } from "../../src/transcript/window/forked-log.ts"

interface Kept {
  readonly count: number
  readonly parent?: string
  readonly parentSeq?: number
}

const END = Number.MAX_SAFE_INTEGER
const gone = (id: string) => new HubClientError("session/unknown", `no session ${id}`, { status: 404 })

/** Sessions whose events say which session they belong to, and their number there. */
function sessionsOf(kept: Readonly<Record<string, Kept>>): SessionAt {
  return (id) => ({
    id,
    get: () => {
      const found = kept[id]
      return found === undefined ? Promise.reject(gone(id)) : Promise.resolve(found)
    },
    follow: () => {
      throw new Error("nobody follows here")
    },
    events: (query: EventQuery = {}): Promise<EventPage> => {
      const count = kept[id]?.count ?? 0
      const { before, after, around, limit = 2 } = query
      const all = Array.from({ length: count }, (_, index): HubEvent => {
        const seq = index + 1
        return { seq, at: "", from: "agent", message: { type: "assistant", uuid: `${id}${seq}` } }
      })
      const from =
        after ?? (around === undefined ? Math.max(0, Math.min(before ?? 1, count + 1) - 1 - limit) : around - 1)
      const to = before === undefined ? from + limit : Math.min(before - 1, count)
      return Promise.resolve({ events: all.slice(from, to), firstSeq: 1, lastSeq: count, more: false })
    },
  })
}

async function allOf(log: ForkedLog): Promise<readonly string[]> {
  const page = await log.events({ before: END, limit: 2 })
  const names = page.events.map(nameOf)
  let from = page.events[0]?.seq ?? 0
  for (let pages = 0; pages < 50 && from > page.firstSeq; pages++) {
    const { events } = await log.events({ before: from, limit: 2 })
    // One run without a gap, as of any other log.
    expect(events.at(-1)?.seq).toBe(from - 1)
    names.unshift(...events.map(nameOf))
    from = events[0]?.seq ?? from
  }
  return names
}

function nameOf({ message }: HubEvent): string {
  return String(message["uuid"] ?? message["subtype"])
}

it("[X-122] a fork's history stands before what is its own, page by page, and a note between them", async () => {
  const at = sessionsOf({ fork: { count: 3, parent: "a", parentSeq: 3 }, a: { count: 9 } })
  const log = new ForkedLog("fork", at)
  expect(await allOf(log)).toEqual(["a1", "a2", "a3", "forked", "fork1", "fork2", "fork3"])
  expect(log.addressOf(-1)).toEqual({ session: "a", seq: 3 })
  expect(log.addressOf(-3)).toEqual({ session: "a", seq: 1 })
  expect(log.addressOf(2)).toEqual({ session: "fork", seq: 2 })
})

it("[X-122] a fork of a fork shows both histories, and one that has said nothing yet shows them too", async () => {
  const at = sessionsOf({
    fork: { count: 0, parent: "b", parentSeq: 2 },
    b: { count: 5, parent: "a", parentSeq: 3 },
    a: { count: 7 },
  })
  const log = new ForkedLog("fork", at)
  expect(await allOf(log)).toEqual(["a1", "a2", "a3", "b1", "b2", "forked"])
  expect(log.addressOf(-1)).toEqual({ session: "b", seq: 2 })
  expect(log.addressOf(-3)).toEqual({ session: "a", seq: 3 })
})

it("[X-122] reading on leads out of the history, and the ends are those of all of it", async () => {
  const at = sessionsOf({ fork: { count: 3, parent: "a", parentSeq: 3 }, a: { count: 9 } })
  const log = new ForkedLog("fork", at)
  const page = await log.events({ around: -3, limit: 2 })
  expect(page).toMatchObject({ firstSeq: -3, lastSeq: 3 })
  expect(page.events.map(({ seq }) => seq)).toEqual([-3, -2])
  expect((await log.events({ after: -2, limit: 2 })).events.map(({ seq }) => seq)).toEqual([-1])
  expect((await log.events({ after: -1, limit: 2 })).events.map(({ seq }) => seq)).toEqual([0])
  expect((await log.events({ after: 0, limit: 2 })).events.map(({ seq }) => seq)).toEqual([1, 2])
  expect((await log.events({ after: 3, limit: 2 })).events).toEqual([])
})

it("[X-122] a session that is no fork is read as it is", async () => {
  const log = new ForkedLog("a", sessionsOf({ a: { count: 3 } }))
  expect(await log.events({ before: END, limit: 2 })).toMatchObject({ firstSeq: 1, events: [{ seq: 2 }, { seq: 3 }] })
})

it("[X-122] a fork whose parent is gone shows what is its own", async () => {
  const log = new ForkedLog("fork", sessionsOf({ fork: { count: 2, parent: "gone", parentSeq: 3 } }))
  expect(await log.events({ before: END, limit: 2 })).toMatchObject({ firstSeq: 1, events: [{ seq: 1 }, { seq: 2 }] })
})
