import { visibleText } from "../index.ts"
import { knownToken, markdownTokens, safeLink, type Token, type Tokens, unescaped } from "../text/markdown.ts"

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

/** What an agent wrote, as markup of ours. Markup in it is text; nothing in it loads or runs. */
export function markdown(text: string): readonly Markup[] {
  const tokens = markdownTokens(text)
  return tokens === undefined ? [html`<p class="said">${text}</p>`] : all(tokens)
}

function all(tokens: readonly Token[] | undefined): readonly Markup[] {
  return tokens?.map(markupOf) ?? []
}

function markupOf(any: Token): Markup {
  const token = knownToken(any)
  switch (token.type) {
    case "space":
    case "def":
      return html``
    case "paragraph":
      return html`<p>${all(token.tokens)}</p>`
    case "text":
      return token.tokens === undefined ? html`${unescaped(token.text)}` : html`${all(token.tokens)}`
    case "escape":
      return html`${token.text}`
    case "heading":
      return headingOf(token)
    case "strong":
      return html`<strong>${all(token.tokens)}</strong>`
    case "em":
      return html`<em>${all(token.tokens)}</em>`
    case "del":
      return html`<del>${all(token.tokens)}</del>`
    case "codespan":
      return html`<code>${token.text}</code>`
    case "code":
      return html`<pre class="code"><code>${token.text}</code></pre>`
    case "blockquote":
      return html`<blockquote>${all(token.tokens)}</blockquote>`
    case "list":
      return listOf(token)
    case "list_item":
      return html`<li>${all(token.tokens)}</li>`
    case "table":
      return tableOf(token)
    case "checkbox":
      return html`${token.checked ? "☑ " : "☐ "}`
    case "hr":
      return html`<hr>`
    case "br":
      return html`<br>`
    case "link":
      return linkOf(token.href, all(token.tokens), token.text)
    case "image":
      return linkOf(token.href, [html`Image: ${token.text === "" ? token.href : token.text}`], token.text)
    case "html":
      return html`${token.raw}`
  }
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
