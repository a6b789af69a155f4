import { type Ask, connectHub, HubClientError } from "@signalbox/client"
import { afterEach, expect, it } from "vitest"
import { startAgent } from "./agent-process.ts"
import { HubProcess } from "./hub-process.ts"

const open: { dispose(): Promise<void> }[] = []
afterEach(async () => {
  for (const thing of open.splice(0).toReversed()) await thing.dispose()
})

const RULE = { id: "hurry", effect: "ask", tool: "Bash", expiresAfterMs: 600_000, maxExtensions: 2 }

it("[AK18] more time is told to all who watch, outlives a killed hub, and is not for viewers", async () => {
  const hub = await HubProcess.start()
  open.push(hub)
  await hub.call("PUT", "/api/policy", { rules: [RULE] })
  const session = await hub.post("/api/sessions", { agent: "external", prompt: "make it" })
  const steps = [{ tool: "Bash", input: { command: "touch made" } }, { say: "Made it." }]
  open.push(
    await startAgent({ kind: "simulator", version: "2.1.120", ...session.ingress, scenario: { turns: [{ steps }] } }),
  )
  const client = connectHub({ url: hub.ready.url, token: hub.ready.token })
  open.push({ dispose: async () => client.close() })
  const told: Ask[] = []
  void (async () => {
    for await (const item of client.watch()) if (item.type === "ask") told.push(item.ask)
  })()
  await expect.poll(() => told.length, { timeout: 30_000 }).toBeGreaterThan(0)
  const [ask] = told as [Ask]
  const viewer = await hub.post("/api/tokens", { role: "viewer" })
  const watching = connectHub({ url: hub.ready.url, token: viewer.token })
  await expect(watching.extend(ask.id)).rejects.toMatchObject({ code: "auth/forbidden" })
  watching.close()

  const longer = await client.extend(ask.id, { expiresAt: ask.expiresAt ?? "" })
  expect(Date.parse(longer.expiresAt ?? "") - Date.parse(ask.expiresAt ?? "")).toBe(600_000)
  const isTold = () => told.some(({ expiresAt }) => expiresAt === longer.expiresAt)
  await expect.poll(isTold, { timeout: 30_000 }).toBe(true)
  await hub.kill()
  await hub.startAgain()
  expect(await client.ask(ask.id)).toMatchObject({ expiresAt: longer.expiresAt, extension: { byMs: 600_000, left: 1 } })
  // The reply was lost and the same is asked for again: it is given once.
  expect((await client.extend(ask.id, { expiresAt: ask.expiresAt ?? "" })).expiresAt).toBe(longer.expiresAt)

  await client.answer(ask.id, { behavior: "allow" })
  const late: unknown = await client.extend(ask.id).catch((error: unknown) => error)
  expect(late).toBeInstanceOf(HubClientError)
  expect(late).toMatchObject({ code: "ask/settled", details: { ask: { state: "allowed" } } })
}, 120_000)
