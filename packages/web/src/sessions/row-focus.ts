/** The links of all rows, as they stand below each other. */
export function rowLinks(): HTMLAnchorElement[] {
  return [...document.querySelectorAll<HTMLAnchorElement>("[data-session] > a")]
}

/** Frames in which a row may still be drawn. */
const MAX_FRAMES = 20

/** Called before a session leaves the list. What it gives is called then: a focus that was lost with the row goes to the next. */
export function watchRow(id: string): () => void {
  const links = rowLinks()
  const index = links.findIndex((link) => link.parentElement?.dataset["session"] === id)
  const link = links[index]
  const others = [...links.slice(index + 1), ...links.slice(0, Math.max(index, 0)).toReversed()]
  const look = (frames: number) => {
    if (link === undefined || frames === 0) return
    if (link.isConnected) requestAnimationFrame(() => look(frames - 1))
    else if (document.activeElement === document.body) others.find((other) => other.isConnected)?.focus()
  }
  return () => look(MAX_FRAMES)
}
