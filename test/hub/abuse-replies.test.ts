import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { afterEach, expect } from "vitest"
import { abuseCase, Bystander, expectUnharmed, healthMs, type PlayedAgent, residentMb, Stage } from "./abuse-actors.ts"
import type { HubProcess } from "./hub-process.ts"

const stage = new Stage()
afterEach(() => stage.end())

/** The hub keeps at most 128 MB of replies; the rest is garbage that V8 has not collected. Unbounded it was 2,400. */
const MORE_MB = 250
const READERS = 150

/** Asks for something and never reads the reply. */
async function deafRequest(hub: HubProcess, path: string, token: string): Promise<Socket> {
  const { hostname, port, host } = new URL(hub.ready.url)
  const socket = connect(Number(port), hostname)
  socket.on("error", () => undefined)
  stage.onEnd(() => void socket.destroy())
  await once(socket, "connect")
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`)
  return socket
}

/** An agent whose session has this much to read. */
async function talkative(hub: HubProcess, lines: number, lineBytes: number): Promise<PlayedAgent> {
  const agent = await stage.agent(hub)
  const text = "x".repeat(lineBytes)
  let last = ""
  for (let said = 0; said < lines; said += 1) {
    last = agent.speak(text)
    await agent.socket.drained()
  }
  await expect
    .poll(
      async () => {
        const { events } = await hub.get(`/api/sessions/${agent.sessionId}/events?before=9999999&limit=1`)
        return events[0]?.message.uuid
      },
      { timeout: 30_000 },
    )
    .toBe(last)
  return agent
}

async function viewerToken(hub: HubProcess): Promise<string> {
  return (await hub.post("/api/tokens", { role: "viewer" })).token
}

const KINDS = [
  ["pages of 14 MB", 500, 28_000, "events?limit=500"],
  ["pages with one line of 14 MB", 1, 14_000_000, "events?limit=500"],
] as const

for (const [what, lines, lineBytes, path] of KINDS) {
  abuseCase(
    `[AB32] ${READERS} readers that never read ${what} take little memory and keep nobody else from reading`,
    async () => {
      const hub = await stage.hub()
      const bystander = await Bystander.on(stage, hub)
      const { sessionId } = await talkative(hub, lines, lineBytes)
      const page = `/api/sessions/${sessionId}/${path}`
      const [deaf, ordinary] = await Promise.all([viewerToken(hub), viewerToken(hub)])
      // One reader's memory is taken before the measurement.
      expect((await hub.call("GET", page, undefined, ordinary)).status).toBe(200)
      const before = residentMb(hub)
      const sockets = await Promise.all(Array.from({ length: READERS }, () => deafRequest(hub, page, deaf)))
      await bystander.work()
      expect(await healthMs(hub)).toBeLessThan(1_000)
      const { status, body } = await hub.call("GET", page, undefined, ordinary)
      expect(status).toBe(200)
      expect(body.events.length).toBeGreaterThanOrEqual(Math.min(lines, 500))
      expect(residentMb(hub) - before, "MB more than before").toBeLessThan(MORE_MB)
      // [AB30] has the hub stop while nobody reads; here it would wait for them first, and then for its index.
      for (const socket of sockets) socket.destroy()
      await expectUnharmed(hub, bystander)
    },
    120_000,
  )
}

abuseCase(
  `[AB32] ${READERS} event streams and files that nobody reads take little memory`,
  async () => {
    const hub = await stage.hub()
    const bystander = await Bystander.on(stage, hub)
    const { sessionId } = await talkative(hub, 500, 28_000)
    const [deaf, ordinary] = await Promise.all([viewerToken(hub), viewerToken(hub)])
    const page = await (await fetch(hub.ready.url, { headers: { accept: "text/html" } })).text()
    const asset = /\/assets\/[\w.-]+\.js/.exec(page)?.[0] ?? "/"
    const before = residentMb(hub)
    const stream = (index: number) => `/v1/code/sessions/${sessionId}/events/stream?client=c${index}`
    const paths = Array.from({ length: READERS }, (_, index) => [stream(index), asset]).flat()
    const sockets = await Promise.all(paths.map((path) => deafRequest(hub, path, deaf)))
    await bystander.work()
    expect((await hub.call("GET", `/api/sessions/${sessionId}/events`, undefined, ordinary)).status).toBe(200)
    expect(residentMb(hub) - before, "MB more than before").toBeLessThan(MORE_MB)
    for (const socket of sockets) socket.destroy()
    await expectUnharmed(hub, bystander)
  },
  120_000,
)
