import { fieldOf } from "@signalbox/protocol"
import { describe, expect, it } from "vitest"
import { askPage, auditPage, type Question } from "../../src/asks/whole-ask.ts"
import type { HubError } from "../../src/errors.ts"
import type { Ask } from "../../src/model/ask.ts"
import { MemoryDirectory } from "../../src/testing/memory-directory.ts"
import { MemoryEventLog } from "../../src/testing/memory-event-log.ts"
import { entriesOf } from "../clients/stage.ts"
import { type DeskSetup, failure, question, setUpDesk } from "./desk-setup.ts"

const PERSON = { by: "ann", via: "person" } as const

async function openOne(setup: DeskSetup, change = {}): Promise<Ask> {
  await setup.desk.open(question(change))
  const ask = setup.published.at(-1)
  if (ask === undefined) throw new Error("no ask was published")
  return ask
}

function payload(setup: DeskSetup, index = 0): unknown {
  return fieldOf(setup.wire[index]?.message, "response")?.["response"]
}

/** Does what is asked of it, and says so when the test lets it. */
class SlowDirectory extends MemoryDirectory {
  readonly held: (() => void)[] = []
  isSlow = true

  override listAsks(...asked: Parameters<MemoryDirectory["listAsks"]>) {
    return this.#later(super.listAsks(...asked))
  }

  override addAsk(...added: Parameters<MemoryDirectory["addAsk"]>) {
    return this.#later(super.addAsk(...added))
  }

  async #later<T>(done: Promise<T>): Promise<T> {
    if (this.isSlow) await new Promise<void>((go) => void this.held.push(go))
    return done
  }
}

describe("[CT24] a session that goes to another hub", () => {
  it("leaves no ask that was being kept", async () => {
    const setup = setUpDesk(new SlowDirectory())
    const { held } = setup.directory as SlowDirectory
    const opening = setup.desk.open(question())
    await expect.poll(() => held.length).toBe(1)
    setup.desk.letGo("s1")
    held[0]?.()
    await opening
    expect(setup.desk.pendingCount("s1")).toBe(0)
    expect(setup.published).toEqual([])
  })

  it("leaves no ask and no answer that were being read, and they are here when it is back", async () => {
    const before = setUpDesk()
    const answered = await openOne(before, { requestId: "r2" })
    await before.desk.answer(answered.id, { behavior: "allow" }, PERSON)
    const ask = await openOne(before)
    const directory = new SlowDirectory()
    directory.isSlow = false
    for (const each of [answered, ask]) await directory.addAsk((await before.directory.getAsk(each.id)) ?? each)
    for (const nth of [1, 2]) {
      const setup = setUpDesk(directory)
      directory.isSlow = true
      directory.held.length = 0
      const restoring = setup.desk.restore("s1")
      for (let read = 1; read <= 2; read++) {
        if (read === nth) setup.desk.letGo("s1")
        await expect.poll(() => directory.held.length).toBe(read)
        directory.held[read - 1]?.()
      }
      await restoring
      expect(setup.desk.isBusyWith("s1")).toBe(false)
      directory.isSlow = false
      await setup.desk.restore("s1")
      expect(setup.desk.pendingOf("s1")).toHaveLength(1)
      expect(setup.desk.sessionOf(["r2"])).toBe("s1")
    }
  })
})

describe("the ask desk", () => {
  it("[AK1] a question becomes an ask", async () => {
    const setup = setUpDesk()
    const ask = await openOne(setup)
    expect(ask).toMatchObject({
      sessionId: "s1",
      seq: 7,
      kind: "tool",
      state: "pending",
      requestId: "r1",
      toolName: "Bash",
      input: { command: "npm test" },
      incarnation: "p1",
    })
    expect(ask.inputHash).toMatch(/^[0-9a-f]{64}$/)
    expect(ask.suggestions).toHaveLength(1)
    expect(setup.desk.pendingCount("s1")).toBe(1)
  })

  it.each([
    [{ subtype: "can_use_tool", tool_name: "AskUserQuestion", input: {} }, "question"],
    [{ subtype: "can_use_tool", tool_name: "ExitPlanMode", input: {} }, "plan"],
    [{ subtype: "elicitation", message: "which?" }, "elicitation"],
    [{ subtype: "request_user_dialog", dialog_kind: "x" }, "dialog"],
  ])("[AK1] %o is of kind %s", async (request, kind) => {
    expect((await openOne(setUpDesk(), { request })).kind).toBe(kind)
  })

  it("[AK1] only questions of a CLI that knows of skipping are skippable", async () => {
    const request = { subtype: "can_use_tool", tool_name: "AskUserQuestion", input: {} }
    expect((await openOne(setUpDesk(), { request, takesUnanswered: true })).skippable).toBe(true)
    expect((await openOne(setUpDesk(), { request })).skippable).toBeUndefined()
    expect((await openOne(setUpDesk(), { takesUnanswered: true })).skippable).toBeUndefined()
  })

  it("[AK2] the same question again is the same ask", async () => {
    const setup = setUpDesk()
    await openOne(setup)
    await setup.desk.open(question({ seq: 9 }))
    expect(setup.published).toHaveLength(1)
    expect(await setup.directory.listAsks({})).toHaveLength(1)
  })

  it("[AK2] brought twice at the same time, it is one ask, and settled it stays settled", async () => {
    const setup = setUpDesk()
    await Promise.all([setup.desk.open(question()), setup.desk.open(question())])
    expect(setup.published).toHaveLength(1)
    await setup.desk.answer(setup.published[0]?.id ?? "", { behavior: "allow" }, PERSON)
    await setup.desk.open(question())
    expect(setup.desk.pendingCount("s1")).toBe(0)
  })

  it("[AK3] of 40 answers at once one wins, and one line goes to the agent", async () => {
    const setup = setUpDesk()
    const ask = await openOne(setup)
    const answers = Array.from({ length: 40 }, (_, index) =>
      setup.desk
        .answer(ask.id, { behavior: index % 2 === 0 ? "allow" : "deny" }, { by: `p${index}`, via: "person" })
        .then(
          () => `p${index}`,
          (error: HubError) => error,
        ),
    )
    const results = await Promise.all(answers)
    const winners = results.filter((result) => typeof result === "string")
    expect(winners).toHaveLength(1)
    expect(setup.wire).toHaveLength(1)
    const losers = results.filter((result) => typeof result !== "string")
    expect(losers.every((error) => error.code === "ask/settled" && error.message.includes(winners[0] ?? "?"))).toBe(
      true,
    )
  })

  it("[AK4] committed, then on the wire, then told", async () => {
    const setup = setUpDesk()
    const ask = await openOne(setup)
    const settled = await setup.desk.answer(ask.id, { behavior: "allow" }, PERSON)
    setup.steps.push("told")
    expect(setup.steps).toEqual(["published pending", "published allowed", "wire", "told"])
    expect(settled).toMatchObject({ state: "allowed", settledBy: "ann", via: "person" })
    expect(settled.deliveredAt).toBeDefined()
  })

  it("[AK5] the same answer id again gets the settled ask", async () => {
    const setup = setUpDesk()
    const ask = await openOne(setup)
    const how = { ...PERSON, answerId: "once" }
    const first = await setup.desk.answer(ask.id, { behavior: "allow" }, how)
    expect(await setup.desk.answer(ask.id, { behavior: "allow" }, how)).toEqual(first)
    expect(setup.wire).toHaveLength(1)
  })

  it("[AK6] an answer to another input is refused and loses nothing", async () => {
    const setup = setUpDesk()
    const ask = await openOne(setup)
    const error = await failure(setup.desk.answer(ask.id, { behavior: "allow" }, { ...PERSON, inputHash: "0000" }))
    expect(error.code).toBe("ask/changed")
    expect(setup.desk.pendingCount("s1")).toBe(1)
  })

  it("[AK7] an answer of the wrong kind says what would be right", async () => {
    const setup = setUpDesk()
    const ask = await openOne(setup)
    const error = await failure(setup.desk.answer(ask.id, { action: "accept" }, PERSON))
    expect(error.code).toBe("ask/invalid-answer")
    expect(error.message).toContain(`{"behavior":"allow"}`)
    expect(setup.desk.pendingCount("s1")).toBe(1)
  })

  it("[AK8] an allow without input allows what was asked for", async () => {
    const setup = setUpDesk()
    const ask = await openOne(setup)
    await setup.desk.answer(ask.id, { behavior: "allow" }, PERSON)
    expect(payload(setup)).toEqual({ behavior: "allow", updatedInput: { command: "npm test" }, toolUseID: "toolu_1" })
  })

  it("[AK9] cancelled by the agent, superseded by another question, orphaned by its end", async () => {
    const setup = setUpDesk()
    await openOne(setup)
    await setup.desk.cancelled("p1", "r1")
    await openOne(setup, { requestId: "r2" })
    await openOne(setup, { requestId: "r3" })
    await setup.desk.orphan({ sessionId: "s1", incarnation: "p1", except: null })
    const asks = await setup.directory.listAsks({ session: "s1" })
    expect(Object.fromEntries(asks.map((ask) => [ask.requestId, ask.state]))).toEqual({
      r1: "cancelled",
      r2: "superseded",
      r3: "orphaned",
    })
    expect(setup.wire).toEqual([])
  })

  it("[AK10] what could not be sent is sent to the same process when it is back, and to no other", async () => {
    const setup = setUpDesk()
    const ask = await openOne(setup)
    setup.isReachable = false
    const settled = await setup.desk.answer(ask.id, { behavior: "allow" }, PERSON)
    expect(settled.deliveredAt).toBeUndefined()
    setup.isReachable = true
    await setup.desk.sendAgain(runner("p2"), performance.now())
    expect(setup.wire).toEqual([])
    await setup.desk.sendAgain(runner("p1"), performance.now())
    expect(setup.wire.map(({ incarnation }) => incarnation)).toEqual(["p1"])
    expect((await setup.directory.getAsk(ask.id))?.deliveredAt).toBeDefined()
  })

  it("[AK10] an answer that nobody is left to hear is tried no more, after a restart neither", async () => {
    const setup = setUpDesk()
    const ask = await openOne(setup)
    setup.isReachable = false
    await setup.desk.answer(ask.id, { behavior: "allow" }, PERSON)
    expect(await setup.directory.listAsks({ unheard: true })).toHaveLength(1)
    await setup.desk.orphan({ sessionId: "s1", incarnation: "p1", except: "p2" })
    expect(await setup.directory.listAsks({ unheard: true })).toEqual([])
    expect((await setup.directory.getAsk(ask.id))?.deliveredAt).toBeUndefined()
    const next = setUpDesk(setup.directory)
    await next.desk.restore("s1")
    await next.desk.sendAgain(runner("p1"), performance.now())
    expect(next.wire).toEqual([])
  })

  it("[AK10] an answer is not sent twice on one connection", async () => {
    const setup = setUpDesk()
    const connectedAt = performance.now()
    const ask = await openOne(setup)
    await setup.desk.answer(ask.id, { behavior: "allow" }, PERSON)
    await setup.desk.sendAgain(runner("p1"), connectedAt)
    expect(setup.wire).toHaveLength(1)
    await setup.desk.sendAgain(runner("p1"), performance.now())
    expect(setup.wire).toHaveLength(2)
  })

  it("[AK11] the policy answers first, with its rule", async () => {
    const setup = setUpDesk()
    setup.verdict = { effect: "deny", rule: "no-tests", reason: "Rule no-tests forbids this.", message: "Not here." }
    await setup.desk.open(question())
    expect(setup.published.at(-1)).toMatchObject({ state: "denied", via: "policy", rule: "no-tests" })
    expect(payload(setup)).toMatchObject({ behavior: "deny", message: "Not here." })
  })

  it("[AK11] a rule answers each kind in its own form, and what it decides is never seen pending", async () => {
    const setup = setUpDesk()
    setup.verdict = { effect: "deny", rule: "nothing", reason: "Rule nothing forbids this." }
    await setup.desk.open(question({ requestId: "e", request: { subtype: "elicitation", message: "which?" } }))
    await setup.desk.open(question({ requestId: "d", request: { subtype: "request_user_dialog", dialog_kind: "x" } }))
    expect(setup.published.map((ask) => `${ask.kind} ${ask.state}`)).toEqual(["elicitation denied", "dialog denied"])
    expect([payload(setup, 0), payload(setup, 1)]).toEqual([{ action: "decline" }, { behavior: "cancelled" }])
    expect(setup.desk.pendingCount("s1")).toBe(0)
  })

  it("[AK12] a store that cannot take the expiry now is asked again", async () => {
    const setup = setUpDesk()
    setup.verdict = { effect: "ask", rule: "hurry", reason: "…", expiresAfterMs: 60_000 }
    await openOne(setup)
    const settle = setup.directory.settleAsk.bind(setup.directory)
    setup.directory.settleAsk = () => Promise.reject(new Error("full"))
    setup.timers[0]?.run()
    await expect.poll(() => setup.timers.length).toBe(2)
    setup.directory.settleAsk = settle
    setup.timers[1]?.run()
    await expect.poll(() => setup.published.at(-1)?.state).toBe("expired")
  })

  it("[AK12] an expired ask is told as unanswered", async () => {
    const setup = setUpDesk()
    setup.verdict = { effect: "ask", rule: "hurry", reason: "…", expiresAfterMs: 60_000 }
    const ask = await openOne(setup)
    expect(ask.expiresAt).toBe("2026-01-01T00:01:00.000Z")
    setup.timers[0]?.run()
    await expect.poll(() => setup.published.at(-1)?.state).toBe("expired")
    await expect
      .poll(() => payload(setup))
      .toMatchObject({ behavior: "deny", message: expect.stringContaining("not refused by a person") })
  })

  it("[AK13] an audit record says who, how and how long", async () => {
    const setup = setUpDesk()
    const ask = await openOne(setup)
    await setup.desk.answer(ask.id, { behavior: "deny", message: "no" }, PERSON)
    const records = await setup.directory.listAudit({ after: 0, limit: 10 })
    expect(records[0]?.details).not.toHaveProperty("input")
    const [record] = await entriesOf(auditPage(setup, { records, limit: 10 }))
    expect(record).toMatchObject({ what: "ask/denied", by: "ann", via: "person", sessionId: "s1", askId: ask.id })
    expect(record?.details).toMatchObject({
      toolName: "Bash",
      seq: ask.seq,
      inputHash: ask.inputHash,
      input: { command: "npm test" },
    })
    expect(record?.details["waitedMs"]).toBeGreaterThan(0)
  })

  it("[AK14] always allow for the session is a rule of the hub's own until it is revoked", async () => {
    const setup = setUpDesk()
    const ask = await openOne(setup)
    const update = { type: "addRules", rules: [{ toolName: "Bash" }], behavior: "allow", destination: "session" }
    await setup.desk.answer(ask.id, { behavior: "allow", updatedPermissions: [update] }, PERSON)
    expect(payload(setup)).not.toHaveProperty("updatedPermissions")
    expect(setup.grants.rulesOf("s1")).toHaveLength(1)
    expect(setup.grants.rulesOf("s2")).toEqual([])
    const [grant] = await setup.grants.list({ session: "s1" })
    expect(grant).toMatchObject({ where: "hub", grantedBy: "ann", askId: ask.id })
    expect(await setup.grants.revoke(grant?.id ?? "", "bob")).toMatchObject({ gone: true })
    expect(setup.grants.rulesOf("s1")).toEqual([])
  })

  it("[AK15] always allow for another place is passed on and listed with its machine", async () => {
    const setup = setUpDesk()
    const ask = await openOne(setup)
    const update = { type: "addRules", rules: [{ toolName: "Bash" }], behavior: "allow", destination: "localSettings" }
    await setup.desk.answer(ask.id, { behavior: "allow", updatedPermissions: [update] }, PERSON)
    expect(payload(setup)).toMatchObject({ updatedPermissions: [update] })
    const [grant] = await setup.grants.list({ session: "s1" })
    expect(grant).toMatchObject({ where: "localSettings", machine: "this machine" })
    expect(await setup.grants.revoke(grant?.id ?? "", "bob")).toMatchObject({ gone: false })
  })

  it("[PO34] a token of an older hub whose name has characters that cannot be seen is no other person", async () => {
    const setup = setUpDesk()
    setup.verdict = { effect: "ask", reason: "Two are needed.", fourEyes: true }
    const ask = await openOne(setup)
    const alone = await failure(setup.desk.answer(ask.id, { behavior: "allow" }, { ...PERSON, by: "some\u200bbody" }))
    expect(alone.code).toBe("ask/four-eyes")
    expect((await setup.desk.answer(ask.id, { behavior: "allow" }, PERSON)).state).toBe("allowed")
  })

  it("[AK16] pending asks and undelivered answers survive a restart", async () => {
    const before = setUpDesk()
    const answered = await openOne(before)
    before.isReachable = false
    await before.desk.answer(answered.id, { behavior: "allow" }, PERSON)
    await before.desk.open(question({ requestId: "r2", request: { ...question().request, tool_use_id: "toolu_2" } }))
    const after = setUpDesk(before.directory)
    await after.desk.restore("s1")
    expect(after.desk.pendingOf("s1").map((ask) => ask.requestId)).toEqual(["r2"])
    await after.desk.sendAgain(runner("p1"), performance.now())
    expect(payload(after)).toMatchObject({ behavior: "allow" })
  })

  it("[AK16] an answer that was on the wire when the hub ended is sent again, until the agent acts on it", async () => {
    const before = setUpDesk()
    const { id } = await openOne(before)
    await before.desk.answer(id, { behavior: "allow" }, PERSON)
    expect((await before.directory.getAsk(id))?.deliveredAt).toBeDefined()
    const after = setUpDesk(before.directory)
    await after.desk.restore("s1")
    await after.desk.sendAgain(runner("p1"), performance.now())
    expect(after.wire).toHaveLength(1)
    after.desk.confirm("p1", "toolu_1")
    const last = setUpDesk(before.directory)
    await last.desk.restore("s1")
    await last.desk.sendAgain(runner("p1"), performance.now())
    expect(last.wire).toEqual([])
  })

  it("[AK16] the end of a turn is no sign that an answer was heard which was never on the wire", async () => {
    const setup = setUpDesk()
    const { id } = await openOne(setup)
    setup.isReachable = false
    await setup.desk.answer(id, { behavior: "allow" }, PERSON)
    setup.desk.confirm("p1", undefined)
    setup.isReachable = true
    await setup.desk.sendAgain(runner("p1"), performance.now())
    expect(payload(setup)).toMatchObject({ behavior: "allow" })
    setup.desk.confirm("p1", undefined)
    expect(await setup.directory.listAsks({ unheard: true })).toEqual([])
  })

  it("[AK16] however many others are on their way, one that was never on the wire is kept", async () => {
    const setup = setUpDesk()
    const ask = (number: number) =>
      question({ requestId: `r${number}`, request: { ...question().request, tool_use_id: `toolu_${number}` } })
    setup.isReachable = false
    await setup.desk.open(ask(0))
    for (const { id } of setup.desk.pending()) await setup.desk.answer(id, { behavior: "allow" }, PERSON)
    setup.isReachable = true
    for (let number = 1; number <= 1_001; number++) {
      await setup.desk.open(ask(number))
      for (const { id } of setup.desk.pending()) await setup.desk.answer(id, { behavior: "allow" }, PERSON)
    }
    const before = setup.wire.length
    await setup.desk.sendAgain(runner("p1"), 0.001)
    expect(setup.wire.slice(before)).toHaveLength(1)
  })

  it("[AK9] what a process left open is closed when the store can take it again", async () => {
    const setup = setUpDesk()
    const ask = await openOne(setup)
    const settle = setup.directory.settleAsk.bind(setup.directory)
    setup.directory.settleAsk = () => Promise.reject(new Error("the disk is full"))
    await setup.desk.orphan({ sessionId: "s1", incarnation: "p1", except: null })
    expect((await setup.directory.getAsk(ask.id))?.state).toBe("pending")
    setup.directory.settleAsk = settle
    for (const { ms, run, isCancelled } of setup.timers) if (ms === 5_000 && !isCancelled) run()
    await expect.poll(async () => (await setup.directory.getAsk(ask.id))?.state).toBe("orphaned")
  })

  it("[AK16] … but to one that would take it twice only when it asks again", async () => {
    const before = setUpDesk()
    const { id } = await openOne(before)
    await before.desk.answer(id, { behavior: "allow" }, PERSON)
    const after = setUpDesk(before.directory)
    await after.desk.restore("s1")
    await after.desk.sendAgain({ incarnation: "p1", hearsOnce: false }, performance.now())
    expect(after.wire).toEqual([])
    await after.desk.open(question())
    expect(payload(after)).toMatchObject({ behavior: "allow" })
  })
})

/** A process on a runner. */
const runner = (incarnation: string) => ({ incarnation, hearsOnce: true })

/** A question whose event is in the log, as an agent's is. */
async function logged(log: MemoryEventLog, change: Partial<Question> = {}): Promise<Question> {
  const asked = question(change)
  const { sessionId, requestId, request } = asked
  const line = JSON.stringify({ type: "control_request", request_id: requestId, request })
  const { lastSeq } = await log.append(sessionId, [{ at: 1, from: "agent", line }])
  return { ...asked, seq: lastSeq, isInEvent: true }
}

const INPUT = { command: "npm test" }

describe("what an ask asked", () => {
  it("[AK20] stands in its event alone, and is joined wherever the ask is told", async () => {
    const log = new MemoryEventLog()
    const setup = setUpDesk(new MemoryDirectory(), log)
    await setup.desk.open(await logged(log))
    const [kept] = await setup.directory.listAsks({})
    expect(JSON.stringify(kept)).not.toContain("npm test")
    expect(setup.published[0]).toMatchObject({ input: INPUT, request: { input: INPUT }, suggestions: [{}] })
    await setup.desk.answer(kept?.id ?? "", { behavior: "allow", updatedInput: { ...INPUT } }, PERSON)
    const records = await setup.directory.listAsks({})
    const audit = await setup.directory.listAudit({ after: 0, limit: 10 })
    expect(JSON.stringify([records, audit])).not.toContain("npm test")
    const whole = { state: "allowed", input: INPUT, answer: { behavior: "allow", updatedInput: INPUT } }
    expect(setup.published[1]).toMatchObject(whole)
    expect(await entriesOf(askPage(setup.reader, { records, limit: 10 }))).toMatchObject([whole])
    expect(payload(setup)).toEqual({ behavior: "allow", updatedInput: INPUT, toolUseID: "toolu_1" })
  })

  it("[AK20] an input that was changed is kept, and only that", async () => {
    const log = new MemoryEventLog()
    const setup = setUpDesk(new MemoryDirectory(), log)
    await setup.desk.open(await logged(log))
    const updatedInput = { command: "npm run lint" }
    await setup.desk.answer(setup.published[0]?.id ?? "", { behavior: "allow", updatedInput }, PERSON)
    const [kept] = await setup.directory.listAsks({})
    expect(kept?.answer).toMatchObject({ updatedInput })
    expect(setup.published[1]).toMatchObject({ input: INPUT, answer: { updatedInput } })
    const records = await setup.directory.listAudit({ after: 0, limit: 10 })
    const [audit] = await entriesOf(auditPage(setup, { records, limit: 10 }))
    expect(audit?.details).toMatchObject({ input: INPUT, answer: { updatedInput } })
  })

  it("[AK20] [AK16] an answer that was not delivered before a restart is sent with the input it allowed", async () => {
    const log = new MemoryEventLog()
    const before = setUpDesk(new MemoryDirectory(), log)
    before.isReachable = false
    await before.desk.open(await logged(log))
    await before.desk.answer(before.published[0]?.id ?? "", { behavior: "allow" }, PERSON)
    const after = setUpDesk(before.directory, log)
    await after.desk.restore("s1")
    await after.desk.sendAgain(runner("p1"), Number.POSITIVE_INFINITY)
    expect(payload(after)).toMatchObject({ behavior: "allow", updatedInput: INPUT })
    after.desk.confirm("p1", undefined)
    expect(await after.directory.listAsks({ unheard: true })).toEqual([])
  })

  it("[AK20] an allow is refused and not sent when its event is gone: it would allow something else", async () => {
    const setup = setUpDesk()
    await setup.desk.open({ ...question(), isInEvent: true })
    const [kept] = await setup.directory.listAsks({})
    const refused = await failure(setup.desk.answer(kept?.id ?? "", { behavior: "allow" }, PERSON))
    expect([refused.code, setup.wire, setup.desk.pendingCount("s1")]).toEqual(["store/failed", [], 1])
    await setup.desk.answer(kept?.id ?? "", { behavior: "deny" }, PERSON)
    expect(payload(setup)).toMatchObject({ behavior: "deny" })
  })

  it("[AK20] a question that its event does not say is kept with the ask", async () => {
    const log = new MemoryEventLog()
    const setup = setUpDesk(new MemoryDirectory(), log)
    const { seq } = await logged(log)
    // As when a new process uses the id of another's question.
    const request = { subtype: "can_use_tool", tool_name: "Bash", input: { command: "rm -rf build" } }
    await setup.desk.open(question({ incarnation: "p2", seq, isInEvent: false, request }))
    const records = await setup.directory.listAsks({})
    expect(await entriesOf(askPage(setup.reader, { records, limit: 1 }))).toMatchObject([{ seq, input: request.input }])
  })

  it("[AK21] a page of asks ends at its bytes, but not before the first, and says that there is more", async () => {
    const log = new MemoryEventLog()
    const setup = setUpDesk(new MemoryDirectory(), log)
    const request = { subtype: "can_use_tool", tool_name: "Write", input: { content: "x".repeat(100_000) } }
    for (const requestId of ["r1", "r2", "r3"]) await setup.desk.open(await logged(log, { requestId, request }))
    const records = await setup.directory.listAsks({})
    const pages = [1, 700_000, 10_000_000].map((maxBytes) => askPage(setup.reader, { records, limit: 3, maxBytes }))
    const lengths = await Promise.all(pages.map(async (page) => [(await entriesOf(page)).length, (await page).more]))
    expect(lengths).toEqual([
      [1, true],
      [2, true],
      [3, false],
    ])
  })

  it("[AK22] open asks are told as they are when they are told: one that was settled meanwhile is not", async () => {
    const log = new MemoryEventLog()
    const setup = setUpDesk(new MemoryDirectory(), log)
    for (const requestId of ["r1", "r2"]) {
      const request = { ...question().request, tool_use_id: requestId }
      await setup.desk.open(await logged(log, { requestId, request }))
    }
    const told: string[] = []
    await setup.desk.tellOpen("s1", async (ask) => {
      told.push(ask.requestId)
      await setup.desk.cancelled("p1", "r2")
      return true
    })
    expect(told).toEqual(["r1"])
  })
})

it("[PO34] what needs a second person is allowed by no rule and no automatic approval, and can be denied", async () => {
  const setup = setUpDesk()
  setup.verdict = { effect: "ask", reason: "This could not be checked.", fourEyes: true }
  await setup.desk.open(question())
  const [ask] = setup.desk.pending()
  const allow = (by: string, via: "policy" | "person") =>
    setup.desk.answer(ask?.id ?? "", { behavior: "allow" }, { by, via })
  for (const refused of [allow("relay auto-approval", "policy"), allow("somebody", "person")]) {
    expect(await failure(refused)).toMatchObject({ code: "ask/four-eyes", status: 403 })
  }
  expect(await allow("somebody else", "person")).toMatchObject({ state: "allowed", settledBy: "somebody else" })
})
