/** How far the end of a request was seen. Only `seen` lets it be allowed. */
export type EndSeen =
  /** Nobody has looked yet. */
  | { readonly name: "new" }
  | { readonly name: "unread" }
  /** In view since then. Words and cues that arrive above the request may push its end out again. */
  | { readonly name: "looking"; readonly since: number }
  | { readonly name: "seen" }

/** So long must the end stay in view, and so long must a press wait that follows a page. */
export const MOMENT_MS = 400

/** The end is seen once it stood in view for a moment without a break; after that nothing takes it back. Pure. */
export function stepEnd(
  state: EndSeen,
  { isInView, at }: { readonly isInView: boolean; readonly at: number },
): EndSeen {
  if (state.name === "seen") return state
  if (!isInView) return { name: "unread" }
  if (state.name !== "looking") return { name: "looking", since: at }
  return at - state.since < MOMENT_MS ? state : { name: "seen" }
}

interface Press {
  readonly end: EndSeen["name"]
  /** The last press that read on, or that came too soon after one. */
  readonly pagedAt: number
  readonly at: number
}

interface Pressed {
  readonly does: "reads on" | "answers" | "nothing"
  readonly pagedAt: number
}

/**
 * A press on the button that allows: it reads on in a request that is not read, and answers one that is. A press so soon after a page
 * was meant for that page, and the moment begins anew: neither a held key nor a quick one gets through. Pure.
 */
export function pressed({ end, pagedAt, at }: Press): Pressed {
  if (end === "unread") return { does: "reads on", pagedAt: at }
  if (at - pagedAt < MOMENT_MS) return { does: "nothing", pagedAt: at }
  return { does: end === "seen" ? "answers" : "nothing", pagedAt }
}
