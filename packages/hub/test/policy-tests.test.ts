import { expect, it } from "vitest"
import { PolicyTests } from "../src/policy-tests.ts"
import { pendingAsk } from "../src/testing/records.ts"
import { call, openAgent, openStage, type Stage, tokenOf } from "./clients/stage.ts"

// oxlint-disable-next-line typescript/no-explicit-any -- the hub's JSON, which the tests look into
type Json = any

const allow = (id: string, command: string) => ({ id, effect: "allow", tool: "Bash", input: { command } })

async function body(reply: Response | Promise<Response>): Promise<Json> {
  return (await reply).json()
}

/** An agent asks, and a person answers. */
async function answered(stage: Stage, answers: readonly (readonly [command: string, behavior: "allow" | "deny"])[]) {
  const { agent, id } = await openAgent(stage)
  for (const [index, [command, behavior]] of answers.entries()) {
    const asked = agent.askPermission(`r${index}`, { command })
    const open = async () => (await body(call(stage, "GET", `/api/asks?state=pending&session=${id}`))).asks
    await expect.poll(open).toHaveLength(1)
    const [ask] = await open()
    expect((await call(stage, "POST", `/api/asks/${ask.id}/answer`, { behavior })).status).toBe(200)
    await asked
  }
  return id
}

it("[BT7] a policy that would allow what a person denied is refused with the list, unless it is forced, which is audited", async () => {
  const stage = await openStage()
  await answered(stage, [["git push", "deny"]])
  const policy = { rules: [allow("push", "git push")] }
  const refused = await call(stage, "PUT", "/api/policy", policy)
  expect(refused.status).toBe(409)
  expect(await body(refused)).toMatchObject({
    error: {
      code: "policy/contradicts",
      message: expect.stringMatching(/^This policy would allow a request that a person/),
    },
    contradicts: { count: 1, examples: [{ text: "git push", rule: "push", by: expect.any(String) }] },
  })
  expect((await body(call(stage, "GET", "/api/policy"))).rules).toEqual([])
  expect((await call(stage, "PUT", "/api/policy?force=true", policy)).status).toBe(200)
  const { records } = await body(call(stage, "GET", "/api/audit?what=policy/changed"))
  expect(records).toMatchObject([{ via: "person", details: { version: 1, forced: { count: 1 } } }])
  // Forced once, it is no news: the next change is not held up by it.
  const next = { rules: [...policy.rules, allow("tests", "npm test")] }
  expect((await call(stage, "PUT", "/api/policy", next)).status).toBe(200)
  expect((await call(stage, "PUT", "/api/policy?force=maybe", next)).status).toBe(400)
  expect((await call(stage, "PUT", "/api/policy", { rules: [{}] })).status).toBe(400)
})

async function* failing(): AsyncGenerator<never> {
  yield await Promise.reject(new Error("no thread"))
}

it("[BT7] a policy that cannot be checked is not put in force, unless it is forced, which is audited", async () => {
  const put: unknown[] = []
  const tests = new PolicyTests({
    policy: { policy: { rules: [], relayAutoApproval: false }, put: async (_policy, how) => void put.push(how) },
    backtests: { run: () => failing() },
    directory: { listAsks: async () => [pendingAsk("1", { state: "denied" })], getSession: async () => undefined },
    uses: { read: async () => ({}) },
  })
  const policy = { rules: [] }
  await expect(tests.put(policy, { by: "ada", force: false })).rejects.toThrow("no thread")
  await tests.put(policy, { by: "ada", force: true })
  expect(put).toEqual([{ by: "ada", forced: { count: 0, examples: [] } }])
})

it("[BT5] [BT6] a test over HTTP: the result, or lines with progress; what is wrong with the policy is told first", async () => {
  const stage = await openStage()
  const id = await answered(stage, [
    ["npm test", "allow"],
    ["git push", "deny"],
  ])
  const proposed = { policy: { rules: [allow("tests", "npm test")], sees: {} }, since: "1d", limit: 1 }
  const result = await body(call(stage, "POST", "/api/policy/test", proposed))
  expect(result).toMatchObject({ requests: 2, notTestable: 0, complete: true, contradicts: { count: 0 } })
  expect(result.noLongerAsked).toMatchObject({ count: 1, examples: [{ session: id, tool: "Bash", text: "npm test" }] })
  const headers = { authorization: `Bearer ${stage.hub.admin.token}`, accept: "application/x-ndjson" }
  const test = (given: unknown) =>
    fetch(`${stage.url}/api/policy/test`, { method: "POST", headers, body: JSON.stringify(given) })
  const reply = await test(proposed)
  expect(reply.headers.get("content-type")).toBe("application/x-ndjson")
  const lines = (await reply.text()).trim().split("\n")
  expect(JSON.parse(lines[0] ?? "")).toEqual({ progress: { judged: 0, total: 2 } })
  expect(JSON.parse(lines.at(-1) ?? "")).toEqual({ result })
  const invalid = await test({ policy: { rules: [{ id: "x" }] } })
  expect([invalid.status, (await body(invalid)).error.code]).toEqual([400, "policy/invalid"])
  expect((await call(stage, "POST", "/api/policy/test", { ...proposed, since: "soon" })).status).toBe(400)
  // Nothing was changed.
  expect((await body(call(stage, "GET", "/api/policy"))).rules).toEqual([])
})

it("[BT8] one request is explained, by the policy in force or by another", async () => {
  const stage = await openStage()
  await call(stage, "PUT", "/api/policy", { rules: [allow("tests", "npm test")] })
  const { token } = await tokenOf(stage, "viewer")
  const explain = (given: unknown) => call(stage, "POST", "/api/policy/explain", given, token)
  const request = { tool: "Bash", input: { command: "npm test" }, cwd: "/srv" }
  expect(await body(explain({ request }))).toMatchObject({ effect: "allow", rule: "tests" })
  const policy = { rules: [{ id: "none", effect: "deny", cwd: "/srv/**", message: "Not here." }] }
  expect(await body(explain({ policy, request }))).toMatchObject({ effect: "deny", rule: "none", message: "Not here." })
  const main = { rules: [{ id: "main", effect: "deny", branch: "main", runner: "box" }] }
  expect(await body(explain({ policy: main, request }))).toMatchObject({ effect: "ask" })
  const there = { ...request, runner: "box", branch: "main" }
  expect(await body(explain({ policy: main, request: there }))).toMatchObject({ effect: "deny", rule: "main" })
  expect((await explain({ policy: { rules: [{}] }, request })).status).toBe(400)
  expect((await explain({ request: { tool: "Bash" } })).status).toBe(400)
})

it("[BT9] every policy that was in force is listed with who, when and what it changed, and can be put again", async () => {
  const stage = await openStage()
  const one = allow("one", "npm test")
  for (const rules of [[one], [{ ...one, reason: "why" }, allow("two", "make")], []]) {
    expect((await call(stage, "PUT", "/api/policy", { rules, relayAutoApproval: rules.length === 0 })).status).toBe(200)
  }
  const none = { added: [], removed: [], changed: [], settings: [] }
  const { versions, more } = await body(call(stage, "GET", "/api/policy/versions?limit=2"))
  expect(more).toBe(true)
  expect(versions).toMatchObject([
    {
      version: 3,
      by: "admin",
      rules: 0,
      changes: { ...none, removed: ["one", "two"], settings: ["relayAutoApproval"] },
    },
    { version: 2, by: expect.any(String), rules: 2, changes: { ...none, added: ["two"], changed: ["one"] } },
  ])
  expect(Object.keys(versions[0])).not.toContain("policy")
  const rest = await body(call(stage, "GET", "/api/policy/versions?before=2"))
  expect(rest).toMatchObject({ versions: [{ version: 1, changes: { ...none, added: ["one"] } }], more: false })
  const { policy } = await body(call(stage, "GET", "/api/policy/versions/2"))
  expect((await call(stage, "PUT", "/api/policy", policy)).status).toBe(200)
  const again = await stage.reopen()
  expect((await body(call(again, "GET", "/api/policy"))).rules).toEqual(policy.rules)
  for (const unknown of ["9", "0", "x"]) {
    const reply = await call(again, "GET", `/api/policy/versions/${unknown}`)
    expect([reply.status, (await body(reply)).error.code]).toEqual([404, "policy/unknown-version"])
  }
})

it("[BT49] a policy is put in place of the version that was read, or not at all", async () => {
  const stage = await openStage()
  const read = await body(call(stage, "GET", "/api/policy"))
  expect(read.version).toBe(0)
  const put = (id: string, version: number) =>
    call(stage, "PUT", `/api/policy?version=${version}`, { ...read, rules: [allow(id, "npm test")] })
  // Two at once: one of them is told that it came late.
  const both = await Promise.all([put("one", 0), put("two", 0)])
  expect(both.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
  const late = await body(both.find(({ status }) => status === 409) ?? put("one", 0))
  expect(late).toMatchObject({ error: { code: "policy/changed" }, version: 1 })
  expect((await put("three", 1)).status).toBe(200)
  const again = await stage.reopen()
  const now = await body(call(again, "GET", "/api/policy"))
  expect(now).toMatchObject({ version: 2, rules: [{ id: "three" }] })
  expect((await call(again, "PUT", "/api/policy?version=1", { rules: [] })).status).toBe(409)
  expect((await call(again, "PUT", "/api/policy", now)).status).toBe(200)
  expect((await body(call(again, "GET", "/api/policy/versions"))).versions).toHaveLength(3)
})

it("[BT10] suggestions come from what people answered, and are not applied", async () => {
  const stage = await openStage()
  await answered(
    stage,
    Array.from({ length: 5 }, () => ["npm test", "allow"] as const),
  )
  const { suggestions, requests } = await body(call(stage, "GET", "/api/policy/suggestions"))
  expect(requests).toBe(5)
  expect(suggestions).toMatchObject([
    { rule: { tool: "Bash", input: { command: "npm test" } }, people: [expect.any(String)] },
  ])
  expect((await body(call(stage, "GET", "/api/policy"))).rules).toEqual([])
  const { rule } = suggestions[0]
  expect((await call(stage, "PUT", "/api/policy", { rules: [rule] })).status).toBe(200)
  expect((await body(call(stage, "GET", "/api/policy/suggestions"))).suggestions).toEqual([])
})
