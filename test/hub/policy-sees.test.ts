import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Scenario } from "@signalbox/simulator"
import { afterEach, expect, it } from "vitest"
import { PINNED } from "../../scripts/claude-cli.mjs"
import { runsNow } from "../gate.ts"
import { Machine } from "../runner/runner-process.ts"
import { startAgent } from "./agent-process.ts"
import { HubProcess, type Json } from "./hub-process.ts"

const open: { dispose(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of open.splice(0).toReversed()) await thing.dispose()
})

const POLL = { timeout: 60_000, interval: 50 }
const SECRET = "the-secret-of-this-folder"
const RULES = [
  { id: "no-secrets", effect: "deny", input: { file_path: "**/.env" } },
  { id: "no-cat", effect: "deny", tool: "Bash", input: { command: "cat *" } },
  { id: "no-touch", effect: "deny", tool: "Bash", input: { command: "touch *" } },
]

/** Two ways to read a file, and one to make one. */
function reading(file: string): Scenario {
  const bash = (command: string) => ({ tool: "Bash", input: { command, description: "try it" } })
  const steps = [{ tool: "Read", input: { file_path: file } }, bash("cat .env"), bash("touch made"), { say: "Tried." }]
  return { turns: [{ on: "go", steps }] }
}

it("[PO23] a policy says what it sees, and can be read, changed and put back", async () => {
  const hub = await HubProcess.start()
  open.push(hub)
  const read = await hub.get("/api/policy")
  expect(read).toMatchObject({ rules: [], sees: { judged: expect.stringMatching(/^Only what an agent asks about/) } })
  const { status, body } = await hub.call("PUT", "/api/policy", { ...read, rules: RULES })
  expect(status).toBe(200)
  expect(body).toEqual({ ...read, rules: RULES, version: 1 })
  expect(await hub.get("/api/policy")).toEqual(body)
  const { components } = await hub.get("/api/openapi.json")
  expect(components.schemas.PolicyInForce.required).toContain("sees")
})

interface Place {
  readonly hub: HubProcess
  readonly id: string
  readonly cwd: string
}

/** A session of a real CLI: dialled by those that can, on a runner else. */
async function sessionOf(version: string, scenario: Scenario): Promise<Place> {
  if (version === "2.1.325") {
    const machine = await Machine.open({ scenario, claude: version })
    open.push(machine)
    return { hub: machine.hub, id: (await machine.launch()).id, cwd: machine.cwd }
  }
  const hub = await HubProcess.start()
  open.push(hub)
  const { id, ingress } = await hub.post("/api/sessions", { agent: "external" })
  const agent = await startAgent({ kind: "claude", version, ...ingress, scenario })
  open.push(agent)
  return { hub, id, cwd: agent.cwd }
}

const title = "reads a file that a rule denies, and no request reaches the hub"
for (const version of PINNED) {
  const cell = `policy on CLI ${version}`
  if (runsNow(cell, title))
    it(`[PO23] ${cell}: ${title}`, async () => {
      const { hub, id, cwd } = await sessionOf(version, reading(".env"))
      writeFileSync(join(cwd, ".env"), `${SECRET}\n`)
      const put = await hub.call("PUT", "/api/policy", { rules: RULES })
      expect(put.body.sees.notJudged.join(" ")).toMatch(/A deny rule does not keep a file from being read/)
      const session = () => hub.get(`/api/sessions/${id}`)
      await expect.poll(async () => (await session()).state, POLL).toBe("idle")
      await hub.post(`/api/sessions/${id}/messages`, { content: "go" })
      await expect.poll(async () => (await session()).turns, POLL).toBe(1)
      const { events } = await hub.get(`/api/sessions/${id}/events?limit=500`)
      const results = events.map((event: Json) => JSON.stringify(event)).filter(isResult)
      expect(results.filter((text: string) => text.includes(SECRET))).toHaveLength(2)
      const { asks } = await hub.get(`/api/asks?session=${id}`)
      expect(asks.map(({ rule, state }: Json) => [rule, state])).toEqual([["no-touch", "denied"]])
    }, 180_000)
}

function isResult(text: string): boolean {
  return text.includes('"tool_result"')
}
