import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { closeSync, openSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { claudeEnvironment, openScriptedApi, type ScriptedApi } from "@signalbox/simulator"
import { describe, expect, it, onTestFinished } from "vitest"
import { ensureClaude } from "../../../../scripts/claude-cli.mjs"
import { claudeVersionsNow } from "../../../../test/gate.ts"
import { DialledHost } from "../support/dialled-host.ts"
import { hello, makeFolder } from "../support/sim-process.ts"

// What the variables of a CLI that dials do, seen from the server. The simulator is held to it in the gate, and in
// `test:full` so are the real CLIs that it imitates.

const bin = fileURLToPath(new URL("../../bin/claude-sim.mjs", import.meta.url))
const FLAGS = ["--print", "hi", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
const DIALLING = ["2.1.37", "2.1.120"]

interface Contender {
  readonly name: string
  readonly command: () => Promise<{ command: string; args: string[]; env: Record<string, string> }>
}

const simulated = DIALLING.map((version): Contender => {
  const env = { SIGNALBOX_SIM_PROFILE: version, SIGNALBOX_SIM_MODEL_URL: "env", SIGNALBOX_SIM_TOOLS: "real" }
  return { name: `claude-sim as ${version}`, command: async () => ({ command: process.execPath, args: [bin], env }) }
})
const real = DIALLING.filter((version) => claudeVersionsNow.includes(version)).map((version): Contender => {
  return { name: `CLI ${version}`, command: async () => ({ ...(await ensureClaude(version)), env: {} }) }
})

interface Dialled {
  readonly host: DialledHost
  readonly api: ScriptedApi
  readonly child: ChildProcess
}

interface DialOptions {
  readonly env: Readonly<Record<string, string>>
  /** What the file holds that is open as descriptor 3. */
  readonly descriptor?: string
  readonly steps?: Parameters<typeof openScriptedApi>[0]["scenario"]["turns"][number]["steps"]
}

async function dial({ command }: Contender, options: DialOptions): Promise<Dialled> {
  const host = await DialledHost.open({ onConnection: (connection) => connection.send(hello) })
  const api = await openScriptedApi({ scenario: { turns: [{ steps: options.steps ?? [{ say: "Hello." }] }] } })
  onTestFinished(() => api.close())
  const home = makeFolder()
  const { command: file, args, env } = await command()
  const descriptor = options.descriptor === undefined ? undefined : openText(join(home, "token"), options.descriptor)
  const child = spawn(file, [...args, ...FLAGS, "--allowedTools", "Bash", "--sdk-url", host.url("/v1/ws/one")], {
    cwd: home,
    env: { ...claudeEnvironment({ home, apiUrl: api.url }), ...env, ...options.env },
    stdio: ["ignore", "ignore", "ignore", ...(descriptor === undefined ? [] : [descriptor])],
  })
  if (descriptor !== undefined) closeSync(descriptor)
  onTestFinished(() => end(child))
  return { host, api, child }
}

function openText(path: string, text: string): number {
  writeFileSync(path, text)
  return openSync(path, "r")
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, "exit")
  child.kill("SIGKILL")
  await exited
}

async function firstUpgrade(contender: Contender, options: DialOptions) {
  const { host } = await dial(contender, options)
  await host.until(() => host.upgrades.length > 0, "an upgrade")
  return host.upgrades[0]?.headers ?? {}
}

describe.each([...simulated, ...real])("the environment of $name", (contender) => {
  it("[SF16] CLAUDE_CODE_SESSION_ACCESS_TOKEN is the bearer token, before any descriptor", async () => {
    const env = { CLAUDE_CODE_SESSION_ACCESS_TOKEN: "one", CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR: "3" }
    expect(await firstUpgrade(contender, { env, descriptor: "two" })).toMatchObject({ authorization: "Bearer one" })
  })

  it("[SF16] CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR: the token is read there, without the blanks around it", async () => {
    const env = { CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR: "3" }
    const headers = await firstUpgrade(contender, { env, descriptor: " two\n" })
    expect(headers).toMatchObject({ authorization: "Bearer two" })
  })

  it.each([
    ["that is not open", { env: { CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR: "77" } }],
    ["that is no number", { env: { CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR: "abc" } }],
    ["that is empty", { env: { CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR: "3" }, descriptor: "" }],
  ])("[SF16] a descriptor %s: it dials without a token", async (_, options) => {
    expect(await firstUpgrade(contender, options)).not.toHaveProperty("authorization")
  })

  it("[SF17] CLAUDE_CODE_ENVIRONMENT_RUNNER_VERSION is a header, with a token or without", async () => {
    const env = { CLAUDE_CODE_ENVIRONMENT_RUNNER_VERSION: "r9" }
    const headers = await firstUpgrade(contender, { env })
    expect(headers).toMatchObject({ "x-environment-runner-version": "r9" })
    expect(headers).not.toHaveProperty("authorization")
    const both = await firstUpgrade(contender, { env: { ...env, CLAUDE_CODE_SESSION_ACCESS_TOKEN: "one" } })
    expect(both).toMatchObject({ "x-environment-runner-version": "r9", authorization: "Bearer one" })
  })

  it("[SF18] CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2: messages are posted, with token and runner version", async () => {
    const { host } = await dial(contender, {
      env: {
        CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2: "TRUE",
        CLAUDE_CODE_SESSION_ACCESS_TOKEN: "one",
      },
    })
    await host.until(() => host.count("result") > 0, "the result")
    expect(new Set(host.posts.map(({ url }) => url))).toEqual(new Set(["/v1/session/one/events"]))
    expect(host.posts.every(({ headers }) => headers.authorization === "Bearer one")).toBe(true)
  })

  it.each(["0", "2", "maybe", ""])(
    "[SF18] CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2=%s: messages go over the socket",
    async (word) => {
      const { host } = await dial(contender, { env: { CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2: word } })
      await host.until(() => host.count("result") > 0, "the result")
      expect(host.posts).toEqual([])
    },
  )

  it("[SF18] to be posted without a token, messages vanish", async () => {
    const { host, api, child } = await dial(contender, { env: { CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2: "1" } })
    await api.untilRequest(() => true)
    child.kill("SIGTERM")
    await host.until(() => host.open === 0, "the end of the connection")
    expect([host.lines, host.posts]).toEqual([[], []])
  })

  it("[SF19] CLAUDE_CODE_CONTAINER_ID and CLAUDE_CODE_REMOTE_SESSION_ID go to the Messages API, not to the host", async () => {
    const { host, api } = await dial(contender, {
      env: { CLAUDE_CODE_CONTAINER_ID: "c1", CLAUDE_CODE_REMOTE_SESSION_ID: "rs1" },
    })
    await host.until(() => host.count("result") > 0, "the result")
    expect(api.requests.at(-1)?.headers).toMatchObject({
      "x-claude-remote-container-id": "c1",
      "x-claude-remote-session-id": "rs1",
    })
    expect(JSON.stringify(host.upgrades)).not.toMatch(/"c1"|"rs1"/)
  })

  it("[SF19] a command that runs for a while is told of, with CLAUDE_CODE_REMOTE on or a container", async () => {
    const told = async (env: Record<string, string>) => {
      const steps = [{ tool: "Bash", input: { command: "sleep 5" } }, { say: "Done." }]
      const { host } = await dial(contender, { env, steps })
      await host.until(() => host.count("result") > 0, "the result")
      return host.count("tool_progress")
    }
    const cases = [{ CLAUDE_CODE_REMOTE: "1" }, { CLAUDE_CODE_CONTAINER_ID: "c1" }, { CLAUDE_CODE_REMOTE: "0" }]
    expect(await Promise.all(cases.map(told))).toEqual([1, 1, 0])
  })
})
