import { html, type Markup } from "./html.ts"

/** Every runtime has it, though the language does not: a host as a browser would go to it, whatever its spelling. */
declare const URL: { canParse(text: string): boolean; new (text: string): { readonly host: string } }

/** The Markdown that agents write: headings, lists, code, tables, quotes, emphasis, links. Everything else is text. */
export function markdown(text: string): readonly Markup[] {
  const lines = text.replaceAll("\r\n", "\n").split("\n")
  const blocks: Markup[] = []
  let at = 0
  while (at < lines.length) {
    const block = blockAt(lines, at)
    if (block.markup !== undefined) blocks.push(block.markup)
    at = block.next
  }
  return blocks
}

interface Block {
  readonly markup?: Markup
  readonly next: number
}

const FENCE = /^\s{0,3}(`{3,}|~{3,})\s*([\w+-]*)/
const HEADING = /^(#{1,6})\s+(.*)$/
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/
const QUOTE = /^\s{0,3}>\s?/
const RULE = /^\s{0,3}(?:-{3,}|\*{3,}|_{3,})\s*$/
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/

function blockAt(lines: readonly string[], at: number): Block {
  const line = lines[at] ?? ""
  if (line.trim() === "") return { next: at + 1 }
  const fence = FENCE.exec(line)
  if (fence !== null) return codeAt(lines, at, fence[1] ?? "```")
  const heading = HEADING.exec(line)
  if (heading !== null) return { markup: headingOf(heading[1]?.length ?? 1, heading[2] ?? ""), next: at + 1 }
  if (RULE.test(line)) return { markup: html`<hr>`, next: at + 1 }
  if (line.includes("|") && TABLE_RULE.test(lines[at + 1] ?? "")) return tableAt(lines, at)
  if (QUOTE.test(line)) return quoteAt(lines, at)
  if (ITEM.test(line)) return listAt(lines, at)
  return paragraphAt(lines, at)
}

/** The page's own title is the only first heading. */
function headingOf(level: number, text: string): Markup {
  if (level <= 1) return html`<h3>${inline(text)}</h3>`
  return level === 2 ? html`<h4>${inline(text)}</h4>` : html`<h5>${inline(text)}</h5>`
}

/** One that is never closed goes to the end. */
function codeAt(lines: readonly string[], at: number, fence: string): Block {
  const end = lines.findIndex((line, index) => index > at && line.trimStart().startsWith(fence))
  const last = end < 0 ? lines.length : end
  return { markup: html`<pre class="code"><code>${lines.slice(at + 1, last).join("\n")}</code></pre>`, next: last + 1 }
}

function quoteAt(lines: readonly string[], at: number): Block {
  const next = endOf(lines, at, (line) => QUOTE.test(line))
  const text = lines
    .slice(at, next)
    .map((line) => line.replace(QUOTE, ""))
    .join("\n")
  return { markup: html`<blockquote>${inline(text)}</blockquote>`, next }
}

/** Items of a list, with their depth as a class: lists in lists read the same without being nested. */
function listAt(lines: readonly string[], at: number): Block {
  const next = endOf(lines, at, (line) => ITEM.test(line) || /^\s+\S/.test(line))
  const items: { mark: string; depth: number; text: string }[] = []
  for (const line of lines.slice(at, next)) {
    const [, space = "", mark = "-", text = ""] = ITEM.exec(line) ?? []
    const last = items.at(-1)
    if (ITEM.test(line)) items.push({ mark, depth: Math.min(3, Math.floor(space.length / 2)), text })
    else if (last !== undefined) last.text += `\n${line.trim()}`
  }
  const list = items.map(
    ({ mark, depth, text }) =>
      html`<li class="d${depth}"><span class="mark">${/\d/.test(mark) ? mark : "•"}</span> ${inline(text)}</li>`,
  )
  return { markup: html`<ul>${list}</ul>`, next }
}

function tableAt(lines: readonly string[], at: number): Block {
  const next = endOf(lines, at, (line) => line.includes("|"))
  const [head = [], , ...rows] = lines.slice(at, next).map(cells)
  return {
    markup: html`<div class="wide"><table><thead><tr>${head.map((cell) => html`<th>${inline(cell)}</th>`)}</tr></thead><tbody>${rows.map(
      (row) => html`<tr>${row.map((cell) => html`<td>${inline(cell)}</td>`)}</tr>`,
    )}</tbody></table></div>`,
    next,
  }
}

function cells(line: string): readonly string[] {
  return line
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|")
    .map((cell) => cell.trim())
}

function paragraphAt(lines: readonly string[], at: number): Block {
  const isMore = (line: string) =>
    line.trim() !== "" && ![FENCE, HEADING, QUOTE, ITEM, RULE].some((start) => start.test(line))
  const next = Math.max(at + 1, endOf(lines, at, isMore))
  return { markup: html`<p>${inline(lines.slice(at, next).join("\n"))}</p>`, next }
}

function endOf(lines: readonly string[], at: number, isMore: (line: string) => boolean): number {
  let next = at
  while (next < lines.length && isMore(lines[next] ?? "")) next++
  return next
}

/** Code first: nothing inside it is anything else. Bounded repeats, so that no text takes long. */
const INLINE =
  /(`{1,3})([^`]{1,2000})\1|\*\*([^*]{1,2000})\*\*|(?<![\w*])\*([^*\s][^*\n]{0,500})\*(?![\w*])|\[([^\]\n]{1,500})\]\((https?:\/\/[^\s)]{1,2000})\)/g

function inline(text: string): readonly Markup[] {
  const parts: Markup[] = []
  let from = 0
  for (const match of text.matchAll(INLINE)) {
    parts.push(html`${text.slice(from, match.index)}`, inlinePart(match))
    from = match.index + match[0].length
  }
  return [...parts, html`${text.slice(from)}`]
}

/** A link tells where it goes: what it is called is the agent's word only. */
function inlinePart([whole, , code, strong, soft, label, url]: RegExpMatchArray): Markup {
  if (code !== undefined) return html`<code>${code}</code>`
  if (strong !== undefined) return html`<strong>${strong}</strong>`
  if (soft !== undefined) return html`<em>${soft}</em>`
  const host = url === undefined || !URL.canParse(url) ? undefined : new URL(url).host
  if (url === undefined || host === undefined) return html`${whole ?? ""}`
  const suffix = label?.includes(host) === true ? undefined : html` <span class="host">(${host})</span>`
  return html`<a href="${url}" rel="noopener noreferrer nofollow">${label}</a>${suffix}`
}
