import type { Row } from "@signalbox/protocol/transcript"
import {
  type KeyboardEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useImperativeHandle,
  useRef,
  useState,
} from "react"
import { Virtualizer, type VirtualizerHandle } from "virtua"
import { currentPlace, setQuery } from "../app/router.ts"
import { Button } from "../design/button.tsx"
import { Notice } from "../design/notice.tsx"
import type { FeedView, SessionFeed } from "../session/session-feed.ts"
import { placeOf } from "./row-place.ts"
import { TranscriptArticle } from "./transcript-article.tsx"
import { openAll, useTranscript } from "./transcript-context.ts"
import { useFollow } from "./use-follow.ts"

export interface TranscriptHandle {
  /** Goes to an event, wherever it is in the log. */
  jumpTo(seq: number): Promise<void>
  jumpToEnd(): void
  /** The reader acts on what stands here. */
  hold(): void
  /** To the message before or after what is in view. */
  turn(step: -1 | 1): void
}

interface TranscriptListProps {
  readonly feed: SessionFeed
  readonly view: FeedView
  /** The line at the end that says what goes on. Always there, always as high. */
  readonly footer: ReactNode
  readonly handle: React.Ref<TranscriptHandle>
  /** The event that the address names; 0 for none. */
  readonly goTo: number
  readonly onPosition: (seq: number) => void
}

/** How far before an edge more is asked for, in heights of the view. */
const AHEAD = 1.5
const HEAD_PX = 36
const MARK_MS = 2000

export function TranscriptList({ feed, view, footer, handle, goTo, onPosition }: TranscriptListProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const list = useRef<VirtualizerHandle>(null)
  const { disclosures } = useTranscript()
  const [marked, setMarked] = useState<string | undefined>(undefined)
  const [focused, setFocused] = useState<number | undefined>(undefined)
  const { isFollowing, send } = useFollow(scroller, content)
  const heldAt = useRef(0)
  const rows = view.rows
  const current = useRef(rows)
  current.current = rows
  if (isFollowing) heldAt.current = view.arrived
  feed.isFollowing = isFollowing

  const look = useCallback(
    (offset: number) => {
      const handleNow = list.current
      if (handleNow === null) return
      const { viewportSize, scrollSize } = handleNow
      if (offset < viewportSize * AHEAD) void feed.loadBefore()
      if (offset > scrollSize - viewportSize * (1 + AHEAD)) void feed.loadAfter()
      const row = current.current[handleNow.findItemIndex(offset + HEAD_PX)]
      if (row !== undefined) onPosition(row.headSeq)
    },
    [feed, onPosition],
  )

  const goToRow = useCallback(
    (index: number, row: Row) => {
      send({ type: "hold" })
      list.current?.scrollToIndex(index, { align: "center" })
      setMarked(row.key)
      setTimeout(() => setMarked((key) => (key === row.key ? undefined : key)), MARK_MS)
      focusRow(scroller, row.key)
    },
    [send],
  )

  const jumpTo = useCallback(
    async (seq: number) => {
      send({ type: "hold" })
      await feed.jumpTo(seq)
      const now = feed.view.get().rows
      const words = currentPlace().query.get("find") ?? ""
      const { index, opens, lane } = placeOf(now, { seq, words, laneRows: (id) => feed.laneRows(id) })
      if (lane !== undefined) return setQuery({ lane }, { push: true })
      openAll(disclosures, opens)
      const row = now[index]
      // The list must have the rows before it can go to one of them.
      if (row !== undefined) requestAnimationFrame(() => goToRow(index, row))
    },
    [feed, send, goToRow, disclosures],
  )

  useEffect(() => {
    if (goTo > 0) void jumpTo(goTo)
  }, [goTo, jumpTo])

  const jumpToEnd = useCallback(() => {
    void feed.jumpToEnd().then(() => send({ type: "to-end" }))
  }, [feed, send])

  const turn = useCallback(
    (step: -1 | 1) => {
      const offset = list.current?.scrollOffset ?? 0
      const at = list.current?.findItemIndex(offset + (list.current.viewportSize ?? 0) / 2) ?? 0
      const prompts = current.current.flatMap((row, index) => (row.kind === "prompt" ? [index] : []))
      const target = step === 1 ? prompts.find((index) => index > at) : prompts.findLast((index) => index < at)
      const row = target === undefined ? undefined : current.current[target]
      if (target !== undefined && row !== undefined) goToRow(target, row)
    },
    [goToRow],
  )

  useImperativeHandle(handle, () => ({ jumpTo, jumpToEnd, hold: () => send({ type: "hold" }), turn }), [
    jumpTo,
    jumpToEnd,
    send,
    turn,
  ])

  useEffect(() => {
    const onSelect = () => {
      const selection = document.getSelection()
      if (selection !== null && !selection.isCollapsed && scroller.current?.contains(selection.anchorNode) === true)
        send({ type: "hold" })
    }
    document.addEventListener("selectionchange", onSelect)
    return () => document.removeEventListener("selectionchange", onSelect)
  }, [send])

  // Once drawn: a short page may not fill the view, and nothing scrolls to say so.
  useEffect(() => {
    if (view.load === "ready") look(list.current?.scrollOffset ?? 0)
  }, [view.load, rows.length, look])

  const fresh = view.arrived - heldAt.current
  return (
    <div className="relative flex min-h-0 flex-1 flex-col">
      <div
        ref={scroller}
        role="feed"
        aria-label="Transcript"
        aria-busy={view.load === "loading"}
        data-region="content"
        tabIndex={0}
        onKeyDown={(event) =>
          onFeedKey(event, { jumpTo: (seq) => void jumpTo(seq), jumpToEnd, firstSeq: view.firstSeq })
        }
        onFocus={(event) => setFocused(indexOfFocus(event.target, current.current))}
        className="min-h-0 flex-1 overflow-y-auto overscroll-contain scroll-py-4 [overflow-anchor:none] focus-visible:-outline-offset-2"
      >
        <div ref={content}>
          <div style={{ height: HEAD_PX }} className="flex items-center justify-center text-meta text-text-3">
            {!view.isAtHead && view.load === "ready" && "Earlier events…"}
          </div>
          {view.trouble !== undefined && (
            <div className="mx-auto max-w-4xl px-4">
              <Notice tone="danger">
                {view.trouble.where === "after" ? "Could not load later events." : "Could not load earlier events."}
                <Button onClick={() => void feed.retry()}>Retry</Button>
              </Notice>
            </div>
          )}
          <Virtualizer
            ref={list}
            scrollRef={scroller}
            data={rows}
            startMargin={HEAD_PX}
            shift={view.change === "front"}
            bufferSize={600}
            onScroll={look}
            {...(focused === undefined ? {} : { keepMounted: [focused] })}
          >
            {(row, index) => (
              <TranscriptArticle key={row.key} row={row} position={index + 1} isMarked={row.key === marked} />
            )}
          </Virtualizer>
          {footer}
        </div>
      </div>
      {!isFollowing && (
        <div className="pointer-events-none absolute inset-x-0 bottom-3 flex justify-center">
          <Button onClick={jumpToEnd} className="pointer-events-auto rounded-full! shadow-popover">
            {fresh > 0 ? `Jump to latest, ${fresh} new` : "Jump to latest"}
          </Button>
        </div>
      )}
    </div>
  )
}

/** The row may not be drawn yet, or not be measured and so hidden: tried for a few frames, then left. */
function focusRow(scroller: React.RefObject<HTMLElement | null>, key: string, tries = 20): void {
  const article = [...(scroller.current?.querySelectorAll<HTMLElement>("article") ?? [])].find(
    ({ dataset }) => dataset["key"] === key,
  )
  article?.focus({ preventScroll: true })
  const isThere = article !== undefined && document.activeElement === article
  if (!isThere && tries > 0) requestAnimationFrame(() => focusRow(scroller, key, tries - 1))
}

function indexOfFocus(target: EventTarget, rows: readonly Row[]): number | undefined {
  const key = target instanceof Element ? target.closest<HTMLElement>("article")?.dataset["key"] : undefined
  if (key === undefined) return undefined
  const index = rows.findIndex((row) => row.key === key)
  return index === -1 ? undefined : index
}

interface FeedKeys {
  readonly jumpTo: (seq: number) => void
  readonly jumpToEnd: () => void
  readonly firstSeq: number
}

/** Page keys go from article to article, Home and End to the ends of the log, with Ctrl out of it. */
function onFeedKey(event: KeyboardEvent<HTMLElement>, { jumpTo, jumpToEnd, firstSeq }: FeedKeys): void {
  const target = event.target
  if (target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]")) return
  const isMod = event.ctrlKey || event.metaKey
  if (event.key === "Home" && !isMod) jumpTo(firstSeq)
  else if (event.key === "End" && !isMod) jumpToEnd()
  else if (event.key === "End" && isMod)
    document.querySelector<HTMLElement>('[data-region="composer"] textarea')?.focus()
  else if (event.key === "Home" && isMod) document.querySelector<HTMLElement>("#main header button")?.focus()
  else if (event.key === "PageDown" || event.key === "PageUp")
    stepArticle(event.currentTarget, event.key === "PageDown" ? 1 : -1)
  else return
  event.preventDefault()
}

function stepArticle(feed: HTMLElement, step: 1 | -1): void {
  const articles = [...feed.querySelectorAll<HTMLElement>(":scope article")]
  const { top } = feed.getBoundingClientRect()
  const active = document.activeElement?.closest("article")
  const at = articles.findIndex((article) => article === active)
  const visible = articles.findIndex((article) => article.getBoundingClientRect().bottom > top + 8)
  const next = articles[at === -1 ? visible : at + step]
  next?.focus({ preventScroll: true })
  next?.scrollIntoView({ block: "nearest" })
}
