import { type FollowItem, type Hub, HubClientError, type HubEvent, type Session } from "@signalbox/client"
import type { CommandContext } from "../base/command-context.ts"
import type { LogOptions } from "../commands/log.ts"
import { findSession } from "../hub/abbreviated-id.ts"
import { tellAway } from "../hub/tell-away.ts"
import { withHub } from "../hub/with-hub.ts"
import { coloursFor } from "../terminal/colours.ts"
import { print } from "../terminal/output.ts"
import { untilStopped } from "../terminal/until-stopped.ts"
import { eventLines } from "./event-lines.ts"

const PAGE = 500
const ENDS: ReadonlySet<unknown> = new Set(["ended", "rotated"])

export function showLog(id: string, options: LogOptions, context: CommandContext): Promise<void> {
  return withHub(options, context, async (hub) => {
    const session = await findSession(hub, id)
    const after = options.tail === undefined ? options.after : Math.max(0, session.lastSeq - options.tail)
    const show = printer(options, context)
    if (options.follow === true) {
      const tell = tellAway(context)
      await untilStopped((signal) => follow(hub, { session, after, show, tell, signal }))
    } else await printPages(hub, { session, after, show })
  })
}

type Show = (event: HubEvent) => Promise<void>

function printer({ json }: LogOptions, { stdout, env }: CommandContext): Show {
  const colours = coloursFor(stdout, env)
  return async (event) => {
    const text = json === true ? JSON.stringify(event) : eventLines(event, colours).join("\n")
    if (text !== "") await print(stdout, `${text}\n`)
  }
}

interface Reading {
  readonly session: Session
  readonly after: number
  readonly show: Show
}

async function printPages(hub: Hub, { session, after, show }: Reading): Promise<void> {
  let cursor = after
  for (;;) {
    const { events, more } = await hub.session(session.id).events({ after: cursor, limit: PAGE })
    for (const event of events) await show(event)
    cursor = events.at(-1)?.seq ?? cursor
    if (!more || events.length === 0) return
  }
}

interface Following extends Reading {
  readonly tell: (item: FollowItem) => void
  readonly signal: AbortSignal
}

/** Ends with the session: after its last event there is nothing to wait for. One that was brought back goes on after its end. */
async function follow(hub: Hub, { session, after, show, tell, signal }: Following): Promise<void> {
  const one = hub.session(session.id)
  let seen = after
  let hasEnded = false
  const isOver = async () => {
    const { state, next, lastSeq } = await one.get()
    return (state === "ended" || next !== undefined) && seen >= lastSeq
  }
  for await (const item of one.follow({ after, signal })) {
    tell(item)
    if (item.type === "subscribed" && seen >= item.lastSeq && (await unlessAway(isOver()))) return
    if (item.type !== "event") continue
    const { type: _type, ...event } = item
    await show(event)
    seen = event.seq
    hasEnded ||= event.from === "hub" && ENDS.has(event.message["subtype"])
    // Something may follow its end, so it is asked after each of what follows.
    if (hasEnded && (await unlessAway(isOver()))) return
  }
}

/** A hub that is away tells it when it is back. */
async function unlessAway(asked: Promise<boolean>): Promise<boolean> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof HubClientError && (error.status === undefined || error.status === 503)) return false
    throw error
  }
}
