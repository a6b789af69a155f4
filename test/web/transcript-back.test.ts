import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { check } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { distanceToEnd, feed, nextFrame, openTranscript, turnsEnded, WAIT } from "./transcript-page.ts"

interface Seen {
  readonly key: string
  readonly top: number
}

describe.runIf(hasBrowser)("coming back to a transcript", () => {
  let cockpit: CockpitHarness
  let id = ""
  let lastSeq = 0
  beforeAll(async () => {
    cockpit = await CockpitHarness.open()
    const words = "Some **words** that fill a line or two, with `code` in them.\n\n- one\n- two\n\n"
    const scenario = {
      turns: [
        {
          steps: [
            {
              loop: 300,
              as: "n",
              steps: [
                { say: `Step {{n}}. ${words}` },
                { tool: "Bash", input: { command: "echo {{n}}" }, result: "one\ntwo\nthree" },
                { tool: "Grep", input: { pattern: "x{{n}}" }, result: "a.ts" },
              ],
            },
            { say: "The very end." },
          ],
        },
      ],
    }
    id = (await cockpit.agent({ title: "Long", scenario, args: ["--speed", "max", "--allowedTools", "Bash"] })).id
    await turnsEnded(cockpit, id)
    lastSeq = (await cockpit.hub.get(`/api/sessions/${id}`)).lastSeq
  }, 180_000)
  afterAll(async () => {
    await cockpit?.dispose()
  })

  const pill = (page: Page) => page.getByRole("button", { name: /Jump to latest/ })

  /** The first row that begins in view, and where. */
  function anchor(page: Page): Promise<Seen | undefined> {
    return feed(page).evaluate((element) => {
      const { top } = element.getBoundingClientRect()
      return [...element.querySelectorAll<HTMLElement>("article")]
        .map((row) => ({ key: row.dataset["key"] ?? "", top: row.getBoundingClientRect().top - top }))
        .find((row) => row.top >= 0)
    })
  }
  /** … once nothing moves any more. */
  async function settled(page: Page): Promise<Seen | undefined> {
    let before: Seen | undefined
    await expect
      .poll(async () => {
        const last = before
        for (let frame = 0; frame < 10; frame++) await nextFrame(page)
        before = await anchor(page)
        return before !== undefined && last?.key === before.key && last.top === before.top
      }, WAIT)
      .toBe(true)
    return before
  }
  async function expectSame(page: Page, left: Seen | undefined): Promise<void> {
    await feed(page).locator(`article[data-key="${left?.key}"]`).waitFor(WAIT)
    const found = await settled(page)
    expect(found?.key).toBe(left?.key)
    expect(Math.abs((found?.top ?? Number.NaN) - (left?.top ?? 0))).toBeLessThanOrEqual(2)
  }
  async function scrollUp(page: Page, pixels: number): Promise<Seen | undefined> {
    await feed(page).hover()
    await page.mouse.wheel(0, -pixels)
    await pill(page).waitFor()
    return settled(page)
  }
  const toList = async (page: Page) => {
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Sessions" }).click()
    await page.waitForURL(/\/sessions$/)
  }

  check("[X-17] Back leads to what was read, where it was, however far up", async () => {
    const page = await openTranscript(cockpit, `/s/${id}`)
    await feed(page).getByText("The very end.").waitFor()
    for (const pixels of [700, 9000, 23_017]) {
      const left = await scrollUp(page, pixels)
      await toList(page)
      await page.goBack()
      await expectSame(page, left)
      await pill(page).waitFor()
      // Forward and Back again is the same.
      await page.goForward()
      await page.waitForURL(/\/sessions$/)
      await page.goBack()
      await expectSame(page, left)
    }
  })

  check("[X-17] a visit by a link or from the list begins at the end, and so does who left from there", async () => {
    const page = await openTranscript(cockpit, `/s/${id}`)
    await feed(page).getByText("The very end.").waitFor()
    await scrollUp(page, 3000)
    await toList(page)
    await page.getByRole("link", { name: /Long/ }).first().click()
    await feed(page).getByText("The very end.").waitFor(WAIT)
    await expect.poll(() => distanceToEnd(page)).toBeLessThanOrEqual(24)
    await toList(page)
    await page.goBack()
    await feed(page).getByText("The very end.").waitFor(WAIT)
    await expect.poll(() => distanceToEnd(page)).toBeLessThanOrEqual(24)
    expect(await pill(page).count()).toBe(0)
  })

  check("[X-17] an address of an event is gone to, and Back to it leads to where its reader went on to", async () => {
    const page = await openTranscript(cockpit, `/s/${id}?seq=${Math.floor(lastSeq / 2)}`)
    await feed(page).locator("article:focus").waitFor(WAIT)
    const left = await scrollUp(page, 1500)
    await toList(page)
    await page.goBack()
    await expectSame(page, left)
    // Another event of the same session, and back.
    await page.evaluate(
      ([session, seq]) => {
        history.pushState(null, "", `/s/${session}?seq=${seq}`)
        dispatchEvent(new PopStateEvent("popstate"))
      },
      [id, "40"] as const,
    )
    await feed(page).locator("article:focus").waitFor(WAIT)
    await expect.poll(async () => (await anchor(page))?.key === left?.key, WAIT).toBe(false)
    await page.goBack()
    await expectSame(page, left)
    // Who follows the end of it stays there.
    await pill(page).click()
    await feed(page).getByText("The very end.").waitFor(WAIT)
    await toList(page)
    await page.goBack()
    await feed(page).getByText("The very end.").waitFor(WAIT)
    await expect.poll(() => distanceToEnd(page)).toBeLessThanOrEqual(24)
  })
})
