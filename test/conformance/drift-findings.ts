import { appendFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { decode, type Envelope, fieldOf, textOf } from "@signalbox/protocol"
import { controlRequests, schemaFor } from "@signalbox/protocol/schemas"
import type { z } from "zod"
import { undeclaredFields } from "./undeclared-fields.ts"

/** Something that a CLI said and our schemas do not know. `scripts/drift.mjs` sums them up. */
export interface Finding {
  readonly kind: "type" | "subtype" | "shape" | "field" | "mismatch" | "malformed"
  readonly where: string
  readonly what: string
  readonly example: string
}

const EXAMPLE_CHARS = 300

export function findingsInLine(line: string): Finding[] {
  const decoded = decode(line, "agent")
  const example = line.slice(0, EXAMPLE_CHARS)
  if (decoded.kind === "malformed") return [{ kind: "malformed", where: "a line", what: decoded.reason, example }]
  const message: Envelope = { ...decoded.message }
  const where = nameOf(message)
  if (decoded.kind === "unknown") return [{ kind: decoded.why, where, what: where, example }]
  const schema = schemaFor(message, "agent")
  return schema === undefined ? [] : findingsAgainst(schema, message, where, example)
}

/** The payload of a reply, against the schema that belongs to its request. */
export function findingsInReply(subtype: string, payload: unknown): Finding[] {
  const entry = Object.entries(controlRequests).find(([name]) => name === subtype)?.[1]
  const example = JSON.stringify(payload)?.slice(0, EXAMPLE_CHARS) ?? ""
  return entry === undefined ? [] : findingsAgainst(entry.response, payload, `reply to ${subtype}`, example)
}

function findingsAgainst(schema: z.ZodType, value: unknown, where: string, example: string): Finding[] {
  const parsed = schema.safeParse(value)
  if (!parsed.success) {
    return parsed.error.issues.map((issue) => ({
      kind: "mismatch",
      where,
      what: `${issue.path.join(".")}: ${issue.message}`,
      example,
    }))
  }
  return [...new Set(undeclaredFields(schema, value))].map((what) => ({ kind: "field", where, what, example }))
}

function nameOf(message: Envelope): string {
  const subtype = textOf(message, "subtype") ?? textOf(fieldOf(message, "request"), "subtype")
  return subtype === undefined ? message.type : `${message.type}/${subtype}`
}

/** Written down as they come: the suite runs in several processes. */
export function report(findings: readonly Finding[]): void {
  const folder = process.env["SIGNALBOX_DRIFT_FOLDER"]
  if (folder === undefined) return
  // Tells a clean report from a suite that never ran.
  writeFileSync(join(folder, "checked"), "")
  if (findings.length === 0) return
  appendFileSync(join(folder, "findings.ndjson"), findings.map((finding) => `${JSON.stringify(finding)}\n`).join(""))
}
