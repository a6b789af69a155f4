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
  else if (event.key === "Home" && isMod) document.querySelector<HTMLElement>("#main header button")?.focus()
  else if (event.key === "PageDown" || event.key === "PageUp")
    stepArticle(event.currentTarget, event.key === "PageDown" ? 1 : -1)
  else return
  event.preventDefault()
}

function stepArticle(feed: HTMLElement, step: 1 | -1): void {
  const articles = [...feed.querySelectorAll<HTMLElement>(":scope article")]
  const { top } = feed.getBoundingClientRect()
  const active = document.activeElement?.closest("article")
  const at = articles.findIndex((article) => article === active)
  const visible = articles.findIndex((article) => article.getBoundingClientRect().bottom > top + 8)
  const next = articles[at === -1 ? visible : at + step]
  next?.focus({ preventScroll: true })
  next?.scrollIntoView({ block: "nearest" })
}
