import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { check } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { distanceToEnd, feed, openTranscript, turnsEnded, WAIT } from "./transcript-page.ts"

describe.runIf(hasBrowser)("the keys of a transcript", () => {
  let cockpit: CockpitHarness
  let id = ""
  beforeAll(async () => {
    cockpit = await CockpitHarness.open()
    const steps = [
      {
        loop: 60,
        as: "n",
        steps: [{ say: "Line {{n}} of this turn." }, { tool: "Bash", input: { command: "echo {{n}}" }, result: "ok" }],
      },
      { say: "The end of the turn." },
    ]
    const scenario = { turns: [{ repeat: true, steps }] }
    id = (
      await cockpit.agent({
        title: "Keys",
        prompt: "First question",
        scenario,
        args: ["--speed", "max", "--allowedTools", "Bash"],
      })
    ).id
    for (const [index, content] of ["Second question", "Third question"].entries()) {
      await turnsEnded(cockpit, id, { turns: index + 1 })
      await cockpit.hub.post(`/api/sessions/${id}/messages`, { content })
    }
    await turnsEnded(cockpit, id, { turns: 3 })
  }, 180_000)
  afterAll(async () => {
    await cockpit?.dispose()
  })

  const open = async () => {
    const page = await openTranscript(cockpit, `/s/${id}`)
    await feed(page).getByText("The end of the turn.").last().waitFor()
    return page
  }
  /** The row that has the focus: where it stands among all, and whether it is in view. */
  const focused = (page: Page) =>
    feed(page).evaluate((element) => {
      const row = document.activeElement?.closest("article")
      const [view, box] = [element.getBoundingClientRect(), row?.getBoundingClientRect()]
      const isInView = box !== undefined && box.bottom > view.top && box.top < view.bottom
      return {
        position: Number(row?.getAttribute("aria-posinset") ?? 0),
        name: row?.getAttribute("aria-label") ?? "",
        isInView,
      }
    })

  check("[X-20] page keys go from row to row, and Ctrl with Home or End out of the transcript", async () => {
    const page = await open()
    await feed(page).focus()
    await page.keyboard.press("PageDown")
    const start = await focused(page)
    expect(start.isInView).toBe(true)
    for (let back = 1; back <= 25; back++) {
      await page.keyboard.press("PageUp")
      await expect.poll(() => focused(page)).toMatchObject({ position: start.position - back, isInView: true })
    }
    await page.keyboard.press("PageDown")
    await expect.poll(() => focused(page)).toMatchObject({ position: start.position - 24, isInView: true })
    // Who went up with keys reads there: nothing runs along.
    expect(await distanceToEnd(page)).toBeGreaterThan(24)
    await page.keyboard.press("Control+End")
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe("TEXTAREA")
    await feed(page).focus()
    await page.keyboard.press("Control+Home")
    await expect.poll(() => page.evaluate(() => document.activeElement?.closest("header") !== null)).toBe(true)
  })

  check("[X-20] square brackets go from message to message", async () => {
    const page = await open()
    for (const [key, name] of [
      ["[", /Third question/],
      ["[", /Second question/],
      ["[", /First question/],
      ["]", /Second question/],
      ["]", /Third question/],
    ] as const) {
      await page.keyboard.press(key)
      await expect.poll(async () => (await focused(page)).name, WAIT).toMatch(name)
      await expect.poll(async () => (await focused(page)).isInView).toBe(true)
    }
  })

  check("[X-20] a row that is touched has its tools, large enough for a finger", async () => {
    const page = await cockpit.page({ size: "phone" })
    await page.goto(`/s/${id}`)
    const row = feed(page).getByRole("article", { name: "Claude: The end of the turn." }).last()
    const link = row.getByRole("button", { name: "Copy link" })
    await row.waitFor()
    expect(await link.isVisible()).toBe(false)
    await row.getByText("The end of the turn.").tap()
    for (const name of ["Copy link", "Fork from here"]) {
      const box = await row.getByRole("button", { name }).boundingBox()
      expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(44)
    }
    await row.getByTitle("Show raw event").tap()
    await page.getByRole("tab", { name: "Raw", selected: true }).waitFor()
  })

  check("[X-20] a row's link is copied, and leads to it; a selection keeps the view where it is", async () => {
    const page = await open()
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"])
    const row = feed(page).getByRole("article", { name: "Claude: The end of the turn." }).last()
    // With the focus in it, as with the pointer over it, a row has its tools.
    await row.focus()
    await row.getByRole("button", { name: "Copy link" }).click()
    const link = await expect
      .poll(() => page.evaluate(() => navigator.clipboard.readText()), WAIT)
      .toContain(`/s/${id}?seq=`)
      .then(() => page.evaluate(() => navigator.clipboard.readText()))
    const there = await openTranscript(cockpit, link)
    await expect.poll(async () => (await focused(there)).name, WAIT).toBe("Claude: The end of the turn.")
    const fresh = await open()
    await feed(fresh).getByText("The end of the turn.").last().selectText()
    await fresh.getByRole("button", { name: /Jump to latest/ }).waitFor()
    await cockpit.hub.post(`/api/sessions/${id}/messages`, { content: "One more" })
    await turnsEnded(cockpit, id, { turns: 4 })
    await fresh.getByRole("button", { name: /Jump to latest, \d+ new/ }).waitFor(WAIT)
    expect(await fresh.evaluate(() => getSelection()?.toString())).toContain("The end of the turn.")
  })
})
