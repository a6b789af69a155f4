import { counted } from "@signalbox/protocol"
import { isObject, textOf } from "@signalbox/protocol/envelope"
import {
  answersOf,
  askWords,
  compactionWords,
  durationWords,
  type Edit,
  editOf,
  failureOf,
  hookWords,
  limitWords,
  modelWords,
  type PictureSource,
  type Row,
  type RowOf,
  resultText,
  resultWords,
  retryWords,
  startedWords,
  type ToolRow,
  thinkingWords,
  toolHeading,
} from "../index.ts"
import { html, type Markup, markdown } from "./markup.ts"

/** The rows of a sub-agent. */
export type LaneOf = (toolUseId: string) => readonly Row[]

/** Sub-agents of sub-agents of sub-agents are told flat. */
const MAX_DEPTH = 4

export function rowHtml(row: Row, laneOf: LaneOf, depth = 0): Markup {
  const lane = (id: string) => (depth >= MAX_DEPTH ? [] : laneOf(id).map((child) => rowHtml(child, laneOf, depth + 1)))
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each row is given to the function of its own kind
  const draw = ROWS[row.kind] as (row: Row, lane: Lane) => Markup
  return draw(row, lane)
}

type Lane = (id: string) => readonly Markup[]

const ROWS: { readonly [K in Row["kind"]]: (row: RowOf<K>, lane: Lane) => Markup } = {
  prompt: promptHtml,
  text: ({ state, headSeq, text }) =>
    html`<div class="row text${state === "retracted" ? " retracted" : ""}" id="e${headSeq}">${markdown(text)}</div>`,
  thinking: thinkingHtml,
  tool: toolHtml,
  activity: activityHtml,
  failure: (row) => {
    const { what, next } = failureOf(row)
    const advice = next === undefined ? "" : html`<p>${next}</p>`
    return html`<div class="row failure" id="e${row.headSeq}"><strong>${what}</strong><p class="said">${row.text}</p>${advice}</div>`
  },
  picture: ({ picture }) => html`<div class="row">${pictureHtml(picture)}</div>`,
  result: resultHtml,
  compaction: (row) => across(compactionWords(row), row.headSeq),
  note: ({ isDivider, level, text, headSeq }) => {
    if (isDivider) return across(text, headSeq)
    const tone = level === "danger" ? " bad" : level === "warning" ? " warn" : ""
    return small(text, tone)
  },
  ask: ({ ask }) => small(`${askText(ask.request)}: ${askWords(ask) ?? "open"}`),
  hook: (row) =>
    row.state === "failed"
      ? html`<details class="row tool"><summary><span class="bad">${hookWords(row)}</span></summary><pre>${row.output}</pre></details>`
      : small(hookWords(row)),
  started: (row) => small(startedWords(row)),
  limit: (row) => small(limitWords(row), " warn"),
  retry: (row) => small(retryWords(row)),
  harness: ({ text }) =>
    html`<details class="row thinking"><summary>Added by the harness</summary><p class="said">${text}</p></details>`,
  unknown: ({ name, message }) =>
    html`<details class="row thinking"><summary>Unknown event <code>${name}</code></summary><pre>${JSON.stringify(message, null, 2)}</pre></details>`,
}

function small(text: string, tone = ""): Markup {
  return html`<p class="row small${tone}">${text}</p>`
}

function askText(request: Readonly<Record<string, unknown>>): string {
  const [server, message] = [request["mcp_server_name"], request["message"]]
  const said = typeof message === "string" ? message : "A question"
  return typeof server === "string" ? `${server} asks: ${said}` : said
}

function promptHtml(row: RowOf<"prompt">): Markup {
  const state = ["sent", "delivered", "completed", "started"].includes(row.delivery)
    ? undefined
    : html`<span class="meta">${row.delivery}</span>`
  return html`<section class="row prompt" id="e${row.headSeq}"><div class="who"><span>${row.author ?? "You"}</span>${state}${timeHtml(row.at)}</div><div class="said">${row.text}</div>${row.pictures.map(pictureHtml)}</section>`
}

/** To the second, in the one zone that is the same for every reader. */
export function timeHtml(at: string): Markup {
  if (Number.isNaN(Date.parse(at))) return html`<time>${at}</time>`
  const words = at.slice(0, 19).replace("T", " ")
  return html`<time datetime="${at}">${words} UTC</time>`
}

function thinkingHtml(row: RowOf<"thinking">): Markup {
  if (row.text === "") return small(thinkingWords(row))
  return html`<details class="row thinking"><summary>${thinkingWords(row)}</summary><div class="inside"><p class="said">${row.text}</p></div></details>`
}

function activityHtml(row: RowOf<"activity">, lane: Lane): Markup {
  const tools = row.members.filter((member) => member.kind === "tool")
  const [only] = tools
  if (tools.length === 1 && only !== undefined) return toolHtml(only, lane)
  const caption = row.caption === undefined ? undefined : html`<p class="small">${row.caption}</p>`
  return html`<details class="row activity" id="e${row.headSeq}"><summary><span class="verb">${row.summary}</span></summary><div class="inside">${caption}${tools.map((tool) => toolHtml(tool, lane))}</div></details>`
}

function resultHtml(row: RowOf<"result">): Markup {
  const said =
    row.text === undefined || row.text === "" ? undefined : html`<div class="row text">${markdown(row.text)}</div>`
  const errors = row.errors.map((error) => html`<p class="errline">${error}</p>`)
  const tone = row.state === "failed" ? "across bad" : "across"
  const models = modelWords(row.models).map((line) => html`<br>${line}`)
  return html`${said}${errors}<div class="row ${tone}" id="e${row.headSeq}">${resultWords(row)}${models}</div>`
}

function across(words: string, seq: number): Markup {
  return html`<div class="row across" id="e${seq}">${words}</div>`
}

const PICTURES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"])
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** Only what is in the page: a picture elsewhere is named, never loaded. */
function pictureHtml({ mediaType, data, url }: PictureSource): Markup {
  if (data !== undefined && PICTURES.has(mediaType) && BASE64.test(data)) {
    return html`<img alt="Picture" src="data:${mediaType};base64,${data}">`
  }
  return html`<p class="small">A picture (${mediaType})${url === undefined ? "" : ` at ${url}`}</p>`
}

const MAX_CHARS = 200_000
const MAX_DIFF_LINES = 2000
const ERROR_CHARS = 240

/** A call, closed: its line tells what it did and how it went; inside is all of it. */
function toolHtml(row: ToolRow, lane: Lane): Markup {
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
  // The body already tells an edit's outcome as its difference, a task list as itself, and a question's as its answer.
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
