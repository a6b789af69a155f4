/** A tool call that the policy judged before it ran, whether or not anybody was asked about it. */
export interface SeenCall {
  readonly sessionId: string
  readonly toolUseId: string
  readonly at: string
  readonly tool: string
  readonly effect: "allow" | "deny" | "ask"
  readonly rule?: string
  readonly mode?: string
  readonly cwd?: string
  readonly branch?: string
  /** Another person than the one who started the session is to decide. */
  readonly fourEyes?: true
  /** The agent's message that has the call's input. Null when the hub does not know of one. */
  readonly seq: number | null
  /** The input that was judged, where no event has it: a client's hook has put it in the place of the agent's. */
  readonly input?: Readonly<Record<string, unknown>>
}

/** `number`: its place among all, in the order in which they were seen. */
export type NumberedCall = SeenCall & { readonly number: number }
