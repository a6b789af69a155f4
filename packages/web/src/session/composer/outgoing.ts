import type { Session } from "@signalbox/client"
import type { PromptRow } from "@signalbox/transcript"
import { isAtLeast } from "../../agent/cli-version.ts"

/** Messages on their way from this page: from the key press until the log has them. Pure. */
export interface Outgoing {
  readonly uuid: string
  readonly content: string | readonly unknown[]
  /** What is shown of it. */
  readonly text: string
  readonly priority?: "now"
  readonly state:
    | { readonly name: "sending" }
    | { readonly name: "accepted" }
    | { readonly name: "not-sent"; readonly why: string }
}

export type OutgoingInput =
  | { readonly type: "send"; readonly message: Omit<Outgoing, "state"> }
  | { readonly type: "accepted"; readonly uuid: string }
  | { readonly type: "failed"; readonly uuid: string; readonly why: string }
  | { readonly type: "retry"; readonly uuid: string }
  | { readonly type: "discard"; readonly uuid: string }
  /** The log has these now. */
  | { readonly type: "logged"; readonly uuids: ReadonlySet<string> }

export function stepOutgoing(list: readonly Outgoing[], input: OutgoingInput): readonly Outgoing[] {
  const change = (uuid: string, state: Outgoing["state"]) =>
    list.map((message) => (message.uuid === uuid ? { ...message, state } : message))
  switch (input.type) {
    case "send":
      return [...list, { ...input.message, state: { name: "sending" } }]
    case "accepted":
      return change(input.uuid, { name: "accepted" })
    case "failed":
      return change(input.uuid, { name: "not-sent", why: input.why })
    case "retry":
      return change(input.uuid, { name: "sending" })
    case "discard":
      return list.filter(({ uuid }) => uuid !== input.uuid)
    case "logged":
      return list.some(({ uuid }) => input.uuids.has(uuid)) ? list.filter(({ uuid }) => !input.uuids.has(uuid)) : list
  }
}

/**
 * Whether a message of the log still waits. Newer agents say so themselves. Of others it is known that they take one turn after
 * the other: what was sent while one was under way, and was not echoed yet, waits for its end.
 */
export function isQueued(
  { delivery, at }: Pick<PromptRow, "delivery" | "at">,
  { state, turnStartedAt }: Pick<Session, "state" | "turnStartedAt">,
): boolean {
  if (delivery === "queued") return state !== "ended"
  if (delivery !== "sent") return false
  if (state === "starting" || state === "disconnected") return true
  const isBusy = state === "running" || state === "waiting"
  return isBusy && turnStartedAt !== undefined && Date.parse(turnStartedAt) < Date.parse(at)
}

/** The first version seen to break into a turn for a message that says "now"; what lies between was not tried. */
export function takesPriority(cliVersion: string | null): boolean {
  return isAtLeast(cliVersion, [2, 1, 120])
}
