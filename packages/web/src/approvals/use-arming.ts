import { useCallback, useEffect, useRef } from "react"
import { type Arming, isArmed, stepArming } from "./arming.ts"

/** When a card of this page was last settled: whichever comes next must wait. */
let settledAt = Number.NEGATIVE_INFINITY

export function noteSettled(): void {
  settledAt = performance.now()
}

export interface CardArming {
  readonly isArmed: () => boolean
  readonly onFocus: () => void
}

export function useArming(contentKey: string): CardArming {
  const state = useRef<Arming>({ inertUntil: Number.NEGATIVE_INFINITY })
  const wasFocused = useRef(false)
  useEffect(() => {
    wasFocused.current = false
    const at = performance.now()
    state.current = stepArming(state.current, { type: "changed", at })
    state.current = stepArming(state.current, { type: "followed", at: settledAt })
  }, [contentKey])
  const onFocus = useCallback(() => {
    if (wasFocused.current) return
    wasFocused.current = true
    state.current = stepArming(state.current, { type: "focused", at: performance.now() })
  }, [])
  const armed = useCallback(() => isArmed(state.current, performance.now()), [])
  return { isArmed: armed, onFocus }
}
