export type AskKind = "tool" | "question" | "plan" | "elicitation" | "dialog"
export type AskState = "pending" | "allowed" | "denied" | "expired" | "cancelled" | "superseded" | "orphaned"
export type AskVia = "person" | "policy" | "timeout" | "agent" | "hub"

/**
 * What is kept of an agent's question. What it asked stands in its event, and is joined to the record at the edge (an
 * `Ask`): a tool's input may be megabytes long.
 */
export interface AskRecord {
  readonly id: string
  readonly sessionId: string
  /** The event that holds the request. */
  readonly seq: number
  /** The wire's request, kept here only where no event says just this. */
  readonly request?: Readonly<Record<string, unknown>>
  readonly kind: AskKind
  readonly state: AskState
  readonly requestId: string
  /** So that a person's answer is to what they saw. */
  readonly inputHash: string
  readonly toolName?: string
  /** Questions whose agent can be told which of them were skipped. */
  readonly skippable?: boolean
  readonly askedAt: string
  readonly expiresAt?: string
  /** Set on an ask that expires: by how much and how often that may still be put off. */
  readonly extension?: AskExtension
  readonly settledAt?: string
  readonly settledBy?: string
  readonly via?: AskVia
  /** The rule that settled it, or that made it an ask. */
  readonly rule?: string
  /** An allow without `updatedInput` allows the input as it was asked. */
  readonly answer?: Readonly<Record<string, unknown>>
  /** When the answer was on the wire; a committed answer without it is sent again after a restart. */
  readonly deliveredAt?: string
  /** The process that asked. An answer never reaches another one. */
  readonly incarnation: string
  readonly toolUseId?: string
  /** A second answer with this id is the same answer. */
  readonly answerId?: string
}

interface AskExtension {
  readonly byMs: number
  readonly left: number
}

/** A durable question of an agent, with what it asked and, where it is allowed, the whole input that was. */
export interface Ask extends AskRecord {
  readonly request: Readonly<Record<string, unknown>>
  readonly input?: Readonly<Record<string, unknown>>
  readonly suggestions?: readonly unknown[]
}

/** What an ask is told as: without the parts that only the hub needs. */
export type PublicAsk = Omit<Ask, "incarnation" | "toolUseId" | "answerId">

/** To a tool, a question or a plan. `updatedInput` is the ask's own input when it is left out. */
export type ToolAnswer =
  | {
      readonly behavior: "allow"
      readonly updatedInput?: Readonly<Record<string, unknown>>
      readonly updatedPermissions?: readonly unknown[]
    }
  | { readonly behavior: "deny"; readonly message?: string; readonly interrupt?: boolean }

export interface ElicitationAnswer {
  readonly action: "accept" | "decline" | "cancel"
  readonly content?: Readonly<Record<string, unknown>>
}

export type DialogAnswer = { readonly result: unknown } | { readonly cancelled: true }

export type AskAnswer = ToolAnswer | ElicitationAnswer | DialogAnswer
