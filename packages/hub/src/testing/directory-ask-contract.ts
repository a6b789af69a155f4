import { expect, it } from "vitest"
import type { SeenCall } from "../model/seen-call.ts"
import type { SeenFilter } from "../store/directory.ts"
import type { DirectorySetup } from "./directory-setup.ts"
import { allowed, auditRecord, pendingAsk } from "./records.ts"

type WithDirectory = (run: (setup: DirectorySetup) => Promise<void>) => Promise<void>

export function describeAskContract(withDirectory: WithDirectory): void {
  it("[DR2] an ask is added once: a second one with its id changes nothing", () =>
    withDirectory(async ({ directory }) => {
      await Promise.all([directory.addAsk(pendingAsk("1")), directory.addAsk(pendingAsk("1", { seq: 99 }))])
      expect(await directory.getAsk("1")).toEqual(pendingAsk("1"))
      await directory.settleAsk("1", "pending", allowed(pendingAsk("1"), "a"))
      await directory.addAsk(pendingAsk("1"))
      expect((await directory.getAsk("1"))?.state).toBe("allowed")
      expect(await directory.getAsk("2")).toBeUndefined()
    }))

  it("[DR3] of forty answers at once one wins, and the others are told which", () =>
    withDirectory(async ({ directory }) => {
      await directory.addAsk(pendingAsk("1"))
      const answers = Array.from({ length: 40 }, (_, n) =>
        directory.settleAsk("1", "pending", allowed(pendingAsk("1"), `person ${n}`), { synced: n % 2 === 0 }),
      )
      const replies = await Promise.all(answers)
      const winners = replies.filter((reply) => reply.changed)
      expect(winners).toHaveLength(1)
      const settled = await directory.getAsk("1")
      expect(settled).toEqual(winners[0]?.ask)
      for (const reply of replies) expect(reply.ask).toEqual(settled)
    }))

  it("[DR3] an answer in the tick of its question finds it", () =>
    withDirectory(async ({ directory }) => {
      const adding = directory.addAsk(pendingAsk("1"))
      const { changed } = await directory.settleAsk("1", "pending", allowed(pendingAsk("1"), "a policy"))
      await adding
      expect(changed).toBe(true)
    }))

  it("[DR3] settling an ask that is not there is refused with ask/unknown", () =>
    withDirectory(async ({ directory }) => {
      const settling = directory.settleAsk("1", "pending", allowed(pendingAsk("1"), "a"))
      await expect(settling).rejects.toMatchObject({ code: "ask/unknown" })
    }))

  it("[DR20] uses of rules are kept with the answer that won, and summed by session and by day", () =>
    withDirectory(async ({ directory }) => {
      const settle = (id: string, session: string, rules: readonly string[], day: string) => {
        const ask = pendingAsk(id, { sessionId: session })
        return directory.settleAsk(id, "pending", allowed(ask, "a rule"), { uses: { rules, day } })
      }
      for (const [id, sessionId] of [
        ["1", "a"],
        ["2", "a"],
        ["3", "b"],
      ] as const) {
        await directory.addAsk(pendingAsk(id, { sessionId }))
      }
      await settle("1", "a", ["tests", "__proto__"], "2030-01-31")
      await settle("1", "a", ["tests"], "2030-01-31")
      await settle("2", "a", ["tests"], "2030-02-01")
      await settle("3", "b", ["tests"], "2030-01-31")
      const sums = new Map([
        ["__proto__", 1],
        ["tests", 2],
      ])
      expect(await directory.ruleUses({ session: "a" })).toEqual(sums)
      expect(await directory.ruleUses({ day: "2030-01-31" })).toEqual(sums)
      expect((await directory.ruleUses({ session: "c" })).size).toBe(0)
    }))

  it("[DR4] the audit record of an answer is there if it won, and only then", () =>
    withDirectory(async ({ directory }) => {
      await directory.addAsk(pendingAsk("1"))
      const answers = Array.from({ length: 5 }, (_, n) =>
        directory.settleAsk("1", "pending", allowed(pendingAsk("1"), `person ${n}`), {
          audit: auditRecord(`answered by person ${n}`),
        }),
      )
      await Promise.all(answers)
      const records = await directory.listAudit({ after: 0, limit: 10 })
      expect(records).toHaveLength(1)
      expect(records[0]?.what).toBe(`answered by ${(await directory.getAsk("1"))?.settledBy}`)
    }))

  it("[DR5] asks are listed by session and state, oldest or newest first, no more than asked for", () =>
    withDirectory(async ({ directory }) => {
      const asks = ["4", "3", "2", "1"].map((id) => pendingAsk(id, { sessionId: id > "2" ? "s" : "other" }))
      for (const ask of asks) await directory.addAsk(ask)
      await directory.settleAsk("3", "pending", { ...pendingAsk("3"), sessionId: "s", state: "orphaned" })
      const ids = async (filter: Parameters<typeof directory.listAsks>[0]) =>
        (await directory.listAsks(filter)).map((ask) => ask.id)
      expect(await ids({})).toEqual(["4", "3", "2", "1"])
      expect(await ids({ limit: 2 })).toEqual(["4", "3"])
      expect(await ids({ newestFirst: true, limit: 2 })).toEqual(["1", "2"])
      expect(await ids({ newestFirst: true, session: "s" })).toEqual(["3", "4"])
      expect(await ids({ session: "s" })).toEqual(["4", "3"])
      expect(await ids({ state: "pending" })).toEqual(["4", "2", "1"])
      expect(await ids({ session: "s", state: "pending" })).toEqual(["4"])
      expect(await ids({ session: "nobody's" })).toEqual([])
    }))

  it("[DR5] an answer whose delivery has ended is not unheard any more, and was not delivered by that", () =>
    withDirectory(async ({ directory }) => {
      await directory.addAsk(pendingAsk("1"))
      await directory.settleAsk("1", "pending", allowed(pendingAsk("1"), "a"))
      await directory.endDelivery("1")
      expect(await directory.listAsks({ unheard: true })).toEqual([])
      expect(await directory.getAsk("1")).toEqual(allowed(pendingAsk("1"), "a"))
    }))

  it("[DR5] an answer is unheard until its delivery has ended, on the wire too; an ask without an answer never is", () =>
    withDirectory(async ({ directory }) => {
      for (const id of ["1", "2", "3"]) await directory.addAsk(pendingAsk(id))
      await directory.settleAsk("1", "pending", allowed(pendingAsk("1"), "a"))
      await directory.settleAsk("2", "pending", { ...pendingAsk("2"), state: "cancelled", via: "agent" })
      expect((await directory.listAsks({ unheard: true })).map((ask) => ask.id)).toEqual(["1"])
      await directory.markAskDelivered("1", "2030-01-03T00:00:00.000Z")
      await directory.markAskDelivered("9", "2030-01-03T00:00:00.000Z")
      expect((await directory.listAsks({ unheard: true })).map((ask) => ask.id)).toEqual(["1"])
      await directory.endDelivery("1")
      expect(await directory.listAsks({ unheard: true })).toEqual([])
      expect(await directory.getAsk("1")).toEqual({
        ...allowed(pendingAsk("1"), "a"),
        deliveredAt: "2030-01-03T00:00:00.000Z",
      })
    }))

  it("[DR18] a judged call is kept once, with the last verdict, and listed in the order in which calls were seen", () =>
    withDirectory(async ({ directory, reopen }) => {
      const other = call("t1", { sessionId: "s2", effect: "deny", rule: "r", seq: null, input: { command: "ls" } })
      const later = call("t2", { at: "2030-01-02T00:00:00.000Z", mode: "plan", cwd: "/w" })
      await Promise.all(
        [call("t1"), other, later, call("t1", { effect: "ask", seq: null })].map((each) => directory.addSeenCall(each)),
      )
      const kept = reopen === undefined ? directory : await reopen()
      expect(await kept.getSeenCall("s1", "t1")).toMatchObject(call("t1", { effect: "ask" }))
      expect(await kept.getSeenCall("s2", "t1")).toMatchObject(other)
      expect(await kept.getSeenCall("s2", "t2")).toBeUndefined()
      const list = async (filter: Partial<SeenFilter>) =>
        (await kept.listSeenCalls({ after: 0, limit: 10, ...filter })).map(({ number, ...seen }) => [number, seen])
      const [first, second, third] = [call("t1", { effect: "ask" }), other, later].map((seen, n) => [n + 1, seen])
      expect(await list({})).toEqual([first, second, third])
      expect(await list({ session: "s1" })).toEqual([first, third])
      expect(await list({ since: "2030-01-01T12:00:00.000Z" })).toEqual([third])
      expect(await list({ after: 1, limit: 1 })).toEqual([second])
    }))
  it("[DR18] the audit record of a judged call is added with it, once for a verdict", () =>
    withDirectory(async ({ directory }) => {
      const denied = call("t1", { effect: "deny" })
      await Promise.all([
        directory.addSeenCall(call("t1")),
        directory.addSeenCall(denied, auditRecord("first")),
        directory.addSeenCall(denied, auditRecord("again")),
        directory.addSeenCall(call("t2", { effect: "deny" }), auditRecord("other")),
      ])
      const records = await directory.listAudit({ after: 0, limit: 10 })
      expect(records.map(({ what }) => what)).toEqual(["first", "other"])
    }))
}

function call(toolUseId: string, change: Partial<SeenCall> = {}): SeenCall {
  return {
    sessionId: "s1",
    toolUseId,
    at: "2030-01-01T00:00:00.000Z",
    tool: "Bash",
    effect: "allow",
    seq: 3,
    ...change,
  }
}
