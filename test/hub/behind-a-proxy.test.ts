import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { connectHub, type FollowItem, openDirect } from "@signalbox/client"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { WebSocket } from "ws"
import { buildRooms } from "../differential/packages.ts"
import { blockOf } from "../docs/snippets.ts"
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

/** The hub's flags are those of the guide: of its unit, and of its container. */
function guideFlags(name: string, publicUrl: string): readonly string[] {
  const unit = /^ExecStart=(.*)$/m.exec(blockOf("docs/scale.md", "systemd signalbox.service"))
  const container = /^ +command: (.*)$/m.exec(blockOf("docs/scale.md", "compose"))
  return hubFlags((name === "nginx" ? unit : container)?.[1] ?? "", publicUrl)
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
    const hub = await HubProcess.start(guideFlags(proxy.name, url))
    onTestFinished(() => hub.dispose())
    const hubPort = Number(new URL(hub.ready.url).port)
    inTheEnd(await startProxy(proxy, { folder, port, hubPort }, certificate))
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
    const { token: runnerToken } = await client.tokens.create({ role: "runner" })
    const tokenFile = join(folder, `${proxy.name}-token`)
    writeFileSync(tokenFile, runnerToken)
    const runner = blockOf("docs/scale.md", "systemd signalbox-runner.service")
    expect(runner).toContain("signalbox runner --hub https://signalbox.example.org --token-file ")
    const args = ["runner", "--hub", url, "--token-file", tokenFile, "--data", join(folder, `${proxy.name}-runner`)]
    const env = { PATH: process.env["PATH"], HOME: folder, NODE_EXTRA_CA_CERTS: certificate.file }
    inTheEnd(spawn(process.execPath, [SIGNALBOX, ...args], { env, stdio: "ignore" }))
    await expect.poll(async () => (await client.runners.list()).length, POLL).toBe(1)

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
})
