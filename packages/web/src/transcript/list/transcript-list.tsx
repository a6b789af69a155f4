import {
  type ReactNode,
  type RefObject,
  useCallback,
  useEffect,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react"
import { Virtualizer, type VirtualizerHandle } from "virtua"
import { useMarkRead } from "../../app/hub-context.ts"
import { createValueStore, useSelected } from "../../app/value-store.ts"
import { Button } from "../../design/button.tsx"
import { lazyPart, PartBoundary } from "../../design/lazy-part.tsx"
import { Notice } from "../../design/notice.tsx"
import { useTranscript } from "../rows/transcript-context.tsx"
import { SessionTrack, type TrackPosition } from "../track/session-track.tsx"
import { joinedMarks, type TrackMark, useOutline } from "../track/track-marks.ts"
import type { FeedView, SessionFeed } from "../window/session-feed.ts"
import { useFollow } from "./follow.ts"
import { onFeedKey, useJumps } from "./jumps.ts"
import { keepSizes, keptSizes, useKeptRows } from "./kept-rows.ts"
import { JumpPill, TasksChip } from "./list-hints.tsx"
import type { ReadingPlace } from "./reading-place.ts"
import { TranscriptArticle } from "./transcript-article.tsx"
import { useReadingPlace } from "./use-reading-place.ts"

const FindHint = lazyPart(async () => (await import("./find-hint.tsx")).FindHint, { isAhead: true })
const EmptyLane = lazyPart(async () => (await import("./lane-view.tsx")).EmptyLane)

export interface TranscriptHandle {
  jumpToStart(): void
  jumpToEnd(): void
  /** The reader acts on what stands here. */
  hold(): void
  /** To the message before or after what is in view. */
  turn(step: -1 | 1): void
}

interface TranscriptListProps {
  readonly feed: SessionFeed
  readonly view: FeedView
  /** The line below that says what goes on. Not among the rows: there it would move with everything that is said. */
  readonly footer: ReactNode
  readonly handle: React.Ref<TranscriptHandle>
  /** The event that the address names; 0 for none. */
  readonly goTo: number
  /** The place where it was left, for somebody who comes back to it. */
  readonly start: ReadingPlace | undefined
  /** The sub-agent whose lane this is. */
  readonly lane: string | null
  /** How often the reader has sent something. */
  readonly sent: number
}

/** How far before an edge more is asked for, in heights of the view. */
const AHEAD = 1.5
/** Room for the way to earlier events; of a session that is whole from the start, a little air. */
const HEAD_PX = { more: 36, whole: 12 }

export function TranscriptList({ feed, view, footer, handle, goTo, start, lane, sent }: TranscriptListProps) {
  const scroller = useRef<HTMLDivElement>(null)
  const content = useRef<HTMLDivElement>(null)
  const list = useRef<VirtualizerHandle>(null)
  const { sessionId } = useTranscript()
  const { isFollowing, send } = useFollow(scroller, content, start === undefined ? !(goTo > 0) : start.at === "end")
  const { rows } = view
  // It stays as high as it was: what stands below it must not move.
  const [headPx] = useState(view.isAtHead ? HEAD_PX.whole : HEAD_PX.more)
  const hold = useCallback(() => send({ type: "hold" }), [send])
  const kept = useKeptRows(scroller, rows, hold)
  const { marks, isPartial } = useMarks(sessionId, view)
  const { marked, jumpTo, jumpToEnd, turn } = useJumps({ feed, scroller, list, send, marks })
  const { position, onScroll, locate } = useLook(feed, list)
  const sizes = useSizes(sessionId, feed, list)
  const isDrawn = useIsDrawn(content)
  const { firstSeq, lastSeq } = view
  const bounds = useMemo(() => ({ firstSeq, lastSeq }), [firstSeq, lastSeq])
  feed.isFollowing = isFollowing

  // The end of the agent's own rows was read only by a reader who has it in view.
  const isEndInView = useSelected(position, ({ seq }) => seq >= lastSeq) || isFollowing
  const isRead = isEndInView && view.isAtTail && view.load === "ready" && lane === null
  useMarkRead(sessionId, isRead ? lastSeq : 0)

  // An agent's result stands where it was started: its lane ends with the row before it.
  const onAddress = useCallback((seq: number) => void jumpTo(seq, { tellsClosest: lane === null }), [jumpTo, lane])
  useReadingPlace({ feed, scroller, list, lane, isFollowing, send, start, goTo, onAddress })
  const jumpToStart = useCallback(() => void jumpTo(firstSeq), [jumpTo, firstSeq])
  useImperativeHandle(handle, () => ({ jumpToStart, jumpToEnd, hold, turn }), [jumpToStart, jumpToEnd, hold, turn])

  // Once drawn: a short page may not fill the view, and nothing scrolls to say so.
  useEffect(() => {
    const { scrollOffset, scrollSize, viewportSize } = list.current ?? NOTHING
    if (view.load !== "ready") return
    // Without rows the list has no size to go by.
    if (rows.length === 0 || scrollSize < viewportSize * (1 + AHEAD)) void feed.fill()
    locate(scrollOffset)
    // Before it is drawn the list does not know how high its view is.
  }, [view.load, view.fromSeq, view.toSeq, rows.length, feed, locate, isDrawn])

  return (
    <div className="flex min-h-0 flex-1 flex-col [@media(max-height:379px)]:min-h-36">
      <div className="relative flex min-h-0 flex-1">
        <div
          ref={scroller}
          role="feed"
          aria-label="Transcript"
          aria-busy={view.load === "loading" || (rows.length > 0 && !isDrawn)}
          data-region="content"
          tabIndex={0}
          onKeyDown={(event) => onFeedKey(event, { jumpToStart, jumpToEnd })}
          onFocus={(event) => kept.onFocus(event.target)}
          // As much at the start as the track takes at the end: its rows stand in line with the dock and the composer.
          className="min-h-0 min-w-0 flex-1 overflow-y-auto overscroll-contain scroll-py-4 desktop:ps-4 [overflow-anchor:none] focus-visible:-outline-offset-2"
        >
          <div ref={content}>
            <Head feed={feed} view={view} heightPx={headPx} />
            <Virtualizer
              ref={list}
              scrollRef={scroller}
              data={rows}
              startMargin={headPx}
              shift={view.change === "front"}
              bufferSize={600}
              onScroll={onScroll}
              keepMounted={kept.indexes}
              {...(sizes === undefined ? {} : { cache: sizes })}
            >
              {(row, index) => (
                <TranscriptArticle
                  key={row.key}
                  row={row}
                  position={index + 1}
                  mark={row.key === marked?.key ? (marked.isClosest ? "closest" : "exact") : undefined}
                />
              )}
            </Virtualizer>
            {!view.isAtTail && (
              // For a reader whose list is too short to be scrolled on.
              <p className="flex h-7 items-center justify-center text-meta text-text-3">
                <More onMore={() => void feed.loadAfter()}>Later events…</More>
              </p>
            )}
            {view.trouble?.where === "after" && (
              <NotLoaded onRetry={() => void feed.retry()}>Couldn't load later events.</NotLoaded>
            )}
          </div>
        </div>
        <SessionTrack
          bounds={bounds}
          position={position}
          marks={marks}
          isPartial={isPartial}
          onJump={(seq) => (seq >= lastSeq ? jumpToEnd() : void jumpTo(seq, { focus: false }))}
        />
        <div className="pointer-events-none absolute inset-x-4 top-2 flex items-start justify-end gap-2 desktop:inset-x-8">
          {/* A hint that can't be loaded says nothing: it would cover the transcript to ask for a reload. */}
          <PartBoundary waiting={null} frame={() => null}>
            <FindHint isWhole={view.isAtHead && view.isAtTail} />
          </PartBoundary>
          {lane === null && <TasksChip session={sessionId} />}
        </div>
        <JumpPill view={view} isFollowing={isFollowing} sent={sent} onJump={jumpToEnd} />
        {lane !== null && rows.length === 0 && (
          <PartBoundary waiting={null}>
            <EmptyLane feed={feed} view={view} lane={lane} />
          </PartBoundary>
        )}
      </div>
      {footer}
    </div>
  )
}

type HeadProps = Pick<TranscriptListProps, "feed" | "view"> & { readonly heightPx: number }

function Head({ feed, view, heightPx }: HeadProps) {
  return (
    <>
      <div style={{ height: heightPx }} className="flex items-center justify-center text-meta text-text-3">
        {!view.isAtHead && heightPx === HEAD_PX.more && (
          <More onMore={() => void feed.loadBefore()}>Earlier events…</More>
        )}
      </div>
      {view.trouble !== undefined && view.trouble.where !== "after" && (
        <NotLoaded onRetry={() => void feed.retry()}>Couldn't load earlier events.</NotLoaded>
      )}
    </>
  )
}

function NotLoaded({ children, onRetry }: { readonly children: string; readonly onRetry: () => void }) {
  return (
    <div className="mx-auto max-w-4xl px-4">
      <Notice tone="danger">
        {children}
        <Button onClick={onRetry}>Retry</Button>
      </Notice>
    </div>
  )
}

/** For a pointer alone: the keyboard has Home and Page Up, and a feed holds articles and nothing else. */
function More({ children, onMore }: { readonly children: string; readonly onMore: () => void }) {
  return (
    <button type="button" aria-hidden tabIndex={-1} className="min-h-7 px-3 hover:underline" onClick={onMore}>
      {children}
    </button>
  )
}

const NOTHING = { scrollOffset: 0, scrollSize: 0, viewportSize: 0 } as const
const NO_MARKS: readonly TrackMark[] = []

function useMarks(sessionId: string, view: FeedView) {
  const { lastSeq, fromSeq } = view
  const outline = useOutline(sessionId, { isReady: view.load === "ready", lastSeq })
  const rows = useRef(view.rows)
  rows.current = view.rows
  const marks = useMemo(() => {
    if (outline.name === "loading") return NO_MARKS
    return joinedMarks(outline.name === "whole" ? outline : { marks: NO_MARKS, upTo: 0 }, rows.current)
    // Only rows of the log count, and they change only when the log grows or another part of it is held.
  }, [outline, lastSeq, fromSeq])
  return { marks, isPartial: outline.name === "partial" }
}

const START: TrackPosition = { from: 0, to: 0, seq: 0, at: "" }

/** The list measures its place before it draws a row: until then there is nothing to read. */
function useIsDrawn(content: RefObject<HTMLElement | null>): boolean {
  const [isDrawn, setDrawn] = useState(false)
  useEffect(() => {
    if (isDrawn || content.current === null) return undefined
    const observer = new ResizeObserver(([entry]) => {
      if (entry?.target.querySelector("article") != null) setDrawn(true)
    })
    observer.observe(content.current)
    return () => observer.disconnect()
  }, [content, isDrawn])
  return isDrawn
}

/** Follows the reader: asks for more near an edge, and tells the track. */
function useLook(feed: SessionFeed, list: RefObject<VirtualizerHandle | null>) {
  const [position] = useState(() => createValueStore(START))
  /** Another part may be in view. */
  const locate = useCallback(
    (offset: number) => {
      const handle = list.current
      const view = feed.view.get()
      if (handle === null || view.rows.length === 0) return
      const inView = positionOf(handle, view, offset)
      feed.readerSeq = inView.seq
      position.set(inView)
    },
    [feed, list, position],
  )
  const onScroll = useCallback(
    (offset: number) => {
      const { viewportSize, scrollSize } = list.current ?? NOTHING
      if (scrollSize > viewportSize && offset < viewportSize * AHEAD) void feed.loadBefore()
      if (scrollSize > viewportSize && offset > scrollSize - viewportSize * (1 + AHEAD)) void feed.loadAfter()
      locate(offset)
    },
    [feed, list, locate],
  )
  return { position, onScroll, locate }
}

function positionOf(handle: VirtualizerHandle, view: FeedView, offset: number): TrackPosition {
  const { rows } = view
  const { viewportSize, scrollSize } = handle
  const rowAt = (y: number) => handle.findItemIndex(offset + y)
  const [top, middle, bottom] = [rowAt(HEAD_PX.more), rowAt(viewportSize / 2), rowAt(viewportSize)]
  const from = rows[top]?.headSeq ?? view.fromSeq
  const to = (rows[bottom + 1]?.headSeq ?? view.toSeq + 1) - 1
  const at = rows[middle]?.at ?? ""
  const inView = { from, to: Math.max(from, to), at }
  // At an end the middle never gets there.
  if (view.isAtTail && offset + viewportSize >= scrollSize) return { ...inView, seq: view.lastSeq }
  if (view.isAtHead && offset <= 0) return { ...inView, seq: view.firstSeq }
  return { ...inView, seq: rows[middle]?.headSeq ?? from }
}

/** Heights of rows are kept when the session is left, and used when the same rows come back. */
function useSizes(sessionId: string, feed: SessionFeed, list: RefObject<VirtualizerHandle | null>) {
  const [sizes] = useState(() => keptSizes(sessionId, feed.view.get().rows))
  useLayoutEffect(
    () => () => {
      const handle = list.current
      if (handle !== null) keepSizes(sessionId, feed.view.get().rows, handle.cache)
    },
    [sessionId, feed, list],
  )
  return sizes
}
