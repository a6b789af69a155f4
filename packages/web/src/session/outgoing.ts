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
