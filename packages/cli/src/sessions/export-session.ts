import { randomUUID } from "node:crypto"
import { createWriteStream } from "node:fs"
import { realpath, rename, rm, stat } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { type Hub, type HubEvent, readEvents, type Session } from "@signalbox/client"
import { defined } from "@signalbox/protocol"
import { transcriptPage } from "@signalbox/transcript/page"
import { type CommandContext, type JsonOption } from "../base/context.ts"
import { CliError, usageError } from "../base/failure.ts"
import { findSession } from "../hub/abbreviated-id.ts"
import { withHub } from "../hub/connect.ts"
import { print, printJson } from "../terminal/output.ts"
import { ProgressBar } from "../terminal/progress-bar.ts"

export interface ExportOptions extends JsonOption {
  readonly html?: string
  readonly ndjson?: string
}

export async function exportSession(id: string, options: ExportOptions, context: CommandContext): Promise<void> {
  const { html, ndjson } = options
  if (html === undefined && ndjson === undefined)
    throw usageError(`choose what to write: signalbox export ${id} --html FILE, or --ndjson FILE, or both`)
  if (html !== undefined && ndjson !== undefined && resolve(html) === resolve(ndjson))
    throw usageError(`--html and --ndjson can't both be ${html}: give each its own file`)
  if (options.json === true && (html === "-" || ndjson === "-"))
    throw usageError("--json can't be used when a file is written to stdout (-): leave one of them out")
  await withHub(options, context, async (hub) => {
    const session = await findSession(hub, id)
    const read = (make: (events: AsyncIterable<HubEvent>) => AsyncGenerator<string>, file: string | undefined) =>
      file === undefined ? undefined : exportTo(file, { hub, session, make, context })
    await read((events) => page(hub, session, events), html)
    await read(lines, ndjson)
    if (options.json === true)
      await printJson(context, {
        session: session.id,
        ...defined({ html: html && resolve(html), ndjson: ndjson && resolve(ndjson) }),
      })
  })
}

interface Export {
  readonly hub: Hub
  readonly session: Session
  readonly make: (events: AsyncIterable<HubEvent>) => AsyncGenerator<string>
  readonly context: CommandContext
}

async function exportTo(file: string, { hub, session, make, context }: Export): Promise<void> {
  const bar = new ProgressBar(context.stderr, "Reading")
  try {
    const { id, lastSeq } = session
    const events = readEvents(hub.session(id), lastSeq, (seq) => bar.show(seq, lastSeq))
    await write(make(events), file, context)
  } finally {
    bar.end()
  }
  if (file !== "-" && context.stderr.isTTY) context.stderr.write(`Written: ${resolve(file)}\n`)
}

async function* lines(events: AsyncIterable<HubEvent>): AsyncGenerator<string> {
  for await (const event of events) yield `${JSON.stringify(event)}\n`
}

function page(hub: Hub, session: Session, events: AsyncIterable<HubEvent>): AsyncGenerator<string> {
  const asks = () => hub.asks({ session: session.id })
  return transcriptPage({ session, events, asks, writtenAt: new Date().toISOString() })
}

/** Written beside its target and then moved there, so that nobody reads half a file. */
async function write(text: AsyncGenerator<string>, file: string, { stdout }: CommandContext): Promise<void> {
  if (file === "-") {
    for await (const piece of text) await print(stdout, piece)
    return
  }
  // A link is followed, so that it stays a link.
  const target = await realpath(file).catch(() => resolve(file))
  const there = await stat(target).catch(() => undefined)
  if (there?.isDirectory() === true) throw usageError(`${target} is a folder: give a file name in it`)
  // A pipe or a device is written to, never replaced.
  if (there !== undefined && !there.isFile()) return writeInto(text, target)
  const part = join(dirname(target), `.signalbox-export-${randomUUID()}`)
  try {
    await pipeline(Readable.from(text), createWriteStream(part, { mode: 0o600 }))
    await rename(part, target)
  } catch (error) {
    await rm(part, { force: true })
    throw notWritten(error, target)
  }
}

async function writeInto(text: AsyncGenerator<string>, target: string): Promise<void> {
  try {
    await pipeline(Readable.from(text), createWriteStream(target, { flags: "w" }))
  } catch (error) {
    throw notWritten(error, target)
  }
}

function notWritten(error: unknown, target: string): unknown {
  if (!(error instanceof Error) || !("syscall" in error)) return error
  return new CliError("cli/failed", `can't write ${target}: ${error.message}`, { cause: error })
}
