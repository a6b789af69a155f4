import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Ingress } from "@signalbox/protocol/hub-api"
import { createLaunch, openSimulatedAgent, type Scenario } from "@signalbox/simulator"
import { dialWebSocket } from "@signalbox/transport"
import { expect, it, onTestFinished } from "vitest"
import { runsNow } from "../../../../test/gate.ts"
import { startAgent } from "../../../../test/hub/agent-process.ts"
import { OfficialClients } from "./official-clients.ts"
import { openSession, openStage, type Stage } from "./stage.ts"

/** One turn: a tool to be asked about, and a tool of each of the two clients that host some. */
const SCENARIO: Scenario = {
  turns: [
    {
      repeat: true,
      steps: [
        { say: "Let me see." },
        { tool: "Bash", input: { command: "touch made", description: "Make a file" }, result: "" },
        { tool: "mcp__first__shout", input: { text: "one" } },
        { tool: "mcp__second__shout", input: { text: "two" } },
        { say: "All done." },
      ],
    },
  ],
}

interface Cell {
  readonly kind: "simulator" | "claude"
  readonly version: string
}

const CELLS: readonly Cell[] = [
  { kind: "simulator", version: "2.1.120" },
  { kind: "simulator", version: "2.1.325" },
  { kind: "claude", version: "2.1.120" },
]
const NAMES = ["alpha", "beta", "gamma"]
const POLL = { timeout: 30_000, interval: 50 }

/** The newest takes hooks whenever a client brings some; for older ones they are named when the session is made. */
async function begin(stage: Stage, cell: Cell): Promise<string> {
  const { id, ingress } = await openSession(stage, cell.version === "2.1.325" ? {} : { hooks: ["PreToolUse"] })
  if (cell.version === "2.1.325") await playNewest(ingress)
  else {
    const agent = await startAgent({ ...cell, url: ingress.url, token: ingress.token, scenario: SCENARIO })
    onTestFinished(() => agent.dispose())
  }
  await isIdle(stage, id)
  return id
}

/** The newest does not dial a hub by itself; the simulated one is brought here as a runner would bring it. */
async function playNewest({ url, token }: Ingress): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "signalbox-newest-"))
  const transport = dialWebSocket({ url, token })
  openSimulatedAgent({
    transport,
    launch: createLaunch({ cwd: folder, configDir: folder }),
    scenario: SCENARIO,
    profile: "2.1.325",
    timeScale: 0,
  })
  onTestFinished(async () => {
    await transport.close()
    await rm(folder, { recursive: true, force: true })
  })
}

function addressOf({ url, hub }: Stage) {
  return { url, token: hub.admin.token }
}

function isIdle(stage: Stage, id: string) {
  return expect.poll(async () => (await stage.hub.core.getSession(id)).state, POLL).toBe("idle")
}

async function allInitialized(clients: OfficialClients): Promise<void> {
  for (const name of NAMES)
    await clients.until(() => clients.of(name, "initialized").length > 0, `${name} is initialized`)
}

function messagesOf(clients: OfficialClients, client: string): string {
  return JSON.stringify(clients.of(client, "message"))
}

function endsOf(clients: OfficialClients): unknown[] {
  return clients.told.filter((told) => told.what === "threw" || told.what === "ended")
}

for (const cell of CELLS) {
  const cellName = `official browser clients on ${cell.kind} ${cell.version}`
  const test = (title: string, run: () => Promise<void>) => {
    const now = cell.kind === "simulator" || runsNow(cellName, title)
    if (now) it(`${cellName}: ${title}`, run)
  }

  for (const road of ["websocket", "sse"] as const) {
    test(`[RC39] three over ${road}: hooks and tools reach their owners, one answer counts, all see all`, async () => {
      const stage = await openStage()
      const session = await begin(stage, cell)
      const clients = await OfficialClients.start(addressOf(stage), session, road)
      await allInitialized(clients)
      clients.say("alpha", "Go.")
      for (const name of NAMES) await clients.results(name, 1)
      expect(clients.of("alpha", "hook")).toEqual(["Bash"])
      expect(clients.of("beta", "hook")).toEqual(["mcp__first__shout", "mcp__second__shout"])
      expect(clients.of("alpha", "tool")).toEqual(["one"])
      expect(clients.of("beta", "tool")).toEqual(["two"])
      expect(messagesOf(clients, "gamma")).toContain('"text":"All done."')
      expect(messagesOf(clients, "gamma")).toContain('"isReplay":true')
      expect(messagesOf(clients, "alpha")).not.toContain('"isReplay":true')
      expect(await stage.hub.core.getSession(session)).toMatchObject({ pendingAsks: 0, turns: 1 })
      clients.say("gamma", "Once more.")
      for (const name of NAMES) await clients.results(name, 2)
      expect(clients.of("alpha", "tool")).toEqual(["one", "one"])
      expect(endsOf(clients)).toEqual([])
    })
  }

  test("[RC40] over sse they go on after the hub was restarted, with their hooks and tools", async () => {
    const stage = await openStage()
    const session = await begin(stage, cell)
    const clients = await OfficialClients.start(addressOf(stage), session, "sse")
    await allInitialized(clients)
    clients.say("alpha", "Go.")
    for (const name of NAMES) await clients.results(name, 1)
    const again = await stage.reopen()
    await isIdle(again, session)
    clients.say("beta", "Go on.")
    for (const name of NAMES) await clients.results(name, 2)
    expect(clients.of("alpha", "hook")).toEqual(["Bash", "Bash"])
    expect(clients.of("alpha", "tool")).toEqual(["one", "one"])
    expect(clients.of("beta", "tool")).toEqual(["two", "two"])
    // Nothing came twice.
    expect(messagesOf(clients, "gamma").split('"type":"result"')).toHaveLength(3)
    expect(endsOf(clients)).toEqual([])
  })
}
