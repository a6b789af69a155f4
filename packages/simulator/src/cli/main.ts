import type { Transport } from "@signalbox/transport"
import type { Launch } from "../agent/launch.ts"
import { openSimulatedAgent } from "../agent/open-agent.ts"
import type { Model } from "../model/model.ts"
import { profileOf } from "../profiles/index.ts"
import type { WireProfile } from "../profiles/profile.ts"
import type { Scenario } from "../scenario/schema.ts"
import { SimulatorError } from "../simulator-error.ts"
import type { ToolMode } from "../tools/toolbox.ts"
import { type ParsedArguments, parseArguments } from "./argv.ts"
import { HELP } from "./help.ts"
import { type Environment, launchFrom } from "./launch-from-argv.ts"
import { StdioTransport } from "./stdio-transport.ts"

/** How this run differs from a real CLI's: by flags, or by variables where the host writes the command line. */
interface Settings {
  readonly profile: WireProfile
  readonly timeScale: number
  readonly tools: ToolMode
  readonly seed?: number
  readonly scenarioFile?: string
  readonly modelUrl?: string
}

const TERMINATED = 143

/** The executable. Ends the process. */
export async function main(argv: readonly string[], env: Environment): Promise<void> {
  try {
    process.exitCode = await run(parseArguments(argv), env)
  } catch (error) {
    if (!(error instanceof SimulatorError)) throw error
    await say(`${error.message}\n`)
    process.exitCode = 1
  }
  // Sockets and timers of a road that is over must not keep the process.
  process.exit()
}

async function run(parsed: ParsedArguments, env: Environment): Promise<number> {
  if (parsed.switches.has("help")) return print(HELP)
  const settings = settingsFrom(parsed, env)
  if (parsed.switches.has("version")) return print(`${settings.profile.version} (Claude Code)\n`)
  for (const flag of parsed.unknown) await say(`claude-sim: unknown flag ${flag}: ignored\n`)
  const launch = launchFrom(parsed, env, settings.profile)
  const [scenario, model] = await Promise.all([loadScenario(settings), loadModel(settings, env)])
  const transport = await openTransport(parsed, env, settings)
  try {
    return await play(transport, settings, { launch, ...scenario, ...model })
  } finally {
    await transport.close("the agent has ended")
  }
}

async function play(
  transport: Transport,
  settings: Settings,
  parts: { launch: Launch; scenario?: Scenario; model?: Model },
): Promise<number> {
  const { profile, timeScale, tools, seed } = settings
  const agent = openSimulatedAgent({
    transport,
    profile,
    timeScale,
    tools,
    ...parts,
    ...(seed === undefined ? {} : { seed }),
    onStderr: (text) => void process.stderr.write(text),
  })
  process.once("SIGTERM", () => agent.terminate(TERMINATED))
  process.once("SIGINT", () => agent.terminate(0))
  return (await agent.exited).code
}

function settingsFrom(parsed: ParsedArguments, env: Environment): Settings {
  const given = (flag: string, variable: string) => parsed.values.get(flag)?.at(-1) ?? env[`SIGNALBOX_SIM_${variable}`]
  const speed = given("speed", "SPEED")
  const seed = given("seed", "SEED")
  const scenarioFile = given("scenario", "SCENARIO")
  const modelUrl = given("model-url", "MODEL_URL")
  return {
    profile: profileOf(given("profile", "PROFILE")),
    timeScale: timeScaleOf(speed),
    tools: given("simulate-tools", "TOOLS") === "real" ? "real" : "pretend",
    ...(seed === undefined ? {} : { seed: seedOf(seed) }),
    ...(scenarioFile === undefined ? {} : { scenarioFile }),
    ...(modelUrl === undefined ? {} : { modelUrl }),
  }
}

/** `--speed 2` is twice as fast; `max` and 0 wait for nothing. */
function timeScaleOf(speed: string | undefined): number {
  if (speed === undefined) return 1
  if (speed === "max" || speed === "0") return 0
  const number = Number(speed)
  if (Number.isFinite(number) && number > 0) return 1 / number
  throw new SimulatorError("launch/refused", `claude-sim: --speed takes a number above 0, or max, not ${speed}`)
}

function seedOf(text: string): number {
  const number = Number(text)
  if (Number.isInteger(number)) return number
  throw new SimulatorError("launch/refused", `claude-sim: --seed takes a whole number, not ${text}`)
}

async function loadScenario({ scenarioFile, modelUrl }: Settings): Promise<{ scenario?: Scenario }> {
  if (scenarioFile === undefined || modelUrl !== undefined) return {}
  // Checking a scenario takes longer to load than all the rest: only who brings one pays for it.
  const { readScenarioFile } = await import("../scenario/scenario-file.ts")
  return { scenario: await readScenarioFile(scenarioFile) }
}

async function loadModel({ modelUrl }: Settings, env: Environment): Promise<{ model?: Model }> {
  if (modelUrl === undefined) return {}
  const { ApiModel } = await import("../model/api-model.ts")
  const url = modelUrl === "env" ? (env["ANTHROPIC_BASE_URL"] ?? "") : modelUrl
  return { model: new ApiModel(url, "sk-not-a-key") }
}

async function openTransport(parsed: ParsedArguments, env: Environment, settings: Settings): Promise<Transport> {
  const url = parsed.values.get("sdk-url")?.at(-1)
  const { dial } = settings.profile
  if (url === undefined || dial === undefined) return new StdioTransport(process.stdin, process.stdout)
  const { openSdkUrl, readDialEnvironment } = await import("@signalbox/transport")
  return openSdkUrl(url, readDialEnvironment(env), { preset: dial })
}

function print(text: string): Promise<number> {
  return new Promise((resolve) => process.stdout.write(text, () => resolve(0)))
}

function say(text: string): Promise<void> {
  return new Promise((resolve) => process.stderr.write(text, () => resolve()))
}
