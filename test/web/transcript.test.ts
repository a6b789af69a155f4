import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { check } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { says, talks } from "./scenarios.ts"
import { distanceToEnd, feed, openTranscript, turnsEnded, WAIT } from "./transcript-page.ts"

const MANY = 3000
/** Word by word, as an agent on a runner speaks. */
const STREAMS = ["--include-partial-messages"]

describe.runIf(hasBrowser)("the transcript", () => {
  let cockpit: CockpitHarness
  beforeAll(async () => {
    cockpit = await CockpitHarness.open()
  })
  afterAll(async () => {
    await cockpit?.dispose()
  })

  const open = (id: string, query = "") => openTranscript(cockpit, `/s/${id}${query}`)
  /** A session of many events, made at once. */
  async function longSession(): Promise<string> {
    const { id } = await cockpit.agent({
      title: "Long",
      scenario: {
        turns: [
          {
            steps: [
              {
                loop: MANY,
                as: "n",
                steps: [
                  { say: "Step {{n}} of a long day." },
                  { tool: "Grep", input: { pattern: "x{{n}}" }, result: "a.ts" },
                ],
              },
              { say: "The very end." },
            ],
          },
        ],
      },
      args: ["--speed", "max"],
    })
    await turnsEnded(cockpit, id)
    return id
  }

  check("[X-6] for a reader who scrolled up, what they read stays where it is while more is said", async () => {
    const { id } = await cockpit.agent({
      title: "Stream",
      args: STREAMS,
      scenario: {
        turns: [
          { steps: [{ say: { repeat: "A line of the past.\n\n", times: 80 } }] },
          talks(500, 40).turns[0] ?? { steps: [] },
        ],
      },
    })
    await turnsEnded(cockpit, id)
    const page = await open(id)
    await cockpit.hub.post(`/api/sessions/${id}/messages`, { content: "go on" })
    await feed(page).getByText("More words come.").first().waitFor()
    // Once it fills some lines, so that they are above the reader too.
    await expect.poll(async () => (await feed(page).innerText()).split("More words").length, WAIT).toBeGreaterThan(40)
    await feed(page).hover()
    await page.mouse.wheel(0, -400)
    await page.getByRole("button", { name: /Jump to latest/ }).waitFor()
    const { grown, moved } = await watchFrames(page)
    // Something was said below all the while.
    expect(grown).toBeGreaterThan(0)
    expect(moved).toBeLessThanOrEqual(2)
    await page.getByRole("button", { name: /Jump to latest/ }).click()
    await expect.poll(() => distanceToEnd(page)).toBeLessThanOrEqual(24)
  })

  check("[X-7] a reader who follows has the end in view in every frame", async () => {
    const { id } = await cockpit.agent({ title: "Follow", scenario: talks(400, 30), args: STREAMS })
    const page = await open(id)
    await feed(page).getByText("More words come.").first().waitFor()
    const { grown, distance } = await watchFrames(page)
    expect(grown).toBeGreaterThan(0)
    expect(distance).toBeLessThanOrEqual(24)
  })

  /** Over many frames: how far the first row in view moved, how far the end was away, and how much more there was. */
  function watchFrames(page: Page): Promise<{ moved: number; distance: number; grown: number }> {
    return feed(page).evaluate(async (element) => {
      const { top } = element.getBoundingClientRect()
      const rows = [...element.querySelectorAll("article")]
      const anchor = rows.find((row) => row.getBoundingClientRect().bottom > top)
      const place = () => anchor?.getBoundingClientRect().top ?? Number.NaN
      const [from, height] = [place(), element.scrollHeight]
      let [moved, distance] = [0, 0]
      for (let frame = 0; frame < 300; frame++) {
        await new Promise(requestAnimationFrame)
        moved = Math.max(moved, Math.abs(place() - from))
        distance = Math.max(distance, element.scrollHeight - element.clientHeight - element.scrollTop)
      }
      return { moved, distance, grown: element.scrollHeight - height }
    })
  }

  check("[X-8] over a whole turn that is streamed, nothing jumps", async () => {
    const prose =
      "# A heading\n\nSome words that go on for a while, and on.\n\n- one\n- two\n\n```ts\nconst a = 1\n```\n\n"
    const table = "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\n"
    const { id } = await cockpit.agent({
      title: "Steady",
      args: [...STREAMS, "--allowedTools", "Bash,Read,Grep"],
      scenario: {
        turns: [
          { steps: [{ say: { repeat: "A line of the past.\n\n", times: 40 } }] },
          {
            steps: [
              { think: "Let me see.", deltas: 5, pauseMs: 10 },
              { say: { repeat: prose, times: 8 }, deltas: 120, pauseMs: 10 },
              { tool: "Read", input: { file_path: "/a.ts" }, result: "x", durationMs: 50 },
              { tool: "Grep", input: { pattern: "x" }, result: "a.ts", durationMs: 50 },
              { tool: "Bash", input: { command: "npm test" }, result: "ok\n".repeat(20), durationMs: 100 },
              { say: { repeat: table, times: 8 }, deltas: 80, pauseMs: 10 },
              { say: "The end of it." },
            ],
          },
        ],
      },
    })
    await turnsEnded(cockpit, id)
    const page = await open(id)
    await page.evaluate(`
      window.shifts = []
      new PerformanceObserver((list) => {
        for (const shift of list.getEntries())
          if (!shift.hadRecentInput)
            window.shifts.push({ value: shift.value, what: shift.sources.map(({ node }) => node?.parentElement?.outerHTML.slice(0, 200)) })
      }).observe({ type: "layout-shift" })
    `)
    await cockpit.hub.post(`/api/sessions/${id}/messages`, { content: "go on" })
    await feed(page).getByText("The end of it.").first().waitFor(WAIT)
    await turnsEnded(cockpit, id, { turns: 2 })
    const shifts = (await page.evaluate("window.shifts")) as readonly { value: number }[]
    expect(
      shifts.reduce((sum, { value }) => sum + value, 0),
      JSON.stringify(shifts, null, 1),
    ).toBeLessThanOrEqual(0.02)
  })

  check("[X-9] a message that grows by five lines does not hide the last row", async () => {
    const { id } = await cockpit.agent({ title: "Grow", scenario: says("The last row.") })
    const page = await open(id)
    await feed(page).getByText("The last row.").first().waitFor()
    await page.getByRole("textbox", { name: "Message" }).fill("1\n2\n3\n4\n5\n6")
    await expect.poll(() => distanceToEnd(page)).toBeLessThanOrEqual(24)
  })

  check(
    "[X-11] a long session opens at its end with few rows in the document, and its beginning is one key away",
    async () => {
      const id = await longSession()
      const page = await open(id)
      await feed(page).getByText("The very end.").waitFor()
      expect(await feed(page).locator("article").count()).toBeLessThanOrEqual(120)
      await feed(page).focus()
      await page.keyboard.press("Home")
      await page.getByRole("article", { name: "Started" }).waitFor()
      await feed(page).focus()
      await page.keyboard.press("End")
      await feed(page).getByText("The very end.").waitFor()
    },
  )

  check("[X-10] what was opened stays open after scrolling far away and back", async () => {
    const id = await longSession()
    const { lastSeq } = await cockpit.hub.get(`/api/sessions/${id}`)
    const page = await open(id, `?seq=${Math.floor(lastSeq / 2)}`)
    await feed(page).locator("article:focus").waitFor()
    const button = feed(page).locator("article[data-kind='activity'] button[aria-expanded='false']").first()
    const key = await button.evaluate((element) => element.closest("article")?.getAttribute("data-key") ?? "")
    const own = feed(page).locator(`article[data-key="${key}"] button[aria-expanded]`).first()
    await own.press("Enter")
    await expect.poll(() => own.getAttribute("aria-expanded")).toBe("true")
    const seq = await own.evaluate((element) => element.closest("article")?.getAttribute("data-seq") ?? "")
    await feed(page).focus()
    await page.keyboard.press("End")
    await feed(page).getByText("The very end.").waitFor()
    expect(await own.count()).toBe(0)
    await page.evaluate(
      `history.pushState(null, "", "/s/${id}?seq=${seq}"); dispatchEvent(new PopStateEvent("popstate"))`,
    )
    await own.waitFor()
    expect(await own.getAttribute("aria-expanded")).toBe("true")
  })
})
