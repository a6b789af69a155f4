import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { connectHub, type FollowItem, type Hub, openDirect } from "@signalbox/client"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { WebSocket } from "ws"
import { buildRooms } from "../differential/packages.ts"
import { blockOf } from "../docs/snippets.ts"
import { hasPostgres, testServer } from "../postgres/server.ts"
import { quietPort } from "../quiet-port.ts"
import { HubProcess } from "./hub-process.ts"
import { type Certificate, hubFlags, makeCertificate, proxies, startProxy } from "./proxy.ts"

const SIGNALBOX = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), "packages/cli/bin/signalbox.mjs")
const POLL = { timeout: 120_000, interval: 50 }
const PATIENT = { baseDelayMs: 500, maxDelayMs: 20_000 }

beforeAll(buildRooms, 300_000)

const folder = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-proxy-")))
let certificate: Certificate
beforeAll(() => {
  certificate = makeCertificate(folder)
  // Nobody vouches for it.
  process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0"
})
afterAll(() => {
  delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"]
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

function inTheEnd(child: ChildProcess): void {
  onTestFinished(async () => {
    const isOver = child.exitCode === null && child.signalCode === null ? once(child, "exit") : undefined
    child.kill("SIGTERM")
    await isOver
  })
}

const ALONE = ["systemd signalbox.service", "compose"] as const
const ONE_OF_SEVERAL = ["systemd signalbox-one-of-several.service", "compose several"] as const

/** The hub's flags are those of the guide: of its unit, and of its container. */
function guideFlags(name: string, publicUrl: string, [service, containers]: readonly [string, string]) {
  const unit = /^ExecStart=(.*)$/m.exec(blockOf("docs/scale.md", service))
  const container = /^ +command: (.*)$/m.exec(blockOf("docs/scale.md", containers))
  return hubFlags((name === "nginx" ? unit : container)?.[1] ?? "", publicUrl)
}

/** A runner with the flags of the guide. */
async function startRunner(name: string, url: string, client: Hub): Promise<void> {
  const { token } = await client.tokens.create({ role: "runner" })
  const tokenFile = join(folder, `${name}-token`)
  writeFileSync(tokenFile, token)
  const runner = blockOf("docs/scale.md", "systemd signalbox-runner.service")
  expect(runner).toContain("signalbox runner --hub https://signalbox.example.org --token-file ")
  const args = ["runner", "--hub", url, "--token-file", tokenFile, "--data", join(folder, `${name}-runner`)]
  const env = { PATH: process.env["PATH"], HOME: folder, NODE_EXTRA_CA_CERTS: certificate.file }
  inTheEnd(spawn(process.execPath, [SIGNALBOX, ...args], { env, stdio: "ignore" }))
  await expect.poll(async () => (await client.runners.list()).length, POLL).toBe(1)
}

async function firstText(response: Response, wanted: string): Promise<string> {
  let text = ""
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    if (text.includes(wanted)) break
  }
  return text
}

describe.each(proxies.filter(({ command }) => command !== undefined))("a hub behind $name", (proxy) => {
  it("[CL121] cockpit, REST, streams, runners, agents, raw clients and SSE work through it, over a restart of the hub", async () => {
    const port = await quietPort()
    const url = `https://localhost:${port}`
    const hub = await HubProcess.start(guideFlags(proxy.name, url, ALONE))
    onTestFinished(() => hub.dispose())
    const hubPort = Number(new URL(hub.ready.url).port)
    inTheEnd(await startProxy(proxy, { folder, port, hubPorts: [hubPort] }, certificate))
    const { token } = hub.ready
    const headers = { authorization: `Bearer ${token}` }

    const page = await fetch(url)
    expect([page.status, page.headers.get("content-security-policy")]).toEqual([200, expect.stringContaining("self")])
    const script = /src="([^"]+\.js)"/.exec(await page.text())?.[1]
    expect((await fetch(`${url}${script}`)).status).toBe(200)
    const json = { "content-type": "application/json", origin: url }
    const login = await fetch(`${url}/api/login`, { method: "POST", headers: json, body: JSON.stringify({ token }) })
    const cookie = login.headers.get("set-cookie") ?? ""
    expect(cookie).toMatch(/HttpOnly.*Secure|Secure.*HttpOnly/)
    const me = await fetch(`${url}/api/me`, { headers: { cookie: cookie.split(";")[0] ?? "" } })
    expect(await me.json()).toMatchObject({ role: "admin" })

    const client = connectHub({ url, token, reconnect: PATIENT })
    onTestFinished(() => client.close())
    await startRunner(proxy.name, url, client)

    const { id } = await client.launch({ agent: "simulator", prompt: "permission please" })
    const items: FollowItem[] = []
    const following = (async () => {
      for await (const item of client.session(id).follow({ after: 0 })) items.push(item)
    })()
    const asks = () => client.asks({ state: "pending", session: id })
    await expect.poll(async () => (await asks()).length, POLL).toBe(1)
    const sse = await fetch(`${url}/v1/code/sessions/${id}/events/stream`, { headers })
    await client.session(id).send("said to all")
    expect(await firstText(sse, "said to all")).toContain("data:")

    const external = await client.launch({ agent: "external" })
    const ingress = external.ingress
    expect(ingress?.url).toMatch(new RegExp(`^wss://localhost:${port}/`))
    const agent = new WebSocket(ingress?.url ?? "", { headers: { authorization: `Bearer ${ingress?.token}` } })
    onTestFinished(() => agent.terminate())
    await once(agent, "open")
    agent.send(`${JSON.stringify({ type: "system", subtype: "init", session_id: "of-the-agent", uuid: "u" })}\n`)
    const known = async () => (await client.session(external.id).get()).agentSessionId
    await expect.poll(known, POLL).toBe("of-the-agent")

    await hub.stop()
    // Sent while there is no hub: it waits, and is one message.
    const sent = client.session(id).send("and again")
    await hub.startAgain()
    const { uuid } = await sent
    const [ask] = await asks()
    expect(await client.answer(ask?.id ?? "", { behavior: "allow" })).toMatchObject({ state: "allowed" })
    const events = () => items.flatMap((item) => (item.type === "event" ? [item] : []))
    await expect.poll(() => events().filter(({ message }) => message.type === "result").length, POLL).toBeGreaterThan(0)
    expect(events().map(({ seq }) => seq)).toEqual(events().map((_, index) => index + 1))
    await expect.poll(() => events().filter(({ message }) => message["uuid"] === uuid).length, POLL).toBe(1)
    const direct = await openDirect({ url, token, session: id })
    expect(direct.isConnected).toBe(true)
    direct.disconnect()
    client.close()
    await following
  }, 600_000)

  it.runIf(hasPostgres)(
    "[CT90] two hubs behind it are one: each can be stopped and started, and nobody misses anything",
    async () => {
      const port = await quietPort()
      const url = `https://localhost:${port}`
      const database = await (await testServer()).createDatabase()
      const own = ["--store", database, "--cluster-url", "http://127.0.0.1:{port}"]
      const flags = [...guideFlags(proxy.name, url, ONE_OF_SEVERAL), ...own]
      const hubs = [await HubProcess.start(flags), await HubProcess.start(flags)]
      onTestFinished(async () => void (await Promise.all(hubs.map((hub) => hub.dispose()))))
      const name = `${proxy.name}-several`
      const hubPorts = hubs.map(({ ready }) => Number(new URL(ready.url).port))
      inTheEnd(await startProxy({ ...proxy, name }, { folder, port, hubPorts }, certificate))
      const client = connectHub({ url, token: hubs[0]?.ready.token ?? "", reconnect: PATIENT })
      onTestFinished(() => client.close())
      await startRunner(name, url, client)
      const { id } = await client.launch({ agent: "simulator", prompt: "permission please" })
      const items: FollowItem[] = []
      const following = (async () => {
        for await (const item of client.session(id).follow({ after: 0 })) items.push(item)
      })()
      const uuids: string[] = []
      for (const hub of hubs) {
        const asks = () => client.asks({ state: "pending", session: id })
        await expect.poll(async () => (await asks()).length, POLL).toBe(1)
        await hub.stop()
        const [ask] = await asks()
        expect(await client.answer(ask?.id ?? "", { behavior: "allow" })).toMatchObject({ state: "allowed" })
        await expect.poll(async () => (await client.session(id).get()).state, POLL).toBe("idle")
        uuids.push((await client.session(id).send("permission please")).uuid)
        await hub.startAgain()
      }
      const events = () => items.flatMap((item) => (item.type === "event" ? [item] : []))
      const said = (uuid: string) => events().filter(({ message }) => message["uuid"] === uuid).length
      await expect.poll(() => uuids.map(said), POLL).toEqual([1, 1])
      expect(events().map(({ seq }) => seq)).toEqual(events().map((_, index) => index + 1))
      client.close()
      await following
    },
    600_000,
  )
})
