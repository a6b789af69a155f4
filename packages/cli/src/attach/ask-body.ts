import type { Ask } from "@signalbox/client"
import { fieldOf, isObject, textOf } from "@signalbox/protocol"
import { visibleLine, visibleText } from "@signalbox/transcript"
import { grantLines, grantsOf } from "../asks/standing-grants.ts"
import { toolAsked } from "../asks/tool-asked.ts"
import { wrapCells } from "../terminal/cells.ts"
import type { Colours } from "../terminal/colours.ts"

interface Drawing {
  readonly width: number
  readonly colours: Colours
  /** The grants that somebody ticked. */
  readonly ticked: ReadonlySet<number>
  /** The folder that the agent works in. */
  readonly cwd: string | null
  /** The plan that is asked about. */
  readonly plan: string | undefined
}

/** What is asked, in full: every line of it, however long. */
export function askBody(ask: Ask, drawing: Drawing): readonly string[] {
  const { width, plan } = drawing
  const wrap = (text: string) => wrapCells(visibleText(text), width)
  switch (ask.kind) {
    case "plan":
      return wrap(plan ?? "(no plan was written)")
    case "elicitation":
      return wrap(
        `${textOf(ask.request, "mcp_server_name") ?? "An MCP server"} asks: ${textOf(ask.request, "message") ?? ""}\n${textOf(ask.request, "url") ?? ""}`.trim(),
      )
    case "dialog":
      return wrap(JSON.stringify(ask.request["payload"] ?? {}, null, 2))
    case "question":
      return []
    case "tool":
      return [...toolBody(ask, drawing), ...rememberLines(ask, drawing)]
  }
}

export function askTitle(ask: Ask): string {
  const { request, toolName } = ask
  const agent = textOf(request, "agent_id") === undefined ? "" : " (a sub-agent)"
  switch (ask.kind) {
    case "plan":
      return `The plan: go ahead?${agent}`
    case "question":
      return `A question${agent}`
    case "elicitation":
      return "A form of an MCP server, not of Claude"
    case "dialog":
      return `A dialog: ${visibleLine(textOf(request, "dialog_kind") ?? "unknown")}`
    case "tool":
      return `${visibleLine(textOf(request, "title") ?? `May it use ${toolName ?? "a tool"}?`)}${agent}`
  }
}

/** The lines are wrapped before they are painted, so that no colour is cut. */
function toolBody(ask: Ask, { width, colours, cwd }: Drawing): readonly string[] {
  const plain = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same }
  const reason = textOf(ask.request, "decision_reason")
  const blockedPath = textOf(ask.request, "blocked_path")
  const facts = {
    ...(reason === undefined ? {} : { decisionReason: reason }),
    ...(blockedPath === undefined ? {} : { blockedPath }),
  }
  const text = toolAsked(ask.toolName ?? "a tool", ask.input ?? {}, { facts, colours: plain, cwd })
  // Its first lines are a title, which the panel has already.
  const lines = text.split("\n").slice(2, -1)
  return lines.flatMap((line) => wrapCells(line.replace(/^ {2}/, ""), width).map(paintOf(line, colours)))
}

function paintOf(line: string, colours: Colours): (text: string) => string {
  if (line.startsWith("  + ")) return colours.green
  if (line.startsWith("  - ")) return colours.red
  return line.startsWith("  why: ") ? colours.dim : same
}

function same(text: string): string {
  return text
}

/** Wrapped, never cut: a permission that is cut short is not what somebody agrees to. */
function rememberLines(ask: Ask, { width, colours, ticked }: Drawing): readonly string[] {
  const grants = grantsOf(ask)
  if (grants.length === 0) return []
  const lines = grantLines(grants, { always: "a", ticked }).flatMap((line) => wrapCells(line, width))
  return [colours.dim("Always allow (a, or tick by number):"), ...lines.map(colours.dim)]
}

/** One thing to be filled in: a question of several, or a field of a form. */
export interface AskField {
  readonly name: string
  readonly words: string
  readonly options: readonly { readonly label: string; readonly description?: string }[]
  readonly isMany: boolean
  readonly isRequired: boolean
  readonly schema: unknown
}

export function fieldsOf(ask: Ask): readonly AskField[] {
  if (ask.kind === "question") return questionFields(ask.input?.["questions"])
  if (ask.kind !== "elicitation" || ask.request["mode"] === "url") return []
  const schema = fieldOf(ask.request, "requested_schema")
  const required = schema?.["required"]
  return Object.entries(fieldOf(schema, "properties") ?? {}).map(([name, own]) => ({
    name,
    words: visibleLine(textOf(own, "title") ?? name),
    options: enumOf(own).map((label) => ({ label })),
    isMany: textOf(own, "type") === "array",
    isRequired: Array.isArray(required) && required.includes(name),
    schema: own,
  }))
}

function questionFields(questions: unknown): readonly AskField[] {
  return (Array.isArray(questions) ? questions : []).filter(isObject).map((question) => {
    const options = Array.isArray(question["options"]) ? question["options"].filter(isObject) : []
    return {
      name: textOf(question, "question") ?? "",
      words: visibleText(textOf(question, "question") ?? ""),
      options: options.map((option) => {
        const description = textOf(option, "description")
        return { label: textOf(option, "label") ?? "", ...(description === undefined ? {} : { description }) }
      }),
      isMany: question["multiSelect"] === true,
      isRequired: true,
      schema: undefined,
    }
  })
}

function enumOf(schema: unknown): readonly string[] {
  const options = isObject(schema) ? schema["enum"] : undefined
  return Array.isArray(options) ? options.filter((option) => typeof option === "string") : []
}
