import {
  drawToken,
  markdownTokens,
  safeLink,
  type Token,
  type Tokens,
  type TokenTable,
  unescaped,
} from "@signalbox/transcript/markdown"
import { Fragment, memo, type ReactNode, useMemo } from "react"
import remend from "remend"
import { CopyButton } from "../../design/button.tsx"
import { proseText } from "../../design/visible-text.tsx"

interface MarkdownProps {
  readonly text: string
  /** Still being written: what is open is closed for now. */
  readonly live: boolean
  /** Marks the end of what is said so far. */
  readonly hasCaret?: boolean
}

/** An agent's text, as elements of ours. Markup in it is text; nothing in it loads or runs. */
export const Markdown = memo(function Markdown({ text, live, hasCaret = false }: MarkdownProps) {
  const blocks = useMemo(() => markdownTokens(text, live ? remend : undefined), [text, live])
  if (blocks === undefined) return <div className="prose whitespace-pre-wrap">{proseText(text)}</div>
  return (
    <div className={hasCaret ? "prose has-caret" : "prose"}>
      {blocks.map((block, index) => (
        // A text that grows keeps its blocks in their places: only the last one is drawn again.
        <Block key={index} block={block} raw={block.raw} isOpen={live && index === blocks.length - 1} />
      ))}
    </div>
  )
})

interface BlockProps {
  readonly block: Token
  readonly raw: string
  /** More of it may come. */
  readonly isOpen: boolean
}

const Block = memo(
  function Block({ block, isOpen }: BlockProps) {
    // Code that may still grow has no colours yet: they would change with every word.
    if (block.type === "code" && isOpen) return <CodeBlock text={String(block["text"])} language="" />
    return <>{renderToken(block)}</>
  },
  // The same source is the same block, whichever parse it came from.
  (before, after) =>
    before.raw === after.raw && before.block.type === after.block.type && before.isOpen === after.isOpen,
)

function renderAll(tokens: readonly Token[] | undefined): ReactNode {
  return tokens?.map((token, index) => <Fragment key={index}>{renderToken(token)}</Fragment>)
}

const HEADINGS = ["h3", "h4", "h5", "h6", "h6", "h6"] as const

function renderToken(token: Token): ReactNode {
  return drawToken(token, ELEMENTS)
}

const ELEMENTS: TokenTable<ReactNode> = {
  space: () => null,
  def: () => null,
  paragraph: ({ tokens }) => <p>{renderAll(tokens)}</p>,
  text: ({ text, tokens }) => (tokens === undefined ? proseText(unescaped(text)) : renderAll(tokens)),
  escape: ({ text }) => proseText(text),
  heading: ({ depth, tokens }) => {
    // Below the page's own headings.
    const Heading = HEADINGS[depth - 1] ?? "h6"
    return <Heading>{renderAll(tokens)}</Heading>
  },
  strong: ({ tokens }) => <strong>{renderAll(tokens)}</strong>,
  em: ({ tokens }) => <em>{renderAll(tokens)}</em>,
  del: ({ tokens }) => <del>{renderAll(tokens)}</del>,
  codespan: ({ text }) => <code>{proseText(text)}</code>,
  code: ({ text, lang }) => <CodeBlock text={text} language={lang ?? ""} />,
  blockquote: ({ tokens }) => <blockquote>{renderAll(tokens)}</blockquote>,
  list: ({ ordered, start, items }) =>
    ordered ? <ol start={start === "" ? 1 : start}>{renderAll(items)}</ol> : <ul>{renderAll(items)}</ul>,
  list_item: ({ tokens }) => <li>{renderAll(tokens)}</li>,
  table: (token) => <Table token={token} />,
  checkbox: ({ checked }) => (
    <input type="checkbox" aria-label="Task" checked={checked} readOnly disabled className="me-1.5" />
  ),
  hr: () => <hr />,
  br: () => <br />,
  link: ({ href, tokens }) => <SafeLink href={href}>{renderAll(tokens)}</SafeLink>,
  image: ({ href, text }) => <SafeLink href={href}>{`Image: ${text === "" ? href : text}`}</SafeLink>,
  html: ({ raw }) => proseText(raw),
}

function Table({ token }: { readonly token: Tokens.Table }) {
  return (
    <table>
      <thead>
        <tr>
          {token.header.map((cell, index) => (
            <th key={index} scope="col">
              {renderAll(cell.tokens)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {token.rows.map((row, index) => (
          <tr key={index}>
            {row.map((cell, at) => (
              <td key={at}>{renderAll(cell.tokens)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const TONES: Readonly<Record<NonNullable<CodeSpan["tone"]>, string>> = {
  keyword: "text-plan",
  string: "text-clear",
  comment: "text-text-3",
  number: "text-info",
  added: "text-clear",
  removed: "text-danger",
}

function CodeBlock({ text, language }: { readonly text: string; readonly language: string }) {
  return (
    <div className="group/code relative">
      {/* A long line is scrolled to: who cannot point must be able to reach it. */}
      <pre tabIndex={0} role="group" aria-label={language === "" ? "Code" : `Code, ${language}`}>
        <code>
          {codeSpans(text, language).map((span, index) =>
            span.tone === undefined ? (
              <Fragment key={index}>{proseText(span.text)}</Fragment>
            ) : (
              // Spans have no identity but their place.
              <span key={index} className={TONES[span.tone]}>
                {proseText(span.text)}
              </span>
            ),
          )}
        </code>
      </pre>
      <CopyButton
        text={text}
        className="absolute top-1 right-1 opacity-0 group-hover/code:opacity-100 focus-visible:opacity-100"
      />
    </div>
  )
}

/** A link with its host beside it. Only the web and mail: nothing that would run. */
export function SafeLink({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  const link = safeLink(href)
  if (link === undefined) return <span title={href}>{children}</span>
  return (
    <>
      <a href={link.href} target="_blank" rel="noreferrer noopener">
        {children}
      </a>
      {link.host !== "" && <span className="ms-1 text-meta text-text-3">({link.host})</span>}
    </>
  )
}

/** A stretch of code in one colour. */
interface CodeSpan {
  readonly text: string
  readonly tone?: "keyword" | "string" | "comment" | "number" | "added" | "removed"
}

/** Longer ones are read, not looked at. */
const MAX_CHARS = 20_000

const SLASHES =
  "ts tsx js jsx mjs typescript javascript java kotlin swift go rust rs c h cpp c++ cs csharp php scala dart css scss json jsonc proto"
const HASHES = "py python rb ruby sh bash shell zsh yaml yml toml perl make dockerfile r"
const DASHES = "sql lua haskell hs ada"

/** How a comment begins, by the name behind the fence. Others are left as they are. */
const COMMENTS = new Map([
  ...SLASHES.split(" ").map((name) => [name, String.raw`\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)`] as const),
  ...HASHES.split(" ").map((name) => [name, String.raw`(?<![\w$])#[^\n]*`] as const),
  ...DASHES.split(" ").map((name) => [name, String.raw`--[^\n]*`] as const),
])

const STRINGS = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|` + "`(?:[^`\\\\]|\\\\.)*`"
const NUMBERS = String.raw`(?<![\w$.])\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?\b`
const KEYWORDS =
  "abstract|and|as|async|await|begin|break|case|catch|class|const|continue|def|default|defer|del|delete|do|done|elif|else|end|enum|esac|except|export|extends|extern|false|False|fi|finally|fn|for|from|func|function|global|go|goto|if|impl|implements|import|in|instanceof|interface|is|lambda|let|local|loop|match|mod|mut|new|nil|None|not|null|of|or|package|pass|private|protected|pub|public|raise|readonly|return|select|SELECT|FROM|WHERE|INSERT|UPDATE|DELETE|CREATE|TABLE|JOIN|self|static|struct|super|switch|then|this|throw|trait|true|True|try|type|typeof|undefined|union|unsafe|until|use|using|var|void|when|where|while|with|yield"

const patterns = new Map<string, RegExp>()

function patternOf(comment: string): RegExp {
  const known = patterns.get(comment)
  if (known !== undefined) return known
  const made = new RegExp(
    `(?<comment>${comment})|(?<string>${STRINGS})|(?<number>${NUMBERS})|(?<keyword>(?<![\\w$.-])(?:${KEYWORDS})(?![\\w$-]))`,
    "g",
  )
  patterns.set(comment, made)
  return made
}

/** Colours only: the same characters in the same places. One span where nothing is known of the language. */
export function codeSpans(text: string, language: string): readonly CodeSpan[] {
  const name =
    language
      .trim()
      .split(/[\s{,:]/, 1)[0]
      ?.toLowerCase() ?? ""
  if (text.length > MAX_CHARS) return [{ text }]
  if (name === "diff" || name === "patch") return diffSpans(text)
  const comment = COMMENTS.get(name)
  if (comment === undefined) return [{ text }]
  const spans: CodeSpan[] = []
  let end = 0
  for (const match of text.matchAll(patternOf(comment))) {
    if (match.index > end) spans.push({ text: text.slice(end, match.index) })
    spans.push({ text: match[0], tone: toneOf(match.groups) })
    end = match.index + match[0].length
  }
  if (end < text.length) spans.push({ text: text.slice(end) })
  return spans
}

function toneOf(groups: Readonly<Record<string, string | undefined>> | undefined): NonNullable<CodeSpan["tone"]> {
  if (groups?.["comment"] !== undefined) return "comment"
  if (groups?.["string"] !== undefined) return "string"
  return groups?.["number"] === undefined ? "keyword" : "number"
}

function diffSpans(text: string): readonly CodeSpan[] {
  return text.split(/(?<=\n)/).map((line) => {
    if (line.startsWith("+")) return { text: line, tone: "added" }
    return line.startsWith("-") ? { text: line, tone: "removed" } : { text: line }
  })
}
