import {
  drawToken,
  markdownTokens,
  safeLink,
  type Token,
  type Tokens,
  type TokenTable,
  unescaped,
} from "@signalbox/transcript/markdown"
import { createContext, Fragment, memo, type ReactNode, useContext, useEffect, useMemo } from "react"
import { createValueStore, useValue } from "../../app/value-store.ts"
import { CopyButton } from "../../design/button.tsx"
import { classes } from "../../design/classes.ts"
import { proseText } from "../../design/visible-text.tsx"
import { CodeText } from "./code-text.tsx"
import type { LineColours } from "./code-tones.ts"
import { useColours } from "./colours.ts"

interface MarkdownProps {
  readonly text: string
  /** Still being written: what is open is closed for now. */
  readonly live: boolean
  /** Marks the end of what is said so far. */
  readonly hasCaret?: boolean
  /** Somebody decides on it: draws what markdown leaves out of a token, such as the title of a link. */
  readonly leftOut?: LeftOut
}

type LeftOut = (token: Token) => ReactNode
const LeftOutOf = createContext<LeftOut | undefined>(undefined)

/** An agent's text, as elements of ours. Markup in it is text; nothing in it loads or runs. */
export const Markdown = memo(function Markdown({ text, live, hasCaret = false, leftOut }: MarkdownProps) {
  const mend = useMend(live)
  const blocks = useMemo(() => markdownTokens(text, live ? mend : undefined), [text, live, mend])
  if (blocks === undefined) return <div className="prose whitespace-pre-wrap">{proseText(text)}</div>
  return (
    <div className={classes("prose", hasCaret && "has-caret", leftOut && "is-whole")}>
      <LeftOutOf value={leftOut}>
        {blocks.map((block, index) => (
          // A text that grows keeps its blocks in their places: only the last one is drawn again.
          <Block key={index} block={block} raw={block.raw} isOpen={live && index === blocks.length - 1} />
        ))}
      </LeftOutOf>
    </div>
  )
})

type Mend = (text: string) => string

/** Closes what is open in a text that grows. The first such text fetches it, and is drawn as it is until then. */
const mender = createValueStore<Mend | undefined>(undefined)
let fetching: Promise<void> | undefined

function useMend(live: boolean): Mend | undefined {
  useEffect(() => {
    if (live) fetching ??= import("remend").then((loaded) => mender.set(loaded.default), forgetFetching)
  }, [live])
  return useValue(mender)
}

/** The next text that grows tries again. */
function forgetFetching(): void {
  fetching = undefined
}

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
  def: (token) => <All token={token} />,
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
  code: (token) => (
    <All token={token}>
      <CodeBlock text={token.text} language={token.lang ?? ""} />
    </All>
  ),
  blockquote: ({ tokens }) => <blockquote>{renderAll(tokens)}</blockquote>,
  list: ({ ordered, start, items }) =>
    ordered ? <ol start={start === "" ? 1 : start}>{renderAll(items)}</ol> : <ul>{renderAll(items)}</ul>,
  list_item: ({ tokens }) => <li>{renderAll(tokens)}</li>,
  table: (token) => (
    <All token={token}>
      <Table token={token} />
    </All>
  ),
  checkbox: ({ checked }) => (
    <input type="checkbox" aria-label="Task" checked={checked} readOnly disabled className="me-1.5" />
  ),
  hr: () => <hr />,
  br: () => <br />,
  link: (token) => (
    <All token={token}>
      <SafeLink href={token.href}>{renderAll(token.tokens)}</SafeLink>
    </All>
  ),
  image: (token) => (
    <All token={token}>
      <SafeLink href={token.href}>{`Image: ${token.text === "" ? token.href : token.text}`}</SafeLink>
    </All>
  ),
  html: ({ raw }) => proseText(raw),
}

function All({ token, children }: { readonly token: Token; readonly children?: ReactNode }) {
  const leftOut = useContext(LeftOutOf)
  return (
    <>
      {children}
      {leftOut?.(token)}
    </>
  )
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

/** All of a block is in the document: a longer one has no colours, which are an element each. */
const MAX_COLOURED = 20_000

/** The name behind a fence, without what else stands there: `ts`, of `TS title=a`. */
function fenceLanguage(language: string): string {
  const [name = ""] = language.trim().split(/[\s{,:]/, 1)
  return name.toLowerCase()
}

function CodeBlock({ text, language }: { readonly text: string; readonly language: string }) {
  const colours = useColours(text, text.length > MAX_COLOURED ? "" : fenceLanguage(language))
  return (
    <div className="group/code relative">
      {/* A long line is scrolled to: who cannot point must be able to reach it. */}
      <pre tabIndex={0} role="group" aria-label={language === "" ? "Code" : `Code, ${language}`}>
        <code>{colours === undefined ? proseText(text) : colouredLines(text, colours)}</code>
      </pre>
      <CopyButton
        text={text}
        className="absolute top-1 right-1 opacity-0 group-hover/code:opacity-100 focus-visible:opacity-100"
      />
    </div>
  )
}

/** A line with something in it that deceives is shown without colours: what it holds matters more. */
function colouredLines(text: string, colours: readonly LineColours[]): ReactNode {
  return text.split("\n").map((line, index) => (
    // Lines have no name but their place.
    <Fragment key={index}>
      {index > 0 && "\n"}
      <CodeText text={line} colours={colours[index]} readFor="prose" />
    </Fragment>
  ))
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
