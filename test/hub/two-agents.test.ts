import { afterEach, expect, it } from "vitest"
import { startAgent } from "./agent-process.ts"
import { HubProcess } from "./hub-process.ts"

const open: { dispose(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of open.splice(0).toReversed()) await thing.dispose()
})

const POLL = { timeout: 30_000, interval: 50 }

it("[HS35] a second agent takes the place of the first, which does not come back", async () => {
  const hub = await HubProcess.start()
  open.push(hub)
  const { id, ingress } = await hub.post("/api/sessions", { agent: "external" })
  const scenario = { turns: [{ steps: [{ say: "Hello." }] }] }
  const first = await startAgent({ kind: "simulator", version: "2.1.120", ...ingress, scenario })
  open.push(first)
  await expect.poll(async () => (await hub.get(`/api/sessions/${id}`)).state, POLL).toBe("idle")
  const second = await startAgent({ kind: "simulator", version: "2.1.120", ...ingress, scenario })
  open.push(second)
  // 4001 ends it: it exits by itself.
  await first.child.closed
  await hub.post(`/api/sessions/${id}/messages`, { content: "are you there?" })
  await expect.poll(async () => (await hub.get(`/api/sessions/${id}`)).turns, POLL).toBe(1)
})
