import type { Hub } from "@signalbox/client"
import { type CommandContext, type JsonOption, nextCommand } from "../base/context.ts"
import { findSession } from "../hub/abbreviated-id.ts"
import { withHub } from "../hub/connect.ts"
import { textFrom } from "../terminal/input.ts"
import { printJson, tellPerson } from "../terminal/output.ts"
import { ago, onOneLine } from "../terminal/text.ts"

export interface SendOptions extends JsonOption {
  readonly priority?: "now" | "next" | "later"
}

export async function sendMessage(
  { id, words }: { readonly id: string; readonly words: readonly string[] },
  options: SendOptions,
  context: CommandContext,
): Promise<void> {
  const text = await textFrom(words, context, `give a message: signalbox send ${id} "text"`)
  const { priority } = options
  await withHub(options, context, async (hub) => {
    const session = await findSession(hub, id)
    const sent = await hub.session(session.id).send(text, priority === undefined ? {} : { priority })
    const waitsFor = await absence(hub, session.id).catch(() => undefined)
    if (options.json === true)
      await printJson(context, { session: session.id, ...sent, ...(waitsFor === undefined ? {} : { waitsFor }) })
    else if (waitsFor !== undefined) {
      // Scripts are told too: one that believes the message was delivered would wait for nothing.
      context.stderr.write(`The message is queued: ${waitsFor}. It is delivered when the agent reconnects.\n`)
    } else {
      const watch = nextCommand(`attach ${session.id.slice(0, 8)}`, options, context.env)
      tellPerson(context, `Sent. Watch the reply: ${watch}`)
    }
  })
}

/** Why a message is not with its agent yet; undefined if it is. */
async function absence(hub: Hub, id: string): Promise<string | undefined> {
  const session = await hub.session(id).get()
  if (session.state !== "disconnected" && session.transport !== null) return undefined
  const runner = (await hub.runners.list()).find((each) => each.id === session.runner)
  if (runner?.connected === false)
    return `the machine ${onOneLine(runner.name)} is not connected (last seen ${ago(runner.seenAt, Date.now())} ago)`
  return session.state === "disconnected" ? "the agent is not connected" : undefined
}

export function interruptSession(id: string, options: JsonOption, context: CommandContext): Promise<void> {
  return withHub(options, context, async (hub) => {
    const session = await findSession(hub, id)
    await hub.session(session.id).interrupt()
    if (options.json === true) await printJson(context, { session: session.id, interrupted: true })
    else tellPerson(context, "Interrupted. The agent waits for the next message.")
  })
}

export function stopSessions(ids: readonly string[], options: JsonOption, context: CommandContext): Promise<void> {
  return withHub(options, context, async (hub) => {
    // All ids are looked up before any session is stopped: a wrong id stops nothing.
    const sessions: string[] = []
    for (const id of ids) sessions.push((await findSession(hub, id)).id)
    for (const id of sessions) await hub.session(id).stop()
    if (options.json === true) await printJson(context, { stopped: sessions })
    else tellPerson(context, "Stopped. History is kept; send a message to resume.")
  })
}
