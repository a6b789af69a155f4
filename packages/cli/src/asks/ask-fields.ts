import type { Ask } from "@signalbox/client"
import { defined, fieldOf, isObject, textOf } from "@signalbox/protocol"
import { visibleLine, visibleText } from "@signalbox/transcript"
import { shellWord } from "../base/context.ts"
import { onOneLine } from "../terminal/text.ts"

/** One blank to fill in: a question of several, or a field of a form. */
export interface AskField {
  readonly name: string
  readonly words: string
  readonly options: readonly FieldOption[]
  readonly isMany: boolean
  readonly isRequired: boolean
  readonly schema: unknown
}

interface FieldOption {
  readonly label: string
  readonly description?: string
}

export type FieldValue = string | number | boolean | string[]

export function fieldsOf(ask: Ask): readonly AskField[] {
  if (ask.kind === "question") return questionFields(ask.input?.["questions"])
  if (ask.kind !== "elicitation" || ask.request["mode"] === "url") return []
  return formFields(ask.request["requested_schema"])
}

export function formFields(schema: unknown): readonly AskField[] {
  const required = isObject(schema) ? schema["required"] : undefined
  return Object.entries(fieldOf(schema, "properties") ?? {}).map(([name, own]) => ({
    name,
    words: visibleLine(textOf(own, "title") ?? name),
    options: choicesOf(own).map((label) => ({ label })),
    isMany: textOf(own, "type") === "array",
    isRequired: Array.isArray(required) && required.includes(name),
    schema: own,
  }))
}

export function questionFields(questions: unknown): readonly AskField[] {
  return (Array.isArray(questions) ? questions : []).filter(isObject).map((question) => {
    const options = Array.isArray(question["options"]) ? question["options"].filter(isObject) : []
    return {
      name: textOf(question, "question") ?? "",
      words: visibleText(textOf(question, "question") ?? ""),
      options: options.map((option) => ({
        label: textOf(option, "label") ?? "",
        ...defined({ description: textOf(option, "description") }),
      })),
      isMany: question["multiSelect"] === true,
      isRequired: true,
      schema: undefined,
    }
  })
}

function choicesOf(schema: unknown): readonly string[] {
  const options = isObject(schema) ? schema["enum"] : undefined
  return Array.isArray(options) ? options.filter((option) => typeof option === "string") : []
}

/** The answer to a question: numbers choose options, anything else is an answer of its own. */
export function chosen(answer: string, { options, isMany }: AskField): string {
  const labels = answer.split(/[\s,]+/).map((number) => options[Number(number) - 1]?.label)
  const isChoice = labels.every((label) => label !== undefined) && (isMany || labels.length === 1)
  return isChoice ? labels.join(", ") : answer
}

/** The value of a form's field; undefined if the text is not valid for it. */
export function readValue(text: string, schema: unknown): FieldValue | undefined {
  const options = choicesOf(schema)
  if (options.length > 0) return options.includes(text) ? text : undefined
  const type = textOf(schema, "type") ?? "string"
  switch (type) {
    case "number":
    case "integer": {
      const number = Number(text)
      const isNumber = text !== "" && Number.isFinite(number) && (type === "number" || Number.isInteger(number))
      return isNumber && isWithin(number, schema) ? number : undefined
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

/** The rest of an `answer` command that this ask takes: a form needs its fields, a question its choices. */
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
      // Only the program that shows a dialog knows its answers.
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

/** An agent wrote the text, and it may be pasted into a shell. */
function word(text: string): string {
  return shellWord(onOneLine(text))
}
