import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../scripts/setup.mjs"
import { newest, older } from "../differential/catalogue.ts"
import { programsFolder } from "../differential/packages.ts"
import type { StandIn } from "../differential/run-program.ts"
import { notCompared } from "./known-differences.ts"

/** An official SDK, and the CLI of its time that it is tried with: the real one, and the simulator in its place. */
export interface Client {
  readonly sdk: string
  readonly cli: string
  readonly programs: readonly string[]
}

/**
 * 0.1.77 brings CLI 2.0.77 along, which the simulator has no profile of; it also runs 2.1.37, and that is what both
 * sides get here.
 */
const OLDEST = [
  "abort-mid-turn",
  "api-error",
  "bypass-permissions",
  "can-use-tool-throws",
  "continue",
  "fork-session",
  "hook-matchers",
  "hook-pre-tool-deny",
  "interrupt-mid-stream",
  "mcp-one-tool",
  "one-question",
  "partial-messages",
  "resume",
  "resume-unknown",
  "set-model",
  "set-permission-mode",
  "several-messages",
  "tool-allowed",
  "tool-denied",
]

/** On no release's own list, and yet the same with 0.2.37. `close-at-once` is not: there it waits for ever for its commands. */
const ALSO_OLDER = [
  "abort-before",
  "abort-mid-turn",
  "abort-while-asked",
  "bypass-permissions",
  "can-use-tool-slow",
  "close-mid-turn",
  "content-blocks",
  "hook-async",
  "hook-session",
  "hook-stops-turn",
  "hook-user-prompt-blocks",
  "interrupt-when-idle",
  "iterable-ends-early",
]

export const clients: readonly Client[] = [
  { sdk: "0.3.325", cli: "2.1.325", programs: compared("0.3.325", newest.filter(runsTheCli)) },
  { sdk: "0.2.37", cli: "2.1.37", programs: compared("0.2.37", [...new Set([...older, ...ALSO_OLDER])]) },
  { sdk: "0.1.77", cli: "2.1.37", programs: compared("0.1.77", OLDEST) },
]

export function cellOf({ sdk, cli }: Client): string {
  return `SDK ${sdk} with simulated ${cli}`
}

/** The simulator, as a program that knows only an executable's path and the environment gets it. */
export function simulated(cli: string): StandIn {
  return {
    path: join(root, "packages/simulator/bin/claude-sim.mjs"),
    env: {
      SIGNALBOX_SIM_PROFILE: cli,
      SIGNALBOX_SIM_TOOLS: "real",
      // The program's own scripted model speaks to both sides.
      SIGNALBOX_SIM_MODEL_URL: "env",
    },
  }
}

/** Programs with an executable of their own have nothing to say about a CLI. */
function runsTheCli(program: string): boolean {
  return readFileSync(join(programsFolder, `${program}.ts`), "utf8").includes("basics()")
}

function compared(sdk: string, programs: readonly string[]): string[] {
  return programs.filter(
    (program) => !notCompared.some((each) => each.program === program && (each.sdk ?? sdk) === sdk),
  )
}
