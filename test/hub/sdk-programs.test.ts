import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { textOf } from "@signalbox/protocol"
import { HOOK_EVENTS } from "@signalbox/sdk"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { ensureClaude } from "../../scripts/claude-cli.mjs"
import { compare, outline } from "../differential/compare.ts"
import { buildRooms, type CompiledPrograms, compileForOurs, programsFolder } from "../differential/packages.ts"
import { runProgram, type Seen, type StandIn } from "../differential/run-program.ts"
import { runsNow } from "../gate.ts"
import { simulated } from "../official-clients/clients.ts"
import { HubProcess } from "./hub-process.ts"
import { differences, programs } from "./sdk/programs.ts"

const CLI = "2.1.120"
const redirect = pathToFileURL(join(dirname(fileURLToPath(import.meta.url)), "sdk/redirect.mjs")).href

let compiled: CompiledPrograms | undefined
let hub: HubProcess | undefined

beforeAll(async () => {
  await buildRooms()
  compiled = await compileForOurs(programs)
  hub = await HubProcess.start()
}, 300_000)

afterAll(async () => {
  await compiled?.remove()
  await hub?.dispose()
})

/** The same program with the same CLI, as a process of its own and on a hub. */
function see(cell: string, agent: () => Promise<StandIn>): void {
  for (const program of programs) {
    if (!runsNow(cell, program)) continue
    it(`[Q71] ${cell}: ${program} sees the same as with a process of its own`, { timeout: 240_000 }, async () => {
      if (compiled === undefined || hub === undefined) throw new Error("nothing was prepared")
      const local = await agent()
      const [here, there] = await Promise.all([
        runProgram(compiled, program, local),
        runProgram(compiled, program, await onHub(hub, program, local)),
      ])
      expect(here["harness"], "the local side must come to its end").toBeUndefined()
      const meant = differences.filter((each) => ["every", program].includes(each.program))
      const found = compare(here, withoutNotes(there), meant)
      expect(found, `\n  local\n    ${outline(here)}\n  hub\n    ${outline(there)}\n`).toEqual([])
    })
  }
}

/** Whether the agent or the query comes first is a matter of luck, and 2.1.120 takes hooks only at its start. */
function hooksIn(program: string): string[] {
  const source = readFileSync(join(programsFolder, `${program}.ts`), "utf8")
  return HOOK_EVENTS.filter((event) => source.includes(`${event}:`))
}

async function onHub(place: HubProcess, program: string, local: StandIn): Promise<StandIn> {
  // As a process of its own is told by the SDK, unless its program says otherwise.
  const launch = { agent: "external", hooks: hooksIn(program), systemPrompt: "" }
  const session = await place.post("/api/sessions", launch)
  const { url, token } = place.ready
  const told = { hub: { url, token, session: session.id }, ingress: session.ingress }
  return {
    path: local.path,
    env: { ...local.env, NODE_OPTIONS: `--import=${redirect}`, SIGNALBOX_TEST_HUB: JSON.stringify(told) },
  }
}

/** The hub tells of agents that come and go in messages of a type of its own, which these programs pass over. */
function withoutNotes(seen: Seen): Seen {
  const messages = (seen["message"] ?? []).filter((message) => textOf(message, "type") !== "hub")
  return { ...seen, message: messages }
}

async function realCli(): Promise<StandIn> {
  const { command, args } = await ensureClaude(CLI)
  return { path: args[0] ?? command, env: {} }
}

describe("programs written for the official SDK, on a hub's agent", () => {
  see(`hub with simulated ${CLI}`, async () => simulated(CLI))
  see(`hub with CLI ${CLI}`, realCli)
})
