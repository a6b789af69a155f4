import type { WireProfile } from "../profiles/profile.ts"
import { profile2325 } from "../profiles/v2-1-325.ts"
import { refused } from "../simulator-error.ts"
import type { ToolMode } from "../tools/toolbox.ts"
import type { Environment, ParsedArguments } from "./launch-from-argv.ts"

/** How this run differs from a real CLI's: by flags, or by variables where the host writes the command line. */
export interface Settings {
  readonly profile: WireProfile
  readonly timeScale: number
  readonly tools: ToolMode
  readonly seed?: number | undefined
  readonly scenarioFile?: string | undefined
  readonly modelUrl?: string | undefined
  /** A recording to play instead of a scenario, and where to write one of this run. */
  readonly replayFile?: string | undefined
  readonly recordFile?: string | undefined
  /** In the words of `--fault`. */
  readonly faults: readonly string[]
  /** How many agents this one process plays, if it is not just itself. */
  readonly agents?: number | undefined
}

const MAX_AGENTS = 10_000
/** The newest that dials an address of one's own. */
const DIALS = "2.1.120"

/** Our own flags, each of which needs its value. */
const OWN = ["profile", "scenario", "speed", "seed", "simulate-tools", "model-url", "replay", "record", "fault"]

export async function settingsFrom(parsed: ParsedArguments, env: Environment): Promise<Settings> {
  const bare = OWN.find((flag) => parsed.switches.has(flag) && !parsed.values.has(flag))
  if (bare !== undefined) throw refused(`claude-sim: --${bare} needs a value: see --help`)
  const all = (flag: string, variable: string) => [
    ...(parsed.values.get(flag) ?? []),
    ...(env[`SIGNALBOX_SIM_${variable}`] === undefined ? [] : [env[`SIGNALBOX_SIM_${variable}`] ?? ""]),
  ]
  const given = (flag: string, variable: string) => parsed.one(flag) ?? env[`SIGNALBOX_SIM_${variable}`]
  const agents = agentsOf(given("agents", "AGENTS"))
  const version = given("profile", "PROFILE") ?? (agents === undefined ? undefined : DIALS)
  return {
    profile: await loadProfile(version),
    timeScale: timeScaleOf(given("speed", "SPEED")),
    tools: toolsOf(given("simulate-tools", "TOOLS")),
    faults: all("fault", "FAULT").flatMap((text) => text.split(/\s+/).filter((spec) => spec !== "")),
    seed: seedOf(given("seed", "SEED")),
    scenarioFile: given("scenario", "SCENARIO"),
    modelUrl: given("model-url", "MODEL_URL"),
    replayFile: given("replay", "REPLAY"),
    recordFile: given("record", "RECORD"),
    agents,
  }
}

/** The newest profile is always there: most runs want it. Throws `profile/unknown`, as `profileOf` does. */
async function loadProfile(version: string | undefined): Promise<WireProfile> {
  if (version === undefined || version === profile2325.version) return profile2325
  const { profileOf } = await import("../profiles/index.ts")
  return profileOf(version)
}

/** A number is how many to play. Anything else is the CLI's own flag, whose value is an object of sub-agents. */
function agentsOf(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d+$/.test(text)) return undefined
  const count = Number(text)
  if (count >= 1 && count <= MAX_AGENTS) return count
  throw refused(`claude-sim: --agents takes a number from 1 to ${MAX_AGENTS}, not ${text}`)
}

/** `--speed 2` is twice as fast; `max` and 0 wait for nothing. */
function timeScaleOf(speed: string | undefined): number {
  if (speed === undefined) return 1
  if (speed === "max" || speed === "0") return 0
  const number = Number(speed)
  if (Number.isFinite(number) && number > 0) return 1 / number
  throw refused(`claude-sim: --speed takes a number above 0, or max, not ${speed}`)
}

function toolsOf(text: string | undefined): ToolMode {
  if (text === undefined || text === "pretend") return "pretend"
  if (text === "real") return "real"
  throw refused(`claude-sim: --simulate-tools is real or pretend, not ${text}`)
}

function seedOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const number = Number(text)
  if (Number.isInteger(number)) return number
  throw refused(`claude-sim: --seed takes a whole number, not ${text}`)
}
