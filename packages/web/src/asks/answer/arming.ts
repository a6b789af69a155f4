import { useCallback, useEffect, useRef, useState } from "react"
import { createValueStore } from "../../app/value-store.ts"

/**
 * When an answer counts. A card that just got the focus, or just changed, or just took the place of another one, does nothing for
 * a moment: a key or a click meant for what stood there before must not decide this.
 */
interface Arming {
  readonly inertUntil: number
}

type ArmingInput =
  | { readonly type: "focused"; readonly at: number }
  | { readonly type: "changed"; readonly at: number }
  /** The card that stood here before was settled. */
  | { readonly type: "followed"; readonly at: number }

const AFTER_FOCUS_MS = 400
const AFTER_ANOTHER_MS = 600

export function stepArming(state: Arming, input: ArmingInput): Arming {
  const wait = input.type === "followed" ? AFTER_ANOTHER_MS : AFTER_FOCUS_MS
  return { inertUntil: Math.max(state.inertUntil, input.at + wait) }
}

export function isArmed({ inertUntil }: Arming, at: number): boolean {
  return at >= inertUntil
}

/** When a card of this page was last settled: whichever comes next must wait, also one that is there already. */
const settledAt = createValueStore(Number.NEGATIVE_INFINITY)

export function noteSettled(): void {
  settledAt.set(performance.now())
}

interface CardArming {
  /** As it is this very moment: what counts is asked when a button is pressed. */
  readonly isArmed: () => boolean
  /** As it was when the card was last drawn. */
  readonly looksArmed: boolean
  readonly onFocus: () => void
  readonly onPointerDown: () => void
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
    const follow = () => step({ type: "followed", at: settledAt.get() })
    follow()
    const leave = settledAt.subscribe(follow)
    return () => {
      leave()
      clearTimeout(timer.current)
    }
  }, [contentKey, step])
  const onFocus = useCallback(() => {
    if (wasFocused.current) return
    wasFocused.current = true
    step({ type: "focused", at: performance.now() })
  }, [step])
  // A pointer aims at what it sees: the focus that comes with its press must not swallow the click. What appeared or changed
  // under it a moment ago is held back all the same.
  const onPointerDown = useCallback(() => {
    wasFocused.current = true
  }, [])
  const armed = useCallback(() => isArmed(state.current, performance.now()), [])
  return { isArmed: armed, looksArmed, onFocus, onPointerDown }
}
