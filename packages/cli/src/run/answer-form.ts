import { fieldOf, isObject, textOf } from "@signalbox/protocol"
import type { ElicitationRequest, ElicitationResult } from "@signalbox/sdk"
import { visibleText } from "@signalbox/transcript"
import type { Asking } from "./answer-tool.ts"

type Value = string | number | boolean | string[]

/** A form of an MCP server, field by field. */
export async function answerForm(
  request: ElicitationRequest,
  { asking, signal }: { asking: Asking; signal: AbortSignal },
): Promise<ElicitationResult> {
  const { lines, colours } = asking
  if (!lines.hasPerson) return { action: "decline" }
  lines.write(
    `\n${colours.yellow(`? ${visibleText(request.serverName)} (an MCP server) asks:`)} ${visibleText(request.message)}\n`,
  )
  if (request.mode === "url") lines.write(`  ${visibleText(request.url ?? "")}\n`)
  const begin = (
    await lines.ask(colours.bold(request.mode === "url" ? "  Done there? y / n: " : "  Answer? y / n: "), { signal })
  )?.trim()
  if (begin === undefined) return { action: "cancel" }
  if (!/^y(es)?$/i.test(begin)) return { action: "decline" }
  if (request.mode === "url") return { action: "accept" }
  const content: Record<string, Value> = {}
  const fields = Object.entries(fieldOf(request.requestedSchema, "properties") ?? {})
  const required = request.requestedSchema?.["required"]
  for (const [name, schema] of fields) {
    const isRequired = Array.isArray(required) && required.includes(name)
    const value = await answerField(name, schema, { asking, signal, isRequired })
    if (value === GIVEN_UP) return { action: "cancel" }
    if (value !== undefined) content[name] = value
  }
  return { action: "accept", content }
}

const GIVEN_UP: unique symbol = Symbol("given up")
const TRIES = 10

interface Field {
  readonly asking: Asking
  readonly signal: AbortSignal
  readonly isRequired: boolean
}

async function answerField(name: string, schema: unknown, field: Field): Promise<Value | undefined | typeof GIVEN_UP> {
  const { lines, colours } = field.asking
  const title = visibleText(textOf(schema, "title") ?? name)
  const hint = hintOf(schema, field.isRequired)
  for (let turn = 0; turn < TRIES; turn++) {
    const answer = await lines.ask(`  ${title}${colours.dim(hint)}: `, { signal: field.signal })
    if (answer === undefined) return GIVEN_UP
    if (answer.trim() === "" && !field.isRequired) return undefined
    const value = readValue(answer.trim(), schema)
    if (value !== undefined) return value
    lines.write(colours.red(`  that does not fit${hint}\n`))
  }
  return GIVEN_UP
}

function hintOf(schema: unknown, isRequired: boolean): string {
  const options = choicesOf(schema)
  const what = options.length > 0 ? options.join(", ") : (textOf(schema, "type") ?? "text")
  return ` (${visibleText(what)}${isRequired ? "" : ", may be empty"})`
}

function choicesOf(schema: unknown): readonly string[] {
  const options = isObject(schema) ? schema["enum"] : undefined
  return Array.isArray(options) ? options.filter((option) => typeof option === "string") : []
}

/** Undefined: it does not fit. */
export function readValue(text: string, schema: unknown): Value | undefined {
  const options = choicesOf(schema)
  if (options.length > 0) return options.includes(text) ? text : undefined
  switch (textOf(schema, "type") ?? "string") {
    case "number":
    case "integer": {
      const number = Number(text)
      const isFit =
        Number.isFinite(number) && text !== "" && (textOf(schema, "type") === "number" || Number.isInteger(number))
      return isFit && isWithin(number, schema) ? number : undefined
    }
    case "boolean":
      if (/^(y|yes|true)$/i.test(text)) return true
      return /^(n|no|false)$/i.test(text) ? false : undefined
    case "array":
      return text.split(",").map((part) => part.trim())
    default:
      return text
  }
}

function isWithin(number: number, schema: unknown): boolean {
  const [minimum, maximum] = isObject(schema) ? [schema["minimum"], schema["maximum"]] : []
  return (typeof minimum !== "number" || number >= minimum) && (typeof maximum !== "number" || number <= maximum)
}
