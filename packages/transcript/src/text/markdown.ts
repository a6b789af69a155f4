import { lexer, type MarkedToken, type Token, type TokensList } from "marked"
import { withoutFootnotes } from "./footnotes.ts"

export type { Token, Tokens } from "marked"

/** Deeper than anybody writes; the parser's time grows with the square of it and worse. */
const MAX_QUOTES = 20
const MAX_INDENT = 60
/** Marks in marks: drawing them takes a call inside a call for each. */
const MAX_DEPTH = 100
/** Bound on one paragraph: the parser searches it to its end for each mark that never closes. */
const MAX_PARAGRAPH_CHARS = 20_000

/**
 * Parses an agent's text; undefined if it is to be shown as it is, because parsing or drawing it would take too
 * long or too deep a stack. `complete` closes the marks of a text that is still being written.
 */
export function markdownTokens(text: string, complete = (written: string) => written): TokensList | undefined {
  if (!isTame(text)) return undefined
  const plain = withoutFootnotes(text)
  // A note's lines become one, which may be longer than any paragraph was.
  if (plain !== text && !isTame(plain)) return undefined
  try {
    const tokens = lexer(complete(plain), { gfm: true })
    return isShallow(tokens, MAX_DEPTH) ? tokens : undefined
  } catch (error) {
    // The parser calls itself for marks in marks: thousands of them are more than the stack holds.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

function knownToken(token: Token): MarkedToken {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- no extension is installed, so these are all there are
  return token as MarkedToken
}

/** Functions that draw each kind of token. */
export type TokenTable<T> = {
  readonly [K in MarkedToken["type"]]: (token: Extract<MarkedToken, { readonly type: K }>) => T
}

export function drawToken<T>(token: Token, table: TokenTable<T>): T {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each token is given to the function of its own kind
  const draw = table[knownToken(token).type] as (token: Token) => T
  return draw(token)
}

function isTame(text: string): boolean {
  let paragraph = 0
  let fence: string | undefined
  for (const line of text.split("\n")) {
    const mark = /^\s{0,3}(```+|~~~+)/.exec(line)?.[1]
    if (fence !== undefined) {
      if (mark?.startsWith(fence) === true) fence = undefined
      continue
    }
    if (mark !== undefined) {
      fence = mark
      paragraph = 0
      continue
    }
    paragraph = line.trim() === "" ? 0 : paragraph + line.length
    if (paragraph > MAX_PARAGRAPH_CHARS || isDeep(line)) return false
  }
  return true
}

function isDeep(line: string): boolean {
  const [lead = ""] = /^[\s>]*/.exec(line) ?? []
  const quotes = lead.replaceAll(/[^>]/g, "").length
  const bullets = /^\s*(?:(?:[-*+]|\d{1,9}[.)])\s+){12}/.test(line)
  return quotes > MAX_QUOTES || (lead.length > MAX_INDENT && /^[-*+\d]/.test(line.slice(lead.length))) || bullets
}

function isShallow(tokens: readonly Token[], left: number): boolean {
  return left > 0 && tokens.every((token) => isShallow(childrenOf(knownToken(token)), left - 1))
}

function childrenOf(token: MarkedToken): readonly Token[] {
  if (token.type === "list") return token.items
  if (token.type === "table") return [token.header, ...token.rows].flat().flatMap((cell) => cell.tokens)
  return "tokens" in token ? (token.tokens ?? []) : []
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" }

/** Replaces the entities that markdown offers for characters with a meaning of their own. */
export function unescaped(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|#39);/g, (whole, name: string) => ENTITIES[name] ?? whole)
}

/** Every runtime has it, though the language does not: an address as a browser would go to it, whatever its spelling. */
declare const URL: {
  canParse(text: string): boolean
  new (text: string): { readonly href: string; readonly host: string; readonly protocol: string }
}

/** A link's address if it leads to the web or to mail; nothing that would run. Its host is shown, because its words are the agent's. */
export function safeLink(address: string): { readonly href: string; readonly host: string } | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined
  return url !== undefined && ["http:", "https:", "mailto:"].includes(url.protocol) ? url : undefined
}
