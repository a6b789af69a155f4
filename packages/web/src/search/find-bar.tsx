import type { SearchHit } from "@signalbox/client"
import { useEffect, useMemo, useState } from "react"
import { useHub } from "../app/hub-context.ts"
import { Link, setQuery } from "../app/router.tsx"
import { IconButton } from "../design/button.tsx"
import { BackIcon, CloseIcon, NextIcon } from "../design/icons.tsx"
import { askSearch } from "./search-query.ts"

interface FindBarProps {
  readonly session: string
  readonly text: string
  /** The event that is looked at. */
  readonly seq: number
}

/** As many as the hub gives at once. */
const MAX_HITS = 200

type Found =
  | { readonly name: "searching" }
  | { readonly name: "failed" }
  | { readonly name: "found"; readonly seqs: readonly number[]; readonly more: boolean }

function useHitsIn(session: string, text: string): Found {
  const hub = useHub()
  const [found, setFound] = useState<Found>({ name: "searching" })
  useEffect(() => {
    const ending = new AbortController()
    setFound({ name: "searching" })
    askSearch(hub, { q: text.slice(0, 500), session, limit: MAX_HITS }, ending.signal).then(
      ({ hits, more }) => setFound({ name: "found", seqs: seqsOf(hits), more }),
      () => {
        if (!ending.signal.aborted) setFound({ name: "failed" })
      },
    )
    return () => ending.abort()
  }, [hub, session, text])
  return found
}

/** In the order of the log; two hits in one event are one place to go to. */
function seqsOf(hits: readonly SearchHit[]): readonly number[] {
  const seqs = new Set(hits.map(({ seq }) => seq).filter((seq) => seq > 0))
  return [...seqs].toSorted((a, b) => a - b)
}

/** The text that somebody came looking for, and the way to where else it stands in this session. */
export function FindBar({ session, text, seq }: FindBarProps) {
  const found = useHitsIn(session, text)
  useFoundWords(text, seq)
  const seqs = useMemo(() => (found.name === "found" ? found.seqs : []), [found])
  const at = seqs.indexOf(seq)
  const go = (step: 1 | -1) => {
    const next = at === -1 ? nearest(seqs, seq, step) : seqs[(at + step + seqs.length) % seqs.length]
    if (next !== undefined) setQuery({ seq: String(next), lane: null })
  }
  const search = `/search?${new URLSearchParams({ q: text, session }).toString()}`
  return (
    <div
      role="search"
      aria-label="Found in this session"
      className="flex min-h-10 items-center gap-1 border-b border-line bg-sunken px-3 text-dense"
    >
      <Link href={search} className="min-w-0 truncate text-text-2 hover:underline">
        <bdi>“{text}”</bdi>
      </Link>
      <span role="status" className="ms-auto shrink-0 px-2 text-text-2 tabular-nums">
        {wordsFor(found, at)}
      </span>
      <IconButton label="Previous match" aria-disabled={seqs.length === 0} onClick={() => go(-1)}>
        <BackIcon size={16} />
      </IconButton>
      <IconButton label="Next match" aria-disabled={seqs.length === 0} onClick={() => go(1)}>
        <NextIcon size={16} />
      </IconButton>
      <IconButton label="Close search" onClick={() => setQuery({ find: null })}>
        <CloseIcon size={16} />
      </IconButton>
    </div>
  )
}

/** From an event that has no match itself: the next one that has, whichever way. */
function nearest(seqs: readonly number[], seq: number, step: 1 | -1): number | undefined {
  return step === 1 ? (seqs.find((one) => one > seq) ?? seqs[0]) : (seqs.findLast((one) => one < seq) ?? seqs.at(-1))
}

function wordsFor(found: Found, at: number): string {
  switch (found.name) {
    case "searching":
      return "Searching…"
    case "failed":
      return "Search failed"
    case "found": {
      const count = `${found.seqs.length}${found.more ? "+" : ""}`
      if (found.seqs.length === 0) return "No matches"
      return at === -1 ? `${count} in this session` : `${at + 1} of ${count}`
    }
  }
}

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
function useFoundWords(text: string, seq: number): void {
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
