// What runs inside of a page is typed as such.
/// <reference lib="dom" />
import type { Locator, Page } from "playwright-core"
import { expect } from "vitest"

const MAX_STEPS = 80
const LOST = "nothing has the focus"

/** Somebody without a mouse: keys only, and after each of them the focus can be seen. */
export class KeyboardUser {
  readonly page: Page

  constructor(page: Page) {
    this.page = page
  }

  /** Pointers are counted from now on: there must be none. */
  static async at(page: Page): Promise<KeyboardUser> {
    await page.addInitScript(() => {
      const counted = { pointers: 0, hadFocus: false }
      Object.assign(globalThis, { counted })
      const count = () => {
        counted.pointers += 1
      }
      addEventListener("focusin", () => {
        counted.hadFocus = true
      })
      for (const type of ["pointerdown", "mousedown", "touchstart"]) addEventListener(type, count, { capture: true })
    })
    return new KeyboardUser(page)
  }

  async press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      await this.page.keyboard.press(key)
      await this.isSeen(`after ${key}`)
    }
  }

  type(text: string): Promise<void> {
    return this.page.keyboard.type(text)
  }

  /** Tab, or Shift+Tab, until it has the focus; within a list that is one stop of Tab, arrows. */
  async goTo(target: Locator, key: "Tab" | "Shift+Tab" | "ArrowDown" = "Tab"): Promise<void> {
    await target.first().waitFor()
    for (let step = 0; step < MAX_STEPS; step++) {
      if (await hasFocus(target.first())) return
      const isThere = (await target.count()) > 0
      await this.press(isThere ? await target.first().evaluate(keyTowards, key) : key)
    }
    throw new Error(`${MAX_STEPS} times ${key}, and it does not have the focus: ${String(target)}`)
  }

  /** What has the focus says so, is in view, and nothing lies over it. */
  async isSeen(when: string): Promise<void> {
    // What the key set off may still be drawn: a focus that is lost stays lost.
    const trouble = async () => {
      const found = await this.page.evaluate(focusTrouble)
      // A page that has just been opened begins without.
      const isLost = found === LOST && (await this.page.evaluate<boolean>("counted.hadFocus"))
      return found === LOST && !isLost ? "" : found
    }
    await expect.poll(trouble, { timeout: 10_000, message: when }).toBe("")
  }

  async usedNoPointer(): Promise<void> {
    expect(await this.page.evaluate("counted.pointers")).toBe(0)
  }
}

async function hasFocus(target: Locator): Promise<boolean> {
  if ((await target.count()) === 0) return false
  return target.evaluate((element) => element.ownerDocument.activeElement === element)
}

/** In the page: the arrow that leads from the focus to an element of the same list, or `other` from outside of it. */
function keyTowards(element: Element, other: string): string {
  const active = document.activeElement
  const list = element.closest<HTMLElement>("[data-roving]")
  if (active === null || list?.contains(active) !== true) return other
  const rows = list.dataset["roving"] ?? ""
  const [from, to] = [active.closest(rows), element.closest(rows)]
  if (from === null || to === null) return other
  const isAfter = (one: Element, next: Element) =>
    (one.compareDocumentPosition(next) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0
  if (from === to) return isAfter(active, element) ? "ArrowRight" : "ArrowLeft"
  return isAfter(from, to) ? "ArrowDown" : "ArrowUp"
}

/** What is wrong with the focus as it is shown; nothing when all is well. */
function focusTrouble(): string {
  const element = document.activeElement
  if (!(element instanceof HTMLElement) || element === document.body) return "nothing has the focus"
  if (element.id === "main") return ""
  const what = `${element.tagName} "${(element.getAttribute("aria-label") ?? element.textContent ?? "").slice(0, 60)}"`
  const style = getComputedStyle(element)
  const isTyped = element.matches("textarea, select, input:not([type=checkbox], [type=radio])")
  const hasRing = style.outlineStyle !== "none" && Number.parseFloat(style.outlineWidth) >= 1
  // An entry of a menu is marked as a whole; a field has its caret.
  const isMarked =
    element.matches('[role^="menuitem"], [role="option"]') && style.backgroundColor !== "rgba(0, 0, 0, 0)"
  if (!hasRing && !isTyped && !isMarked) return `${what} shows no focus`
  const { left, top, right, bottom } = element.getBoundingClientRect()
  const seen = {
    left: Math.max(left, 0),
    top: Math.max(top, 0),
    right: Math.min(right, innerWidth),
    bottom: Math.min(bottom, innerHeight),
  }
  if (seen.right - seen.left < 1 || seen.bottom - seen.top < 1) return `${what} is out of view`
  // Some of it must be on top: at its middle or near one of its corners.
  const points = [
    [(seen.left + seen.right) / 2, (seen.top + seen.bottom) / 2],
    [seen.left + 4, seen.top + 4],
    [seen.right - 4, seen.top + 4],
    [seen.left + 4, seen.bottom - 4],
    [seen.right - 4, seen.bottom - 4],
  ]
  const isOnTop = points.some(([x = 0, y = 0]) => {
    const top = document.elementFromPoint(x, y)
    return (
      top !== null &&
      (element.contains(top) || top.contains(element) || top.closest("label")?.contains(element) === true)
    )
  })
  return isOnTop ? "" : `${what} is covered`
}
