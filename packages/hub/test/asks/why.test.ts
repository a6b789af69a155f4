import { defined } from "@signalbox/protocol"
import type { Ask, AuditRecord, PolicyVerdict } from "@signalbox/protocol/hub-api"
import { describe, expect, it } from "vitest"
import { PolicyDesk } from "../../src/policy-desk.ts"
import { readPolicy } from "../../src/policy-document.ts"
import { MemoryDirectory } from "../../src/testing/memory-directory.ts"
import { pendingAsk } from "../../src/testing/records.ts"
import { call, openAgent, openStage, type Stage } from "../clients/stage.ts"

const RULES = [
  { id: "tests", effect: "allow", tool: "Bash", input: { command: "npm test" } },
  { id: "no-push", effect: "deny", tool: "Bash", input: { command: "git push *" }, message: "A person pushes." },
  { id: "deploys", effect: "ask", tool: "Bash", input: { command: "deploy *" } },
]

/** What the hub says at a path, as the caller knows it to be. */
async function told<T>(stage: Stage, method: string, path: string, given?: unknown): Promise<T> {
  const reply = await call(stage, method, path, given)
  expect(reply.status).toBe(200)
  return (await reply.json()) as T
}

async function opened(rules: readonly unknown[] = RULES) {
  const stage = await openStage()
  await told(stage, "PUT", "/api/policy", { rules })
  const { agent, id } = await openAgent(stage)
  const asks = async () => (await told<{ asks: Ask[] }>(stage, "GET", `/api/asks?session=${id}`)).asks
  /** Asked and, if no rule settles it, allowed by a person. */
  const ask = async (
    command: string,
    answer: object = { behavior: "allow" },
  ): Promise<{ ask: Ask; audit: AuditRecord }> => {
    const answered = agent.askPermission(command, { command })
    const isThere = async () => (await asks()).find(({ requestId }) => requestId === command)
    await expect.poll(isThere).toBeDefined()
    const asked = await isThere()
    if (asked === undefined) throw new Error("nothing was asked")
    if (asked.state === "pending") await told(stage, "POST", `/api/asks/${asked.id}/answer`, answer)
    await answered
    const { records } = await told<{ records: AuditRecord[] }>(stage, "GET", `/api/audit?session=${id}`)
    const audit = records.find(({ askId }) => askId === asked.id)
    if (audit === undefined) throw new Error("nothing was audited")
    expect(await told<Ask>(stage, "GET", `/api/asks/${asked.id}`)).toMatchObject(whyIn(asked))
    return { ask: asked, audit }
  }
  return { stage, id, ask }
}

const whyIn = ({ reason, why }: Pick<Ask, "reason" | "why">) => defined({ reason, why })

describe("why a request was asked about or settled", () => {
  it("[AK23] is kept with the ask and its audit record, in the words of the tester", async () => {
    const { stage, ask: asks } = await opened()
    for (const [command, state] of [
      ["npm test", "allowed"],
      ["cd x && git push origin", "denied"],
      ["deploy now", "pending"],
      ["npm test; make", "pending"],
      ["make", "pending"],
    ]) {
      const { ask, audit } = await asks(command ?? "")
      const request = { tool: "Bash", input: { command } }
      const { reason, why } = await told<PolicyVerdict>(stage, "POST", "/api/policy/explain", { request })
      expect(ask.state).toBe(state)
      expect(whyIn(ask)).toEqual({ reason, why })
      expect(audit.details).toMatchObject({ reason, why })
    }
  })

  it("[AK23] has the rule, its place in the policy, the span that decided and what would have to change", async () => {
    const { ask: asks } = await opened()
    const { ask, audit } = await asks("cd x && git push origin")
    expect(whyIn(ask)).toEqual({
      reason: 'Rule "no-push" forbids this.',
      why: {
        rules: [{ id: "no-push", place: 2, span: { start: 8, end: 23 } }],
        field: "command",
        span: { start: 8, end: 23 },
        text: "git push origin",
        change: 'To allow it, change or remove rule "no-push" (number 2).',
      },
    })
    expect(audit).toMatchObject({
      what: "ask/denied",
      details: { rule: "no-push", input: { command: expect.any(String) } },
    })
    expect(whyIn((await asks("make")).ask)).toEqual({
      reason: "No rule covers this.",
      why: { rules: [], change: "To allow it, add a rule that allows it." },
    })
  })

  it("[AK23] a grant of the session has no place in the policy, and is revoked", async () => {
    const { ask: asks } = await opened()
    const rules = [{ toolName: "Bash", ruleContent: "make" }]
    const updatedPermissions = [{ type: "addRules", rules, behavior: "allow", destination: "session" }]
    await asks("make", { behavior: "allow", updatedPermissions })
    const { ask } = await asks("make && npm test")
    const [grant] = ask.why?.rules.filter(({ place }) => place === undefined) ?? []
    expect(grant?.id).toMatch(/^grant:/)
    expect(ask).toMatchObject({
      state: "allowed",
      why: {
        rules: expect.arrayContaining([expect.objectContaining({ id: "tests", place: 1 })]),
        change: 'To be asked, change or remove rule "tests" or revoke that grant.',
      },
    })
  })

  it("[AK23] is not kept where there are neither rules nor grants", async () => {
    const { ask: asks } = await opened([])
    const { ask, audit } = await asks("make")
    for (const record of [ask, audit.details]) {
      expect(record).not.toHaveProperty("reason")
      expect(record).not.toHaveProperty("why")
    }
  })

  it("[AK23] survives a restart, and records of older hubs are told as before", async () => {
    const { stage, ask: asks, id } = await opened()
    const { ask } = await asks("make")
    await stage.hub.close()
    const store = await stage.openStore()
    await store.directory.addAsk(pendingAsk("old", { sessionId: id, rule: "deploys" }))
    await store.directory.addAudit({
      at: "2026-01-01T00:00:00.000Z",
      what: "ask/denied",
      by: "ann",
      via: "person",
      sessionId: id,
      askId: "old",
      details: { kind: "tool", toolName: "Bash", inputHash: "x", answer: null, rule: "deploys", waitedMs: 5 },
    })
    await store.close()
    const again = await stage.reopen()
    expect(await told<Ask>(again, "GET", `/api/asks/${ask.id}`)).toMatchObject(whyIn(ask))
    const old = await told<Ask>(again, "GET", "/api/asks/old")
    expect(old).toMatchObject({ id: "old", rule: "deploys" })
    const { records } = await told<{ records: AuditRecord[] }>(again, "GET", `/api/audit?session=${id}`)
    const audit = records.find(({ askId }) => askId === "old")
    expect(audit).toMatchObject({ by: "ann", details: { rule: "deploys" } })
    for (const record of [old, audit?.details]) {
      expect(record).not.toHaveProperty("reason")
      expect(record).not.toHaveProperty("why")
    }
  })
})

describe("why a call was stopped before it ran", () => {
  const call = (command: string, more: object = {}) => ({ tool: "Bash", input: { command, ...more } })

  async function desk() {
    const policy = new PolicyDesk(new MemoryDirectory())
    await policy.put(await readPolicy({ rules: RULES }), { by: "admin" })
    return (request: ReturnType<typeof call>) => policy.judgeCall(request, { session: "s" })
  }

  it("[EN19] places are those of the whole policy, though only rules that narrow are tried", async () => {
    const judge = await desk()
    expect(judge(call("git push origin"))).toMatchObject({
      effect: "deny",
      why: { rules: [{ id: "no-push", place: 2 }], change: 'To allow it, change or remove rule "no-push" (number 2).' },
    })
    expect(judge(call("deploy now"))).toMatchObject({ effect: "ask", why: { rules: [{ id: "deploys", place: 3 }] } })
    expect(judge(call("make"))).toMatchObject({ effect: "allow", why: { rules: [] } })
  })

  it("[EN19] names no rule where none had a say", async () => {
    const judge = await desk()
    const reason = "The rules cannot tell whether this may run, so a person decides."
    expect(judge(call("make", { dangerouslyDisableSandbox: true }))).toEqual({
      effect: "ask",
      reason,
      why: { rules: [], change: "Run it inside the sandbox." },
    })
    const unread = judge(call("echo 'x"))
    expect(unread).toMatchObject({ effect: "ask" })
    expect(unread.why?.rules.map(({ id }) => id)).not.toContain("")
  })
})
