import { expect, it } from "vitest"
import { payloadIn } from "../clients/scripted-agent.ts"
import { call, openAgent, openStage } from "../clients/stage.ts"

const RULE = { id: "tests", effect: "allow", tool: "Bash", input: { command: "npm test" } }

it("[PO35] a hub refuses rules that it cannot hold, and says which", async () => {
  const stage = await openStage()
  const parts = [{ branch: "main" }, { atMost: { count: 1, per: "day" } }, { effect: "ask", fourEyes: true }]
  for (const part of parts) {
    const put = await call(stage, "PUT", "/api/policy", { rules: [{ ...RULE, ...part }] })
    const [name] = Object.keys(part).filter((key) => key !== "effect")
    expect(put.status).toBe(400)
    expect(await put.text()).toContain(`rule 1 (tests): ${name}: this hub cannot hold it`)
  }
})

it("[PO31] [PO33] a hub knows the time and the runner: a rule that has ended, or is for a runner, does not allow", async () => {
  const stage = await openStage()
  const { agent } = await openAgent(stage)
  const request = { subtype: "can_use_tool", tool_name: "Bash", input: { command: "npm test" } }
  const deny = { id: "rest", effect: "deny", message: "Not now." }
  const put = (rule: Record<string, unknown>) => call(stage, "PUT", "/api/policy", { rules: [{ ...deny, ...rule }] })
  expect(
    (await call(stage, "PUT", "/api/policy", { rules: [{ ...RULE, until: "2999-01-01T00:00:00Z" }] })).status,
  ).toBe(200)
  expect(payloadIn(await agent.ask({ ...request, tool_use_id: "t-1" }, "q-1"))).toMatchObject({ behavior: "allow" })
  await put({ until: "2999-01-01T00:00:00Z" })
  expect(payloadIn(await agent.ask({ ...request, tool_use_id: "t-2" }, "q-2"))).toMatchObject({ message: "Not now." })
  const elsewhere = { rules: [{ ...deny, runner: "other" }, RULE] }
  expect((await call(stage, "PUT", "/api/policy", elsewhere)).status).toBe(200)
  expect(payloadIn(await agent.ask({ ...request, tool_use_id: "t-3" }, "q-3"))).toMatchObject({ behavior: "allow" })
})
