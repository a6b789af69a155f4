import { fieldOf, permissionModes, textOf, type UnlistedRequest } from "@signalbox/protocol"
import { HubError } from "../errors.ts"
import type { ControlReply } from "../session/agent-control.ts"
import type { LiveSession } from "../session/live-session.ts"

/** These change what a session is from then on, and are part of its history. */
const RECORDED: ReadonlySet<string> = new Set(["interrupt", "set_permission_mode", "set_model"])

const CANCEL = "cancel_async_message"
const CANCELLED: ControlReply = { subtype: "success", response: { cancelled: true } }

/** A control request to the agent, from whichever door: checked, recorded where it matters, and its effect noted. */
export async function steer(
  session: LiveSession,
  request: UnlistedRequest,
  { by, timeoutMs, signal }: { by: string; timeoutMs: number; signal?: AbortSignal },
): Promise<ControlReply> {
  if (request.subtype === "set_permission_mode") checkMode(textOf(request, "mode"))
  // The agent does not know of it yet.
  if (request.subtype === CANCEL && (await isCancelledHere(session, request))) return CANCELLED
  // It must not overtake the message whose turn it is to end.
  if (request.subtype === "interrupt") await session.delivered(timeoutMs)
  const reply = session.ask(request, timeoutMs, signal)
  // Sent before it is recorded, so that a client's requests keep their order on the wire; its failure is told below.
  reply.catch(() => undefined)
  const isRecorded = RECORDED.has(request.subtype)
  // What nobody is there to hear has not happened; what waits for an agent to come has when it did.
  const isHeard = session.wire !== undefined
  if (isRecorded && isHeard) await session.history.recordRequest(request, by)
  const answered = await reply
  if (isRecorded && !isHeard) await session.history.recordRequest(request, by)
  if (answered["subtype"] !== "success") return answered
  noteEffect(session, request)
  await noteCancelled(session, request, answered)
  return answered
}

/** Older CLIs tell of a new mode or model only at their next turn. */
function noteEffect(session: LiveSession, request: UnlistedRequest): void {
  if (request.subtype === "set_permission_mode") session.change({ permissionMode: textOf(request, "mode") ?? null })
  const model = textOf(request, "model")
  if (request.subtype === "set_model" && model !== undefined) session.change({ model })
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
