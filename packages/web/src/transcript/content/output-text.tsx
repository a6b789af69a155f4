import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from "react"
import { Virtualizer, type VirtualizerHandle } from "virtua"
import { Button } from "../../design/button.tsx"
import { classes } from "../../design/classes.ts"
import { VisibleText } from "../../design/visible-text.tsx"
import { bytes, plural } from "../../design/words.ts"
import { AnsiText } from "./ansi-text.tsx"

interface OutputTextProps {
  readonly text: string
  /** Which end matters: of a command's output the last lines, of a file the first. */
  readonly from: "start" | "end"
  readonly lines?: number
  readonly label?: string
  readonly tone?: "danger"
}

/** Past this, all of it is shown in a view that draws only what is on the screen. */
const LONG_CHARS = 200_000
const MAX_SHOWN_CHARS = 8_000

/** Somebody else's output: a few lines at once, and the rest when asked for. */
export function OutputText({ text, from, lines = 12, label, tone }: OutputTextProps) {
  const [all, setAll] = useState(false)
  const part = useMemo(() => partOf(text, from, lines), [text, from, lines])
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

interface Part {
  readonly text: string
  /** Lines that are left out. */
  readonly hidden: number
  readonly isCut: boolean
}

function partOf(text: string, from: "start" | "end", count: number): Part {
  const trimmed = text.replace(/\n+$/, "")
  const all = trimmed.split("\n")
  const kept = from === "start" ? all.slice(0, count) : all.slice(-count)
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
    // Whoever saw the end of it goes on from there.
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
