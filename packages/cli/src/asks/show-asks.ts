import type { Ask, Hub } from "@signalbox/client"
import { type CommandContext, type JsonOption, nextCommand } from "../base/context.ts"
import { findSession } from "../hub/abbreviated-id.ts"
import { tellAway, withHub } from "../hub/connect.ts"
import { untilStopped } from "../terminal/input.ts"
import { type Colours, coloursFor, print, printJson, tellPerson } from "../terminal/output.ts"
import { type Column, printTable } from "../terminal/table.ts"
import { ago, cutCells, onOneLine, timeOfDay } from "../terminal/text.ts"
import { whyText } from "../terminal/why-text.ts"
import { answerExample } from "./ask-fields.ts"
import { askText } from "./ask-text.ts"
import { grantLines, grantsOf } from "./grants.ts"

export interface AsksOptions extends JsonOption {
  readonly watch?: boolean
  readonly session?: string
}

const SHORT_ID = 8
/** Every ask's id starts with the same word. */
const SHORT_ASK_ID = 12
const LINE_CHARS = 2_000

export function showAsks(options: AsksOptions, context: CommandContext): Promise<void> {
  return withHub(options, context, async (hub) => {
    const session = options.session === undefined ? undefined : (await findSession(hub, options.session)).id
    if (options.watch === true) return untilStopped((signal) => watchAsks(hub, { options, context, session, signal }))
    const asks = await hub.asks({ state: "pending", ...(session === undefined ? {} : { session }) })
    if (options.json === true) return printJson(context, { asks })
    const [first] = asks
    if (first === undefined) return void context.stderr.write("No requests waiting.\n")
    await printTable(context, asks, columnsFor, dimWhy)
    await print(context.stdout, asks.map(grantsText).join(""))
    const words = `answer ${first.id.slice(0, SHORT_ASK_ID)} ${answerExample(first)}`
    context.stderr.write(`Answer one: ${nextCommand(words, options, context.env)}\n`)
  })
}

/** The standing permissions that an answer can keep, by number. */
function grantsText(ask: Ask): string {
  const lines = grantLines(grantsOf(ask), { always: "--always" })
  if (lines.length === 0) return ""
  return `Always allow with ${ask.id.slice(0, SHORT_ASK_ID)}:\n${lines.map((line) => `  ${line}\n`).join("")}`
}

function dimWhy(ask: Ask, colours: Colours): readonly string[] {
  return whyText(ask, colours).map(colours.dim)
}

function columnsFor(colours: Colours): Column<Ask>[] {
  return [
    { title: "REQUEST", text: ({ id }) => id.slice(0, SHORT_ASK_ID), paint: colours.bold },
    { title: "SESSION", text: ({ sessionId }) => sessionId.slice(0, SHORT_ID) },
    { title: "KIND", text: ({ kind }) => kind, paint: colours.yellow },
    { title: "WHAT", text: (ask) => cutCells(onOneLine(askText(ask), "decision"), LINE_CHARS), isWide: true },
    { title: "WAITS", text: ({ askedAt }) => ago(askedAt, Date.now()), isRight: true, paint: colours.dim },
  ]
}

interface Watch {
  readonly options: AsksOptions
  readonly context: CommandContext
  readonly session: string | undefined
  readonly signal: AbortSignal
}

/** Shows the open asks first, then every change, each once. */
async function watchAsks(hub: Hub, { options, context, session, signal }: Watch): Promise<void> {
  const colours = coloursFor(context.stdout, context.env)
  const shown = new ShownAsks()
  const show = async (ask: Ask) => {
    if ((session !== undefined && ask.sessionId !== session) || !shown.isNew(ask)) return
    if (options.json === true) return printJson(context, ask)
    // A rule's own answer is told once, at its end.
    const why = ask.state === "pending" || ask.via === "policy" ? dimWhy(ask, colours) : []
    const lines = [askLine(ask, colours), ...why.map((line) => `  ${line}`)].join("\n")
    await print(context.stdout, `${lines}\n${ask.state === "pending" ? grantsText(ask) : ""}`)
  }
  const tell = tellAway(context)
  const tellOnce = once(() => tellPerson(context, "No requests waiting. New ones appear here."))
  for await (const item of hub.watch({ signal })) {
    tell(item)
    if (item.type === "subscribed") {
      const open = await hub.asks({ state: "pending" })
      if (open.length === 0) tellOnce()
      for (const ask of open.toSorted((one, other) => one.askedAt.localeCompare(other.askedAt))) await show(ask)
    }
    if (item.type === "ask") await show(item.ask)
  }
}

const MAX_SHOWN = 10_000

/** Remembers what was shown, so that a reconnect shows nothing twice. Bounded: the oldest are forgotten. */
class ShownAsks {
  readonly #states = new Map<string, string>()

  isNew({ id, state }: Ask): boolean {
    if (this.#states.get(id) === state) return false
    this.#states.delete(id)
    this.#states.set(id, state)
    const [oldest] = this.#states.keys()
    if (this.#states.size > MAX_SHOWN && oldest !== undefined) this.#states.delete(oldest)
    return true
  }
}

function once(work: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) work()
    isDone = true
  }
}

function askLine(ask: Ask, colours: Colours): string {
  const { id, sessionId, kind, state, settledAt, askedAt, settledBy } = ask
  const by = settledBy === undefined ? "" : ` by ${onOneLine(settledBy)}`
  const what =
    state === "pending" ? `${kind}: ${cutCells(onOneLine(askText(ask), "decision"), LINE_CHARS)}` : `${state}${by}`
  const paint = state === "pending" ? colours.yellow : state === "allowed" ? colours.green : colours.dim
  return `${colours.dim(timeOfDay(settledAt ?? askedAt))} ${colours.bold(id.slice(0, SHORT_ASK_ID))} ${colours.dim(sessionId.slice(0, SHORT_ID))} ${paint(what)}`
}
