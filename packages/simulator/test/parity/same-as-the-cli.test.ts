import { rmSync } from "node:fs"
import { join } from "node:path"
import type { Envelope } from "@signalbox/protocol"
import { parseScenario, type Scenario } from "@signalbox/simulator"
import type { ClaudeFlags } from "@signalbox/transport"
import { describe, expect, it } from "vitest"
import { AgentHost, makeFolder } from "../../../../test/conformance/agent-host.ts"
import { claudeVersionsNow } from "../../../../test/gate.ts"
import { SimHost } from "../support/sim-host.ts"
import { type ParityCase, type ParityHost, parityCases } from "./cases.ts"
import { normalise } from "./normalise.ts"

function inFolder(scenario: Scenario, folder: string): Scenario {
  return parseScenario(JSON.parse(JSON.stringify(scenario).replaceAll("{cwd}", folder)))
}

async function play(host: ParityHost, { initialize, run }: ParityCase): Promise<void> {
  await host.request({ subtype: "initialize", ...initialize })
  if (run === undefined) await host.turn("go")
  else await run(host)
}

function flagsOf({ launch = {} }: ParityCase): ClaudeFlags {
  const { includePartialMessages, replayUserMessages, permissionMode, maxTurns, maxBudgetUsd, jsonSchema } = launch
  const given = { includePartialMessages, replayUserMessages, permissionMode, maxTurns, maxBudgetUsd, jsonSchema }
  const lists = { allowedTools: launch.allowedTools, disallowedTools: launch.disallowedTools }
  const entries = Object.entries({ ...given, ...lists }).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries)
}

async function playReal(version: string, parity: ParityCase): Promise<string[]> {
  const folder = await makeFolder()
  const agent = await AgentHost.start(
    { version, road: "stdio", name: `${version} stdio` },
    {
      folder,
      scenario: inFolder(parity.scenario, folder.cwd),
      flags: flagsOf(parity),
      env: envOf(parity),
      onRequest: parity.onRequest?.() ?? (() => null),
    },
  )
  try {
    await play(
      {
        seen: agent.seen,
        folder: folder.cwd,
        request: (request) => agent.request(request),
        prompt: (text, uuid) => agent.prompt(text, uuid),
        until: (type, subtype) => agent.until(type, subtype),
        turn: (text, uuid) => agent.turn(text, uuid),
      },
      parity,
    )
    return course(agent.seen, folder.cwd, folder.home)
  } finally {
    // What was seen is compared; how well it fits our schemas is the conformance suite's business.
    await agent.dispose().catch(() => undefined)
    await folder.remove()
  }
}

function envOf({ launch }: ParityCase): Record<string, string> {
  const entries = Object.entries(launch?.env ?? {}).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return Object.fromEntries(entries)
}

async function playSimulated(profile: string, parity: ParityCase): Promise<string[]> {
  const folder = await makeFolder()
  const env = { ANTHROPIC_API_KEY: "sk-not-a-key", ...parity.launch?.env }
  const host = new SimHost({
    scenario: inFolder(parity.scenario, folder.cwd),
    profile,
    tools: "real",
    folder: folder.cwd,
    launch: { ...parity.launch, configDir: join(folder.home, ".claude"), settingSources: [], env },
    onRequest: parity.onRequest?.() ?? (() => null),
  })
  try {
    await play(host, parity)
    return course(host.seen, folder.cwd, folder.home)
  } finally {
    await host.close()
    rmSync(folder.cwd, { recursive: true, force: true })
    await folder.remove()
  }
}

/** What was said, in order, in a form that is the same in every run. */
function course(seen: readonly Envelope[], cwd: string, home: string): string[] {
  const dashed = (path: string) => path.replaceAll(/[^a-zA-Z0-9]/g, "-")
  const place = (text: string) =>
    [cwd, dashed(cwd), home].reduce((current, path, index) => current.replaceAll(path, `<place ${index}>`), text)
  return seen.map((message) => place(normalise(message)))
}

describe.each(claudeVersionsNow)("[A30] a scenario through the simulator and through CLI %s", (version) => {
  for (const [name, parity] of Object.entries(parityCases)) {
    if (parity.notOn?.includes(version)) continue
    it(`says the same: ${name}`, { timeout: 120_000 }, async () => {
      const [real, simulated] = await Promise.all([playReal(version, parity), playSimulated(version, parity)])
      expect(simulated).toEqual(real)
    })
  }
})
