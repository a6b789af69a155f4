import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { composeUserMessage, encode } from "@signalbox/protocol"
import { type ChildProcessOptions, type ChildTransport, claudeArguments, openChildProcess } from "@signalbox/transport"
import { onTestFinished } from "vitest"

const bin = fileURLToPath(new URL("../../bin/claude-sim.mjs", import.meta.url))

/** What a host passes that talks on stdio. */
export const stdioFlags: readonly string[] = claudeArguments({ permissionPromptTool: "stdio" })

export const hello: string = encode(composeUserMessage("hello"))

/** A folder that goes with the test. */
export function makeFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-claude-sim-")))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }))
  return folder
}

export interface SimProcessOptions extends Partial<ChildProcessOptions> {
  readonly env?: Readonly<Record<string, string>>
  readonly folder?: string
  readonly scenario?: object
}

/** `claude-sim`, as fast as it can; ended with the test. */
export async function startSim(args: readonly string[], options: SimProcessOptions = {}): Promise<ChildTransport> {
  const { env, folder = makeFolder(), scenario, ...behaviour } = options
  const given = scenario === undefined ? [] : ["--scenario", writeScenario(folder, scenario)]
  const child = await openChildProcess({
    killAfterMs: 500,
    ...behaviour,
    command: process.execPath,
    args: [bin, ...args, ...given],
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, SIGNALBOX_SIM_SPEED: "max", ...env },
  })
  onTestFinished(() => child.close("test over"))
  return child
}

function writeScenario(folder: string, scenario: object): string {
  const file = join(folder, "scenario.json")
  writeFileSync(file, JSON.stringify(scenario))
  return file
}
