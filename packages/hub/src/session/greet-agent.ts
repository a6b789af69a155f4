import { isObject, textOf } from "@signalbox/protocol"
import type { AgentControl, ControlReply } from "./agent-control.ts"
import type { AgentIntake } from "./agent-intake.ts"
import type { AgentWire } from "./agent-wire.ts"

export interface Greeting {
  readonly control: AgentControl
  readonly wire: AgentWire
  /** Intake of the session that the process is in when it answers. */
  readonly intake: () => AgentIntake
  /** What goes along: the hooks that clients want. A bare one leaves the hooks of a process as they are. */
  readonly fields: Readonly<Record<string, unknown>>
  /** The agent's reply, from which every client's is answered. */
  readonly learn: (payload: Readonly<Record<string, unknown>>) => void
  /** It was initialized before, and these are its open questions: by them it may be known. */
  readonly known: (requestIds: readonly string[]) => Promise<void>
  readonly trouble: (error: unknown) => void
}

/** `before`: the process was initialized already, so it is one that was here. `never`: it did not answer. */
export type Greeted = "before" | "now" | "never"

const TIMEOUT_MS = 60_000

/**
 * The hub speaks first and owns `initialize`: it is on the wire when this returns its promise. Sent again after a reconnect
 * it brings the questions that got lost.
 */
export async function greetAgent({ control, wire, intake, fields, learn, known, trouble }: Greeting): Promise<Greeted> {
  try {
    const reply = await control.ask(wire, { ...fields, subtype: "initialize" }, { timeoutMs: TIMEOUT_MS })
    const payload = reply["response"]
    if (reply["subtype"] === "success" && isObject(payload)) learn(payload)
    const isBefore = reply["subtype"] === "error"
    if (isBefore) await known(pendingIn(reply).flatMap((question) => textOf(question, "request_id") ?? []))
    intake().replayEnds()
    intake().takePending(pendingIn(reply))
    return isBefore ? "before" : "now"
  } catch (error) {
    intake().replayEnds()
    trouble(error)
    return "never"
  }
}

const PENDING_LISTS = ["pending_permission_requests", "pending_user_dialog_requests", "pending_elicitation_requests"]

/** The questions that the agent has open, as its reply lists them. */
function pendingIn(reply: ControlReply): readonly Readonly<Record<string, unknown>>[] {
  return PENDING_LISTS.flatMap((name) => {
    const list = reply[name]
    return Array.isArray(list) ? list.filter(isObject) : []
  })
}
