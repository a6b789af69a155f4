import { once } from "node:events"
import type { Scenario } from "@signalbox/simulator"
import { afterEach, describe, expect, it } from "vitest"
import { WebSocket } from "ws"
import type { Json } from "../hub/hub-process.ts"
import { Machine } from "./runner-process.ts"

const SCENARIO: Scenario = { turns: [{ on: "speak", repeat: true, steps: [{ say: "Spoken." }] }] }
const PATIENCE = { timeout: 60_000, interval: 50 }

let machine: Machine | undefined

afterEach(async () => {
  await machine?.dispose()
  machine = undefined
})

/** A client of the raw door, and what it heard. */
async function connect(url: string, token: string): Promise<{ say: (message: object) => void; heard: Json[] }> {
  const heard: Json[] = []
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } })
  socket.on("message", (data: Buffer) => {
    for (const line of data.toString().split("\n")) if (line.trim() !== "") heard.push(JSON.parse(line))
  })
  await once(socket, "open")
  return { heard, say: (message) => socket.send(`${JSON.stringify(message)}\n`) }
}

describe("the real CLI, by DirectConnect's door", () => {
  it("[RC36] [RC37] is launched, has a turn, is stopped; and [RU40] the next message to the ended session resumes it", async () => {
    const on = await Machine.open({ scenario: SCENARIO, claude: "2.1.325" })
    machine = on
    const made = await on.hub.post("/sessions", { cwd: on.cwd, permission_mode: "acceptEdits" })
    expect(made).toMatchObject({ session_id: expect.any(String), work_dir: on.cwd })
    const { session_id: id, ws_url: url } = made
    const client = await connect(url, on.hub.ready.token)
    const message = { role: "user", content: [{ type: "text", text: "speak" }] }
    client.say({ type: "user", message, parent_tool_use_id: null, session_id: "" })
    const results = () => client.heard.filter(({ type }) => type === "result").map(({ result }) => result)
    await expect.poll(results, PATIENCE).toEqual(["Spoken."])
    const before = await on.session(id)
    expect((await on.hub.call("DELETE", `/sessions/${id}`)).status).toBe(200)
    await on.isIn(id, "ended")
    await expect.poll(() => on.processes(), PATIENCE).toEqual([])
    await on.say(id, "speak")
    await expect.poll(async () => (await on.session(id)).turns, PATIENCE).toBe(2)
    await on.isIn(id, "idle")
    const { agentSessionId, cwd, permissionMode } = await on.session(id)
    expect({ agentSessionId, cwd, permissionMode }).toEqual({
      agentSessionId: before.agentSessionId,
      cwd: on.cwd,
      permissionMode: "acceptEdits",
    })
  }, 300_000)
})
