import { isObject, textOf } from "@signalbox/protocol/envelope"
import { useEffect, useState } from "react"
import { useHub } from "../../app/hub-context.ts"
import type { TrackMark } from "./track-marks.ts"

/** The hub's landmarks of a whole session. `partial`: it has none, so what is loaded must do. */
export type Outline =
  | { readonly name: "loading" }
  | { readonly name: "partial" }
  | { readonly name: "whole"; readonly marks: readonly TrackMark[]; readonly upTo: number }

/** More than a rail can show; every so many are left out of more. */
const MAX_MARKS = 20_000
const LOADING: Outline = { name: "loading" }

/** Asked for once, when the first rows are there: it must not hold them up. */
export function useOutline(
  sessionId: string,
  options: { readonly isReady: boolean; readonly lastSeq: number },
): Outline {
  const hub = useHub()
  const [outline, setOutline] = useState<Outline>(LOADING)
  const { isReady, lastSeq } = options
  const isEmpty = lastSeq === 0
  useEffect(() => {
    if (!isReady || isEmpty) return undefined
    let isCurrent = true
    const path = `/api/sessions/${encodeURIComponent(sessionId)}/outline`
    const read = async () => {
      const outline = await readOutline(() => hub.request({ method: "GET", path, repeatable: true }))
      if (isCurrent) setOutline(outline)
    }
    void read()
    return () => {
      isCurrent = false
    }
  }, [hub, sessionId, isReady, isEmpty])
  return outline
}

async function readOutline(request: () => Promise<unknown>): Promise<Outline> {
  try {
    const marks = marksIn(await request())
    return { name: "whole", marks, upTo: marks.at(-1)?.seq ?? 0 }
  } catch {
    return { name: "partial" }
  }
}

const KINDS: ReadonlySet<string> = new Set<TrackMark["kind"]>(["prompt", "ask", "error", "compaction"])

function isMarkKind(kind: string | undefined): kind is TrackMark["kind"] {
  return kind !== undefined && KINDS.has(kind)
}

function marksIn(reply: unknown): readonly TrackMark[] {
  const listed: readonly unknown[] = isObject(reply) && Array.isArray(reply["marks"]) ? reply["marks"] : []
  const marks = listed.flatMap((mark) => {
    const [kind, seq] = [textOf(mark, "kind"), isObject(mark) ? mark["seq"] : undefined]
    return isMarkKind(kind) && typeof seq === "number" ? [{ seq, kind, label: textOf(mark, "label") ?? "" }] : []
  })
  const every = Math.ceil(marks.length / MAX_MARKS)
  return every <= 1 ? marks : marks.filter((_, index) => index % every === 0)
}
