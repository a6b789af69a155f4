import { mkdirSync, realpathSync, writeFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { claudeEnvironment, openScriptedApi, type Scenario, type ScriptedApi } from "@signalbox/simulator"
import { type ChildTransport, openChildProcess } from "@signalbox/transport"
import { ensureClaude } from "../../scripts/claude-cli.mjs"

const SIMULATOR = join(
  dirname(dirname(dirname(fileURLToPath(import.meta.url)))),
  "packages/simulator/bin/claude-sim.mjs",
)

export interface AgentProcessOptions {
  /** "claude": the real CLI of that version with a scripted model. */
  readonly kind: "simulator" | "claude"
  readonly version: string
  readonly url: string
  readonly token?: string
  readonly scenario: Scenario
  readonly hybrid?: boolean
  readonly args?: readonly string[]
}

export interface AgentProcess {
  readonly child: ChildTransport
  readonly cwd: string
  readonly api: ScriptedApi | undefined
  dispose(): Promise<void>
}

/** An agent that dials a hub, as somebody would start it by hand. */
export async function startAgent(options: AgentProcessOptions): Promise<AgentProcess> {
  const base = realpathSync(await mkdtemp(join(tmpdir(), "signalbox-agent-")))
  const [home, cwd] = [join(base, "home"), join(base, "project")]
  mkdirSync(home)
  mkdirSync(cwd)
  const api = options.kind === "claude" ? await openScriptedApi({ scenario: options.scenario }) : undefined
  const { command, args, env } = await executableOf(options, base)
  const flags = ["--sdk-url", options.url, "--print", "--output-format", "stream-json", "--input-format", "stream-json"]
  const child = await openChildProcess({
    command,
    args: [...args, ...flags, "--verbose", "--replay-user-messages", ...(options.args ?? [])],
    cwd,
    env: {
      ...claudeEnvironment({ home, apiUrl: api?.url ?? "http://127.0.0.1:9" }),
      ...env,
      ...(options.token === undefined ? {} : { CLAUDE_CODE_SESSION_ACCESS_TOKEN: options.token }),
      ...(options.hybrid === true ? { CLAUDE_CODE_POST_FOR_SESSION_INGRESS_V2: "1" } : {}),
    },
    killAfterMs: 2000,
  })
  return {
    child,
    cwd,
    api,
    async dispose() {
      await child.close("test over")
      await api?.close()
      await rm(base, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

async function executableOf(
  options: AgentProcessOptions,
  base: string,
): Promise<{ command: string; args: string[]; env?: Record<string, string> }> {
  if (options.kind === "claude") return ensureClaude(options.version)
  const file = join(base, "scenario.json")
  writeFileSync(file, JSON.stringify(options.scenario))
  return {
    command: process.execPath,
    args: [SIMULATOR],
    env: { SIGNALBOX_SIM_PROFILE: options.version, SIGNALBOX_SIM_SCENARIO: file },
  }
}
