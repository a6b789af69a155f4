import type { Hub } from "@signalbox/client"
import type { Command } from "commander"
import type { CommandContext } from "../base/command-context.ts"
import type { DataOption } from "../base/data-directory.ts"
import { defineCommand, jsonOption } from "../base/define-command.ts"
import { usageError } from "../base/failure.ts"
import { nextCommand } from "../base/next-command.ts"
import { findSession } from "../hub/abbreviated-id.ts"
import { withHub } from "../hub/with-hub.ts"
import { ago } from "../terminal/moments.ts"
import { printJson, tellPerson } from "../terminal/output.ts"
import { onOneLine } from "../terminal/plain-text.ts"
import { readAll } from "../terminal/read-all.ts"

interface SendOptions extends DataOption {
  readonly priority?: string
  readonly json?: boolean
}

const PRIORITIES = ["now", "next", "later"] as const

export function addSend(program: Command, context: CommandContext): void {
  const command = defineCommand(program, {
    name: "send <id> [text...]",
    summary: "Send a message to a session's agent",
    examples: ['signalbox send 3f2a "Now run the tests"', "git diff | signalbox send 3f2a -"],
  })
  command.option("--priority <when>", "now (interrupts the turn), next or later")
  jsonOption(command, "print the message's uuid and seq as JSON, and why it waits if it does").action(
    (id: string, words: string[], options: SendOptions) => send(id, words, { options, context }),
  )
}

async function send(
  id: string,
  words: readonly string[],
  { options, context }: { options: SendOptions; context: CommandContext },
): Promise<void> {
  const priority = PRIORITIES.find((each) => each === options.priority)
  if (options.priority !== undefined && priority === undefined)
    throw usageError(`--priority ${options.priority}: give now, next or later`)
  const isPiped = words.length === 0 || (words.length === 1 && words[0] === "-")
  if (words.length === 0 && context.stdin.isTTY) throw usageError(`say what to send: signalbox send ${id} "text"`)
  const text = isPiped ? await readAll(context.stdin) : words.join(" ")
  if (text.trim() === "") throw usageError("the message is empty: there is nothing to send")
  await withHub(options, context, async (hub) => {
    const session = await findSession(hub, id)
    const sent = await hub.session(session.id).send(text, priority === undefined ? {} : { priority })
    const waitsFor = await absence(hub, session.id).catch(() => undefined)
    if (options.json === true)
      await printJson(context, { session: session.id, ...sent, ...(waitsFor === undefined ? {} : { waitsFor }) })
    else if (waitsFor !== undefined) {
      // Also where nobody watches: a script that takes it for delivered would wait for nothing.
      context.stderr.write(`The message waits: ${waitsFor}. It is delivered when the agent is back.\n`)
    } else {
      const see = nextCommand(`attach ${session.id.slice(0, 8)}`, options, context.env)
      tellPerson(context, `Sent. See what comes of it: ${see}`)
    }
  })
}

/** Why a message is not with its agent yet, if its agent is away. */
async function absence(hub: Hub, id: string): Promise<string | undefined> {
  const session = await hub.session(id).get()
  if (session.state !== "disconnected" && session.transport !== null) return undefined
  const runner = (await hub.runners.list()).find((each) => each.id === session.runner)
  if (runner?.connected === false)
    return `the machine ${onOneLine(runner.name)} is not connected (last seen ${ago(runner.seenAt, Date.now())} ago)`
  return session.state === "disconnected" ? "the agent is not connected" : undefined
}
