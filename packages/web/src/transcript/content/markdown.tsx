import { marked, type Token, type Tokens } from "marked"
import { Fragment, memo, type ReactNode, useMemo } from "react"
import remend from "remend"
import { CopyButton } from "../../design/button.tsx"
import { proseText } from "../../design/visible-text.tsx"
import { type CodeSpan, codeSpans } from "./code-colours.ts"

interface MarkdownProps {
  readonly text: string
  /** Still being written: what is open is closed for now. */
  readonly live: boolean
}

/** What an agent writes, as elements of ours. Markup in it is text; nothing in it loads or runs. */
export const Markdown = memo(function Markdown({ text, live }: MarkdownProps) {
  // As it came: the parser would take seconds over it, or not come back.
  if (!isTame(text)) return <div className="prose whitespace-pre-wrap">{proseText(text)}</div>
  return <TameMarkdown text={text} live={live} />
})

function TameMarkdown({ text, live }: MarkdownProps) {
  const blocks = useMemo(() => marked.lexer(live ? remend(text) : text, { gfm: true }), [text, live])
  return (
    <div className="prose">
      {blocks.map((block, index) => (
        // A text that grows keeps its blocks in their places: only the last one is drawn again.
        <Block key={index} block={block} raw={block.raw} isOpen={live && index === blocks.length - 1} />
      ))}
    </div>
  )
}

interface BlockProps {
  readonly block: Token
  readonly raw: string
  /** More of it may come. */
  readonly isOpen: boolean
}

const Block = memo(
  function Block({ block, isOpen }: BlockProps) {
    // What may still grow has no colours yet: they would change with every word.
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

function renderToken(any: Token): ReactNode {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- no extension is installed, so these are all there are
  const token = any as MarkedToken
  switch (token.type) {
    case "space":
    case "def":
      return null
    case "paragraph":
      return <p>{renderAll(token.tokens)}</p>
    case "text":
      return token.tokens === undefined ? proseText(unescape(token.text)) : renderAll(token.tokens)
    case "escape":
      return proseText(token.text)
    case "heading": {
      // Below the page's own headings.
      const Heading = HEADINGS[token.depth - 1] ?? "h6"
      return <Heading>{renderAll(token.tokens)}</Heading>
    }
    case "strong":
      return <strong>{renderAll(token.tokens)}</strong>
    case "em":
      return <em>{renderAll(token.tokens)}</em>
    case "del":
      return <del>{renderAll(token.tokens)}</del>
    case "codespan":
      return <code>{proseText(token.text)}</code>
    case "code":
      return <CodeBlock text={token.text} language={token.lang ?? ""} />
    case "blockquote":
      return <blockquote>{renderAll(token.tokens)}</blockquote>
    case "list":
      return <List token={token} />
    case "table":
      return <Table token={token} />
    case "checkbox":
      return <input type="checkbox" aria-label="Task" checked={token.checked} readOnly disabled className="me-1.5" />
    case "hr":
      return <hr />
    case "br":
      return <br />
    case "link":
      return <SafeLink href={token.href}>{renderAll(token.tokens)}</SafeLink>
    case "image":
      return <SafeLink href={token.href}>{`Image: ${token.text === "" ? token.href : token.text}`}</SafeLink>
    case "html":
      return proseText(token.raw)
  }
}

type MarkedToken =
  | Tokens.Paragraph
  | Tokens.Text
  | Tokens.Escape
  | Tokens.Heading
  | Tokens.Strong
  | Tokens.Em
  | Tokens.Del
  | Tokens.Codespan
  | Tokens.Code
  | Tokens.Blockquote
  | Tokens.List
  | Tokens.Table
  | Tokens.Hr
  | Tokens.Br
  | Tokens.Link
  | Tokens.Image
  | Tokens.HTML
  | Tokens.Space
  | Tokens.Def
  | Tokens.Checkbox

function List({ token }: { readonly token: Tokens.List }) {
  const items = token.items.map((item, index) => <li key={index}>{renderAll(item.tokens)}</li>)
  return token.ordered ? <ol start={token.start === "" ? 1 : token.start}>{items}</ol> : <ul>{items}</ul>
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

/** Where it leads is shown when the words do not say it. Only the web and mail: nothing that would run. */
export function SafeLink({ href, children }: { readonly href: string; readonly children: ReactNode }) {
  const url = URL.canParse(href) ? new URL(href) : undefined
  const isSafe = url !== undefined && ["http:", "https:", "mailto:"].includes(url.protocol)
  if (!isSafe) return <span title={href}>{children}</span>
  return (
    <>
      <a href={url.href} target="_blank" rel="noreferrer noopener">
        {children}
      </a>
      {url.host !== "" && <span className="ms-1 text-meta text-text-3">({url.host})</span>}
    </>
  )
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" }

/** What markdown lets one write for characters that mean something in it. */
function unescape(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|#39);/g, (whole, name: string) => ENTITIES[name] ?? whole)
}

/** Deeper than anybody writes; the parser's time grows with the square of it and worse. */
const MAX_QUOTES = 20
const MAX_INDENT = 60
/** Bound on one paragraph: the parser searches it to its end for each mark that never closes. */
const MAX_PARAGRAPH_CHARS = 20_000

/** Whether a text can be read as markdown in reasonable time. Hostile ones are shown as they are. */
export function isTame(text: string): boolean {
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
