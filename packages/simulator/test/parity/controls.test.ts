import { composeRequest, type Envelope, fieldOf } from "@signalbox/protocol"
import { describe, expect, it } from "vitest"
import { AgentHost, makeFolder } from "../../../../test/conformance/agent-host.ts"
import { claudeVersionsNow } from "../../../../test/gate.ts"
import { SimHost } from "../support/sim-host.ts"
import { controlExamples } from "./control-requests.ts"

/** What both hosts can do. */
interface Asker {
  readonly seen: readonly Envelope[]
  send(message: Envelope): Promise<void>
  request(request: { subtype: string } & Record<string, unknown>): Promise<Readonly<Record<string, unknown>>>
}

type Answers = Record<string, unknown>

const scenario = { turns: [{ steps: [{ say: "Hello." }] }] }

/** Asks everything there is to ask. */
async function askAll(host: Asker, version: string): Promise<Answers> {
  await host.request({ subtype: "initialize" })
  const answers: Answers = {}
  for (const { name, request } of controlExamples) {
    const answer = version === "2.1.37" ? await askOldest(host, request) : await host.request({ ...request })
    answers[name] = answer === undefined ? "no answer" : shapeOfAnswer(answer)
  }
  return answers
}

let asked = 0

/**
 * The oldest generation leaves some requests unanswered. That shows when it answers the next: what is asked after it, a
 * few times because answers may cross, is a plain question that it answers at once.
 */
async function askOldest(
  host: Asker,
  request: { readonly subtype: string } & Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const id = `example-${++asked}`
  await host.send(composeRequest(id, request))
  const found = () => host.seen.find((message) => fieldOf(message, "response")?.["request_id"] === id)
  for (let tries = 0; tries < 3 && found() === undefined; tries++) await host.request({ subtype: "mcp_status" })
  return fieldOf(found(), "response")
}

/** An error word by word, a success by its fields and their kinds. */
function shapeOfAnswer(told: Readonly<Record<string, unknown>>): unknown {
  const answer: Record<string, unknown> = { ...told, request_id: "<id>" }
  return answer["subtype"] === "error" ? answer : { ...answer, response: shape(answer["response"]) }
}

function shape(value: unknown): unknown {
  if (Array.isArray(value)) return "a list"
  if (typeof value !== "object" || value === null) return value === null ? "null" : typeof value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, kindOf(each)]))
}

function kindOf(value: unknown): string {
  if (value === null) return "null"
  return Array.isArray(value) ? "a list" : typeof value
}

async function askReal(version: string): Promise<Answers> {
  const folder = await makeFolder()
  const cell = { version, road: "stdio", name: `${version} stdio` } as const
  const agent = await AgentHost.start(cell, { folder, scenario, onRequest: () => null })
  try {
    return placeless(await askAll(agent, version), folder.cwd)
  } finally {
    // How well it fits our schemas is the conformance suite's business.
    await agent.dispose().catch(() => undefined)
    await folder.remove()
  }
}

async function askSimulated(profile: string): Promise<Answers> {
  const env = { ANTHROPIC_API_KEY: "sk-not-a-key" }
  const host = new SimHost({ scenario, profile, tools: "real", launch: { settingSources: [], env } })
  try {
    return placeless(await askAll(host, profile), host.folder)
  } finally {
    await host.close()
  }
}

function placeless(answers: Answers, cwd: string): Answers {
  return JSON.parse(JSON.stringify(answers).replaceAll(cwd, "<cwd>"))
}

describe("control requests", () => {
  it.each(claudeVersionsNow)("[A32] every one is answered as %s answers it", { timeout: 240_000 }, async (version) => {
    const [real, simulated] = [await askReal(version), await askSimulated(version)]
    expect(simulated).toEqual(real)
  })
})
