import { randomUUID } from "node:crypto"
import { createWriteStream } from "node:fs"
import { realpath, rename, rm, stat } from "node:fs/promises"
import { dirname, join, resolve } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import { type Hub, type HubEvent, readEvents, type Session } from "@signalbox/client"
import { transcriptPage } from "@signalbox/transcript/page"
import type { CommandContext } from "../base/command-context.ts"
import { CliError, usageError } from "../base/failure.ts"
import type { ExportOptions } from "../commands/export.ts"
import { findSession } from "../hub/abbreviated-id.ts"
import { withHub } from "../hub/with-hub.ts"
import { print, printJson } from "../terminal/output.ts"
import { ProgressBar } from "./progress-bar.ts"

export async function exportSession(id: string, options: ExportOptions, context: CommandContext): Promise<void> {
  const { html, ndjson } = options
  if (html === undefined && ndjson === undefined)
    throw usageError(`say what to write: signalbox export ${id} --html FILE, or --ndjson FILE, or both`)
  if (html !== undefined && ndjson !== undefined && resolve(html) === resolve(ndjson))
    throw usageError(`both would be written to ${html}: give each a place of its own`)
  if (options.json === true && (html === "-" || ndjson === "-"))
    throw usageError("--json prints where files were written, and - takes stdout: give one of them")
  await withHub(options, context, async (hub) => {
    const session = await findSession(hub, id)
    const read = (make: (events: AsyncIterable<HubEvent>) => AsyncGenerator<string>, file: string | undefined) =>
      file === undefined ? undefined : exportTo(file, { hub, session, make, context })
    await read((events) => page(hub, session, events), html)
    await read(lines, ndjson)
    if (options.json === true)
      await printJson(context, {
        session: session.id,
        ...(html === undefined ? {} : { html: resolve(html) }),
        ...(ndjson === undefined ? {} : { ndjson: resolve(ndjson) }),
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

/** Beside its place and then moved there: nobody finds half a file. */
async function write(text: AsyncGenerator<string>, file: string, { stdout }: CommandContext): Promise<void> {
  if (file === "-") {
    for await (const piece of text) await print(stdout, piece)
    return
  }
  // Where a link leads, so that it stays one.
  const target = await realpath(file).catch(() => resolve(file))
  const there = await stat(target).catch(() => undefined)
  if (there?.isDirectory() === true) throw usageError(`${target} is a folder: give the name of a file in it`)
  // A pipe or a device is written to, never put in the place of.
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
  return new CliError("cli/failed", `${target} could not be written: ${error.message}`, { cause: error })
}
