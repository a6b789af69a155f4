import { Fragment, type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react"
import { Virtualizer, type VirtualizerHandle } from "virtua"
import { Button } from "../../design/button.tsx"
import { classes } from "../../design/classes.ts"
import { proseText, VisibleText } from "../../design/visible-text.tsx"
import { bytes, plural } from "../../design/words.ts"

interface OutputTextProps {
  readonly text: string
  /** Which end matters: of a command's output the last lines, of a file the first. */
  readonly from: "start" | "end"
  readonly label?: string
  readonly tone?: "danger"
}

/** Past this, all of it is shown in a view that draws only what is on the screen. */
const LONG_CHARS = 200_000
const MAX_SHOWN_CHARS = 8_000
const SHOWN_LINES = 12

/** Somebody else's output: a few lines at once, and the rest when asked for. */
export function OutputText({ text, from, label, tone }: OutputTextProps) {
  const [all, setAll] = useState(false)
  const part = useMemo(() => partOf(text, from), [text, from])
  if (text === "") return null
  const isLong = text.length > LONG_CHARS
  const rest = isLong ? `Show all, ${bytes(text.length)}` : `Show ${plural(part.hidden, "more line")}`
  const button = part.hidden > 0 && !all && (
    <Button look="quiet" onClick={() => setAll(true)} className="w-full rounded-none! text-dense!">
      {part.hidden === 1 && part.isCut ? "Show all" : rest}
    </Button>
  )
  return (
    <div
      className={classes(
        "overflow-hidden rounded-control border bg-sunken",
        tone === "danger" ? "border-danger/50" : "border-line",
      )}
    >
      {label !== undefined && <p className="px-3 pt-1 text-meta font-medium text-text-3">{label}</p>}
      {from === "end" && button}
      {all && isLong ? (
        <LongText text={text} from={from} />
      ) : (
        <div className="px-3 py-2 font-mono text-dense whitespace-pre-wrap">
          <AnsiText text={all ? text : part.text} />
        </div>
      )}
      {from === "start" && button}
    </div>
  )
}

/** `hidden`: how many lines are left out. */
function partOf(text: string, from: "start" | "end") {
  const trimmed = text.replace(/\n+$/, "")
  const all = trimmed.split("\n")
  const kept = from === "start" ? all.slice(0, SHOWN_LINES) : all.slice(-SHOWN_LINES)
  const joined = kept.join("\n")
  const cut = from === "start" ? joined.slice(0, MAX_SHOWN_CHARS) : joined.slice(-MAX_SHOWN_CHARS)
  const isCut = cut.length < joined.length
  return { text: cut, hidden: all.length - kept.length + Number(isCut), isCut }
}

const CHUNK_LINES = 50

/** Megabytes of text: only what is on the screen is in the document. */
function LongText({ text, from }: { readonly text: string; readonly from: "start" | "end" }) {
  const scroller = useRef<HTMLDivElement>(null)
  const list = useRef<VirtualizerHandle>(null)
  const chunks = useMemo(() => {
    const lines = text.split("\n")
    const count = Math.ceil(lines.length / CHUNK_LINES)
    return Array.from({ length: count }, (_, index) =>
      lines.slice(index * CHUNK_LINES, (index + 1) * CHUNK_LINES).join("\n"),
    )
  }, [text])
  useEffect(() => {
    // A reader who saw the end of it goes on from there.
    if (from === "end") list.current?.scrollToIndex(chunks.length - 1, { align: "end" })
  }, [from, chunks.length])
  // The browser's own Home would lose against the list, which is still on its way to the end while it measures.
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || (event.key !== "Home" && event.key !== "End")) return
    event.preventDefault()
    const isHome = event.key === "Home"
    list.current?.scrollToIndex(isHome ? 0 : chunks.length - 1, { align: isHome ? "start" : "end" })
  }
  return (
    // A region that scrolls must be reachable by those who cannot point.
    <section
      ref={scroller}
      tabIndex={0}
      aria-label="Whole output"
      data-own-scroll
      onKeyDown={onKeyDown}
      className="h-96 overflow-y-auto px-3 py-2 font-mono text-dense whitespace-pre-wrap"
    >
      <Virtualizer ref={list} scrollRef={scroller} data={chunks}>
        {(chunk, index) => (
          <div key={index}>
            <AnsiText text={chunk} />
          </div>
        )}
      </Virtualizer>
    </section>
  )
}

/** Anything at all, as it is. */
export function JsonView({ value, whole = false }: { readonly value: unknown; readonly whole?: boolean }) {
  const text = useMemo(() => JSON.stringify(value, null, 2) ?? "nothing", [value])
  if (!whole) return <OutputText text={text} from="start" />
  return (
    <div className="rounded-control border border-line bg-sunken px-3 py-2 font-mono text-dense whitespace-pre-wrap">
      <VisibleText text={text} />
    </div>
  )
}

const COLOURS = {
  danger: "text-danger",
  clear: "text-clear",
  caution: "text-caution",
  info: "text-info",
  plan: "text-plan",
  accent: "text-accent",
  faint: "text-text-3",
} as const

function AnsiText({ text }: { readonly text: string }) {
  return (
    <bdi>
      {ansiSpans(text).map((span, index) =>
        span.tone === undefined && span.bold !== true ? (
          <Fragment key={index}>{proseText(span.text)}</Fragment>
        ) : (
          // Spans have no identity but their place.
          <span key={index} className={classes(span.tone && COLOURS[span.tone], span.bold === true && "font-bold")}>
            {proseText(span.text)}
          </span>
        ),
      )}
    </bdi>
  )
}

/** A stretch of terminal output in one look. */
interface AnsiSpan {
  readonly text: string
  /** Names of a closed set, never anything that came with the text. */
  readonly tone?: keyof typeof COLOURS
  readonly bold?: boolean
}

/** Tones by the last digit of a colour's code. */
const TONES = ["faint", "danger", "clear", "caution", "info", "plan", "accent"] as const

/* oxlint-disable no-control-regex -- the control characters are the point */
/** Colours; every other sequence a terminal would act on; and what is left of control characters. */
const SEQUENCE =
  /\u001b\[([\d;]*)m|\u001b\[[\d;?<>=!]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[PX^_][^\u001b]*(?:\u001b\\)?|\u001b[@-Z\\-~]?|[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f]/g
/* oxlint-enable no-control-regex */

/** Colours become ours; nothing else of a terminal's language does anything. */
export function ansiSpans(text: string): readonly AnsiSpan[] {
  const spans: AnsiSpan[] = []
  let look: Omit<AnsiSpan, "text"> = {}
  let end = 0
  const push = (piece: string) => {
    if (piece !== "") spans.push({ text: piece, ...look })
  }
  const clean = overwritten(text)
  for (const match of clean.matchAll(SEQUENCE)) {
    push(clean.slice(end, match.index))
    end = match.index + match[0].length
    if (match[1] !== undefined) look = dressed(look, match[1])
  }
  push(clean.slice(end))
  return spans
}

/** The text alone, without a terminal's language. */
export function withoutAnsi(text: string): string {
  return ansiSpans(text)
    .map((span) => span.text)
    .join("")
}

/** A progress bar writes over its own line: what stood there last is what was seen. */
function overwritten(text: string): string {
  if (!text.includes("\r")) return text
  return text
    .replaceAll("\r\n", "\n")
    .replaceAll(/^.*\r(?!$)/gm, "")
    .replaceAll("\r", "")
}

function dressed(look: Omit<AnsiSpan, "text">, codes: string): Omit<AnsiSpan, "text"> {
  let next = look
  const numbers = codes.split(";").map(Number)
  for (let index = 0; index < numbers.length; index++) {
    const code = numbers[index] ?? 0
    if (code === 0) next = {}
    else if (code === 1) next = { ...next, bold: true }
    else if (code === 2) next = { ...next, tone: "faint" }
    else if (code === 22) next = withoutBold(next)
    else if (code === 39) next = next.bold === true ? { bold: true } : {}
    else if (code === 38 || code === 48) index += numbers[index + 1] === 5 ? 2 : 4
    else if ((code >= 30 && code <= 37) || (code >= 90 && code <= 97)) next = withTone(next, code % 10)
  }
  return next
}

function withoutBold({ tone }: Omit<AnsiSpan, "text">): Omit<AnsiSpan, "text"> {
  return tone === undefined || tone === "faint" ? {} : { tone }
}

function withTone(look: Omit<AnsiSpan, "text">, colour: number): Omit<AnsiSpan, "text"> {
  const tone = TONES[colour]
  const bold = look.bold === true ? { bold: true } : {}
  return tone === undefined ? bold : { tone, ...bold }
}
