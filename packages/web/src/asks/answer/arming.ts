/**
 * When an answer counts. A card that just got the focus, or just changed, or just took the place of another one, does nothing for
 * a moment: a key or a click meant for what stood there before must not decide this.
 */
export interface Arming {
  readonly inertUntil: number
}

export type ArmingInput =
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
