import { mendLostFocus } from "../../app/regions.ts"

/** The focus follows from an answered request to the one in its place; nobody else's focus is ever moved. */
type Following =
  | { readonly name: "no" }
  | { readonly name: "waiting" }
  | { readonly name: "until"; readonly at: number }

const FOLLOW_MS = 1000
let following: Following = { name: "no" }

/** An answer is given: where the focus is inside of `card`, it may follow. */
export function noteAnswering(card: Element | null): void {
  following = { name: card?.contains(document.activeElement) === true ? "waiting" : "no" }
}

/** It came through, or did not count: what comes in its place comes now or not at all. */
export function noteAnswered(): void {
  if (following.name === "waiting") following = { name: "until", at: performance.now() + FOLLOW_MS }
}

/**
 * A card goes, and the focus with it: it may have stood there for seconds, to be read. Where it was answered here, what comes in its
 * place may have the focus; what was withdrawn takes nobody along to the next.
 */
export function noteLeaving(card: Element | null, { isAnsweredHere }: { readonly isAnsweredHere: boolean }): void {
  if (card?.contains(document.activeElement) !== true) return
  if (isAnsweredHere && following.name !== "no") following = { name: "until", at: performance.now() + FOLLOW_MS }
  setTimeout(mendLostFocus, FOLLOW_MS)
}

/** The card gets the focus when somebody is done with the part of it that had the focus. */
export function focusCard(askId: string): void {
  requestAnimationFrame(() => {
    if (document.activeElement !== document.body && document.activeElement?.id !== "main") return
    // A screen of its own comes after the dock.
    const cards = document.querySelectorAll<HTMLElement>(`[data-ask="${CSS.escape(askId)}"]`)
    cards.item(cards.length - 1)?.focus()
  })
}

/** Only if the focus got lost with what was there. */
export function mayTakeFocus(): boolean {
  const isLost = document.activeElement === document.body || document.activeElement === null
  return isLost && (following.name === "waiting" || (following.name === "until" && performance.now() < following.at))
}
