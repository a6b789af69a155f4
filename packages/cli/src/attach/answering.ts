import type { Ask, AskAnswer } from "@signalbox/client"
import { isObject } from "@signalbox/protocol"
import { type AskField, chosen, fieldsOf, readValue } from "../asks/ask-fields.ts"
import { grantsOf, usualGrant } from "../asks/grants.ts"
import { oneLine } from "../base/failure.ts"
import { edited, type Press } from "./press.ts"
import { bufferOf, EMPTY, type TextBuffer } from "./text-buffer.ts"

type Json = Readonly<Record<string, unknown>>

/** How far an answer has come. */
export type Answering =
  /** `ticked`: the standing permissions that an allow stores, by index. */
  | { readonly phase: "choose"; readonly ticked: ReadonlySet<number> }
  /** A reason for the agent, or what to change in a plan. */
  | { readonly phase: "deny"; readonly buffer: TextBuffer }
  | { readonly phase: "edit"; readonly buffer: TextBuffer; readonly problem?: string }
  /** The edited input is shown before it is allowed: an edit is not yet a yes. */
  | { readonly phase: "confirm"; readonly input: Json }
  | {
      readonly phase: "fields"
      readonly index: number
      readonly values: Json
      readonly buffer: TextBuffer
      readonly problem?: string
    }

export interface Answered {
  readonly state: Answering
  readonly answer?: AskAnswer
  /** The key was not for the answer. */
  readonly isPassed?: boolean
}

export const CHOOSE: Answering & { phase: "choose" } = { phase: "choose", ticked: new Set() }

export function beginAnswering(ask: Ask): Answering {
  return ask.kind === "question" ? { phase: "fields", index: 0, values: {}, buffer: EMPTY } : CHOOSE
}

/** `isSeen`: the whole request was on the screen; nothing is allowed before. */
export function stepAnswering(state: Answering, press: Press, about: { ask: Ask; isSeen: boolean }): Answered {
  switch (state.phase) {
    case "choose":
      return choose(state, press, about)
    case "deny":
      if (press.key === "enter") return { state, answer: denial(state.buffer.text) }
      return typed(state, press, about.ask)
    case "edit":
      return press.key === "enter" ? reviewed(state.buffer, about.ask) : typed(state, press, about.ask)
    case "confirm":
      if (isLetter(press, "y")) return { state, answer: { behavior: "allow", updatedInput: state.input } }
      return isLetter(press, "n") || press.key === "escape" ? { state: CHOOSE } : { state, isPassed: true }
    case "fields":
      return press.key === "enter" ? filledIn(state, about.ask) : typed(state, press, about.ask)
  }
}

type Choosing = Answering & { phase: "choose" }

function choose(state: Choosing, press: Press, { ask, isSeen }: { ask: Ask; isSeen: boolean }): Answered {
  if (isLetter(press, "n")) return refuse(ask)
  if (isLetter(press, "e") && ask.kind === "tool") return { state: { phase: "edit", buffer: bufferOf(editable(ask)) } }
  if (isSeen && isLetter(press, "y")) return agree(state, ask)
  const always = isSeen && isLetter(press, "a") ? alwaysOf(state, ask) : []
  if (always.length > 0) return { state, answer: { behavior: "allow", updatedPermissions: always } }
  const ticked = press.key === "text" ? toggled(state.ticked, Number(press.text) - 1, grantsOf(ask).length) : undefined
  return ticked === undefined ? { state, isPassed: true } : { state: { phase: "choose", ticked } }
}

/** The one grant that `a` stores. Where something is ticked, the ticks say what is stored, and `y` stores it. */
export function alwaysOf({ ticked }: Choosing, ask: Ask): readonly unknown[] {
  if (ask.kind === "plan") return [{ type: "setMode", mode: "acceptEdits", destination: "session" }]
  const grants = grantsOf(ask)
  const usual = usualGrant(grants)
  return usual === undefined || ticked.size > 0 ? [] : [grants[usual]]
}

function toggled(ticked: ReadonlySet<number>, index: number, count: number): ReadonlySet<number> | undefined {
  if (!Number.isInteger(index) || index < 0 || index >= count) return undefined
  const next = new Set(ticked)
  if (!next.delete(index)) next.add(index)
  return next
}

function agree(state: Choosing, ask: Ask): Answered {
  switch (ask.kind) {
    case "elicitation":
      if (fieldsOf(ask).length === 0) return { state, answer: { action: "accept", content: {} } }
      return { state: { phase: "fields", index: 0, values: {}, buffer: EMPTY } }
    case "dialog":
      // Its possible results are not known here.
      return { state, isPassed: true }
    case "tool": {
      const updatedPermissions = grantsOf(ask).filter((_, index) => state.ticked.has(index))
      return {
        state,
        answer: { behavior: "allow", ...(updatedPermissions.length === 0 ? {} : { updatedPermissions }) },
      }
    }
    case "plan":
    case "question":
      return { state, answer: { behavior: "allow" } }
  }
}

function refuse(ask: Ask): Answered {
  switch (ask.kind) {
    case "elicitation":
      return { state: CHOOSE, answer: { action: "decline" } }
    case "dialog":
      return { state: CHOOSE, answer: { cancelled: true } }
    case "tool":
    case "plan":
    case "question":
      return { state: { phase: "deny", buffer: EMPTY } }
  }
}

function denial(reason: string): AskAnswer {
  return reason.trim() === "" ? { behavior: "deny" } : { behavior: "deny", message: reason.trim() }
}

type Typing = Extract<Answering, { readonly buffer: TextBuffer }>

function typed(state: Typing, press: Press, ask: Ask): Answered {
  // A question has no choices to go back to: the view decides how to leave it.
  if (press.key === "escape") return ask.kind === "question" ? { state, isPassed: true } : { state: CHOOSE }
  const buffer = edited(state.buffer, press)
  return buffer === undefined ? { state, isPassed: true } : { state: { ...state, buffer } }
}

/** A command by itself; anything else as JSON. */
function editable({ input = {} }: Ask): string {
  const command = input["command"]
  return typeof command === "string" ? command : JSON.stringify(input)
}

function reviewed(buffer: TextBuffer, { input = {} }: Ask): Answered {
  if (typeof input["command"] === "string")
    return { state: { phase: "confirm", input: { ...input, command: buffer.text } } }
  try {
    const value: unknown = JSON.parse(buffer.text)
    if (isObject(value)) return { state: { phase: "confirm", input: value } }
    return { state: { phase: "edit", buffer, problem: "not a JSON object" } }
  } catch (error) {
    return { state: { phase: "edit", buffer, problem: oneLine(error) } }
  }
}

function filledIn(state: Answering & { phase: "fields" }, ask: Ask): Answered {
  const fields = fieldsOf(ask)
  const field = fields[state.index]
  const text = state.buffer.text.trim()
  if (field === undefined) return { state, answer: finished(ask, state.values) }
  if (text === "" && field.isRequired) return { state: { ...state, problem: "an answer is required" } }
  const value = ask.kind === "question" ? chosen(text, field) : fieldValue(text, field)
  if (value === undefined && text !== "") return { state: { ...state, problem: "not valid here" } }
  const values = value === undefined || text === "" ? state.values : { ...state.values, [field.name]: value }
  const next: Answering = { phase: "fields", index: state.index + 1, values, buffer: EMPTY }
  return state.index + 1 < fields.length ? { state: next } : { state: next, answer: finished(ask, values) }
}

/** A choice may be given by its number. */
function fieldValue(text: string, field: AskField): unknown {
  return readValue(field.options[Number(text) - 1]?.label ?? text, field.schema)
}

function finished(ask: Ask, values: Json): AskAnswer {
  if (ask.kind === "elicitation") return { action: "accept", content: values }
  return { behavior: "allow", updatedInput: { ...ask.input, answers: values } }
}

function isLetter(press: Press, letter: string): boolean {
  return press.key === "text" && press.text.toLowerCase() === letter
}
