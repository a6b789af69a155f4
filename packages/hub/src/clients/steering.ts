import { fieldOf, isObject, permissionModes, textOf, type UnlistedRequest } from "@signalbox/protocol"
import { UNHOOKING_VARIABLES } from "@signalbox/protocol/runner-wire"
import { isReading } from "../auth/roles.ts"
import { HubError } from "../errors.ts"
import type { ControlReply, Outcome, Variables } from "../session/agent-control.ts"
import { isEnforcing } from "../session/kept-record.ts"
import type { LiveSession } from "../session/live-session.ts"

const CANCEL = "cancel_async_message"
const CANCELLED: ControlReply = { subtype: "success", response: { cancelled: true } }

export interface Steering {
  readonly by: string
  readonly timeoutMs: number
  readonly signal?: AbortSignal
  /** Sends the request in another way than as it is. */
  readonly send?: () => Promise<ControlReply>
}

/** An act on the agent, from whichever door: checked, in the history and the audit where it changes something, its effect noted. */
export async function steer(session: LiveSession, request: UnlistedRequest, steering: Steering): Promise<ControlReply> {
  const { by, timeoutMs, signal, send = () => session.ask(request, timeoutMs, signal) } = steering
  if (request.subtype === "set_permission_mode") checkMode(textOf(request, "mode"))
  if (isEnforcing(session.kept)) requireHooked(request)
  // The agent does not know of it yet.
  if (request.subtype === CANCEL && (await isCancelledHere(session, request))) return CANCELLED
  // It must not overtake the message whose turn it is to end.
  if (request.subtype === "interrupt") await session.delivered(timeoutMs)
  const reply = send()
  // Sent before it is recorded, so that a client's requests keep their order on the wire; its failure is told below.
  reply.catch(() => undefined)
  const act = actOf(request)
  // A request that nobody is there to hear has not happened; one that waits for an agent to come has when it did.
  const isHeard = session.wire !== undefined
  if (act !== undefined && isHeard) await session.history.recordRequest(act, by)
  const answered = await reply.catch(async (error: unknown) => {
    if (act !== undefined && isHeard) await session.audit(act, { by, outcome: "unanswered" })
    throw error
  })
  if (act !== undefined && !isHeard) await session.history.recordRequest(act, by)
  if (act !== undefined) await session.audit(act, { by, ...outcomeOf(answered) })
  if (answered["subtype"] !== "success") return answered
  noteEffect(session, request)
  await noteCancelled(session, request, answered)
  return answered
}

/** Variables for the agent's process: the history and the audit keep their names. */
export function steerEnvironment(session: LiveSession, variables: Variables, by: string): Promise<ControlReply> {
  const send = () => session.setEnvironment(variables)
  return steer(session, { subtype: "update_environment_variables", variables }, { by, timeoutMs: 0, send })
}

/** Names at most: an answer may hold anything. */
function outcomeOf(answered: ControlReply): Outcome {
  if (answered["subtype"] !== "success") return { outcome: "refused", error: textOf(answered, "error")?.slice(0, 500) }
  const applied = fieldOf(answered, "response")?.["applied"]
  if (applied === undefined) return { outcome: "done" }
  return { outcome: "done", applied: Array.isArray(applied) ? applied.slice(0, 100).map(String) : null }
}

/** Older CLIs tell of a new mode or model only at their next turn. */
function noteEffect(session: LiveSession, request: UnlistedRequest): void {
  if (request.subtype === "set_permission_mode") session.change({ permissionMode: textOf(request, "mode") ?? null })
  const model = textOf(request, "model")
  if (request.subtype === "set_model" && model !== undefined) session.change({ model })
  if (request.subtype === "set_max_thinking_tokens") session.change({ maxThinkingTokens: thinkingOf(request) })
}

function thinkingOf({ max_thinking_tokens: tokens }: UnlistedRequest): number | null {
  return typeof tokens === "number" && tokens >= 0 ? tokens : null
}

async function isCancelledHere(session: LiveSession, request: UnlistedRequest): Promise<boolean> {
  const uuid = textOf(request, "message_uuid")
  if (uuid === undefined || !(await session.messages.cancel(uuid))) return false
  await session.history.noteCancelled(uuid)
  return true
}

/** The CLI tells only those who are there; its log has nothing of it. */
async function noteCancelled(session: LiveSession, request: UnlistedRequest, answered: ControlReply): Promise<void> {
  const uuid = textOf(request, "message_uuid")
  if (request.subtype !== CANCEL || uuid === undefined) return
  if (fieldOf(answered, "response")?.["cancelled"] !== true) return
  await session.messages.agentCancelled(uuid)
  await session.history.noteCancelled(uuid)
}

/** 2.1.120 answers success to any nonsense, so it is checked here. */
function checkMode(mode: string | undefined): void {
  const modes = [...new Set<string>(Object.values(permissionModes).flat())]
  if (mode !== undefined && modes.includes(mode)) return
  throw new HubError("request/invalid", `mode: one of ${modes.join(", ")}`)
}

/** As in the arguments and variables of a launch: it could leave the hub's hook out, or bring in others that rewrite a judged call. */
function requireHooked(request: UnlistedRequest): void {
  const variables = fieldOf(request, "variables") ?? {}
  const unhooking = UNHOOKING_VARIABLES.find((name) => Object.hasOwn(variables, name))
  const what = request.subtype === "apply_flag_settings" ? request.subtype : unhooking
  if (what === undefined) return
  const otherwise = 'leave it out, or let an admin start the session with enforce "asked"'
  throw new HubError("policy/cannot-enforce", `with ${what} the policy could not judge every tool call: ${otherwise}`)
}

/** Acts that are noted elsewhere, or change nothing of the session. */
const UNRECORDED: ReadonlySet<string> = new Set([
  "initialize",
  "cancel_async_message",
  "mcp_message",
  "side_question",
  "generate_session_title",
  "seed_read_state",
  "set_has_subscribers",
])

/** Fields that may be kept as they are. All others may hold secrets, and only names of theirs are kept. */
const PLAIN_FIELDS: ReadonlySet<string> = new Set([
  "mode",
  "model",
  "max_thinking_tokens",
  "user_message_id",
  "serverName",
  "server_name",
  "enabled",
  "task_id",
  "title",
])
/** Only the names in these are kept, never the values. */
const NAMED_FIELDS: ReadonlySet<string> = new Set(["servers", "variables", "settings"])
const MAX_CHARS = 256
const MAX_NAMES = 100

/**
 * The part that the history and the audit keep of a request that changes a session, from whichever door; undefined for one
 * that only reads. A subtype that we do not know counts as an act.
 */
function actOf(request: UnlistedRequest): UnlistedRequest | undefined {
  const { subtype } = request
  if (UNRECORDED.has(subtype) || isReading(subtype) || request["dry_run"] === true) return undefined
  const act: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(request)) {
    if (PLAIN_FIELDS.has(name) && isPlain(value)) act[name] = typeof value === "string" ? cut(value) : value
    if (NAMED_FIELDS.has(name) && isObject(value)) act[name] = Object.keys(value).slice(0, MAX_NAMES).map(cut)
  }
  return { ...act, subtype: cut(subtype) }
}

function isPlain(value: unknown): boolean {
  return value === null || ["string", "number", "boolean"].includes(typeof value)
}

function cut(text: string): string {
  return text.slice(0, MAX_CHARS)
}
