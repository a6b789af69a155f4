import { useCallback, useEffect, useRef, useState } from "react"
import { type Arming, type ArmingInput, isArmed, stepArming } from "./arming.ts"

/** When a card of this page was last settled: whichever comes next must wait. */
let settledAt = Number.NEGATIVE_INFINITY

export function noteSettled(): void {
  settledAt = performance.now()
}

export interface CardArming {
  /** As it is this very moment: what counts is asked when a button is pressed. */
  readonly isArmed: () => boolean
  /** As it was when the card was last drawn. */
  readonly looksArmed: boolean
  readonly onFocus: () => void
}

export function useArming(contentKey: string): CardArming {
  const state = useRef<Arming>({ inertUntil: Number.NEGATIVE_INFINITY })
  const wasFocused = useRef(false)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const [looksArmed, setLooksArmed] = useState(false)
  const step = useCallback((input: ArmingInput) => {
    state.current = stepArming(state.current, input)
    clearTimeout(timer.current)
    const waitMs = state.current.inertUntil - performance.now()
    setLooksArmed(waitMs <= 0)
    timer.current = setTimeout(() => setLooksArmed(true), Math.max(0, waitMs))
  }, [])
  useEffect(() => {
    wasFocused.current = false
    step({ type: "changed", at: performance.now() })
    step({ type: "followed", at: settledAt })
    return () => clearTimeout(timer.current)
  }, [contentKey, step])
  const onFocus = useCallback(() => {
    if (wasFocused.current) return
    wasFocused.current = true
    step({ type: "focused", at: performance.now() })
  }, [step])
  const armed = useCallback(() => isArmed(state.current, performance.now()), [])
  return { isArmed: armed, looksArmed, onFocus }
}
