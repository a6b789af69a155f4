import { expect, it } from "vitest"
import { runNamed, runOf } from "../model/purged.ts"
import type { Directory } from "../store/directory.ts"
import type { EventLog } from "../store/event-log.ts"
import type { DirectorySetup } from "./directory-setup.ts"
import type { EventLogSetup } from "./event-log-setup.ts"
import { numberedEvent, numberedEvents, readWhole, seqs, upTo } from "./events.ts"
import { allowed, auditRecord, grant, keptSession, pendingAsk, token, waitingMessage } from "./records.ts"

const SECRET = "said in confidence"
/** A field that a later version adds, and of which nobody thought here. */
const LATER = { noteOfALaterVersion: SECRET }
const AUDIT = { ...auditRecord("session/purged", "s"), details: { events: 3 } }

/** Everything that was purged is deleted when it resolves. */
export async function purgeAll(purged: Pick<EventLog | Directory, "purgeSome">): Promise<void> {
  while (await purged.purgeSome());
}

export function describeLogPurgeContract(
  withLog: (run: (setup: EventLogSetup) => Promise<void>) => Promise<void>,
): void {
  it("[PG1] a purged log has no events and no keys, before and after they are deleted; others are as they were", () =>
    withLog(async ({ log, reopen }) => {
      await log.append("s", numberedEvents(1_500))
      await log.append("other", numberedEvents(5))
      const isGone = async (from: EventLog) => {
        expect(await readWhole(from, "s")).toEqual([])
        expect(await from.bounds("s")).toEqual({ firstSeq: 0, lastSeq: 0 })
        expect(await from.find("s", "key-3")).toBeUndefined()
        expect(seqs(await readWhole(from, "other"))).toEqual(upTo(5))
      }
      await log.purge("s")
      await isGone(log)
      await log.purgeSome()
      await isGone(log)
      const later = reopen === undefined ? log : await reopen()
      await isGone(later)
      await purgeAll(later)
      await isGone(later)
      expect((await later.append("other", [numberedEvent(5), numberedEvent(6)])).lastSeq).toBe(6)
    }))

  it("[PG12] a session of the same name begins anew, while the purged one is still being deleted", () =>
    withLog(async ({ log, reopen }) => {
      await log.append("s", numberedEvents(1_500))
      await Promise.all([log.append("s", [numberedEvent(1_501)]), log.purge("s")])
      expect((await log.append("s", numberedEvents(3))).stored.map(({ seq }) => seq)).toEqual([1, 2, 3])
      await log.purgeSome()
      expect((await log.append("s", numberedEvents(4))).stored.map(({ seq }) => seq)).toEqual([4])
      const later = reopen === undefined ? log : await reopen()
      await purgeAll(later)
      expect(seqs(await readWhole(later, "s"))).toEqual([1, 2, 3, 4])
      expect((await later.append("s", numberedEvents(5))).stored.map(({ seq }) => seq)).toEqual([5])
      await later.purge("nobody's")
    }))
}

export function describeDirectoryPurgeContract(
  withDirectory: (run: (setup: DirectorySetup) => Promise<void>) => Promise<void>,
): void {
  async function fill(directory: Directory): Promise<void> {
    for (const id of ["s", "other"]) {
      await directory.saveSession(keptSession(id, { title: SECRET, state: "ended", agentSessionId: `cli of ${id}` }))
      await directory.markRead("ann", id, 3)
      await directory.addMessage(waitingMessage("m", 1, { sessionId: id, line: SECRET }))
      await directory.addGrant(grant(`g of ${id}`, id))
      await directory.addGrant({ ...grant(`kept of ${id}`, id), where: "userSettings" })
      await directory.addAudit({
        ...auditRecord("control/interrupt", id),
        details: { outcome: "done", prompt: SECRET },
      })
      for (let n = 0; n < 120; n++) {
        const asked = { sessionId: id, request: { input: SECRET }, reason: SECRET, rule: "r", ...LATER }
        const ask = pendingAsk(`${id} ${n}`, asked)
        await directory.addAsk(ask)
        const answer = { behavior: "deny", message: SECRET, interrupt: true }
        await directory.settleAsk(ask.id, "pending", { ...allowed(ask, "ann"), state: "denied", answer })
        const call = {
          sessionId: id,
          toolUseId: `t${n}`,
          at: ask.askedAt,
          tool: "Bash",
          effect: "allow",
          seq: n,
        } as const
        await directory.addSeenCall({ ...call, rule: "r", input: { command: SECRET }, cwd: SECRET, ...LATER })
      }
    }
  }

  async function told(directory: Directory, id: string): Promise<string> {
    const asks = await directory.listAsks({ session: id })
    const one = await directory.getAsk(`${id} 1`)
    const calls = await directory.listSeenCalls({ session: id, after: 0, limit: 500 })
    const audit = await directory.listAudit({ session: id, after: 0, limit: 500 })
    return JSON.stringify([asks, one, calls, await directory.getSeenCall(id, "t1"), audit])
  }

  it("[PG1] a purged session is gone from every list at once, and what hangs on it when it was worked through", () =>
    withDirectory(async ({ directory, reopen }) => {
      await fill(directory)
      expect(await directory.purgeSession("s", AUDIT)).toBe(true)
      expect(await directory.purgeSession("s", AUDIT)).toBe(false)
      expect(await directory.purgeSession("nobody's", AUDIT)).toBe(false)
      await directory.purgeSome()
      const later = reopen === undefined ? directory : await reopen()
      expect(await later.getSession("s")).toBeUndefined()
      expect((await later.listSessions({ limit: 9 })).map(({ id }) => id)).toEqual(["other"])
      expect(await later.findSession({ by: "agentSessionId", key: "cli of s" })).toBeUndefined()
      expect(await later.unfinishedSessions()).toEqual(["other"])
      await purgeAll(later)
      expect(await later.getMessage("s", "m")).toBeUndefined()
      expect((await later.readMarks("ann", ["s", "other"])).get("s")).toBeUndefined()
      expect((await later.listGrants({ session: "s", all: true })).map(({ id }) => id)).toEqual(["kept of s"])
      expect(await later.getMessage("other", "m")).toBeDefined()
      expect((await later.readMarks("ann", ["s", "other"])).get("other")).toBe(3)
      expect(await later.listGrants({ session: "other" })).toHaveLength(2)
      expect((await told(later, "other")).split(SECRET).length).toBeGreaterThan(400)
    }))

  it("[PG2] its asks keep who decided about which tool, by which rule and when, and nothing of what was said", () =>
    withDirectory(async ({ directory }) => {
      await fill(directory)
      await directory.purgeSession("s", AUDIT)
      expect(await told(directory, "s"), "while it is being deleted").not.toContain(SECRET)
      await purgeAll(directory)
      expect(await told(directory, "s")).not.toContain(SECRET)
      const asks = await directory.listAsks({ session: "s" })
      expect(asks).toHaveLength(120)
      const [{ request: _request, ...ask }, kept] = [pendingAsk("s 7", { sessionId: "s", rule: "r" }), asks[7]]
      const answer = { behavior: "deny", interrupt: true }
      expect(kept).toEqual({ ...allowed(ask, "ann"), state: "denied", answer, purged: true })
    }))

  it("[PG7] its agent's tokens are gone; uses of rules in it still count on their day", () =>
    withDirectory(async ({ directory, reopen }) => {
      const day = "2030-01-31"
      for (const id of ["s", "other"]) {
        await directory.saveSession(keptSession(id, { state: "ended" }))
        await directory.addToken({ ...token(`agent of ${id}`), role: "agent", sessionId: id })
        const ask = pendingAsk(`ask of ${id}`, { sessionId: id })
        await directory.addAsk(ask)
        await directory.settleAsk(ask.id, "pending", allowed(ask, "ann"), { uses: { rules: ["r", `r of ${id}`], day } })
      }
      await directory.addToken(token("ann's"))
      const left = async (from: Directory) => {
        const tokens = await from.listTokens({ limit: 9 })
        const [ofS, ofOther, ofDay] = [{ session: "s" }, { session: "other" }, { day }].map((of) => from.ruleUses(of))
        expect(await ofDay).toEqual(new Map(Object.entries({ r: 2, "r of s": 1, "r of other": 1 })))
        return [tokens.map(({ id }) => id), (await ofS)?.size, (await ofOther)?.size]
      }
      expect(await left(directory)).toEqual([["agent of s", "agent of other", "ann's"], 2, 2])
      await directory.purgeSession("s", AUDIT)
      await purgeAll(directory)
      expect(await left(directory)).toEqual([["agent of other", "ann's"], 0, 2])
      expect(await directory.findToken("hash of agent of s")).toBeUndefined()
      await directory.purgeSession("other", AUDIT)
      const later = reopen === undefined ? directory : await reopen()
      await purgeAll(later)
      expect(await left(later)).toEqual([["ann's"], 0, 0])
    }))

  it("[PG3] the audit of a machine has the records of its sessions, also when they were purged", () =>
    withDirectory(async ({ directory, reopen }) => {
      for (const id of ["s", "other"]) {
        await directory.saveSession(keptSession(id, { state: "ended", runner: id === "s" ? "box" : "elsewhere" }))
        for (let n = 0; n < 120; n++) await directory.addAudit(auditRecord("control/interrupt", id))
      }
      const counts = async (from: Directory) => {
        const list = (runner: string) => from.listAudit({ runner, after: 0, limit: 500 })
        return [(await list("box")).length, (await list("elsewhere")).length, (await list("nowhere")).length]
      }
      expect(await counts(directory)).toEqual([120, 120, 0])
      await directory.purgeSession("s", AUDIT)
      expect(await counts(directory), "before it is worked through").toEqual([121, 120, 0])
      await directory.purgeSome()
      const later = reopen === undefined ? directory : await reopen()
      expect(await counts(later), "while it is worked through").toEqual([121, 120, 0])
      await purgeAll(later)
      expect(await counts(later)).toEqual([121, 120, 0])
    }))

  it("[PG6] a run keeps how its tasks went; what was said in finished ones is gone with their session", () =>
    withDirectory(async ({ directory }) => {
      const did = { state: "done", session: "s", tries: 1, note: SECRET } as const
      const tasks = [
        { text: SECRET, ...did },
        { text: "b", state: "waiting", session: "s" },
        { text: SECRET, ...did, session: "other" },
      ]
      for (const id of ["s", "other"]) {
        await directory.saveSession(keptSession(id, { state: "ended" }))
        await directory.putDocument(runOf(id), "r")
      }
      await directory.putDocument(runNamed("r"), { id: "r", title: "All", tasks })
      const purge = async (id: string) => {
        await directory.purgeSession(id, AUDIT)
        await purgeAll(directory)
        expect(await directory.getDocument(runOf(id))).toBeUndefined()
        return directory.getDocument(runNamed("r"))
      }
      const left = { text: "", state: "done", tries: 1 }
      expect(await purge("s")).toEqual({ id: "r", title: "All", tasks: [{ ...left, session: "s" }, ...tasks.slice(1)] })
      expect(await purge("other")).toMatchObject({ tasks: [left, tasks[1], { ...left, session: "other" }] })
      expect(JSON.stringify(await directory.getDocument(runNamed("r")))).not.toContain(SECRET)
    }))

  it("[PG3] [PG5] the audit and judged calls keep who, when and which tool; the audit says who purged it", () =>
    withDirectory(async ({ directory }) => {
      await fill(directory)
      await directory.purgeSession("s", AUDIT)
      await purgeAll(directory)
      const { at } = AUDIT
      const who = { at, by: "somebody", via: "person", sessionId: "s", askId: null }
      expect(await directory.listAudit({ session: "s", after: 0, limit: 9 })).toEqual([
        { id: expect.any(Number), ...who, what: "control/interrupt", details: { outcome: "done", purged: true } },
        { id: expect.any(Number), ...who, what: "session/purged", details: { events: 3, purged: true } },
      ])
      const calls = await directory.listSeenCalls({ session: "s", after: 0, limit: 500 })
      expect(calls).toHaveLength(120)
      const first = { sessionId: "s", toolUseId: "t0", at, tool: "Bash", effect: "allow", rule: "r", seq: 0 }
      expect(calls[0]).toEqual({ number: expect.any(Number), ...first })
    }))
}
