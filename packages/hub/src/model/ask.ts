import { isObject } from "@signalbox/protocol"
import type { DialogAnswer, ElicitationAnswer, Ask as PublicAsk, ToolAnswer } from "@signalbox/protocol/hub-api"

export type AskKind = PublicAsk["kind"]
export type AskVia = NonNullable<PublicAsk["via"]>

/** The question of an ask: it stands in the ask's event. */
type Asked = Pick<PublicAsk, "request" | "input" | "suggestions">

/**
 * An agent's question, as it is kept. Its contents stand in its event, and are joined to the record at the edge (an
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

type Fields = Readonly<Record<string, unknown>>

/** A mode for the session alone: whoever answers may set it at any time, and no settings file keeps it. */
export function isModeOfSession(update: Fields): boolean {
  return update["type"] === "setMode" && update["destination"] === "session"
}

/** Whether each of these updates is a suggestion or a part of one, wherever it is to be kept, or a mode of the session. */
export function areSuggested(updates: readonly Fields[], suggestions: readonly unknown[] = []): boolean {
  const offered = suggestions.filter(isObject).map(partsOf)
  const isOffered = (update: Fields) => {
    const { head, parts } = partsOf(update)
    return offered.some((each) => each.head === head && [...parts].every((part) => each.parts.has(part)))
  }
  return updates.every((update) => isModeOfSession(update) || isOffered(update))
}

const LISTS = new Map<unknown, string>([
  ["addRules", "rules"],
  ["addDirectories", "directories"],
])

/** An update without its place, and apart from that the list of which any part may be left out. */
function partsOf({ destination: _place, ...update }: Fields): { head: string; parts: ReadonlySet<string> } {
  const list = LISTS.get(update["type"]) ?? ""
  const { [list]: parts, ...head } = update
  if (!Array.isArray(parts)) return { head: plain(update), parts: new Set() }
  return { head: plain(head), parts: new Set(parts.map(plain)) }
}

/** The same text whatever the order of the fields: clients may write them anew. */
function plain(value: unknown): string {
  const inOrder = (_name: string, each: unknown) =>
    isObject(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each
  return JSON.stringify(value, inOrder)
}
