import { existsSync } from "node:fs"
import { type AgentOptions, openAgent } from "../agent/open-agent.ts"
import type { OpenFaults } from "../faults/faulty-transport.ts"
import type { Launch } from "../launch/launch.ts"
import type { Model } from "../model/model.ts"
import type { Scenario } from "../scenario/schema.ts"
import { SimulatorError } from "../simulator-error.ts"
import { type Environment, launchFrom, type ParsedArguments, parseArguments } from "./launch-from-argv.ts"
import { checkFaults, openDialled, openStdio, type Road } from "./roads.ts"
import { type Settings, settingsFrom } from "./settings.ts"

const TERMINATED = 143

/** The executable. Ends the process. */
export async function main(argv: readonly string[], env: Environment): Promise<void> {
  try {
    process.exitCode = (await command(argv)) ?? (await run(parseArguments(argv), env))
  } catch (error) {
    if (!(error instanceof SimulatorError)) throw error
    await say(`${error.message}\n`)
    process.exitCode = 1
  }
  // Sockets and timers of a road that is over must not keep the process.
  process.exit()
}

/** Commands are loaded when one is asked for. */
async function command(argv: readonly string[]): Promise<number | undefined> {
  if (argv[0] !== "record" && argv[0] !== "convert") return undefined
  const { runCommand } = await import("./commands.ts")
  return runCommand(argv)
}

async function list(isJson: boolean): Promise<number> {
  const { listGallery } = await import("../scenario/load-scenario.ts")
  const entries = await listGallery()
  if (isJson) return print(`${JSON.stringify({ scenarios: entries })}\n`)
  const width = Math.max(...entries.map(({ name }) => name.length))
  return print(entries.map(({ name, about }) => `${name.padEnd(width)}  ${about}\n`).join(""))
}

async function run(parsed: ParsedArguments, env: Environment): Promise<number> {
  if (parsed.switches.has("help")) return print((await import("./commands.ts")).HELP)
  if (parsed.switches.has("list")) return list(parsed.switches.has("json"))
  const settings = await settingsFrom(parsed, env)
  if (parsed.switches.has("version")) return print(`${settings.profile.version} (Claude Code)\n`)
  if (settings.faults.includes("help")) return print((await import("../faults/parse-fault.ts")).faultHelp())
  for (const flag of parsed.unknown) await say(`claude-sim: unknown flag ${flag}: ignored\n`)
  // A word after a flag that nobody knows is probably its value.
  if (parsed.words.length > 0 && parsed.unknown.length === 0) {
    await say("claude-sim: a prompt on the command line is not played: messages come as stream-json on stdin\n")
  }
  const launch = await withPages(
    await withPlugins(
      await withServers(launchFrom(parsed, env, settings.profile), parsed, settings),
      ["plugin-dir", "plugin-dir-no-mcp"].flatMap((flag) => parsed.values.get(flag) ?? []),
    ),
  )
  const parts = { launch, ...(await loadScenario(settings)), ...(await loadModel(settings, env)) }
  const url = parsed.one("sdk-url")
  await checkFaults([...settings.faults, ...(parts.scenario?.faults ?? [])], env, url !== undefined)
  if (settings.agents !== undefined) {
    const { playMany } = await import("./many-agents.ts")
    return playMany({ ...parts, count: settings.agents, url, env, settings, say })
  }
  const opened = url === undefined ? openStdio() : await openDialled({ url, env, profile: settings.profile })
  const road = await recorded(opened, settings)
  try {
    if (settings.replayFile !== undefined) {
      const { playReplay } = await import("./replay-road.ts")
      return await playReplay(settings.replayFile, road, settings)
    }
    return await play(road, settings, parts)
  } finally {
    await road.transport.close("the agent has ended")
  }
}

/** Servers are looked for where a flag names some, and where tools are real: a project's own are programs too. */
async function withServers(launch: Launch, { values, switches }: ParsedArguments, settings: Settings): Promise<Launch> {
  const flags = values.get("mcp-config") ?? []
  const { cwd, env, settingSources } = launch
  const readsProject = settingSources === undefined || settingSources.includes("project")
  const isProject = settings.tools === "real" && !switches.has("strict-mcp-config") && readsProject
  if (flags.length === 0 && !isProject) return launch
  const { readMcpFlags, readProjectServers } = await import("../mcp/config.ts")
  const project = isProject ? readProjectServers(cwd, env) : []
  return { ...launch, mcpServers: [...project, ...readMcpFlags(flags, { cwd, env })] }
}

async function withPlugins(launch: Launch, folders: readonly string[]): Promise<Launch> {
  if (folders.length === 0) return launch
  const { readPlugins } = await import("../launch/own-pages.ts")
  return { ...launch, plugins: readPlugins(folders, launch.cwd) }
}

/** The code that reads pages is loaded where there are some. */
async function withPages(launch: Launch): Promise<Launch> {
  const folders = [launch.configDir, `${launch.cwd}/.claude`].flatMap((folder) =>
    ["skills", "commands", "agents"].map((kind) => `${folder}/${kind}`),
  )
  if (!folders.some((folder) => existsSync(folder))) return launch
  const { readOwnPages } = await import("../launch/own-pages.ts")
  return { ...launch, pages: readOwnPages(launch) }
}

async function recorded(road: Road, { recordFile }: Settings): Promise<Road> {
  if (recordFile === undefined) return road
  const { recordRoad } = await import("./replay-road.ts")
  return { ...road, transport: await recordRoad(road.transport, recordFile) }
}

async function play(
  { transport, effects, hurry }: Road,
  settings: Settings,
  { createModel, ...parts }: { launch: Launch; scenario?: Scenario; createModel?: () => Model },
): Promise<number> {
  const options: AgentOptions = {
    ...settings,
    ...parts,
    transport,
    faultEffects: effects,
    model: createModel?.(),
    onStderr: (text) => void process.stderr.write(text),
  }
  const agent = openAgent(options, await loadFaults(options))
  process.on("SIGTERM", () => {
    hurry()
    agent.terminate(TERMINATED)
  })
  process.once("SIGINT", () => agent.terminate(0))
  return (await agent.exited).code
}

async function loadFaults(options: AgentOptions): Promise<OpenFaults | undefined> {
  if ((options.faults ?? []).length + (options.scenario?.faults ?? []).length === 0) return undefined
  const { faultsOver } = await import("../faults/faulty-transport.ts")
  return faultsOver(options)
}

async function loadScenario({ scenarioFile, modelUrl }: Settings): Promise<{ scenario?: Scenario }> {
  if (scenarioFile === undefined || modelUrl !== undefined) return {}
  // Checking a scenario takes longer to load than all the rest: only who brings one pays for it.
  const gallery = await import("../scenario/load-scenario.ts")
  return { scenario: await gallery.loadScenario(scenarioFile) }
}

async function loadModel({ modelUrl }: Settings, env: Environment): Promise<{ createModel?: () => Model }> {
  if (modelUrl === undefined) return {}
  const { ApiModel } = await import("../model/api-model.ts")
  const url = modelUrl === "env" ? (env["ANTHROPIC_BASE_URL"] ?? "") : modelUrl
  const headers = remoteHeaders(env)
  return { createModel: () => new ApiModel(url, "sk-not-a-key", headers) }
}

/** Headers that tell the API where a remote session runs. */
function remoteHeaders(env: Environment): Record<string, string> {
  const headers = {
    "x-claude-remote-container-id": env["CLAUDE_CODE_CONTAINER_ID"],
    "x-claude-remote-session-id": env["CLAUDE_CODE_REMOTE_SESSION_ID"],
  }
  return Object.fromEntries(Object.entries(headers).flatMap(([name, value]) => (value ? [[name, value]] : [])))
}

function print(text: string): Promise<number> {
  return new Promise((resolve) => {
    process.stdout.once("error", (error: NodeJS.ErrnoException) => {
      // A reader that is gone has seen enough.
      if (error.code === "EPIPE") resolve(0)
      else process.stderr.write(`claude-sim: what it prints cannot be written: ${error.message}\n`, () => resolve(1))
    })
    process.stdout.write(text, (error) => {
      if (error == null) resolve(0)
    })
  })
}

function say(text: string): Promise<void> {
  return new Promise((resolve) => process.stderr.write(text, () => resolve()))
}
