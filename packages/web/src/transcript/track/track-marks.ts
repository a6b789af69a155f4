import type { OutlineMark } from "@signalbox/client"
import type { Row } from "@signalbox/transcript"
import { useEffect, useState } from "react"
import { useHub } from "../../app/hub-context.ts"
import { whileOpen } from "../../app/value-store.ts"
import { oneLine } from "../../design/visible-text.tsx"

/** A place in a session that somebody would go to. */
export interface TrackMark {
  readonly seq: number
  readonly kind: "prompt" | "ask" | "error" | "compaction"
  readonly label: string
}

/** `share`: how far down the track it stands, from 0 to 1. */
type DrawnMark = TrackMark & { readonly share: number }

/** The two ends of the log. */
export interface TrackBounds {
  readonly firstSeq: number
  readonly lastSeq: number
}

/** How far down the track an event stands, from 0 to 1. */
export function shareOf(seq: number, { firstSeq, lastSeq }: TrackBounds): number {
  if (lastSeq <= firstSeq) return 0
  return Math.min(1, Math.max(0, (seq - firstSeq) / (lastSeq - firstSeq)))
}

export function seqAt(share: number, { firstSeq, lastSeq }: TrackBounds): number {
  return Math.round(firstSeq + Math.min(1, Math.max(0, share)) * Math.max(0, lastSeq - firstSeq))
}

/** The event that a key leads to: an arrow a hundredth of the session, a page key a tenth. Undefined: nowhere. */
export function steppedSeq(seq: number, key: string, { firstSeq, lastSeq }: TrackBounds): number | undefined {
  if (key === "Home") return firstSeq
  if (key === "End") return lastSeq
  const share = STEPS[key]
  if (share === undefined) return undefined
  const step = Math.sign(share) * Math.max(1, Math.round((lastSeq - firstSeq) * Math.abs(share)))
  return Math.min(lastSeq, Math.max(firstSeq, seq + step))
}

const STEPS: Readonly<Record<string, number>> = {
  ArrowUp: -0.01,
  ArrowLeft: -0.01,
  ArrowDown: 0.01,
  ArrowRight: 0.01,
  PageUp: -0.1,
  PageDown: 0.1,
}

const LABEL_CHARS = 120

/** The mark of what is loaded: newer than the hub's outline, or in its place when there is none. */
function markOf(row: Row): TrackMark | undefined {
  const mark = (kind: TrackMark["kind"], label: string, seq = row.headSeq) => ({
    seq,
    kind,
    label: oneLine(label, LABEL_CHARS),
  })
  if (row.kind === "prompt") return mark("prompt", row.text)
  if (row.kind === "ask") return mark("ask", "Question")
  if (row.kind === "tool" && row.ask !== undefined) return mark("ask", row.name, row.ask.seq)
  if (row.kind === "failure") return mark("error", row.text === "" ? row.code : row.text)
  if (row.kind === "retry") return mark("error", "The model's service failed and is tried again")
  if (row.kind === "result" && row.state === "failed") return mark("error", row.errors[0] ?? row.subtype)
  return row.kind === "compaction" ? mark("compaction", "The conversation was compacted") : undefined
}

/** The outline, and what came after it was asked for. */
export function joinedMarks(
  outline: { readonly marks: readonly TrackMark[]; readonly upTo: number },
  rows: readonly Row[],
): readonly TrackMark[] {
  return [...outline.marks, ...rows.flatMap((row) => markOf(row) ?? []).filter(({ seq }) => seq > outline.upTo)]
}

/** The heaviest mark is drawn where several meet. */
const WEIGHT: Readonly<Record<TrackMark["kind"], number>> = { compaction: 0, prompt: 1, ask: 2, error: 3 }
/** Closer than this they could not be told apart. */
const BUCKET_PX = 4

/** At most one mark for every few pixels, whatever the session's length. */
export function drawnMarks(marks: readonly TrackMark[], bounds: TrackBounds, heightPx: number): readonly DrawnMark[] {
  const buckets = new Map<number, TrackMark>()
  for (const mark of marks) {
    if (mark.seq < bounds.firstSeq || mark.seq > bounds.lastSeq) continue
    const bucket = Math.floor((shareOf(mark.seq, bounds) * heightPx) / BUCKET_PX)
    const there = buckets.get(bucket)
    if (there === undefined || WEIGHT[mark.kind] > WEIGHT[there.kind]) buckets.set(bucket, mark)
  }
  return [...buckets.values()].map((mark) => ({ ...mark, share: shareOf(mark.seq, bounds) }))
}

/** The mark that a pointer means, if one is near. */
export function nearestMark(marks: readonly DrawnMark[], share: number, reach: number): TrackMark | undefined {
  const near = marks.filter((mark) => Math.abs(mark.share - share) <= reach)
  return near.toSorted((a, b) => Math.abs(a.share - share) - Math.abs(b.share - share))[0]
}

/** The hub's landmarks of a whole session. `partial`: it has none, so what is loaded must do. */
type Outline =
  | { readonly name: "loading" }
  | { readonly name: "partial" }
  | { readonly name: "whole"; readonly marks: readonly TrackMark[]; readonly upTo: number }

/** More than a rail can show; every so many are left out of more. */
const MAX_MARKS = 20_000
const LOADING: Outline = { name: "loading" }

/** Asked for once, when the first rows are there: it must not hold them up. */
export function useOutline(
  sessionId: string,
  { isReady, lastSeq }: { readonly isReady: boolean; readonly lastSeq: number },
): Outline {
  const hub = useHub()
  const [outline, setOutline] = useState<Outline>(LOADING)
  const isEmpty = lastSeq === 0
  useEffect(() => {
    if (!isReady || isEmpty) return undefined
    return whileOpen(
      hub.session(sessionId).outline(),
      ({ marks }) => setOutline(wholeOutline(marks)),
      () => setOutline({ name: "partial" }),
    )
  }, [hub, sessionId, isReady, isEmpty])
  return outline
}

function wholeOutline(all: readonly OutlineMark[]): Outline {
  const shown = all.filter(isShown)
  const every = Math.ceil(shown.length / MAX_MARKS)
  const marks = every <= 1 ? shown : shown.filter((_, index) => index % every === 0)
  return { name: "whole", marks, upTo: marks.at(-1)?.seq ?? 0 }
}

/** Results are everywhere, and a newer hub may have kinds that we cannot draw. */
function isShown(mark: OutlineMark): mark is OutlineMark & TrackMark {
  return Object.hasOwn(WEIGHT, mark.kind)
}
