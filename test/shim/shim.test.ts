import { execFile } from "node:child_process"
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { claudeEnvironment, openScriptedApi } from "@signalbox/simulator"
import { afterEach, describe, expect, it, vi } from "vitest"
import { ensureClaude } from "../../scripts/claude-cli.mjs"
import { ensureOfficialSdk } from "../../scripts/official-sdk.mjs"
import { isWholeRun, runsNow } from "../gate.ts"
import { HubWithRunner } from "./hub-with-runner.ts"

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const SHIM = join(root, "packages/cli/bin/signalbox-shim.mjs")
const SIMULATOR = join(root, "packages/simulator/bin/claude-sim.mjs")
const PROGRAM = join(root, "test/shim/official-program.mjs")
const runFile = promisify(execFile)

// Programs, hubs, runners and agents are processes of their own, and machines may be busy.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 })

const open: (() => unknown)[] = []
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close()
})

function folder(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-shim-")))
  open.push(() => rmSync(path, { recursive: true, force: true, maxRetries: 5 }))
  return path
}

async function startHub(env: Readonly<Record<string, string | undefined>> = {}): Promise<HubWithRunner> {
  const hub = await HubWithRunner.start(folder(), env)
  open.push(() => hub.dispose())
  return hub
}

type Printed = Readonly<Record<string, Json>>
// oxlint-disable-next-line typescript/no-explicit-any -- what programs print is looked at field by field
type Json = any

interface ProgramOptions {
  readonly version: string
  readonly door: "executable" | "spawn"
  readonly hub: HubWithRunner
  readonly cwd: string
  readonly prompts: readonly string[]
  readonly agent?: "claude" | "simulator"
  readonly token?: string
  readonly options?: object
  readonly tools?: boolean
  readonly hook?: boolean
}

/** The program's own process, with a secret of its own in its environment. */
async function runProgram({ version, hub, agent = "simulator", ...program }: ProgramOptions): Promise<Printed[]> {
  const { entry } = await ensureOfficialSdk(version)
  const token = program.token ?? hub.ready.token
  const env = {
    PATH: process.env["PATH"],
    HOME: folder(),
    ANTHROPIC_API_KEY: "sk-ant-of-the-program",
    SIGNALBOX_URL: hub.ready.url,
    SIGNALBOX_TOKEN: token,
    SIGNALBOX_AGENT: agent,
  }
  const options = { cwd: program.cwd, ...program.options }
  const given = { ...program, options, entry, agent, executable: SHIM, hub: { url: hub.ready.url, token } }
  const { stdout } = await runFile(process.execPath, [PROGRAM, JSON.stringify(given)], {
    env,
    cwd: root,
    timeout: 90_000,
  })
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line))
}

function messages(printed: readonly Printed[], type: string): Json[] {
  return printed.flatMap(({ message }) => (message?.type === type ? [message] : []))
}

for (const version of ["0.2.37", "0.3.325"]) {
  for (const door of ["executable", "spawn"] as const) {
    const cell = `official SDK ${version} on a hub by ${door}`
    if (runsNow(cell, "model, mode and folder"))
      it(`[CL19] ${cell}: an agent with its model, mode and folder, and going on with it later`, async () => {
        const hub = await startHub()
        const cwd = folder()
        const how = { version, door, hub, cwd }
        const options = { model: "claude-haiku-4-5", permissionMode: "acceptEdits" }
        const first = await runProgram({ ...how, prompts: ["permission please", "hello again"], options })
        expect(first.filter(({ asked }) => asked !== undefined)).toEqual([{ asked: "Bash" }])
        expect(messages(first, "result").map(({ subtype }) => subtype)).toEqual(["success", "success"])
        expect(messages(first, "stream_event")).toEqual([])
        expect(first.at(-1)).toEqual({ ended: true })
        const [init] = messages(first, "system").filter(({ subtype }) => subtype === "init")
        expect(init).toMatchObject({ cwd, model: "claude-haiku-4-5", permissionMode: "acceptEdits" })
        // The end of the program's input has detached it: the agent lives on.
        const [session] = (await hub.get("/api/sessions")).sessions
        expect(session).toMatchObject({
          state: "idle",
          cwd,
          agentSessionId: init.session_id,
          transport: "runner",
          turns: 2,
        })
        expect((await hub.get("/api/asks")).asks).toMatchObject([{ state: "allowed", via: "person" }])
        const resume = init.session_id
        const goOn = async (more: object) => {
          const printed = await runProgram({ ...how, prompts: ["and again"], options: { resume, ...more } })
          expect(messages(printed, "result")).toMatchObject([{ subtype: "success", session_id: resume }])
          const { sessions } = await hub.get("/api/sessions")
          expect(sessions).toHaveLength(1)
          return sessions[0]
        }
        // By the agent that lives, by another in its place, and by one where none was left.
        expect(await goOn({ model: "claude-sonnet-5" })).toMatchObject({
          id: session.id,
          turns: 3,
          model: "claude-sonnet-5",
        })
        expect(await goOn({ maxTurns: 9 })).toMatchObject({ id: session.id, turns: 4 })
        await hub.delete(`/api/sessions/${session.id}`)
        expect(await goOn({})).toMatchObject({ id: session.id, turns: 5 })
        const last = { resume: undefined, continue: true }
        expect(await goOn(last)).toMatchObject({ id: session.id, turns: 6 })
        await hub.delete(`/api/sessions/${session.id}`)
        expect(await goOn(last)).toMatchObject({ id: session.id, turns: 7 })
      })

    if (runsNow(cell, "hooks and servers"))
      it(`[CL20] ${cell}: hooks and servers of the program, and pieces of messages where they are wanted`, async () => {
        const hub = await startHub()
        const options = { includePartialMessages: true }
        const how = { version, door, hub, cwd: folder(), options, tools: true, hook: true }
        const printed = await runProgram({ ...how, prompts: ["permission please"] })
        expect(printed).toContainEqual({ hook: "Bash" })
        expect(messages(printed, "stream_event").length).toBeGreaterThan(0)
        expect(messages(printed, "result")).toMatchObject([{ subtype: "success" }])
      })
  }
}

describe("what crosses to the hub", () => {
  it("[CL21] arguments do, for an admin; the environment never does", async () => {
    const place = folder()
    const seen = join(place, "seen")
    const claude = join(place, "claude")
    writeFileSync(
      claude,
      `#!/bin/sh\n{ env; echo "argv: $*"; } >> ${seen}\nexec ${process.execPath} ${SIMULATOR} "$@"\n`,
    )
    chmodSync(claude, 0o755)
    const hub = await startHub({ CLAUDE_BIN: claude })
    const how = { version: "0.3.325", door: "executable", hub, cwd: place, agent: "claude" } as const
    const printed = await runProgram({
      ...how,
      prompts: ["hello"],
      options: { maxTurns: 7, disallowedTools: ["WebFetch"], fallbackModel: "claude-haiku-4-5" },
    })
    expect(messages(printed, "result")).toMatchObject([{ subtype: "success" }])
    const told = readFileSync(seen, "utf8")
    expect(told).toMatch(/argv: .*--max-turns 7/)
    expect(told).toMatch(/argv: .*--disallowedTools WebFetch/)
    expect(told).toMatch(/argv: .*--fallback-model=claude-haiku-4-5/)
    expect(told).not.toContain("sk-ant-of-the-program")
    expect(told).not.toMatch(/^SIGNALBOX_(?:TOKEN|URL)=/m)
    expect(told).not.toContain(hub.ready.token)
  })

  it("[CL22] a token that may not is told which arguments it may not send; what is always sent is left out for it", async () => {
    const hub = await startHub()
    const { token } = await hub.post("/api/tokens", { role: "operator" })
    for (const door of isWholeRun ? (["executable", "spawn"] as const) : (["executable"] as const)) {
      const how = { door, hub, cwd: folder(), token, prompts: ["hello"] }
      const plain = await runProgram({ ...how, version: "0.2.37" })
      expect(messages(plain, "result")).toMatchObject([{ subtype: "success" }])
      const more = await runProgram({ ...how, version: "0.3.325", options: { maxTurns: 7 } })
      expect(messages(more, "result")).toMatchObject([{ subtype: "success" }])
      const fallbackModel = "claude-haiku-4-5"
      const refused = await runProgram({ ...how, version: "0.3.325", options: { fallbackModel } })
      expect(JSON.stringify(refused)).toContain("may not start an agent with --fallback-model")
      expect(refused.at(-1)).toHaveProperty("error")
      const wide = await runProgram({ ...how, version: "0.3.325", options: { allowedTools: ["Bash"] } })
      expect(JSON.stringify(wide)).toContain("`allowedTools` needs an admin token")
    }
  })

  it("[CL34] a hub that is killed and comes back is waited for: the program sees its turn to the end", async () => {
    const hub = await startHub()
    const place = folder()
    const pieces = { say: { repeat: "word ", times: 100 }, pauseMs: 50, chunk: 5 }
    writeFileSync(join(place, "long.json"), JSON.stringify({ turns: [{ steps: [pieces] }] }))
    const scenario = { extraArgs: { scenario: join(place, "long.json") } }
    const how = { version: "0.3.325", door: "spawn", hub, cwd: place, options: scenario } as const
    const running = runProgram({ ...how, prompts: ["go on"] })
    const state = async () => (await hub.get("/api/sessions")).sessions[0]?.state
    await expect.poll(state, { timeout: 60_000, interval: 100 }).toBe("running")
    await hub.killAndStartAgain()
    const printed = await running
    expect(messages(printed, "assistant")).toHaveLength(1)
    expect(messages(printed, "result")).toMatchObject([{ subtype: "success", result: "word ".repeat(100) }])
    expect(printed.at(-1)).toEqual({ ended: true })
  })

  it("[CL23] without a hub the program is told so at once", async () => {
    const hub = await startHub()
    await hub.stop()
    const how = { version: "0.3.325", hub, cwd: folder(), prompts: ["hello"] }
    const printed = await runProgram({ ...how, door: "executable" })
    expect(JSON.stringify(printed)).toMatch(/can't reach|cannot be reached/)
    expect(printed.at(-1)).toHaveProperty("error")
  })
})

if (runsNow("shim", "real CLI 2.1.325")) {
  it("[CL24] [HR51] an official program drives a real CLI through the hub, and continues there", async () => {
    const [home, cwd] = [folder(), folder()]
    mkdirSync(join(home, ".claude"))
    const steps = [{ tool: "Bash", input: { command: "touch made", description: "make a file" } }, { say: "Made it." }]
    const api = await openScriptedApi({ scenario: { turns: [{ steps }, { steps: [{ say: "Went on." }] }] } })
    open.push(() => api.close())
    const { command } = await ensureClaude("2.1.325")
    const hub = await startHub({ ...claudeEnvironment({ home, apiUrl: api.url }), CLAUDE_BIN: command })
    const how = { version: "0.3.325", door: "executable", hub, cwd, agent: "claude" } as const
    const printed = await runProgram({ ...how, prompts: ["make it"], options: { model: "claude-haiku-4-5" } })
    expect(printed).toContainEqual({ asked: "Bash" })
    expect(messages(printed, "result")).toMatchObject([{ subtype: "success", result: "Made it." }])
    const [session] = (await hub.get("/api/sessions")).sessions
    expect(session).toMatchObject({ cliVersion: "2.1.325", transport: "runner", cwd, model: "claude-haiku-4-5" })
    await expect(hub.post("/api/sessions", { cwd, continue: true })).rejects.toThrow(/409 .*"session\/live"/)
    await hub.delete(`/api/sessions/${session.id}`)
    const more = await runProgram({ ...how, prompts: ["and now?"], options: { continue: true } })
    expect(messages(more, "result")).toMatchObject([{ result: "Went on.", session_id: session.agentSessionId }])
    expect(JSON.stringify(api.requests.at(-1))).toContain("make it")
    expect((await hub.get("/api/sessions")).sessions).toMatchObject([{ id: session.id, turns: 2 }])
  })
}

/** An older SDK on the oldest CLI. */
const PROMPTED = [
  { name: "prompted CLI 2.1.325", claude: "2.1.325", version: "0.3.325" },
  { name: "prompted CLI 2.1.120", claude: "2.1.120", version: "0.3.325" },
  { name: "prompted CLI 2.1.37", claude: "2.1.37", version: "0.2.37" },
] as const

for (const { name, claude, version } of PROMPTED) {
  if (!runsNow("shim", name)) continue
  it(`[CL70] an official program's prompt, sub-agents, schema and limits reach claude ${claude}, again after a resume`, async () => {
    const [home, cwd] = [folder(), folder()]
    mkdirSync(join(home, ".claude"))
    const steps = [{ tool: "StructuredOutput", input: { word: "pelican" } }, { say: "Said." }]
    const api = await openScriptedApi({ scenario: { turns: [{ repeat: true, steps }] } })
    open.push(() => api.close())
    const { command, args } = await ensureClaude(claude)
    const hub = await startHub({ ...claudeEnvironment({ home, apiUrl: api.url }), CLAUDE_BIN: args[0] ?? command })
    const options = {
      systemPrompt: "You are the signalman.",
      agents: { porter: { description: "Carries a pelican", prompt: "Carry." } },
      outputFormat: { type: "json_schema", schema: { type: "object", properties: { word: { type: "string" } } } },
      maxTurns: 9,
    }
    const how = { version, door: "executable", hub, cwd, agent: "claude", prompts: ["say it"] } as const
    const reached = (from: number) => {
      const said = JSON.stringify(api.requests.slice(from))
      return ["You are the signalman.", "StructuredOutput"].filter((words) => said.includes(words))
    }
    const printed = await runProgram({ ...how, options })
    expect(messages(printed, "result")).toMatchObject([{ structured_output: { word: "pelican" } }])
    expect(reached(0)).toHaveLength(2)
    // The options of the launch come back with the session, whoever brings it back, and after the hub went down.
    const [session] = (await hub.get("/api/sessions")).sessions
    await hub.delete(`/api/sessions/${session.id}`)
    await hub.killAndStartAgain()
    const before = api.requests.length
    await hub.post(`/api/sessions/${session.id}/messages`, { content: "again" })
    const turns = async () => (await hub.get(`/api/sessions/${session.id}`)).turns
    await expect.poll(turns, { timeout: 90_000, interval: 200 }).toBe(2)
    expect(reached(before)).toHaveLength(2)
    const { events } = await hub.get(`/api/sessions/${session.id}/events`)
    const inits = events.flatMap(({ message }: Json) => (message.subtype === "init" ? [message.agents] : []))
    expect(inits).toEqual([expect.arrayContaining(["porter"]), expect.arrayContaining(["porter"])])
    const refused = await runProgram({ ...how, version: "0.3.325", options: { planModeInstructions: "Plan." } })
    expect(JSON.stringify(refused)).toContain("planModeInstructions cannot be used with an agent on a hub")
  })
}
