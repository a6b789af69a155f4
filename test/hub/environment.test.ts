import type { Scenario } from "@signalbox/simulator"
import { afterEach, expect, it } from "vitest"
import { runsNow } from "../gate.ts"
import { Machine } from "../runner/runner-process.ts"
import { startAgent } from "./agent-process.ts"
import { HubProcess } from "./hub-process.ts"

const open: { dispose(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of open.splice(0).toReversed()) await thing.dispose()
})

const POLL = { timeout: 60_000, interval: 50 }

/** Every turn shows what a command of the agent's has in this variable. */
function showing(name: string): Scenario {
  const steps = [{ tool: "Bash", input: { command: `echo "<$${name}>"`, description: "show it" } }, { say: "Shown." }]
  return { turns: [{ on: "show", repeat: true, steps }] }
}

/** Sends "show", allows what is asked, and returns what the command printed. */
async function shown(hub: HubProcess, id: string): Promise<string> {
  const { turns } = await hub.get(`/api/sessions/${id}`)
  await hub.post(`/api/sessions/${id}/messages`, { content: "show" })
  const isOver = async () => {
    for (const ask of (await hub.get(`/api/asks?session=${id}&state=pending`)).asks)
      await hub.call("POST", `/api/asks/${ask.id}/answer`, { behavior: "allow" })
    return (await hub.get(`/api/sessions/${id}`)).turns > turns
  }
  await expect.poll(isOver, POLL).toBe(true)
  const { events } = await hub.get(`/api/sessions/${id}/events?limit=500`)
  return /<([^>]*)>/.exec(JSON.stringify(events.findLast(isToolResult)))?.[1] ?? "nothing"
}

function isToolResult({ message }: { message: unknown }): boolean {
  return JSON.stringify(message).includes('"tool_result"')
}

for (const version of ["2.1.37", "2.1.120"]) {
  const title = "a variable that is set is there in the agent's next command, and the CLI does not tell"
  const cell = `hub with CLI ${version}`
  if (runsNow(cell, title))
    it(`[HS47] ${cell}: ${title}`, async () => {
      const hub = await HubProcess.start()
      open.push(hub)
      const { id, ingress } = await hub.post("/api/sessions", { agent: "external" })
      open.push(await startAgent({ kind: "claude", version, ...ingress, scenario: showing("SHOWN") }))
      await expect.poll(async () => (await hub.get(`/api/sessions/${id}`)).state, POLL).toBe("idle")
      expect(await shown(hub, id)).toBe("")
      const reply = await hub.post(`/api/sessions/${id}/env`, { variables: { SHOWN: "it is set" } })
      expect(reply).toEqual({ applied: null, refused: null })
      expect(await shown(hub, id)).toBe("it is set")
      const { records } = await hub.get(`/api/audit?session=${id}`)
      expect(JSON.stringify(records)).toContain('"SHOWN"')
      expect(JSON.stringify(records)).not.toContain("it is set")
    }, 180_000)
}

const title = "takes the variables on its list, refuses others, and both are told"
if (runsNow("hub with CLI 2.1.325", title))
  it(`[HS47] hub with CLI 2.1.325: ${title}`, async () => {
    const name = "CLAUDE_CODE_SESSION_ACCESS_TOKEN"
    const machine = await Machine.open({ scenario: showing(name), claude: "2.1.325" })
    open.push(machine)
    const { id } = await machine.launch()
    await machine.isIn(id, "idle")
    const variables = { [name]: "it is set", PATH: "/nowhere" }
    const reply = await machine.hub.post(`/api/sessions/${id}/env`, { variables })
    expect(reply).toEqual({ applied: [name], refused: ["PATH"] })
    expect(await shown(machine.hub, id)).toBe("it is set")
  }, 180_000)
