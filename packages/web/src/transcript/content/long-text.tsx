import { type KeyboardEvent, useEffect, useMemo, useRef } from "react"
import { Virtualizer, type VirtualizerHandle } from "virtua"
import { AnsiText } from "./ansi-text.tsx"

const CHUNK_LINES = 50

/** Megabytes of text: only what is on the screen is in the document. */
export function LongText({ text, from }: { readonly text: string; readonly from: "start" | "end" }) {
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
