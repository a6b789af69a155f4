import type { Locator, Page } from "playwright-core"
import { expect, vi } from "vitest"
import type { CockpitHarness, PageOptions } from "./cockpit.ts"

/** The machine may be busy; nothing here is about time. */
export const WAIT = { timeout: 90_000, interval: 100 }

export const feed = (page: Page): Locator => page.getByRole("feed", { name: "Transcript" })

export async function openTranscript(
  cockpit: CockpitHarness,
  path: string,
  options: PageOptions & { readonly prepare?: (page: Page) => Promise<unknown> } = {},
): Promise<Page> {
  const page = await cockpit.page(options)
  await options.prepare?.(page)
  await page.goto(path)
  await feed(page).locator("article").first().waitFor()
  return page
}

/** Its agent has ended so many turns. */
export async function turnsEnded(
  cockpit: CockpitHarness,
  id: string,
  { turns = 1, timeout = 110_000 }: { readonly turns?: number; readonly timeout?: number } = {},
): Promise<void> {
  // Also before the first test, where expectations cannot wait.
  const look = async () => expect((await cockpit.hub.get(`/api/sessions/${id}`)).turns).toBeGreaterThanOrEqual(turns)
  await vi.waitFor(look, { timeout, interval: 200 })
}

export function distanceToEnd(page: Page): Promise<number> {
  return feed(page).evaluate((element) => element.scrollHeight - element.clientHeight - element.scrollTop)
}

/** The events that the rows in the document stand at, in order. */
export function seqsOf(page: Page): Promise<readonly number[]> {
  return feed(page)
    .locator("article[data-seq]")
    .evaluateAll((articles) => articles.map((article) => Number(article.getAttribute("data-seq"))))
}

export async function nextFrame(page: Page): Promise<void> {
  await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))")
}
