import type { Hub, Session } from "@signalbox/client"
import { isObject, textOf } from "@signalbox/protocol/envelope"
import { useEffect, useMemo, useState } from "react"
import { useCanOperate, useHub } from "../app/hub-context.ts"
import { useSelected, whileOpen } from "../app/value-store.ts"
import { oneLine } from "../design/visible-text.tsx"
import type { SessionFeed } from "../transcript/window/session-feed.ts"
import { isReachable } from "./agent-question.ts"

/** Something that the agent offers by name. */
export interface Offer {
  readonly name: string
  readonly description: string
  readonly hint: string
}

interface AgentCatalog {
  readonly commands: readonly Offer[]
  readonly agents: readonly Offer[]
}

/**
 * Names from what the agent said at the beginning of its turn; what they are for from its answer to `initialize`, where that is
 * known. An agent that has had no turn has said no names yet: then the answer's are all there are.
 */
export function catalogOf(init: unknown, greeting: unknown): AgentCatalog {
  return {
    commands: offers(listIn(init, "slash_commands"), listIn(greeting, "commands")),
    agents: offers(listIn(init, "agents"), listIn(greeting, "agents")),
  }
}

function listIn(source: unknown, field: string): readonly unknown[] {
  const list = isObject(source) ? source[field] : undefined
  return Array.isArray(list) ? list : []
}

function offers(named: readonly unknown[], described: readonly unknown[]): readonly Offer[] {
  const known = new Map(described.map(offerOf).map((offer) => [offer.name, offer]))
  const now = named.map(offerOf).map((offer) => known.get(offer.name) ?? offer)
  const all = now.length === 0 ? [...known.values()] : now
  return all.filter(({ name }) => name !== "").toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function offerOf(value: unknown): Offer {
  if (typeof value === "string") return { name: bareName(value), description: "", hint: "" }
  const text = (field: string) => oneLine(textOf(value, field) ?? "", 200)
  return { name: bareName(text("name")), description: text("description"), hint: text("argumentHint") }
}

function bareName(name: string): string {
  return oneLine(name, 100).replace(/^\//, "")
}

const MAX_SHOWN = 8

/** The word after a slash that begins the message, while it is being typed; undefined when there is none. */
export function commandPart(text: string, caret: number): string | undefined {
  return /^\/([^\s/]*)$/.exec(text.slice(0, caret))?.[1]
}

/** Those that begin with it first, then those that hold it. */
export function matchingCommands(commands: readonly Offer[], part: string): readonly Offer[] {
  const wanted = part.toLowerCase()
  const begins = commands.filter(({ name }) => name.toLowerCase().startsWith(wanted))
  const holds = commands.filter(
    ({ name }) => !name.toLowerCase().startsWith(wanted) && name.toLowerCase().includes(wanted),
  )
  return [...begins, ...holds].slice(0, MAX_SHOWN)
}

/** Each agent's answer to `initialize`; the hub has it at hand, and it stays as it was while that process lives. */
const greetings = new Map<string, Promise<unknown>>()
const MAX_KEPT = 20

function greetingOf(hub: Hub, session: string): Promise<unknown> {
  const kept = greetings.get(session)
  if (kept !== undefined) return kept
  const asked = hub
    .session(session)
    .control({ subtype: "initialize" })
    .catch(() => {
      greetings.delete(session)
    })
  greetings.set(session, asked)
  const [oldest] = greetings.keys()
  if (greetings.size > MAX_KEPT && oldest !== undefined) greetings.delete(oldest)
  return asked
}

/** The agent's commands and sub-agents. Asked for only once `isWanted`. */
export function useAgentCatalog(session: Session, feed: SessionFeed, isWanted: boolean): AgentCatalog {
  const hub = useHub()
  const canOperate = useCanOperate()
  const isHere = isReachable(session)
  const [greeting, setGreeting] = useState<unknown>(undefined)
  const lastSeq = useSelected(feed.view, lastSeqOf)
  useEffect(() => {
    if (!isWanted || !canOperate || !isHere) return undefined
    return whileOpen(greetingOf(hub, session.id), setGreeting)
  }, [hub, session.id, isWanted, canOperate, isHere])
  // With every event there may be a newer beginning of a turn.
  return useMemo(
    () => (isWanted ? catalogOf(feed.lastInit(), greeting) : { commands: [], agents: [] }),
    [isWanted, feed, greeting, lastSeq],
  )
}

function lastSeqOf({ lastSeq }: { readonly lastSeq: number }): number {
  return lastSeq
}
