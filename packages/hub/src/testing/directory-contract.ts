import { describe, expect, it } from "vitest"
import type { AuditFilter, NewAuditRecord } from "../store/directory.ts"
import { describeAskContract } from "./directory-ask-contract.ts"
import { describeSessionContract } from "./directory-session-contract.ts"
import type { DirectorySetup } from "./directory-setup.ts"
import { describeDirectoryPurgeContract } from "./purge-contract.ts"
import { allowed, auditRecord, grant, keptSession, pendingAsk, token, waitingMessage } from "./records.ts"

const LATER = "2030-01-02T00:00:00.000Z"

/** The rules of docs/spec/event-log.md that hold for every directory. */
export function describeDirectoryContract(name: string, open: () => Promise<DirectorySetup>): void {
  async function withDirectory(run: (setup: DirectorySetup) => Promise<void>): Promise<void> {
    const setup = await open()
    try {
      await run(setup)
    } finally {
      await setup.dispose()
    }
  }

  describe(`directory contract: ${name}`, () => {
    describeSessionContract(withDirectory)
    describeAskContract(withDirectory)
    describeDirectoryPurgeContract(withDirectory)

    it("[DR6] a message is added once, and changes its state", () =>
      withDirectory(async ({ directory }) => {
        const message = waitingMessage("m", 3, { line: "as it was \0 é" })
        await directory.addMessage(message)
        await directory.addMessage({ ...message, line: "another", seq: 9 })
        expect(await directory.getMessage("s", "m")).toEqual(message)
        await directory.setMessageState("s", "m", "sent", "process 1")
        expect(await directory.getMessage("s", "m")).toEqual({ ...message, state: "sent", incarnation: "process 1" })
        await directory.setMessageState("s", "m", "cancelled", null)
        await directory.addMessage({ ...message, line: "another", seq: 9 })
        expect(await directory.getMessage("s", "m")).toEqual(message)
        await directory.setMessageState("s", "nobody", "sent", "process 1")
        expect(await directory.getMessage("s", "nobody")).toBeUndefined()
        expect(await directory.getMessage("other", "m")).toBeUndefined()
      }))

    it("[DR6] open messages are the session's waiting and sent ones, oldest first", () =>
      withDirectory(async ({ directory }) => {
        const states = ["waiting", "sent", "confirmed", "unknown", "cancelled"] as const
        const messages = states.map((state, index) => waitingMessage(`m-${state}`, 10 - index, { state }))
        await Promise.all(
          [...messages, waitingMessage("m", 1, { sessionId: "other" })].map((m) => directory.addMessage(m)),
        )
        expect((await directory.openMessages("s")).map((message) => message.uuid)).toEqual(["m-sent", "m-waiting"])
        await directory.setMessageState("s", "m-sent", "confirmed", "process 1")
        await directory.setMessageState("s", "m-unknown", "waiting", null)
        expect((await directory.openMessages("s")).map((message) => message.uuid)).toEqual(["m-unknown", "m-waiting"])
        expect(await directory.openMessages("nobody's")).toEqual([])
      }))

    it("[DR7] a token is kept as it was given, and revoked once", () =>
      withDirectory(async ({ directory }) => {
        await directory.addToken(token("1"))
        await directory.addToken({ ...token("2"), name: null, sessionId: "s", role: "agent", expiresAt: LATER })
        const replies = await Promise.all(Array.from({ length: 10 }, () => directory.revokeToken("1", LATER)))
        expect(replies.filter((revoked) => revoked)).toHaveLength(1)
        expect(await directory.revokeToken("3", LATER)).toBe(false)
        const agents = { ...token("2"), name: null, sessionId: "s", role: "agent", expiresAt: LATER } as const
        expect(await directory.listTokens({ limit: 9 })).toEqual([{ ...token("1"), revokedAt: LATER }, agents])
        expect(await directory.getToken("1")).toEqual({ ...token("1"), revokedAt: LATER })
        expect(await directory.getToken("3")).toBeUndefined()
      }))

    it("[DR15] a token is found by its hash or its session; those that can be used are without agents' but for those that are named", () =>
      withDirectory(async ({ directory }) => {
        const agents = { ...token("2"), sessionId: "s", role: "agent" } as const
        const old = { ...token("3"), expiresAt: "2030-01-01T12:00:00.000Z" }
        const ahead = { ...token("4"), expiresAt: "2031-01-01T00:00:00.000Z" }
        for (const each of [token("1"), agents, old, ahead, token("5")]) await directory.addToken(each)
        await directory.revokeToken("5", LATER)
        expect(await directory.findToken(token("2").hash)).toEqual(agents)
        expect(await directory.findToken("2")).toBeUndefined()
        expect(await directory.listTokens({ session: "s", limit: 9 })).toEqual([agents])
        expect(await directory.listTokens({ session: "t", limit: 9 })).toEqual([])
        expect((await directory.listTokens({ limit: 2 })).map(({ id }) => id)).toEqual(["4", "5"])
        expect(await directory.usableTokens(LATER)).toEqual([token("1"), ahead])
        expect(await directory.usableTokens(LATER, ["2", "3", "9"])).toEqual([token("1"), agents, ahead])
        await directory.revokeToken("2", LATER)
        expect(await directory.usableTokens(LATER, ["2"])).toEqual([token("1"), ahead])
      }))

    it("[DR8] grants that hold are listed, of a session or all; a revoked one says by whom", () =>
      withDirectory(async ({ directory }) => {
        await Promise.all([grant("1"), grant("2"), grant("3", "other")].map((each) => directory.addGrant(each)))
        const revoked = { ...grant("2"), revokedAt: LATER, revokedBy: "a" }
        expect(await directory.revokeGrant("2", LATER, "a")).toEqual(revoked)
        expect(await directory.revokeGrant("2", "2031-01-01T00:00:00.000Z", "b")).toEqual(revoked)
        expect(await directory.revokeGrant("4", LATER, "a")).toBeUndefined()
        expect(await directory.listGrants({})).toEqual([grant("1"), grant("3", "other")])
        expect(await directory.listGrants({ session: "s" })).toEqual([grant("1")])
        expect(await directory.listGrants({ session: "s", all: true })).toEqual([grant("1"), revoked])
        expect(await directory.listGrants({ id: "2", all: true })).toEqual([revoked])
        expect(await directory.listGrants({ id: "2" })).toEqual([])
      }))

    it("[DR9] audit records are numbered in their order and read a page at a time, of a session or all", () =>
      withDirectory(async ({ directory }) => {
        const names = Array.from({ length: 25 }, (_, index) => `record ${index}`)
        await Promise.all(names.map((what, n) => directory.addAudit(auditRecord(what, n % 5 === 0 ? "s" : null))))
        const seen: string[] = []
        for (let after = 0; ; ) {
          const page = await directory.listAudit({ after, limit: 10 })
          if (page.length === 0) break
          expect(page.length).toBeLessThanOrEqual(10)
          seen.push(...page.map((record) => record.what))
          after = page.at(-1)?.id ?? 0
        }
        expect(seen).toEqual(names)
        const ofSession = await directory.listAudit({ session: "s", after: 0, limit: 3 })
        expect(ofSession.map((record) => record.what)).toEqual(["record 0", "record 5", "record 10"])
        expect(ofSession[0]).toEqual({ ...auditRecord("record 0", "s"), id: ofSession[0]?.id })
        expect(await directory.listAudit({ after: 0, limit: 0 })).toEqual([])
      }))

    it("[DR16] audit records are filtered by who, what, rule, tool, machine and time, from either end", () =>
      withDirectory(async ({ directory }) => {
        await directory.saveSession(keptSession("on-box", { runner: "box" }))
        const record = (change: Partial<NewAuditRecord>) => ({ ...auditRecord("ask/allowed", "s"), ...change })
        const records = [
          record({ by: "ada", details: { toolName: "Bash", rule: null } }),
          record({ by: "rule tests", details: { toolName: "Bash", rule: "tests" } }),
          record({ what: "ask/denied", by: "ada", details: { toolName: "Edit" }, sessionId: "on-box" }),
          record({ what: "runner/drained", by: "ada", details: { runner: "box" }, sessionId: null, at: LATER }),
        ]
        for (const each of records) await directory.addAudit(each)
        const found = async (filter: Partial<AuditFilter>) =>
          (await directory.listAudit({ after: 0, limit: 10, ...filter })).map(({ id }) => id)
        expect(await found({ by: "ada" })).toEqual([1, 3, 4])
        expect(await found({ by: "ADA" }), "a person is one in any case").toEqual([1, 3, 4])
        expect(await found({ by: "ad_" })).toEqual([])
        expect(await found({ tool: "bash" })).toEqual([])
        expect(await found({ rule: "tests" })).toEqual([2])
        expect(await found({ tool: "Bash", by: "ada" })).toEqual([1])
        expect(await found({ what: "ask/denied" })).toEqual([3])
        expect(await found({ runner: "box" })).toEqual([3, 4])
        expect(await found({ since: LATER })).toEqual([4])
        expect(await found({ since: "2031-01-01T00:00:00.000Z" })).toEqual([])
        expect(await found({ newestFirst: true, limit: 2 })).toEqual([4, 3])
        expect(await found({ newestFirst: true, before: 3, after: 1 })).toEqual([2])
        expect(await found({ by: "nobody" })).toEqual([])
      }))

    it("[DR17] every policy that was in force is kept with its number, as it was, and its audit record with it", () =>
      withDirectory(async ({ directory, reopen }) => {
        expect(await directory.getPolicy()).toBeUndefined()
        const changes = { added: ["a"], removed: [], changed: [], settings: [] }
        const about = (by: string) => ({ at: LATER, by, rules: 1, changes })
        const rules = [{ id: "a" }]
        const audit = (version: number) => ({ ...auditRecord("policy/changed"), details: { version } })
        const adding = directory.addPolicy({ rules }, about("ada"), audit)
        rules.push({ id: "b" })
        expect(await adding).toBe(1)
        expect(await directory.addPolicy({ rules: [] }, { ...about("bob"), forced: 3 }, audit)).toBe(2)
        const later = reopen === undefined ? directory : await reopen()
        expect(await later.getPolicy(1)).toEqual({ ...about("ada"), version: 1, policy: { rules: [{ id: "a" }] } })
        expect(await later.getPolicy()).toEqual({ ...about("bob"), version: 2, forced: 3, policy: { rules: [] } })
        expect(await later.getPolicy(3)).toBeUndefined()
        const versions = async (filter: { before?: number; limit: number }) =>
          (await later.listPolicies(filter)).map(({ version, by }) => `${version} ${by}`)
        expect(await versions({ limit: 9 })).toEqual(["2 bob", "1 ada"])
        expect(await versions({ before: 2, limit: 9 })).toEqual(["1 ada"])
        const kept = await later.listAudit({ after: 0, limit: 9 })
        expect(kept.map(({ details }) => details["version"])).toEqual([1, 2])
      }))

    it("[DR10] a document is any JSON value under its name; the last one put counts", () =>
      withDirectory(async ({ directory }) => {
        expect(await directory.getDocument("policy")).toBeUndefined()
        for (const value of [{ rules: [{ tool: "Bash" }] }, null, 0, "text \0 é", [1, [2]]]) {
          await directory.putDocument("policy", value, { synced: true })
          expect(await directory.getDocument("policy")).toEqual(value)
        }
        expect(await directory.getDocument("other")).toBeUndefined()
        await expect(directory.putDocument("policy", undefined)).rejects.toThrow(/no JSON/)
        expect(await directory.getDocument("policy")).toEqual([1, [2]])
      }))

    it("[DR10] a document is kept as it was when it was put", () =>
      withDirectory(async ({ directory }) => {
        const rules = ["one"]
        const putting = directory.putDocument("policy", { rules })
        rules.push("two")
        await putting
        expect(await directory.getDocument("policy")).toEqual({ rules: ["one"] })
      }))

    it("[DR19] changes of a document, however many at once, all count; one that changes nothing writes nothing", () =>
      withDirectory(async ({ directory }) => {
        const add = (what: number) =>
          directory.changeDocument("all", (kept) => (Array.isArray(kept) ? [...kept, what] : [what]), { synced: true })
        const results = await Promise.all(Array.from({ length: 30 }, (_, index) => add(index)))
        expect(results.at(-1)).toEqual(Array.from({ length: 30 }, (_, index) => index))
        expect(await directory.changeDocument("all", () => undefined)).toHaveLength(30)
        expect(await directory.changeDocument("none", () => undefined)).toBeUndefined()
        expect(await directory.getDocument("none")).toBeUndefined()
      }))

    it("[DR11] everything confirmed is there after the directory was closed and opened", () =>
      withDirectory(async ({ directory, reopen }) => {
        await Promise.all([
          directory.saveSession(keptSession("a")),
          directory.addAsk(pendingAsk("1")),
          directory.settleAsk("1", "pending", allowed(pendingAsk("1"), "somebody"), { synced: true }),
          directory.addMessage(waitingMessage("m", 1)),
          directory.addToken(token("1")),
          directory.addGrant(grant("1")),
          directory.addAudit(auditRecord("something")),
          directory.putDocument("policy", { rules: [] }),
        ])
        // A directory that lives in memory keeps the same promise as long as it lives.
        const later = reopen === undefined ? directory : await reopen()
        expect(await later.getSession("a")).toEqual(keptSession("a"))
        expect(await later.listAsks({ unheard: true })).toEqual([allowed(pendingAsk("1"), "somebody")])
        expect(await later.openMessages("s")).toEqual([waitingMessage("m", 1)])
        expect(await later.getToken("1")).toEqual(token("1"))
        expect(await later.listGrants({})).toEqual([grant("1")])
        expect(await later.listAudit({ after: 0, limit: 10 })).toMatchObject([auditRecord("something")])
        expect(await later.getDocument("policy")).toEqual({ rules: [] })
      }))
  })
}
