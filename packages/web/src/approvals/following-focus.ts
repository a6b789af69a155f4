/** Whoever answers with the focus on a request goes on with what takes its place; nobody else's focus is ever moved. */
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

/** Only if the focus got lost with what was there. */
export function mayTakeFocus(): boolean {
  const isLost = document.activeElement === document.body || document.activeElement === null
  return isLost && (following.name === "waiting" || (following.name === "until" && performance.now() < following.at))
}
