import type { KeyboardEvent } from "react"

interface FeedKeys {
  readonly jumpToStart: () => void
  readonly jumpToEnd: () => void
}

/** Page keys go from article to article, Home and End to the ends of the log, with Ctrl out of it. */
export function onFeedKey(event: KeyboardEvent<HTMLElement>, { jumpToStart, jumpToEnd }: FeedKeys): void {
  const target = event.target
  if (target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]")) return
  // What scrolls by itself has these keys for itself.
  if (target instanceof HTMLElement && target.closest("[data-own-scroll]") !== null) return
  const isMod = event.ctrlKey || event.metaKey
  if (event.key === "Home" && !isMod) jumpToStart()
  else if (event.key === "End" && !isMod) jumpToEnd()
  else if (event.key === "End" && isMod)
    document.querySelector<HTMLElement>('[data-region="composer"] textarea')?.focus()
  else if (event.key === "Home" && isMod) firstSeen("#main header button")?.focus()
  else if (event.key === "PageDown" || event.key === "PageUp")
    stepArticle(event.currentTarget, event.key === "PageDown" ? 1 : -1)
  else return
  event.preventDefault()
}

/** What another width has is in the page too, and cannot have the focus. */
function firstSeen(selector: string): HTMLElement | undefined {
  return [...document.querySelectorAll<HTMLElement>(selector)].find((element) => element.checkVisibility())
}

/** Frames in which a row that is to be gone to may still be drawn. */
const MAX_FRAMES = 20

function stepArticle(feed: HTMLElement, step: 1 | -1, frames = MAX_FRAMES): void {
  const articles = [...feed.querySelectorAll<HTMLElement>(":scope article")]
  const { top } = feed.getBoundingClientRect()
  const active = document.activeElement?.closest("article")
  const at = articles.findIndex((article) => article === active)
  const visible = articles.findIndex((article) => article.getBoundingClientRect().bottom > top + 8)
  const next = articles[at === -1 ? visible : at + step]
  if (next !== undefined) {
    next.focus({ preventScroll: true })
    bringIntoView(feed, next)
    return
  }
  // The list draws a little more than is seen, and after the view has moved: whoever is faster waits for it.
  const isMore = step === -1 ? feed.scrollTop > 0 : feed.scrollTop + feed.clientHeight < feed.scrollHeight - 1
  if (isMore && frames > 0) requestAnimationFrame(() => stepArticle(feed, step, frames - 1))
}

/** Older rows that come in at the same moment move the view by what it was before: then it is brought there again. */
function bringIntoView(feed: HTMLElement, row: HTMLElement, frames = MAX_FRAMES): void {
  const [view, box] = [feed.getBoundingClientRect(), row.getBoundingClientRect()]
  if (frames === MAX_FRAMES || box.bottom <= view.top || box.top >= view.bottom)
    row.scrollIntoView({ block: "nearest" })
  requestAnimationFrame(() => {
    if (frames > 0 && document.activeElement === row) bringIntoView(feed, row, frames - 1)
  })
}
