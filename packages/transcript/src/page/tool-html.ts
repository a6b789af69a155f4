import { counted } from "@signalbox/protocol"
import { isObject, textOf } from "@signalbox/protocol/envelope"
import {
  answersOf,
  askWords,
  durationWords,
  type Edit,
  editOf,
  resultText,
  type ToolRow,
  toolHeading,
} from "../index.ts"
import { html, type Markup, markdown } from "./markup.ts"

const MAX_CHARS = 200_000
const MAX_DIFF_LINES = 2000
const ERROR_CHARS = 240

/** A call, closed: its line tells what it did and how it went; inside is all of it. */
export function toolHtml(row: ToolRow, lane: (id: string) => readonly Markup[]): Markup {
  const { verb, target } = toolHeading(row)
  const edit = editOf(row)
  const facts = [
    edit === undefined ? undefined : `+${edit.added} −${edit.removed}`,
    STATES[row.state],
    row.elapsedMs === undefined || row.elapsedMs < 1000 ? undefined : durationWords(row.elapsedMs),
  ].filter((fact) => fact !== undefined)
  const isBad = row.state === "failed" || row.state === "denied"
  const meta =
    facts.length === 0 ? undefined : html`<span class="meta${isBad ? " bad" : ""}">${facts.join(" · ")}</span>`
  const children = row.hasLane ? lane(row.toolUseId) : []
  const inside = html`<div class="inside">${askHtml(row)}${bodyHtml(row, edit)}${children}${outputHtml(row, edit)}</div>`
  return html`<details class="row tool${row.isRetracted ? " retracted" : ""}" id="e${row.headSeq}"><summary><span class="verb">${verb}</span><span class="target">${oneLine(target)}</span>${meta}</summary>${inside}</details>${errorLine(row)}`
}

const STATES: Readonly<Record<ToolRow["state"], string | undefined>> = {
  live: undefined,
  running: "running",
  waiting: "waits for an answer",
  done: undefined,
  failed: "failed",
  denied: "denied",
  interrupted: "interrupted",
  missing: "no result recorded",
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").slice(0, 400)
}

/** Why it failed is told without opening it. */
function errorLine(row: ToolRow): Markup | undefined {
  if ((row.state !== "failed" && row.state !== "denied") || row.result === undefined) return undefined
  const lines = resultText(row.result)
    .split("\n")
    .filter((line) => line.trim() !== "")
  const telling = lines.find((line) => TELLING.test(line)) ?? lines[0]
  return telling === undefined ? undefined : html`<p class="errline">${telling.trim().slice(0, ERROR_CHARS)}</p>`
}

const TELLING = /\b(?:error|fail(?:ed|ure|s)?|exception|fatal|denied|not found|cannot|no such)\b/i

function askHtml({ ask, denial }: ToolRow): Markup | undefined {
  if (denial !== undefined) return html`<p class="small bad">Denied by a rule: ${denial.reason ?? denial.message}</p>`
  const words = ask === undefined ? undefined : (askWords(ask) ?? "Waits for an answer")
  return words === undefined ? undefined : html`<p class="small">${words}</p>`
}

function bodyHtml(row: ToolRow, edit: Edit | undefined): Markup | undefined {
  if (edit !== undefined) return editHtml(edit, row.name)
  const { name, input } = row
  const [command, plan, description] = [input["command"], input["plan"], input["description"]]
  if (name === "Bash" && typeof command === "string") {
    const what = typeof description === "string" ? html`<p class="label">${description}</p>` : undefined
    return html`${what}<pre>$ ${command}</pre>`
  }
  if (name === "ExitPlanMode" && typeof plan === "string") return html`<div class="text">${markdown(plan)}</div>`
  const prompt = input["prompt"]
  if (row.hasLane && typeof prompt === "string")
    return html`<p class="label">Asked</p><div class="text">${markdown(prompt)}</div>`
  if (name === "TodoWrite") return todosHtml(input["todos"])
  if (name === "AskUserQuestion") return questionsHtml(row)
  return Object.keys(input).length === 0
    ? undefined
    : html`<p class="label">Input</p><pre>${JSON.stringify(input, null, 2)}</pre>`
}

function editHtml({ path, lines, isExact }: Edit, name: string): Markup {
  const classes = { "+": "add", "-": "del", " ": "same", "@": "at" }
  const shown = lines
    .slice(0, MAX_DIFF_LINES)
    .map(({ mark, text }) => html`<span class="${classes[mark]}">${mark === "@" ? "…" : mark} ${text}</span>`)
  const left = lines.length - shown.length
  const note =
    isExact || name === "Write"
      ? undefined
      : html` <span class="meta">as the call says; the file itself was not compared</span>`
  return html`<p class="label"><code>${path}</code>${note}</p><pre class="diff">${shown}${left > 0 ? html`<span class="at">… ${counted(left, "more line")}</span>` : undefined}</pre>`
}

function todosHtml(todos: unknown): Markup {
  const marks: Readonly<Record<string, string>> = { completed: "☑", in_progress: "◐" }
  const list = (Array.isArray(todos) ? todos : []).filter(isObject)
  return html`<ul class="todos">${list.map((todo) => html`<li><span class="mark">${marks[textOf(todo, "status") ?? ""] ?? "☐"}</span> ${textOf(todo, "content") ?? ""}</li>`)}</ul>`
}

function questionsHtml(row: ToolRow): Markup {
  const questions = row.input["questions"]
  const answers = new Map(answersOf(row).map(({ question, answer }) => [question, answer]))
  const list = (Array.isArray(questions) ? questions : []).filter(isObject).map((each) => {
    const question = textOf(each, "question") ?? ""
    const options = (Array.isArray(each["options"]) ? each["options"] : [])
      .filter(isObject)
      .map((option) => textOf(option, "label") ?? "")
    return html`<p><strong>${question}</strong><br><span class="meta">${options.join(" · ")}</span><br>${answers.get(question) ?? "not answered"}</p>`
  })
  return html`${list}`
}

function outputHtml(row: ToolRow, edit: Edit | undefined): Markup | undefined {
  // What an edit came to is its difference, a list of tasks is itself, and a question's is its answer.
  const isTold = ((edit !== undefined || row.name === "TodoWrite") && row.state === "done") || answersOf(row).length > 0
  if (row.result === undefined || isTold) return undefined
  const text = resultText(row.result)
  if (text.trim() === "") return html`<p class="label">No output</p>`
  const left = text.length - MAX_CHARS
  const more = left > 0 ? html`<p class="small">… ${left} more characters; the NDJSON export has all</p>` : undefined
  if (row.hasLane)
    return html`<p class="label">What it came to</p><div class="text">${markdown(text.slice(0, MAX_CHARS))}</div>${more}`
  return html`<p class="label">Output</p><pre>${text.slice(0, MAX_CHARS)}</pre>${more}`
}
