import { once } from "node:events"
import { writeFileSync } from "node:fs"
import { createServer as createHttpServer } from "node:http"
import { type AddressInfo, createServer } from "node:net"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { WebSocketServer } from "ws"
import { probePorts, watchPorts } from "../src/discover/probe.ts"
import { findHub } from "../src/hub/connect.ts"
import { atEnd, folder, ready, run, start, startHub } from "./signalbox-process.ts"

function portOf(server: { address(): AddressInfo | string | null }): number {
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}

describe("signalbox discover", () => {
  it("[CL28] tells hubs from relays, and passes over everything else", async () => {
    const hub = await startHub("no-runner")
    const relay = new WebSocketServer({ port: 0, host: "127.0.0.1", path: "/ws" })
    await once(relay, "listening")
    atEnd(() => relay.close())
    const website = createHttpServer((_request, response) => response.end('{"status":"ok"}')).listen(0, "127.0.0.1")
    const silent = createServer(() => undefined).listen(0, "127.0.0.1")
    await Promise.all([once(website, "listening"), once(silent, "listening")])
    atEnd(() => void website.close())
    atEnd(() => void silent.close())
    const hubPort = Number(new URL(hub.url).port)
    const [relayPort = 0, sitePort = 0, silentPort = 0] = [relay, website, silent].map(portOf)
    const ports = [hubPort, relayPort, sitePort, silentPort, 9]
    expect(await probePorts(ports)).toEqual([
      { kind: "hub", url: hub.url, port: hubPort },
      { kind: "relay", url: `http://127.0.0.1:${relayPort}`, port: relayPort },
    ])
    const told = await run(["discover", "--json"])
    expect(told.code).toBe(0)
    expect(JSON.parse(told.stdout)).toHaveProperty("found")
  })

  it("[CL47] --watch shows a hub and a relay as they come and go, each once", async () => {
    const watching = start(["discover", "--watch", "--json"])
    // Without a port of its own: it takes one of those that are looked at.
    const running = start(["up", "--json", "--no-runner", "--data", folder()])
    const { url } = await ready(running)
    const port = Number(new URL(url).port)
    const changes = () => watching.lines.map((line) => JSON.parse(line)).filter((change) => change.port === port)
    await expect.poll(changes, { timeout: 60_000 }).toMatchObject([{ event: "up", kind: "hub", url }])
    running.child.kill("SIGTERM")
    await expect.poll(changes, { timeout: 60_000 }).toMatchObject([{ event: "up" }, { event: "down", kind: "hub" }])
    const ended = once(watching.child, "exit")
    watching.child.kill("SIGINT")
    expect(await ended).toEqual([0, null])
  })

  it("[CL47] one that misses a single look is not gone, and a relay is dialled once", async () => {
    let [dialled, looks] = [0, 0]
    const openRelay = async (at: number) => {
      const server = createHttpServer((_request, response) => {
        looks++
        response.writeHead(426).end()
      })
      new WebSocketServer({ server, path: "/ws" }).on("connection", () => dialled++)
      await once(server.listen(at, "127.0.0.1"), "listening")
      atEnd(() => server.close())
      return server
    }
    const relay = await openRelay(0)
    const port = portOf(relay)
    const stopping = new AbortController()
    const changes = watchPorts(stopping.signal, [port])
    expect((await changes.next()).value).toEqual({ event: "up", kind: "relay", url: `http://127.0.0.1:${port}`, port })
    const next = changes.next()
    await new Promise((resolve) => relay.close(resolve))
    const again = await openRelay(port)
    looks = 0
    await expect.poll(() => looks, { timeout: 30_000 }).toBeGreaterThan(2)
    expect(dialled).toBe(1)
    await new Promise((resolve) => again.close(resolve))
    expect((await next).value).toMatchObject({ event: "down", port })
    stopping.abort()
    expect((await changes.next()).done).toBe(true)
  })

  it("[CL36] where no hub is configured, ls, attach and new offer what answers here", async () => {
    const data = folder()
    const running = start(["up", "--json", "--no-runner", "--data", data])
    const { url } = await ready(running)
    for (const args of [["ls"], ["new"], ["log", "1"]]) {
      const { code, stderr } = await run(args, { env: { SIGNALBOX_DATA: folder() } })
      expect({ args, code }).toEqual({ args, code: 3 })
      expect(stderr).toMatch(/^signalbox: [^\n]+\n$/)
      expect(stderr).toContain("and SIGNALBOX_TOKEN")
      expect(stderr).toContain(url)
    }
    // Whoever had a hub here is told first how to get it back.
    const [had, none] = [folder(), folder()]
    writeFileSync(join(had, "admin-token"), "sbx_x\n", { mode: 0o600 })
    const adviceFor = async (path: string) => (await run(["ls"], { env: { SIGNALBOX_DATA: path } })).stderr
    expect(await adviceFor(had)).toMatch(
      /^signalbox: your hub is not running: start it with "signalbox up --data [^"]+"\. Another hub is running/,
    )
    expect(await adviceFor(none)).toMatch(/^signalbox: no hub is configured, but one is running/)
    // Whoever names a directory means its hub.
    const named = await run(["ls", "--data", folder()])
    expect([named.code, named.stderr.includes(url)]).toEqual([3, false])
  })

  it("[CL29] the admin's token goes to its own hub only", async () => {
    const hub = await startHub("no-runner")
    const { env: _env, ...streams } = process
    const context = (env: NodeJS.ProcessEnv) => ({ ...streams, env: { SIGNALBOX_DATA: hub.data, ...env } })
    const own = { url: hub.url, token: hub.token }
    expect(findHub({}, context({}))).toEqual(own)
    expect(findHub({}, context({ SIGNALBOX_URL: hub.url }))).toEqual(own)
    const other = "http://127.0.0.1:9"
    expect(() => findHub({}, context({ SIGNALBOX_URL: other }))).toThrow("SIGNALBOX_TOKEN")
    expect(findHub({}, context({ SIGNALBOX_URL: other, SIGNALBOX_TOKEN: "sbx_t" }))).toEqual({
      url: other,
      token: "sbx_t",
    })
    // A directory that was named means its own hub, whatever the variables say.
    const variables = { SIGNALBOX_URL: other, SIGNALBOX_TOKEN: "sbx_t" }
    expect(findHub({ data: hub.data }, context(variables))).toEqual(own)
    expect(() => findHub({ data: folder() }, context(variables))).toThrow("no hub is running")
  })
})
