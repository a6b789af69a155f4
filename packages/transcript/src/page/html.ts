import { visibleText } from "../index.ts"

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
