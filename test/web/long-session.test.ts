import type { Locator, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { searchedEvents } from "../gate.ts"
import { check } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { feed, openTranscript, seqsOf, turnsEnded, WAIT } from "./transcript-page.ts"

/** A hundred thousand events take a while to be made. */
const LONG_MS = 600_000
const ROUNDS = Math.ceil(searchedEvents / 400)

/** Four events a file, a hundred files a part, and a compaction before each part. */
const audit = {
  turns: [
    {
      steps: [
        { say: "I read every file." },
        {
          loop: ROUNDS,
          as: "part",
          steps: [
            { compact: "auto" as const, preTokens: 164_000, postTokens: 9000, durationMs: 0 },
            {
              loop: 100,
              steps: [
                { think: "File {{part}}-{{n}}." },
                { tool: "Read", input: { file_path: "/src/{{part}}-{{n}}.ts" }, result: "1\tconst a = 1" },
                { say: "File {{part}}-{{n}} logs nothing personal." },
              ],
            },
          ],
        },
        { say: "The very end." },
      ],
    },
  ],
}

describe.runIf(hasBrowser)("a long session", () => {
  let cockpit: CockpitHarness
  let id = ""
  let lastSeq = 0
  beforeAll(async () => {
    cockpit = await CockpitHarness.open()
    const args = ["--allowedTools", "Read", "--speed", "max"]
    id = (await cockpit.agent({ title: "Audit", scenario: audit, args })).id
    await turnsEnded(cockpit, id, { timeout: LONG_MS })
    lastSeq = (await cockpit.hub.get(`/api/sessions/${id}`)).lastSeq
    expect(lastSeq).toBeGreaterThanOrEqual(searchedEvents)
  }, 2 * LONG_MS)
  afterAll(async () => {
    await cockpit?.dispose()
  })

  const open = () => openTranscript(cockpit, `/s/${id}`)
  const track = (page: Page): Locator => page.getByRole("slider", { name: "Position in session" })
  const articles = (page: Page) => feed(page).locator("article").count()

  check("[X-12] Home goes to the first event of a long session, End back to the last", async () => {
    const page = await open()
    await feed(page).getByText("The very end.").waitFor()
    expect(await articles(page)).toBeLessThanOrEqual(120)
    await feed(page).focus()
    await page.keyboard.press("Home")
    await page.getByRole("article", { name: "Started" }).waitFor(WAIT)
    expect(await articles(page)).toBeLessThanOrEqual(120)
    await page.keyboard.press("End")
    await feed(page).getByText("The very end.").waitFor(WAIT)
    expect(await articles(page)).toBeLessThanOrEqual(120)
  })

  check("[X-13] a key on the track goes to that place in the session, and the track says where it is", async () => {
    const page = await open()
    await track(page).waitFor()
    const value = async () => Number(await track(page).getAttribute("aria-valuenow"))
    await expect.poll(value, WAIT).toBe(lastSeq)
    await track(page).focus()
    const tenth = Math.round((lastSeq - 1) * 0.1)
    for (const [key, target] of [
      ["PageUp", lastSeq - tenth],
      ["PageUp", lastSeq - 2 * tenth],
      ["ArrowDown", lastSeq - 2 * tenth + Math.round((lastSeq - 1) * 0.01)],
      ["Home", 1],
      ["PageDown", 1 + tenth],
    ] as const) {
      await page.keyboard.press(key)
      await expect.poll(() => landedOff(page, target), WAIT).toBeLessThanOrEqual(1)
      await expect.poll(value, WAIT).toBe(target)
    }
    expect(await track(page).getAttribute("aria-valuetext")).toMatch(/^Event [\d,]+ of [\d,]+, \d\d:\d\d:\d\d$/)
    // Who steers with keys goes on steering.
    expect(await track(page).evaluate((element) => element === document.activeElement)).toBe(true)
    await page.keyboard.press("End")
    await feed(page).getByText("The very end.").waitFor(WAIT)
  })

  /** How many rows the one in the middle of the view is away from the one that has the event. */
  function landedOff(page: Page, target: number): Promise<number> {
    return feed(page).evaluate((element, wanted) => {
      const view = element.getBoundingClientRect()
      const rows = [...element.querySelectorAll("article")]
      const places = rows.map((row) => row.getBoundingClientRect())
      const own = rows.findLastIndex((row) => Number(row.getAttribute("data-seq")) <= wanted)
      const place = places[own]
      if (place === undefined || place.bottom <= view.top || place.top >= view.bottom) return Number.POSITIVE_INFINITY
      // At the very beginning nothing can be brought to the middle.
      if (element.scrollTop === 0) return 0
      const middle = places.findIndex(({ bottom }) => bottom > (view.top + view.bottom) / 2)
      return Math.abs(middle - own)
    }, target)
  }

  check("[X-13] a click on the track goes there, and its marks are the whole session's", async () => {
    const page = await open()
    const box = await track(page).boundingBox()
    expect(box?.width).toBeLessThanOrEqual(16)
    await expect
      .poll(() => page.locator("[data-mark='compaction']").count(), WAIT)
      .toBeGreaterThan(Math.min(ROUNDS, 100) / 2)
    await track(page).click({ position: { x: 8, y: (box?.height ?? 0) / 2 } })
    await expect.poll(() => feed(page).locator("article[data-mark]").count(), WAIT).toBe(1)
    const seq = Number(await feed(page).locator("article[data-mark]").getAttribute("data-seq"))
    expect(Math.abs(seq / lastSeq - 0.5)).toBeLessThan(0.02)
    // Part of a long session is loaded: the browser's own search is told about once.
    await page.keyboard.press("Control+f")
    await page.getByText("Browser search covers loaded events only.").waitFor()
    await page.getByRole("button", { name: "Got it" }).click()
    await page.keyboard.press("Control+f")
    expect(await page.getByText("Browser search covers loaded events only.").count()).toBe(0)
  })

  check("[X-13] an address of an event without a row leads to the closest that has one, and says so", async () => {
    const page = await open()
    const { events } = await cockpit.hub.get(`/api/sessions/${id}/events?after=${Math.floor(lastSeq / 2)}&limit=1000`)
    const hidden = events.find(
      ({ message }: { message: { type: string; subtype?: string } }) =>
        message.type === "system" && message.subtype === "status",
    )
    const [first] = await seqsOf(page)
    expect(first).toBeGreaterThan(1)
    if (hidden === undefined) throw new Error("the part of the log has a status in it")
    const there = await openTranscript(cockpit, `/s/${id}?seq=${hidden.seq}`)
    await there.getByText("Closest visible event").first().waitFor(WAIT)
  })
})
