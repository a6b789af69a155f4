import { spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { connectHub } from "@signalbox/client"
import { claudeEnvironment, openScriptedApi, type Scenario } from "@signalbox/simulator"
import { afterEach, expect, it } from "vitest"
import { ensureClaude } from "../../scripts/claude-cli.mjs"
import { runsNow } from "../gate.ts"
import { HubProcess } from "./hub-process.ts"

const open: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close()
})

const SCENARIO: Scenario = { turns: [{ steps: [{ say: "One word after the other.", deltas: 5 }] }] }
const SIMULATOR = join(import.meta.dirname, "../../packages/simulator/bin/claude-sim.mjs")

/** A folder in which somebody has a `claude` on the path, and nothing else of ours. */
async function machineWith(version: string, kind: "simulator" | "claude") {
  const base = mkdtempSync(join(tmpdir(), "signalbox-pasted-"))
  open.push(() => rmSync(base, { recursive: true, force: true, maxRetries: 5 }))
  const [home, bin, cwd] = [join(base, "home"), join(base, "bin"), join(base, "it's a project")]
  for (const folder of [home, bin, cwd]) mkdirSync(folder)
  const scenario = join(base, "scenario.json")
  writeFileSync(scenario, JSON.stringify(SCENARIO))
  const api = await openScriptedApi({ scenario: SCENARIO })
  open.push(() => api.close())
  const simulated = { command: process.execPath, args: [SIMULATOR] }
  const { command, args } = kind === "claude" ? await ensureClaude(version) : simulated
  const words = [command, ...args].map((word) => `'${word}'`).join(" ")
  writeFileSync(join(bin, "claude"), `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 })
  const environment = claudeEnvironment({ home, apiUrl: api.url })
  const path = [bin, process.env["PATH"] ?? ""].join(delimiter)
  return {
    cwd,
    env: { ...environment, PATH: path, SIGNALBOX_SIM_PROFILE: version, SIGNALBOX_SIM_SCENARIO: scenario },
  }
}

function paste(command: string, machine: { readonly cwd: string; readonly env: NodeJS.ProcessEnv }): void {
  const shell = spawn("sh", ["-c", command], { ...machine, stdio: "ignore", detached: true })
  const gone = new Promise((resolve) => shell.once("exit", resolve))
  open.push(async () => {
    if (shell.pid !== undefined && shell.exitCode === null) process.kill(-shell.pid, "SIGKILL")
    await gone
  })
}

for (const [kind, version] of [
  ["simulator", "2.1.120"],
  ["claude", "2.1.120"],
  ["claude", "2.1.37"],
] as const) {
  const title = "what a session without a machine gives to paste brings an agent that works, and is heard word by word"
  if (kind === "claude" && !runsNow(`hub with ${kind} ${version}`, title)) continue
  it(`[HS43] ${title} (${kind} ${version})`, async () => {
    const hub = await HubProcess.start()
    open.push(() => hub.dispose())
    const session = await hub.post("/api/sessions", { agent: "external", prompt: "go", model: "claude-sonnet-4-6" })
    const client = connectHub({ url: hub.ready.url, token: hub.ready.token })
    open.push(() => client.close())
    const machine = await machineWith(version, kind)
    paste(session.ingress.command, machine)
    let deltas = 0
    for await (const item of client.session(session.id).follow({ after: 0 })) {
      if (item.type === "delta") deltas += 1
      if (item.type === "event" && item.message.type === "result") break
    }
    expect(deltas).toBeGreaterThan(4)
    const record = await hub.get(`/api/sessions/${session.id}`)
    expect(record).toMatchObject({ cwd: machine.cwd, cliVersion: version, lastLine: "One word after the other." })
  }, 120_000)
}
