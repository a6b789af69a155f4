import type { DialogAnswer, ElicitationAnswer, Ask as PublicAsk, ToolAnswer } from "@signalbox/protocol/hub-api"

export type AskKind = PublicAsk["kind"]
export type AskVia = NonNullable<PublicAsk["via"]>

/** What an ask asks: it stands in the ask's event. */
type Asked = Pick<PublicAsk, "request" | "input" | "suggestions">

/**
 * What is kept of an agent's question. What it asked stands in its event, and is joined to the record at the edge (an
 * `Ask`): a tool's input may be megabytes long. An allow without `updatedInput` allows the input as it was asked. A
 * committed answer without `deliveredAt` is sent again after a restart.
 */
export interface AskRecord extends Omit<PublicAsk, keyof Asked> {
  /** The wire's request, kept here only where no event says just this. */
  readonly request?: PublicAsk["request"]
  /** The process that asked. An answer never reaches another one. */
  readonly incarnation: string
  readonly toolUseId?: string
  /** A second answer with this id is the same answer. */
  readonly answerId?: string
  /** Where and in which mode it was asked, for policies that are tried on it later. Older hubs did not keep it. */
  readonly judgedIn?: {
    readonly cwd?: string
    readonly mode?: string
    readonly runner?: string
    readonly branch?: string
  }
}

/** A durable question of an agent, with what it asked and, where it is allowed, the whole input that was. */
export type Ask = AskRecord & Asked

export type AskAnswer = ToolAnswer | ElicitationAnswer | DialogAnswer

/** Without the parts that only the hub needs. */
export function publicAsk(ask: Ask): PublicAsk {
  const { incarnation: _incarnation, toolUseId: _toolUseId, answerId: _answerId, judgedIn: _judgedIn, ...rest } = ask
  return rest
}
