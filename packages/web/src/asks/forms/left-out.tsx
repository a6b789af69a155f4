import { drawToken, type Token, type Tokens, type TokenTable } from "@signalbox/transcript/markdown"
import type { ReactNode } from "react"
import { proseText } from "../../design/visible-text.tsx"

/** Parts of a text that markdown does not show: somebody who decides on the text must see them. */
const LEFT_OUT: Partial<TokenTable<ReactNode>> = {
  def: ({ raw }) => <p>{proseText(raw)}</p>,
  link: ({ href, text, title }) => target(text === href ? "" : href, title),
  image: ({ href, text, title }) => target(text === "" ? "" : href, title),
  code: ({ lang = "" }) => lang !== "" && <p className="text-meta text-text-3">{proseText(lang)}</p>,
  table: (token) => (isWhole(token) ? null : <p className="font-mono whitespace-pre-wrap">{proseText(token.raw)}</p>),
}

export function leftOut(token: Token): ReactNode {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all other kinds show everything
  return token.type in LEFT_OUT ? drawToken(token, LEFT_OUT as TokenTable<ReactNode>) : null
}

/** A link's address and title, which its words need not say. */
function target(href: string, title?: string | null): ReactNode {
  const words = [href, title ? `"${title}"` : ""].filter((part) => part !== "").join(" ")
  return words !== "" && <span className="ms-1 text-meta text-text-3">{proseText(words)}</span>
}

/** More columns would not be in view side by side. */
const MAX_COLUMNS = 10

/** Markdown drops cells beyond those of the table's head. */
function isWhole({ raw, header, rows }: Tokens.Table): boolean {
  const lettersOf = (text: string) => text.replaceAll(/[^\p{L}\p{N}]/gu, "")
  const cells = [...header, ...rows.flat()].map(({ text }) => text).join("")
  return header.length <= MAX_COLUMNS && lettersOf(raw) === lettersOf(cells)
}
