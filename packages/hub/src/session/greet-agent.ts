import { isObject } from "@signalbox/protocol"
import type { AgentControl } from "./agent-control.ts"
import type { AgentIntake } from "./agent-intake.ts"
import type { AgentWire } from "./agent-wire.ts"

export interface Greeting {
  readonly control: AgentControl
  readonly wire: AgentWire
  readonly intake: AgentIntake
  /** What goes along: the hooks that clients want. A bare one leaves the hooks of a process as they are. */
  readonly fields: Readonly<Record<string, unknown>>
  /** The agent's reply, from which every client's is answered. */
  readonly learn: (payload: Readonly<Record<string, unknown>>) => void
  readonly trouble: (error: unknown) => void
}

/** `before`: the process was initialized already, so it is one that was here. `never`: it did not answer. */
export type Greeted = "before" | "now" | "never"

const TIMEOUT_MS = 60_000

/**
 * The hub speaks first and owns `initialize`: it is on the wire when this returns its promise. Sent again after a reconnect
 * it brings the questions that got lost.
 */
export async function greetAgent({ control, wire, intake, fields, learn, trouble }: Greeting): Promise<Greeted> {
  try {
    const reply = await control.ask(wire, { ...fields, subtype: "initialize" }, TIMEOUT_MS)
    const payload = reply["response"]
    if (reply["subtype"] === "success" && isObject(payload)) learn(payload)
    intake.replayEnds()
    intake.takePending(reply)
    return reply["subtype"] === "error" ? "before" : "now"
  } catch (error) {
    intake.replayEnds()
    trouble(error)
    return "never"
  }
}
