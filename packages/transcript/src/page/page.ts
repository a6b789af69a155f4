import { type AskRecord, costWords, countWords, type Row, Transcript, type TranscriptEvent } from "../index.ts"
import { html, type Markup } from "./markup.ts"
import { type LaneOf, rowHtml, timeHtml } from "./row-html.ts"
import { STYLE, STYLE_HASH } from "./style.ts"

const MAX_PROMPTS = 500

/** A page's facts on its session besides what was said. */
export interface PageSession {
  readonly id: string
  readonly title: string | null
  readonly cwd: string | null
  readonly model: string | null
  readonly cliVersion: string | null
  readonly createdAt: string
  readonly turns: number
  readonly costUsd: number
  readonly tokens: { readonly input: number; readonly output: number; readonly cacheRead: number }
}

interface PageParts {
  readonly session: PageSession
  readonly rows: readonly Row[]
  readonly laneOf: LaneOf
  readonly writtenAt: string
}

/** One page, in pieces, so that a long one is never a single text: all that it needs is in it, and no script. */
export function* pageHtml({ session, rows, laneOf, writtenAt }: PageParts): Generator<string> {
  const title = session.title ?? `Session ${session.id}`
  yield `<!doctype html>\n<html lang="en">\n${head(title).html}<body>\n<header>${header(session, title).html}${contents(rows).html}</header>\n<main>\n`
  for (const row of rows) yield `${rowHtml(row, laneOf).html}\n`
  yield `</main>\n${html`<footer>Written by signalbox ${timeHtml(writtenAt)}. Nothing in this page is loaded from elsewhere, and nothing in it runs.</footer>`.html}\n</body>\n</html>\n`
}

/** The style is allowed by its hash: nothing that an agent wrote could be style, script or a request. */
function head(title: string): Markup {
  const policy = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; img-src data:; base-uri 'none'; form-action 'none'`
  const style: Markup = { html: `<style>${STYLE}</style>` }
  return html`<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>${title}</title>
${style}
</head>
`
}

function header(session: PageSession, title: string): Markup {
  const { tokens } = session
  const facts: readonly (readonly [string, string | Markup | null])[] = [
    ["Folder", session.cwd],
    ["Model", session.model],
    ["Claude Code", session.cliVersion],
    ["Began", timeHtml(session.createdAt)],
    ["Turns", session.turns === 0 ? null : String(session.turns)],
    ["Cost", session.costUsd === 0 ? null : costWords(session.costUsd)],
    [
      "Tokens",
      tokens.output === 0
        ? null
        : `${countWords(tokens.input)} in, ${countWords(tokens.output)} out, ${countWords(tokens.cacheRead)} from cache`,
    ],
    ["Session", session.id],
  ]
  const list = facts.flatMap(([name, value]) => (value === null ? [] : [html`<dt>${name}</dt><dd>${value}</dd>`]))
  return html`<h1>${title}</h1><dl>${list}</dl>`
}

/** The prompts, to jump to. */
function contents(rows: readonly Row[]): Markup {
  const prompts = rows.filter((row) => row.kind === "prompt")
  if (prompts.length < 2) return html``
  const items = prompts
    .slice(0, MAX_PROMPTS)
    .map((row) => html`<li><a href="#e${row.headSeq}">${row.text.replaceAll(/\s+/g, " ").slice(0, 120)}</a></li>`)
  return html`<nav aria-label="Prompts"><h2>${prompts.length} prompts</h2><ol>${items}</ol></nav>`
}

interface ToldSession {
  readonly session: PageSession
  /** All of them, in order. */
  readonly events: AsyncIterable<TranscriptEvent>
  /** Its asks, once the events are read. */
  readonly asks: () => Promise<readonly AskRecord[]>
  readonly writtenAt: string
}

/** A session as one page to read or to send to somebody, in pieces. Whatever is in it is text: nothing in it runs or loads. */
export async function* transcriptPage({ session, events, asks, writtenAt }: ToldSession): AsyncGenerator<string> {
  const transcript = new Transcript()
  for await (const event of events) transcript.fold([event])
  for (const ask of await asks()) transcript.ask(ask)
  yield* pageHtml({ session, rows: transcript.rows(), laneOf: (lane) => transcript.rows(lane), writtenAt })
}
