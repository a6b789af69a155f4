import { failureAdvice, type Hub, hasFailed, type Session, type SessionState } from "@signalbox/client"
import { costWords, defined } from "@signalbox/protocol"
import { countWords, totalTokens } from "@signalbox/transcript"
import { type CommandContext, type JsonOption, nextCommand } from "../base/context.ts"
import { withHub } from "../hub/connect.ts"
import { type Colours, printJson } from "../terminal/output.ts"
import { type Column, printTable } from "../terminal/table.ts"
import { ago, onOneLine } from "../terminal/text.ts"

export interface LsOptions extends JsonOption {
  readonly all?: boolean
  readonly state?: SessionState | "failed"
  readonly search?: string
  readonly limit: number
}

const PAGE = 500
/** How much of an id is shown: enough to tell sessions apart. */
const SHORT_ID = 8

export async function listSessions(options: LsOptions, context: CommandContext): Promise<void> {
  const next = (words: string) => nextCommand(words, options, context.env)
  const { sessions, cursor, hidden } = await withHub(options, context, (hub) => collectSessions(hub, options))
  if (options.json === true) return printJson(context, { sessions, cursor })
  if (sessions.length === 0) {
    context.stderr.write(`${nothingWords(options, hidden, next)}\n`)
    return
  }
  await printTable(context, sessions, (colours) => columnsFor(colours, Date.now()))
  if (cursor !== null) context.stderr.write(`More: ${next(`ls --limit ${Math.min(10_000, options.limit * 2)}`)}\n`)
}

/** Mentions ended sessions, for somebody who looks for one. */
function nothingWords({ state, search }: LsOptions, hidden: number, next: (words: string) => string): string {
  const all = next("ls --all")
  if (hidden > 0 && state === undefined) return `No active sessions; ${hidden} ended or archived: ${all}`
  if (state !== undefined || search !== undefined) return `No sessions match. All of them: ${all}`
  return `No sessions. Start one: ${next('new --prompt "What is in this folder?"')}`
}

interface Listed {
  readonly sessions: readonly Session[]
  /** As in the API: where the next page begins, null after the last. */
  readonly cursor: string | null
  /** How many were left out because they ended or are archived. */
  readonly hidden: number
}

async function collectSessions(hub: Hub, options: LsOptions): Promise<Listed> {
  const { state, search, limit } = options
  const isWanted = (session: Session) => {
    if (state !== undefined) return state !== "failed" || hasFailed(session)
    return options.all === true || (session.state !== "ended" && !session.archived)
  }
  const pageAt = (cursor: string | null, size: number) =>
    hub.sessions({
      limit: size,
      ...defined({ state: state === "failed" ? undefined : state, q: search, cursor: cursor ?? undefined }),
    })
  const sessions: Session[] = []
  let cursor: string | null = null
  let hidden = 0
  do {
    const page = await pageAt(cursor, PAGE)
    for (const [index, session] of page.sessions.entries()) {
      if (!isWanted(session)) hidden++
      else if (sessions.length < limit) sessions.push(session)
      // One more than was asked for: the next page begins with it.
      else return { sessions, cursor: index === 0 ? cursor : (await pageAt(cursor, index)).cursor, hidden }
    }
    cursor = page.cursor
  } while (cursor !== null)
  return { sessions, cursor, hidden }
}

function columnsFor(colours: Colours, nowMs: number): Column<Session>[] {
  return [
    { title: "ID", text: ({ id }) => id.slice(0, SHORT_ID), paint: colours.bold },
    {
      title: "STATE",
      text: stateOf,
      paint: (text, session) => {
        const colour = STATE_COLOURS[stateOf(session)]
        return colour === undefined ? text : colours[colour](text)
      },
    },
    {
      title: "REQUESTS",
      text: ({ pendingAsks }) => (pendingAsks === 0 ? "" : String(pendingAsks)),
      paint: colours.yellow,
    },
    { title: "WHAT", text: describe, isWide: true },
    {
      title: "FOLDER",
      text: ({ cwd }) =>
        onOneLine(cwd ?? "")
          .split("/")
          .slice(-2)
          .join("/"),
      paint: colours.dim,
    },
    { title: "COST", text: ({ costUsd }) => (costUsd === 0 ? "" : costWords(costUsd)), isRight: true },
    {
      title: "TOKENS",
      text: ({ tokens }) => (totalTokens(tokens) === 0 ? "" : countWords(totalTokens(tokens))),
      isRight: true,
    },
    { title: "AGE", text: ({ updatedAt }) => ago(updatedAt, nowMs), isRight: true, paint: colours.dim },
  ]
}

function describe(session: Session): string {
  const { title, lastLine } = session
  return onOneLine(
    [title, failureAdvice(session) ?? lastLine]
      .filter((text) => text !== null && text !== undefined && text !== "")
      .join(": "),
  )
}

/** A session that is idle is not painted. */
const STATE_COLOURS: Readonly<Partial<Record<SessionState | "failed", keyof Colours>>> = {
  running: "green",
  waiting: "yellow",
  disconnected: "red",
  starting: "cyan",
  ended: "dim",
  failed: "red",
}

function stateOf(session: Session): SessionState | "failed" {
  return hasFailed(session) ? "failed" : session.state
}
