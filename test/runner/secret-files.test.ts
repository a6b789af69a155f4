import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, expect, it } from "vitest"
import { Machine } from "./runner-process.ts"

const PATIENCE = { timeout: 60_000, interval: 50 }
const open: (() => unknown)[] = []

afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close()
})

/** An MCP server that takes nobody in, and the tokens it was shown. */
async function openServer(): Promise<{ url: string; shown: Set<string | undefined> }> {
  const shown = new Set<string | undefined>()
  const server = createServer((request, response) => {
    shown.add(request.headers.authorization)
    response.writeHead(500).end()
  })
  open.push(() => server.close())
  await once(server.listen(0, "127.0.0.1"), "listening")
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  return { shown, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` }
}

function argumentsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8")
  } catch {
    return "" // it ended meanwhile
  }
}

it("[RU83] the real CLI shows an MCP server its token, which is not in its arguments; resumed too", async () => {
  const { url, shown } = await openServer()
  const scenario = { turns: [{ on: "speak", repeat: true, steps: [{ say: "Spoken." }] }] }
  const machine = await Machine.open({ scenario, claude: "2.1.325" })
  open.push(() => machine.dispose())
  const mcpServers = { web: { type: "http", url, headers: { Authorization: "Bearer secret" } } }
  const { id } = await machine.launch({ mcpServers, prompt: "speak" })
  for (const turns of [1, 2]) {
    await expect.poll(async () => (await machine.session(id)).turns, PATIENCE).toBe(turns)
    await expect.poll(() => [...shown], PATIENCE).toEqual(["Bearer secret"])
    const lines = machine.processes().map(argumentsOf).join("\n")
    expect(lines).toContain("--mcp-config")
    expect(lines).not.toContain("secret")
    if (turns === 2) break
    shown.clear()
    await machine.hub.call("DELETE", `/api/sessions/${id}`)
    await machine.isIn(id, "ended")
    await machine.say(id, "speak")
  }
}, 300_000)
