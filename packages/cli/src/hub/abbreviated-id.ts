import type { Ask, Hub, Run, Session } from "@signalbox/client"
import { CliError, usageError } from "../base/failure.ts"

const MAX_PAGES = 100
const PAGE = 500
const SHOWN = 5

/** A session by its id, the CLI's own id, or the start of either if only one session matches. */
export async function findSession(hub: Hub, given: string): Promise<Session> {
  const id = checked(given, "ls")
  const exact = await unlessUnknown(hub.session(id).get())
  if (exact !== undefined) return exact
  const sessions = await allSessions(hub)
  if (sessions === undefined) throw tooMany(id, "sessions")
  const whole = sessions.filter(({ agentSessionId }) => agentSessionId === id)
  const found =
    whole.length > 0 ? whole : sessions.filter((session) => idsOf(session).some((each) => each.startsWith(id)))
  return only(found, { given: id, what: "session", list: "ls --all" })
}

/** Every ask's id starts with this; it may be left out. */
const ASK = "ask_"

/** An ask by its id, or an open one by the start of its id. */
export async function findAsk(hub: Hub, given: string): Promise<Ask> {
  const id = checked(given, "asks")
  const exact = await unlessUnknown(hub.ask(id))
  if (exact !== undefined) return exact
  const { asks, more } = await hub.askPage({ state: "pending" })
  if (more) throw tooMany(id, "open requests")
  const found = asks.filter((ask) => ask.id.startsWith(id) || ask.id.startsWith(`${ASK}${id}`))
  return only(found, { given: id, what: "open request", list: "asks" })
}

/** A run by its id or the start of it. */
export async function findRun(hub: Hub, given: string): Promise<Run> {
  const id = checked(given, "loop --list")
  const exact = await unlessUnknown(hub.runs.get(id))
  if (exact !== undefined) return exact
  const { runs } = await hub.runs.list({ limit: PAGE })
  const found = runs.filter((run) => run.id.startsWith(id))
  return only(found, { given: id, what: "run", list: "loop --list" })
}

/** One that was not read may fit as well. */
function tooMany(given: string, what: string): CliError {
  return usageError(`this hub has too many ${what} to look for ${given}: give the whole id`)
}

function idsOf({ id, agentSessionId }: Session): string[] {
  return agentSessionId === null ? [id] : [id, agentSessionId]
}

/** Undefined: there are more than are read. */
async function allSessions(hub: Hub): Promise<Session[] | undefined> {
  const sessions: Session[] = []
  let cursor: string | null = null
  for (let page = 0; page < MAX_PAGES; page++) {
    const reply = await hub.sessions({ limit: PAGE, ...(cursor === null ? {} : { cursor }) })
    sessions.push(...reply.sessions)
    cursor = reply.cursor
    if (cursor === null) return sessions
  }
  return undefined
}

function checked(given: string, list: string): string {
  const id = given.trim()
  if (id === "") throw new CliError("cli/usage", "the id is empty", { list })
  return id
}

interface Looked {
  readonly given: string
  readonly what: string
  readonly list: string
}

export function only<Thing extends { readonly id: string }>(
  found: readonly Thing[],
  { given, what, list }: Looked,
): Thing {
  const [first, second] = found
  if (first !== undefined && second === undefined) return first
  if (first === undefined) throw new CliError("cli/failed", `no ${what} has an id starting with ${given}`, { list })
  const ids = found.slice(0, SHOWN).map(({ id }) => id)
  const more = found.length > SHOWN ? ", …" : ""
  throw usageError(`${given} matches ${found.length} (${ids.join(", ")}${more}): give more of the id`)
}

async function unlessUnknown<Thing>(asked: Promise<Thing>): Promise<Thing | undefined> {
  try {
    return await asked
  } catch (error) {
    const isUnknown = error instanceof Error && "status" in error && error.status === 404
    if (isUnknown) return undefined
    throw error
  }
}
