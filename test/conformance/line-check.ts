import { appendFileSync, mkdirSync, rmSync } from "node:fs"
import { hostname } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { decode, encode, type Side } from "@signalbox/protocol"
import { schemaFor } from "@signalbox/protocol/schemas"
import type { Cell } from "./cells.ts"

/**
 * Lines that the real CLIs send and our schemas leave unknown on purpose. A peer carries unknown types through unharmed;
 * each entry says why it is not worth a schema.
 */
const LEFT_UNKNOWN: readonly { readonly is: (message: Record<string, unknown>) => boolean; readonly why: string }[] = []

/** What is wrong with a line that a real CLI sent; undefined when it is as it should be. */
export function problemWith(line: string, from: Side): string | undefined {
  const decoded = decode(line, from)
  if (decoded.kind === "malformed") return `malformed (${decoded.reason}): ${line.slice(0, 300)}`
  const message = { ...decoded.message }
  if (decoded.kind === "unknown") {
    return LEFT_UNKNOWN.some((entry) => entry.is(message)) ? undefined : `unknown ${decoded.why}: ${line.slice(0, 300)}`
  }
  const validated = schemaFor(message, from)?.safeParse(message)
  if (validated?.success !== true) {
    const issues = validated?.error?.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`) ?? ["no schema"]
    return `does not fit its schema (${issues.join("; ")}): ${line.slice(0, 600)}`
  }
  return encode(message) === line ? undefined : `changed by decode and encode: ${line.slice(0, 300)}`
}

export const fixtures = join(
  dirname(dirname(dirname(fileURLToPath(import.meta.url)))),
  "packages",
  "protocol",
  "test",
  "fixtures",
)

export interface Recorder {
  add(from: Side, line: string): void
}

/** One file per case and cell, with all that the agent said in it. */
export function openRecorder(cell: Cell, caseName: string, machine: ReadonlyMap<string, string>): Recorder {
  // Lines are checked in every run, and written down only when the fixtures are recorded anew.
  if (process.env["SIGNALBOX_RECORD"] !== "1" || cell.isSimulated === true) return { add() {} }
  const slug = caseName
    .replaceAll(/[^a-z0-9]+/gi, "-")
    .replace(/^-/, "")
    .toLowerCase()
    .slice(0, 60)
  const file = join(fixtures, cell.version, `${slug}.${cell.road}.ndjson`)
  mkdirSync(dirname(file), { recursive: true })
  rmSync(file, { force: true })
  return {
    add(from, line) {
      if (from === "agent") appendFileSync(file, `${scrub(line, machine)}\n`)
    },
  }
}

/** Takes out everything that says on which machine, in which folder and at which port a line was recorded. */
function scrub(line: string, machine: ReadonlyMap<string, string>): string {
  let text = line
  const places = [...machine].toSorted(([a], [b]) => b.length - a.length)
  for (const [place, instead] of places) text = text.replaceAll(place, instead)
  return text
    .replaceAll(hostname(), "machine")
    .replaceAll(/127\.0\.0\.1:\d+/g, "127.0.0.1:8765")
    .replaceAll(/cc-socks\/\d+/g, "cc-socks/1")
    .replaceAll(/"pid":\d+/g, '"pid":1')
}
