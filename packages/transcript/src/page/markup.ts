import { visibleText } from "../index.ts"
import {
  drawToken,
  markdownTokens,
  safeLink,
  type Token,
  type Tokens,
  type TokenTable,
  unescaped,
} from "../text/markdown.ts"

/** Markup that is meant as markup. Whatever else comes into a page is text. */
export interface Markup {
  readonly html: string
}

type Part = Markup | string | number | undefined | readonly Part[]

/** Every value is text and is escaped; only what another `html` made is markup. */
export function html(strings: TemplateStringsArray, ...values: readonly Part[]): Markup {
  return { html: strings.map((text, index) => text + partHtml(values[index])).join("") }
}

function partHtml(part: Part): string {
  if (part === undefined) return ""
  if (typeof part === "string" || typeof part === "number") return escapeText(String(part))
  return "html" in part ? part.html : part.map(partHtml).join("")
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
}

/** Also safe to look at: what would hide or reorder text is shown by its number. */
function escapeText(text: string): string {
  return visibleText(text).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? "")
}

/** Turns an agent's text into markup of ours. Markup in it is text; nothing in it loads or runs. */
export function markdown(text: string): readonly Markup[] {
  const tokens = markdownTokens(text)
  return tokens === undefined ? [html`<p class="said">${text}</p>`] : all(tokens)
}

function all(tokens: readonly Token[] | undefined): readonly Markup[] {
  return tokens?.map(markupOf) ?? []
}

function markupOf(token: Token): Markup {
  return drawToken(token, MARKUP)
}

const MARKUP: TokenTable<Markup> = {
  space: () => html``,
  def: () => html``,
  paragraph: ({ tokens }) => html`<p>${all(tokens)}</p>`,
  text: ({ text, tokens }) => (tokens === undefined ? html`${unescaped(text)}` : html`${all(tokens)}`),
  escape: ({ text }) => html`${text}`,
  heading: headingOf,
  strong: ({ tokens }) => html`<strong>${all(tokens)}</strong>`,
  em: ({ tokens }) => html`<em>${all(tokens)}</em>`,
  del: ({ tokens }) => html`<del>${all(tokens)}</del>`,
  codespan: ({ text }) => html`<code>${text}</code>`,
  code: ({ text }) => html`<pre class="code"><code>${text}</code></pre>`,
  blockquote: ({ tokens }) => html`<blockquote>${all(tokens)}</blockquote>`,
  list: listOf,
  list_item: ({ tokens }) => html`<li>${all(tokens)}</li>`,
  table: tableOf,
  checkbox: ({ checked }) => html`${checked ? "☑ " : "☐ "}`,
  hr: () => html`<hr>`,
  br: () => html`<br>`,
  link: ({ href, text, tokens }) => linkOf(href, all(tokens), text),
  image: ({ href, text }) => linkOf(href, [html`Image: ${text === "" ? href : text}`], text),
  html: ({ raw }) => html`${raw}`,
}

/** The page's own title is the only first heading. */
function headingOf({ depth, tokens }: Tokens.Heading): Markup {
  if (depth === 1) return html`<h3>${all(tokens)}</h3>`
  return depth === 2 ? html`<h4>${all(tokens)}</h4>` : html`<h5>${all(tokens)}</h5>`
}

function listOf({ ordered, start, items }: Tokens.List): Markup {
  if (!ordered) return html`<ul>${all(items)}</ul>`
  return html`<ol start="${start === "" ? 1 : start}">${all(items)}</ol>`
}

function tableOf({ header, rows }: Tokens.Table): Markup {
  const head = header.map((cell) => html`<th>${all(cell.tokens)}</th>`)
  const body = rows.map((row) => html`<tr>${row.map((cell) => html`<td>${all(cell.tokens)}</td>`)}</tr>`)
  return html`<div class="wide"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`
}

/** A link tells where it goes: what it is called is the agent's word only. */
function linkOf(address: string, label: readonly Markup[], words: string): Markup {
  const link = safeLink(address)
  if (link === undefined) return html`${label}`
  const isTold = link.host === "" || words.includes(link.host)
  const host = isTold ? undefined : html` <span class="host">(${link.host})</span>`
  return html`<a href="${link.href}" rel="noopener noreferrer nofollow">${label}</a>${host}`
}
