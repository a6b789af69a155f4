import { useEffect, useState } from "react"

/** A frame between two turns, for whatever else the page has to do. */
const PAUSE_MS = 16

const waiting = new Set<() => void>()
let timer: ReturnType<typeof setTimeout> | undefined

function next(): void {
  const [first] = waiting
  timer = first === undefined ? undefined : setTimeout(next, PAUSE_MS)
  if (first === undefined) return
  waiting.delete(first)
  first()
}

/** Runs what takes a while one after the other, in the order in which it was asked for. Returns how to give a turn up. */
export function awaitTurn(run: () => void): () => void {
  waiting.add(run)
  timer ??= setTimeout(next, 0)
  return () => {
    waiting.delete(run)
  }
}

/** Whether this one's turn has come; `isQuick`: it needs none. */
export function useTurn(isQuick: boolean): boolean {
  const [isUp, setUp] = useState(isQuick)
  useEffect(() => (isUp ? undefined : awaitTurn(() => setUp(true))), [isUp])
  return isUp
}
