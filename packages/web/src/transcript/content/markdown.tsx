import {
  knownToken,
  markdownTokens,
  safeLink,
  type Token,
  type Tokens,
  unescaped,
} from "@signalbox/transcript/markdown"
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
  const blocks = useMemo(() => markdownTokens(text, live ? remend : undefined), [text, live])
  if (blocks === undefined) return <div className="prose whitespace-pre-wrap">{proseText(text)}</div>
  return (
    <div className="prose">
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
  const token = knownToken(any)
  switch (token.type) {
    case "space":
    case "def":
      return null
    case "paragraph":
      return <p>{renderAll(token.tokens)}</p>
    case "text":
      return token.tokens === undefined ? proseText(unescaped(token.text)) : renderAll(token.tokens)
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
    case "list_item":
      return <li>{renderAll(token.tokens)}</li>
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

function List({ token }: { readonly token: Tokens.List }) {
  const items = renderAll(token.items)
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

/** Where it leads is shown beside it. Only the web and mail: nothing that would run. */
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
