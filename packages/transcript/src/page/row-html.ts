import {
  type ActivityRow,
  askWords,
  compactionWords,
  failureWords,
  hookWords,
  limitWords,
  modelWords,
  type PictureSource,
  type PromptRow,
  type Row,
  resultWords,
  retryWords,
  startedWords,
  type ThinkingRow,
  thinkingWords,
} from "../index.ts"
import { html, type Markup, markdown } from "./markup.ts"
import { toolHtml } from "./tool-html.ts"

/** The rows of a sub-agent. */
export type LaneOf = (toolUseId: string) => readonly Row[]

/** Sub-agents of sub-agents of sub-agents are told flat. */
const MAX_DEPTH = 4

export function rowHtml(row: Row, laneOf: LaneOf, depth = 0): Markup {
  const lane = (id: string) => (depth >= MAX_DEPTH ? [] : laneOf(id).map((child) => rowHtml(child, laneOf, depth + 1)))
  switch (row.kind) {
    case "prompt":
      return promptHtml(row)
    case "text":
      return html`<div class="row text${row.state === "retracted" ? " retracted" : ""}" id="e${row.headSeq}">${markdown(row.text)}</div>`
    case "thinking":
      return thinkingHtml(row)
    case "tool":
      return toolHtml(row, lane)
    case "activity":
      return activityHtml(row, lane)
    case "failure":
      return html`<div class="row failure" id="e${row.headSeq}"><strong>${failureWords(row)}</strong><p class="said">${row.text}</p></div>`
    case "picture":
      return html`<div class="row">${pictureHtml(row.picture)}</div>`
    case "result":
      return resultHtml(row)
    case "compaction":
      return across(compactionWords(row), row.headSeq)
    case "note": {
      if (row.isDivider) return across(row.text, row.headSeq)
      const tone = row.level === "danger" ? " bad" : row.level === "warning" ? " warn" : ""
      return html`<p class="row small${tone}">${row.text}</p>`
    }
    case "ask":
      return html`<p class="row small">${askText(row.ask.request)}: ${askWords(row.ask) ?? "open"}</p>`
    case "hook":
      return row.state === "failed"
        ? html`<details class="row tool"><summary><span class="bad">${hookWords(row)}</span></summary><pre>${row.output}</pre></details>`
        : html`<p class="row small">${hookWords(row)}</p>`
    case "started":
      return small(startedWords(row))
    case "limit":
      return html`<p class="row small warn">${limitWords(row)}</p>`
    case "retry":
      return small(retryWords(row))
    case "harness":
      return html`<details class="row thinking"><summary>Added by the harness</summary><p class="said">${row.text}</p></details>`
    case "unknown":
      return html`<details class="row thinking"><summary>Unknown event <code>${row.name}</code></summary><pre>${JSON.stringify(row.message, null, 2)}</pre></details>`
  }
}

function small(text: string): Markup {
  return html`<p class="row small">${text}</p>`
}

function askText(request: Readonly<Record<string, unknown>>): string {
  const [server, message] = [request["mcp_server_name"], request["message"]]
  const said = typeof message === "string" ? message : "A question"
  return typeof server === "string" ? `${server} asks: ${said}` : said
}

function promptHtml(row: PromptRow): Markup {
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

function thinkingHtml(row: ThinkingRow): Markup {
  if (row.text === "") return small(thinkingWords(row))
  return html`<details class="row thinking"><summary>${thinkingWords(row)}</summary><div class="inside"><p class="said">${row.text}</p></div></details>`
}

function activityHtml(row: ActivityRow, lane: (id: string) => readonly Markup[]): Markup {
  const tools = row.members.filter((member) => member.kind === "tool")
  const [only] = tools
  if (tools.length === 1 && only !== undefined) return toolHtml(only, lane)
  const caption = row.caption === undefined ? undefined : html`<p class="small">${row.caption}</p>`
  return html`<details class="row activity" id="e${row.headSeq}"><summary><span class="verb">${row.summary}</span></summary><div class="inside">${caption}${tools.map((tool) => toolHtml(tool, lane))}</div></details>`
}

function resultHtml(row: Row & { kind: "result" }): Markup {
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
