type ReadOn = "page" | "back" | "start" | "end"

/** Keys by which a request is read, wherever in its card the focus is. */
export const READING_KEYS: Readonly<Record<string, ReadOn>> = {
  " ": "page",
  PageDown: "page",
  PageUp: "back",
  Home: "start",
  End: "end",
}

/** Lines of the page before that stay in view. */
const KEPT_PX = 40
/** So many frames may it take until the last lines have their height. */
const MAX_FRAMES = 10

/** Scrolls what holds the request: the box around it first, and what that box stands in where it is at its end. */
export function readOn(end: Element, how: ReadOn): void {
  const boxes = scrolledAround(end)
  if (how === "end") toTheEnd(boxes)
  else if (how === "start") for (const box of boxes) box.scrollTop = 0
  else {
    const by = how === "page" ? 1 : -1
    const box = boxes.find((each) => hasMore(each, by))
    box?.scrollBy({ top: by * pageOf(box), behavior: "instant" })
  }
}

/** The height of a box grows when its last lines are drawn: the end is gone to until it stays. */
function toTheEnd(boxes: readonly Element[], frames = MAX_FRAMES): void {
  for (const box of boxes) box.scrollTop = box.scrollHeight
  if (frames > 0) requestAnimationFrame(() => toTheEnd(boxes, frames - 1))
}

function scrolledAround(end: Element): readonly Element[] {
  const boxes: Element[] = []
  for (let box = end.parentElement; box !== null && box !== document.body; box = box.parentElement) {
    const { overflowY } = getComputedStyle(box)
    if (overflowY === "auto" || overflowY === "scroll") boxes.push(box)
  }
  return boxes
}

function hasMore({ scrollTop, clientHeight, scrollHeight }: Element, by: 1 | -1): boolean {
  return by === 1 ? scrollTop + clientHeight < scrollHeight - 1 : scrollTop > 0
}

/** The buttons lie over the last part of what scrolls below them. */
function pageOf(box: Element): number {
  const covered = box.querySelector("[data-actions]")?.getBoundingClientRect().height ?? 0
  return Math.max(KEPT_PX, box.clientHeight - covered - KEPT_PX)
}
