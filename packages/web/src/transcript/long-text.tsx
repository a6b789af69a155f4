import { useMemo, useRef } from "react"
import { Virtualizer } from "virtua"
import { AnsiText } from "./ansi-text.tsx"

const CHUNK_LINES = 50

/** Megabytes of text: only what is on the screen is in the document. */
export function LongText({ text }: { readonly text: string }) {
  const scroller = useRef<HTMLDivElement>(null)
  const chunks = useMemo(() => {
    const lines = text.split("\n")
    const count = Math.ceil(lines.length / CHUNK_LINES)
    return Array.from({ length: count }, (_, index) =>
      lines.slice(index * CHUNK_LINES, (index + 1) * CHUNK_LINES).join("\n"),
    )
  }, [text])
  return (
    // A region that scrolls must be reachable by those who cannot point.
    <section
      ref={scroller}
      tabIndex={0}
      aria-label="Whole output"
      className="h-96 overflow-y-auto px-3 py-2 font-mono text-dense whitespace-pre-wrap"
    >
      <Virtualizer scrollRef={scroller} data={chunks}>
        {(chunk, index) => (
          <div key={index}>
            <AnsiText text={chunk} />
          </div>
        )}
      </Virtualizer>
    </section>
  )
}
