import { useEffect } from "react"

const NAME = "found-words"
const MAX_RANGES = 500
/** A row that was gone to is drawn and opened within a few frames; after so many it is let be. */
const MAX_FRAMES = 60

/** The words of a query, as they are looked for in what is shown. */
function patternOf(text: string): RegExp | undefined {
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? []
  if (words.length === 0) return undefined
  // Letters and digits only: nothing in them means anything to a pattern.
  return new RegExp(words.join("|"), "giu")
}

/** Marks the words in the transcript while they are looked for, and brings the first of the row one was led to into view. */
export function useFoundWords(text: string, seq: number): void {
  useEffect(() => {
    const pattern = patternOf(text)
    if (pattern === undefined || !("highlights" in CSS)) return undefined
    let frame = 0
    const mark = () => {
      frame = 0
      const feed = feedElement()
      if (feed !== null) CSS.highlights.set(NAME, new Highlight(...rangesIn(feed, pattern)))
    }
    const observer = new MutationObserver(() => {
      frame ||= requestAnimationFrame(mark)
    })
    observer.observe(document.querySelector("#main") ?? document.body, {
      childList: true,
      characterData: true,
      subtree: true,
    })
    mark()
    return () => {
      observer.disconnect()
      cancelAnimationFrame(frame)
      CSS.highlights.delete(NAME)
    }
  }, [text])

  useEffect(() => {
    const pattern = patternOf(text)
    if (pattern === undefined) return undefined
    let frame = 0
    const look = (left: number) => {
      const feed = feedElement()
      const row = document.activeElement?.closest<HTMLElement>("article") ?? null
      const isThere = row !== null && feed !== null && feed.contains(row)
      const [range] = isThere ? rangesIn(row, pattern) : []
      if (range !== undefined && feed !== null) bringIntoView(range, feed)
      else if (left > 0) frame = requestAnimationFrame(() => look(left - 1))
    }
    frame = requestAnimationFrame(() => look(MAX_FRAMES))
    return () => cancelAnimationFrame(frame)
  }, [text, seq])
}

function feedElement(): HTMLElement | null {
  return document.querySelector<HTMLElement>('[role="feed"]')
}

function rangesIn(element: Element, pattern: RegExp): readonly Range[] {
  const ranges: Range[] = []
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null && ranges.length < MAX_RANGES; node = walker.nextNode()) {
    for (const match of (node.nodeValue ?? "").matchAll(pattern)) {
      const range = new Range()
      range.setStart(node, match.index)
      range.setEnd(node, match.index + match[0].length)
      ranges.push(range)
      if (ranges.length >= MAX_RANGES) break
    }
  }
  return ranges
}

function bringIntoView(range: Range, feed: HTMLElement): void {
  const [place, view] = [range.getBoundingClientRect(), feed.getBoundingClientRect()]
  if (place.top >= view.top && place.bottom <= view.bottom) return
  range.startContainer.parentElement?.scrollIntoView({ block: "center" })
}
