import { readdirSync } from "node:fs"
import {
  composeAllow,
  composeSuccess,
  composeUserMessage,
  type Envelope,
  encode,
  fieldOf,
  isObject,
  textOf,
} from "@signalbox/protocol"
import {
  createLaunch,
  galleryNames,
  listGallery,
  loadScenario,
  openSimulatedAgent,
  type Scenario,
} from "@signalbox/simulator"
import { createLinkedPair } from "@signalbox/transport"
import { describe, expect, it } from "vitest"
import { question } from "../../../../test/conformance/answers.ts"
import { type Asked, SimHost } from "../support/sim-host.ts"

/** Somebody who allows everything, takes the first of every choice and fills in forms with nothing. */
function agreeable({ request_id, subtype, request }: Asked): Envelope | null {
  if (subtype === "elicitation") return composeSuccess(request_id, { action: "accept", content: {} })
  if (request["tool_name"] !== "AskUserQuestion") return composeAllow(question(request_id, request))
  const input = fieldOf(request, "input") ?? {}
  const answers = listIn(input["questions"]).map((asked) => [
    textOf(asked, "question"),
    textOf(listIn(asked["options"])[0], "label"),
  ])
  const updatedInput = { ...input, answers: Object.fromEntries(answers) }
  return composeSuccess(request_id, { behavior: "allow", updatedInput })
}

function listIn(value: unknown): Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

interface Played {
  readonly messages: readonly Envelope[]
  readonly files: readonly string[]
}

/** Says what the scenario proposes, and waits for the turns that begin by themselves. */
async function play(scenario: Scenario, profile: string): Promise<Played> {
  const host = new SimHost({ scenario, profile, onRequest: agreeable })
  try {
    for (const { prompt, on } of scenario.turns) {
      if (prompt !== undefined) await host.turn(prompt)
      else if (on !== undefined && profile === "2.1.325") await host.until("result")
    }
    return { messages: host.seen, files: readdirSync(host.folder).filter((name) => name !== ".claude") }
  } finally {
    await host.close()
  }
}

/** Results of tools that failed, without those the scenario wants to fail. */
function unwantedFailures(scenario: Scenario, messages: readonly Envelope[]): string[] {
  const wanted = JSON.stringify(scenario)
  return messages
    .flatMap((message) => listIn(fieldOf(message, "message")?.["content"]))
    .filter((block) => block["type"] === "tool_result" && block["is_error"] === true)
    .map((block) => String(block["content"]))
    .filter((text) => !wanted.includes(JSON.stringify(text).slice(1, -1)))
}

const BIG = "hundred-thousand"
const names = galleryNames().filter((name) => name !== BIG)

describe("the gallery", () => {
  it("[SG1] has at least twelve scenarios, each with a line about it and something a user might say", async () => {
    const entries = await listGallery()
    expect(entries.length).toBeGreaterThanOrEqual(12)
    for (const { name, about } of entries) {
      expect(about, name).toMatch(/^[A-Z].{20,120}\.$/)
      const scenario = await loadScenario(name)
      expect(scenario.turns[0]?.prompt, name).toBeDefined()
    }
  })

  it.each(names)("[SG2] %s plays to its end, with all tools simulated", async (name) => {
    const scenario = await loadScenario(name)
    const { messages, files } = await play(scenario, "2.1.325")
    expect(files).toEqual([])
    expect(unwantedFailures(scenario, messages)).toEqual([])
    const said = JSON.stringify(messages)
    expect(said).not.toContain("The script has no turn for this")
    expect(said).not.toContain("{{")
    expect(messages.filter(({ type }) => type === "result")).toHaveLength(scenario.turns.length)
    for (const line of lastWords(scenario)) expect(said).toContain(JSON.stringify(line).slice(1, -1))
  })

  it.each(["2.1.37", "2.1.120"])("[SG2] plays on %s too", async (profile) => {
    for (const name of names) {
      const scenario = await loadScenario(name)
      const { messages } = await play(scenario, profile)
      expect(messages.at(-1)?.type, name).toBeDefined()
      expect(JSON.stringify(messages), name).not.toContain("The script has no turn for this")
    }
  })

  it("[SG3] has a conversation of more than 100,000 messages, which is nowhere kept whole", {
    timeout: 180_000,
  }, async () => {
    const scenario = await loadScenario(BIG)
    // What a scenario of this size takes in memory is the file, not the conversation.
    expect(JSON.stringify(scenario).length).toBeLessThan(10_000)
    const [host, end] = createLinkedPair()
    const launch = createLaunch({ cwd: "/project", configDir: "/nowhere", session: { persist: false } })
    const agent = openSimulatedAgent({ transport: end, scenario, launch, timeScale: 0 })
    await host.send(encode(composeUserMessage("go")))
    let count = 0
    const texts = new Set<string>()
    for await (const line of host.lines) {
      count++
      const text = /"type":"text","text":"([^"]+)"/.exec(line)?.[1]
      if (text !== undefined) texts.add(text)
      if (line.includes('"type":"result"')) break
    }
    await host.close("test over")
    await agent.exited
    expect(count).toBeGreaterThan(100_000)
    // No two parts of it read the same.
    expect(texts.size).toBeGreaterThan(1000)
  })

  it("[SG4] tells what was probably meant by a name that is not there", async () => {
    await expect(loadScenario("bugfix")).rejects.toThrow("no such file, and no such scenario: did you mean bug-fix?")
    await expect(loadScenario("something else")).rejects.toThrow("claude-sim --list names those that come with it")
  })
})

/** The last thing that each turn says. */
function lastWords(scenario: Scenario): string[] {
  return scenario.turns.flatMap(({ steps }) => {
    const last = steps.at(-1)
    return last !== undefined && "say" in last && typeof last.say === "string" ? [last.say] : []
  })
}
