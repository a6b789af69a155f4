import type { Policy, Rule } from "@signalbox/policy"
import type { Backtest } from "@signalbox/protocol/hub-api"
import type { SeenCall } from "../model/seen-call.ts"
import { resultOf } from "../policy-tests.ts"
import type { Store } from "../store/open-store.ts"
import { keptSession, pendingAsk } from "./records.ts"

export const START = Date.UTC(2030, 0, 1)
export const EMPTY: Policy = { rules: [], relayAutoApproval: false }

export interface Past {
  readonly command?: string
  readonly tool?: string
  readonly input?: Record<string, unknown>
  readonly session?: string
  readonly answer?: "allowed" | "denied"
  readonly via?: "person" | "policy"
  readonly change?: Record<string, unknown>
}

/** Asks in their order, a minute apart, each with its event. */
export async function record(store: Store, past: readonly Past[]): Promise<void> {
  await store.directory.saveSession(keptSession("s", { cwd: "/srv/app", permissionMode: "plan" }))
  for (const [
    index,
    { command = "ls", tool = "Bash", input, session = "s", answer, via = "person", change },
  ] of past.entries()) {
    const at = new Date(START + index * 60_000).toISOString()
    const request = { subtype: "can_use_tool", tool_name: tool, input: input ?? { command } }
    const line = JSON.stringify({ type: "control_request", request_id: `r${index}`, request })
    const { lastSeq } = await store.log.append(session, [{ at: Date.parse(at), from: "agent", line }])
    const { request: _inEvent, ...ask } = pendingAsk(`ask${index}`, { sessionId: session, seq: lastSeq, askedAt: at })
    const settled = answer === undefined ? {} : { state: answer, via, settledBy: "ann", answer: { behavior: "allow" } }
    await store.directory.addAsk({ ...ask, ...settled, ...change })
  }
}

export function policyOf(...rules: Rule[]): Policy {
  return { ...EMPTY, rules }
}

export const allow = (id: string, command: string): Rule => ({ id, effect: "allow", tool: "Bash", input: { command } })

interface Tried {
  readonly inForce?: Policy
  readonly proposed: unknown
  readonly since?: string
  readonly maxExamples?: number
}

export function test(store: Store, { inForce = EMPTY, proposed, since, maxExamples = 10 }: Tried): Promise<Backtest> {
  return resultOf(store.backtests.run({ kind: "test", inForce, proposed, since, maxExamples }))
}

export interface PastCall extends Partial<Omit<SeenCall, "tool" | "at">> {
  readonly command?: string
  readonly tool?: string
  /** Minutes after the start. */
  readonly minute?: number
  /** The event's fields; nothing: the call has none. */
  readonly said?: Record<string, unknown>
}

/** A tool call that the policy judged before it ran, with its event, unless it has an input of its own. */
export async function see(store: Store, { command = "ls", tool = "Bash", minute = 0, said, ...change }: PastCall = {}) {
  const { sessionId = "s", toolUseId = `t${minute} ${command}`, input } = change
  const at = new Date(START + minute * 60_000).toISOString()
  const content = [
    { type: "text", text: "I call two tools." },
    { type: "tool_use", id: "another", name: tool, input: { command: "another" } },
    { type: "tool_use", id: toolUseId, name: tool, input: said ?? { command } },
  ]
  const line = JSON.stringify({ type: "assistant", message: { role: "assistant", content } })
  const seq = async () => (await store.log.append(sessionId, [{ at: Date.parse(at), from: "agent", line }])).lastSeq
  const place = { sessionId, toolUseId, at, tool, seq: input === undefined ? await seq() : null }
  await store.directory.addSeenCall({ ...place, effect: "allow", ...change })
}
