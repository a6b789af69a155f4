import { expect, it } from "vitest"
import type { KeptSession, SessionRecord } from "../model/session-record.ts"
import type { Directory, SessionFilter } from "../store/directory.ts"
import type { DirectorySetup } from "./directory-setup.ts"
import { allowed, keptSession, pendingAsk, waitingMessage } from "./records.ts"

type WithDirectory = (run: (setup: DirectorySetup) => Promise<void>) => Promise<void>

/** Sessions are rows: found by their keys, listed a page at a time, and never all at once. */
export function describeSessionContract(withDirectory: WithDirectory): void {
  it("[DR1] a session is kept whole; the last one saved counts", () =>
    withDirectory(async ({ directory }) => {
      expect(await directory.getSession("a")).toBeUndefined()
      const titles = ["one", "two", "three"]
      await Promise.all(titles.map((title) => directory.saveSession(keptSession("a", { title, state: "running" }))))
      expect(await directory.getSession("a")).toEqual(keptSession("a", { title: "three", state: "running" }))
      const ended = keptSession("a", { state: "ended", exit: { reason: "gone", code: 1, at: at(9) } })
      await directory.saveSession(ended, { synced: true, isAtRest: true })
      expect(await directory.getSession("a")).toEqual(ended)
    }))

  it("[DR12] sessions are listed newest first, a page at a time, and new ones do not shift the pages", () =>
    withDirectory(async ({ directory }) => {
      // Two of one moment: then the greater id is first.
      await save(
        directory,
        [1, 2, 2, 3, 4].map((day, n) => keptSession(`s${n}`, { createdAt: at(day) })),
      )
      expect(await idsOf(directory, { limit: 2 })).toEqual(["s4", "s3"])
      await save(directory, [keptSession("new", { createdAt: at(9) })])
      expect(await idsOf(directory, { limit: 2, before: { pinned: false, createdAt: at(3), id: "s3" } })).toEqual([
        "s2",
        "s1",
      ])
      expect(await idsOf(directory, { limit: 2, before: { pinned: false, createdAt: at(2), id: "s1" } })).toEqual([
        "s0",
      ])
    }))

  it("[DR100] pinned sessions are listed first, newest first among them, and a page may end between them", () =>
    withDirectory(async ({ directory }) => {
      const pins = new Set([1, 3])
      const days = [1, 2, 3, 4, 5]
      await save(
        directory,
        days.map((day) => keptSession(`s${day}`, { createdAt: at(day), pinned: pins.has(day), state: "ended" })),
      )
      expect(await idsOf(directory, { limit: 9 })).toEqual(["s3", "s1", "s5", "s4", "s2"])
      expect(await idsOf(directory, { limit: 3, state: "ended" })).toEqual(["s3", "s1", "s5"])
      const afterPin = { pinned: true, createdAt: at(3), id: "s3" }
      expect(await idsOf(directory, { limit: 2, before: afterPin })).toEqual(["s1", "s5"])
      expect(await idsOf(directory, { limit: 9, before: { ...afterPin, pinned: false } })).toEqual(["s2"])
      await directory.saveSession(keptSession("s3", { createdAt: at(3), state: "ended" }))
      expect(await idsOf(directory, { limit: 9 })).toEqual(["s1", "s5", "s4", "s3", "s2"])
      expect((await directory.getSession("s1"))?.record.pinned).toBe(true)
    }))

  it("[DR101] a read mark is one person's, goes forward only, and is told for the sessions asked about", () =>
    withDirectory(async ({ directory }) => {
      await Promise.all([directory.markRead("ada", "a", 5), directory.markRead("ada", "a", 3)])
      await directory.markRead("ada", "b", 1)
      await directory.markRead("bob", "a", 2)
      expect(await directory.readMarks("ada", ["a", "c"])).toEqual(new Map([["a", 5]]))
      expect(await directory.readMarks("bob", ["a", "b"])).toEqual(new Map([["a", 2]]))
      await directory.markRead("ada", "a", 9)
      expect(await directory.readMarks("ada", ["a", "b"])).toEqual(new Map(Object.entries({ a: 9, b: 1 })))
      expect(await directory.readMarks("eve", ["a"])).toEqual(new Map())
    }))

  it("[DR12] the list is narrowed by state and by words of title, folder, last line, model and id", () =>
    withDirectory(async ({ directory }) => {
      await save(directory, [
        keptSession("a", { title: "\u00c9t\u00e9 in Rome", state: "ended" }),
        keptSession("b", { cwd: "/home/Rome", state: "running" }),
        keptSession("c", { lastLine: "to ROME", model: null }),
        keptSession("d", { model: "100%_rome" }),
        keptSession("e", { title: null, cwd: null }),
      ])
      expect(await idsOf(directory, { limit: 9, q: "Rome" })).toEqual(["d", "c", "b", "a"])
      expect(await idsOf(directory, { limit: 9, q: "\u00e9T\u00c9" })).toEqual(["a"])
      expect(await idsOf(directory, { limit: 9, q: "0%_" })).toEqual(["d"])
      expect(await idsOf(directory, { limit: 9, state: "running" })).toEqual(["b"])
      await directory.saveSession(keptSession("b", { state: "ended" }))
      expect(await idsOf(directory, { limit: 9, state: "ended", q: "" })).toEqual(["b", "a"])
      expect(await idsOf(directory, { limit: 9, q: "/home" })).toEqual([])
    }))

  it("[DR12] the list is narrowed by age and by what is archived, and counted; what two filters find is counted once", () =>
    withDirectory(async ({ directory }) => {
      for (let day = 1; day <= 6; day++) {
        const archived = day % 2 === 0
        const title = `"archived":true,"lastSeq":9 \u0000`
        const about = { title, archived, createdAt: at(1), updatedAt: at(day), lastSeq: 10 ** (day - 1) }
        await directory.saveSession(keptSession(`s${day}`, { ...about, state: day === 1 ? "running" : "ended" }))
      }
      expect(await idsOf(directory, { limit: 9, quietSince: at(4) })).toEqual(["s3", "s2", "s1"])
      expect(await idsOf(directory, { limit: 9, quietSince: at(5), archived: true })).toEqual(["s4", "s2"])
      expect(await idsOf(directory, { limit: 1, quietSince: at(5), archived: false })).toEqual(["s3"])
      const [old, archived] = [{ quietSince: at(4), state: "ended" } as const, { quietSince: at(5), archived: true }]
      expect(await directory.countSessions([old])).toEqual({ count: 2, events: 110 })
      expect(await directory.countSessions([old, archived])).toEqual({ count: 3, events: 1_110 })
      expect(await directory.countSessions([{}])).toEqual({ count: 6, events: 111_111 })
      expect(await directory.countSessions([{ before: { pinned: false, createdAt: at(1), id: "s3" } }])).toEqual({
        count: 2,
        events: 11,
      })
      expect(await directory.countSessions([])).toEqual({ count: 0, events: 0 })
    }))

  it("[DR13] a session is found by the key it was asked for with, by the CLI's id and by its agent's last message", () =>
    withDirectory(async ({ directory }) => {
      const named = (id: string, record: Partial<SessionRecord>, own: Partial<KeptSession["own"]>) => {
        const kept = keptSession(id, record)
        return { ...kept, own: { ...kept.own, ...own } }
      }
      await save(directory, [
        named("a", { agentSessionId: "cli" }, { requestKey: "key" }),
        named("b", { agentSessionId: "cli" }, {}),
      ])
      await directory.saveSession(named("c", { state: "disconnected" }, { lastAgentUuid: "u" }), { isAtRest: true })
      await directory.saveSession(named("d", { state: "ended" }, { lastAgentUuid: "over" }), { isAtRest: true })
      expect(await directory.findSession({ by: "requestKey", key: "key" })).toBe("a")
      expect(await directory.findSession({ by: "requestKey", key: "cli" })).toBeUndefined()
      // The newer of two, whichever was saved last.
      await save(directory, [named("a", { agentSessionId: "cli", title: "later" }, { requestKey: "other" })])
      expect(await directory.findSession({ by: "agentSessionId", key: "cli" })).toBe("b")
      expect(await directory.findSession({ by: "requestKey", key: "key" })).toBeUndefined()
      expect(await directory.findSession({ by: "lastAgentUuid", key: "u" })).toBe("c")
      expect(await directory.findSession({ by: "lastAgentUuid", key: "over" })).toBeUndefined()
    }))

  it("[DR13] the sessions are found that went on in another", () =>
    withDirectory(async ({ directory }) => {
      await save(directory, [keptSession("a", { next: "c" }), keptSession("b", { next: "c" }), keptSession("c")])
      expect([...(await directory.sessionsBefore("c"))].toSorted()).toEqual(["a", "b"])
      expect(await directory.sessionsBefore("a")).toEqual([])
    }))

  it("[DR14] unfinished are sessions that are not at rest, or have asks, answers or messages on their way", () =>
    withDirectory(async ({ directory }) => {
      const ids = ["rest", "pending", "answered", "told", "heard", "sent", "over", "moved", "awake"]
      for (const id of ids) {
        const isOver = id === "over" || id === "moved"
        const kept = keptSession(id, { ...(isOver && { state: "ended" }), ...(id === "moved" && { next: "awake" }) })
        await directory.saveSession(kept, { isAtRest: id !== "awake" })
      }
      for (const id of ["pending", "answered", "told", "heard"])
        await directory.addAsk(pendingAsk(id, { sessionId: id }))
      for (const id of ["answered", "told", "heard"]) {
        await directory.settleAsk(id, "pending", allowed(pendingAsk(id, { sessionId: id }), "somebody"))
      }
      await directory.markAskDelivered("told", at(2))
      await directory.endDelivery("heard")
      await directory.addMessage(waitingMessage("m1", 0, { sessionId: "sent", state: "sent" }))
      await directory.addMessage(waitingMessage("m2", 0, { sessionId: "over" }))
      await directory.addMessage(waitingMessage("m3", 0, { sessionId: "moved" }))
      await directory.addMessage(waitingMessage("m4", 0, { sessionId: "rest", state: "confirmed" }))
      expect(await directory.unfinishedSessions()).toEqual(["pending", "answered", "sent", "moved", "awake"])
      await directory.saveSession(keptSession("awake"), { isAtRest: true })
      await directory.saveSession(keptSession("rest"))
      expect(await directory.unfinishedSessions()).toEqual(["rest", "pending", "answered", "sent", "moved"])
    }))
}

function at(day: number): string {
  return `2030-01-0${day}T00:00:00.000Z`
}

async function save(directory: Directory, sessions: readonly KeptSession[]): Promise<void> {
  for (const session of sessions) await directory.saveSession(session)
}

async function idsOf(directory: Directory, filter: SessionFilter): Promise<string[]> {
  return (await directory.listSessions(filter)).map(({ id }) => id)
}
