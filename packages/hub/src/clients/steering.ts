import { permissionModes, textOf, type UnlistedRequest } from "@signalbox/protocol"
import { HubError } from "../errors.ts"
import type { ControlReply } from "../session/agent-control.ts"
import type { LiveSession } from "../session/live-session.ts"

/** These change what a session is from then on, and are part of its history. */
const RECORDED: ReadonlySet<string> = new Set(["interrupt", "set_permission_mode", "set_model"])

/** A control request to the agent, from whichever door: checked, recorded where it matters, and its effect noted. */
export async function steer(
  session: LiveSession,
  request: UnlistedRequest,
  { by, timeoutMs, signal }: { by: string; timeoutMs: number; signal?: AbortSignal },
): Promise<ControlReply> {
  if (request.subtype === "set_permission_mode") checkMode(textOf(request, "mode"))
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
  if (answered["subtype"] === "success") noteEffect(session, request)
  return answered
}

/** Older CLIs tell of a new mode or model only at their next turn. */
function noteEffect(session: LiveSession, request: UnlistedRequest): void {
  if (request.subtype === "set_permission_mode") session.change({ permissionMode: textOf(request, "mode") ?? null })
  const model = textOf(request, "model")
  if (request.subtype === "set_model" && model !== undefined) session.change({ model })
}

/** 2.1.120 answers success to any nonsense, so it is checked here. */
function checkMode(mode: string | undefined): void {
  const modes = [...new Set<string>(Object.values(permissionModes).flat())]
  if (mode !== undefined && modes.includes(mode)) return
  throw new HubError("request/invalid", `mode: one of ${modes.join(", ")}`)
}
