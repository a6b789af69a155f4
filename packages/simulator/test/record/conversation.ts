import {
  composeRequest,
  composeSuccess,
  composeUserMessage,
  type Envelope,
  encode,
  fieldOf,
  textOf,
} from "@signalbox/protocol"
import type { Scenario } from "@signalbox/simulator"
import type { Transport } from "@signalbox/transport"
import { shoutingServer } from "../../../../test/conformance/answers.ts"

/** A conversation with all that a replay has to get right: a hook, a permission, an MCP server in the host, two turns. */
export const recordedScenario: Scenario = {
  turns: [
    {
      steps: [
        { think: "A file is wanted." },
        { say: "I will make the file, and shout about it." },
        { tool: "Bash", input: { command: "touch made", description: "Make a file" } },
        { tool: "mcp__shouting__shout", input: { text: "made" } },
        { say: "Done, and shouted." },
      ],
    },
    { steps: [{ say: "Nothing else to do." }] },
  ],
}

const PROMPTS = [
  { text: "Make a file and shout", uuid: "6f1d0e9a-1111-4222-8333-444455550001" },
  { text: "Anything else?", uuid: "6f1d0e9a-1111-4222-8333-444455550002" },
]

export interface Heard {
  readonly messages: Envelope[]
  /** The control requests of the agent, in order. */
  readonly asked: string[]
}

/** The host's side: introduces itself, says its two sentences, answers what it is asked. Returns when both are done. */
export async function converse(transport: Transport, hookId: string): Promise<Heard> {
  const [messages, asked]: [Envelope[], string[]] = [[], []]
  const hooks = { PreToolUse: [{ matcher: "Bash", hookCallbackIds: [hookId], timeout: 30 }] }
  const send = (message: Envelope) => transport.send(encode(message))
  await send(composeRequest("introduction", { subtype: "initialize", hooks, sdkMcpServers: ["shouting"] }))
  const answer = shoutingServer([])
  const prompts = [...PROMPTS]
  const speak = async (): Promise<boolean> => {
    const next = prompts.shift()
    if (next !== undefined) await send(composeUserMessage(next.text, { uuid: next.uuid }))
    return next !== undefined
  }
  for await (const line of transport.lines) {
    const message: Envelope = JSON.parse(line)
    messages.push(message)
    if (message.type === "control_response" && idOf(message) === "introduction") await speak()
    if (message.type === "result" && !(await speak())) break
    if (message.type !== "control_request") continue
    const request = fieldOf(message, "request") ?? {}
    const subtype = textOf(request, "subtype") ?? ""
    const request_id = textOf(message, "request_id") ?? ""
    asked.push(subtype === "hook_callback" ? `${subtype} ${textOf(request, "callback_id")}` : subtype)
    const reply =
      subtype === "hook_callback" ? composeSuccess(request_id, {}) : answer({ request_id, subtype, request })
    if (reply !== null) await send(reply)
  }
  return { messages, asked }
}

function idOf(message: Envelope): string | undefined {
  return textOf(fieldOf(message, "response"), "request_id")
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** What was said without what must be new in a replay: the ids of this run. */
export function withoutIds(messages: readonly Envelope[]): string[] {
  return messages.map((message) => JSON.stringify(message).replaceAll(UUID, "<id>"))
}

/** Ids in the order they are first named, so that two runs can be compared for who names whom. */
export function withNumberedIds(messages: readonly Envelope[]): string[] {
  const numbers = new Map<string, number>()
  const numberOf = (id: string) => {
    const known = numbers.get(id) ?? numbers.size
    numbers.set(id, known)
    return `<id ${known}>`
  }
  return messages.map((message) => JSON.stringify(message).replaceAll(UUID, numberOf))
}
