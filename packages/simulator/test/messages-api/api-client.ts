import { onTestFinished } from "vitest"
import { openScriptedApi, type Scenario, type ScriptedApi, type ScriptedApiOptions } from "../../src/index.ts"

export interface Event {
  type: string
  index?: number
  delta?: Record<string, unknown>
  [field: string]: unknown
}

/** A scripted API that is closed with the test. */
export async function openApi(
  turns: Scenario["turns"],
  options: Partial<ScriptedApiOptions> = {},
  side?: Scenario["side"],
): Promise<ScriptedApi> {
  const scenario = side === undefined ? { turns } : { turns, side }
  const api = await openScriptedApi({ scenario, ...options })
  onTestFinished(() => api.close())
  return api
}

export function userSays(text: string): { role: string; content: unknown } {
  return { role: "user", content: [{ type: "text", text }] }
}

export function modelSaid(...content: unknown[]): { role: string; content: unknown } {
  return { role: "assistant", content }
}

export function toolResult(...ids: string[]): { role: string; content: unknown } {
  return { role: "user", content: ids.map((tool_use_id) => ({ type: "tool_result", tool_use_id, content: "ok" })) }
}

export interface Ask {
  messages: unknown[]
  signal?: AbortSignal
  headers?: Record<string, string>
  [field: string]: unknown
}

export async function post(
  api: ScriptedApi,
  { signal, headers, ...body }: Ask,
  path = "/v1/messages",
): Promise<Response> {
  const tools = [{ name: "Bash", description: "", input_schema: { type: "object" } }]
  const whole = { model: "claude-test-1", max_tokens: 1000, stream: true, tools, ...body }
  return fetch(`${api.url}${path}?beta=true`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": "not-a-key", ...headers },
    body: JSON.stringify(whole),
    ...(signal === undefined ? {} : { signal }),
  })
}

export async function stream(api: ScriptedApi, ask: Ask): Promise<Event[]> {
  const response = await post(api, ask)
  return parseEvents(await response.text())
}

function parseEvents(text: string): Event[] {
  return text
    .split("\n\n")
    .filter((part) => part !== "")
    .map((part) => {
      const [name, data] = part.split("\n")
      const event: Event = JSON.parse(data?.replace(/^data: /, "") ?? "")
      if (name !== `event: ${event.type}`) throw new Error(`Event and data disagree: ${part}`)
      return event
    })
}

/** The text of a reply, put together from its deltas. */
export function textOf(events: readonly Event[]): string {
  return events.map((event) => (event.delta?.["type"] === "text_delta" ? String(event.delta["text"]) : "")).join("")
}

export async function said(api: ScriptedApi, messages: unknown[], more: Partial<Ask> = {}): Promise<string> {
  return textOf(await stream(api, { messages, ...more }))
}

/** The ids of the tools a reply calls. */
export function toolIds(events: readonly Event[]): string[] {
  return events.flatMap((event) => {
    const block = event["content_block"]
    return typeof block === "object" && block !== null && "id" in block ? [String(block.id)] : []
  })
}
