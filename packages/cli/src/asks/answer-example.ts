import type { Ask } from "@signalbox/client"
import { isObject, textOf } from "@signalbox/protocol"
import { type AskField, fieldsOf } from "../attach/ask-body.ts"
import { shellWord } from "../base/next-command.ts"
import { onOneLine } from "../terminal/plain-text.ts"

/** The rest of an `answer` that this ask takes: a form wants its fields, a question its choices. */
export function answerExample(ask: Ask): string {
  switch (ask.kind) {
    case "tool":
    case "plan":
      return "allow"
    case "question":
      return ["allow", ...fieldsOf(ask).map(({ options }) => `--choose ${word(options[0]?.label ?? "…")}`)].join(" ")
    case "elicitation": {
      const fields = requiredFields(ask)
      return fields.length === 0 ? "allow" : `allow ${inputExample(fields)}`
    }
    case "dialog":
      // What it takes only its own program knows.
      return "deny"
  }
}

export function requiredFields(ask: Ask): readonly AskField[] {
  return ask.kind === "elicitation" ? fieldsOf(ask).filter(({ isRequired }) => isRequired) : []
}

export function inputExample(fields: readonly AskField[]): string {
  const input = Object.fromEntries(fields.map((field) => [field.name, valueExample(field)]))
  return `--input ${word(JSON.stringify(input))}`
}

function valueExample({ options, schema }: AskField): unknown {
  const [first] = options
  if (first !== undefined) return first.label
  const minimum = isObject(schema) ? schema["minimum"] : undefined
  switch (textOf(schema, "type") ?? "string") {
    case "boolean":
      return true
    case "number":
    case "integer":
      return typeof minimum === "number" ? minimum : 1
    case "array":
      return ["…"]
    default:
      return "…"
  }
}

/** It comes from an agent and may be pasted into a shell. */
function word(text: string): string {
  return shellWord(onOneLine(text))
}
