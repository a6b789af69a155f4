import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { searchedEvents } from "../gate.ts"
import { check } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { says } from "./scenarios.ts"

/** The machine may be busy; nothing here is about time. */
const WAIT = { timeout: 90_000, interval: 100 }
const EVIL = "<img src=x onerror=\"document.title='owned'\"> lantern"

describe.runIf(hasBrowser)("the search", () => {
  let cockpit: CockpitHarness
  beforeAll(async () => {
    cockpit = await CockpitHarness.open()
  })
  afterAll(async () => {
    await cockpit?.dispose()
  })

  async function open(path = "/search"): Promise<Page> {
    const page = await cockpit.page()
    await page.goto(path)
    await field(page).waitFor()
    return page
  }
  const field = (page: Page) => page.getByRole("searchbox", { name: "Search all sessions" })
  const feed = (page: Page) => page.getByRole("feed", { name: "Transcript" })
  const hits = (page: Page) => page.locator("[data-hit]")
  const findBar = (page: Page) => page.getByRole("search", { name: "Found in this session" })

  /** Its agent is done, and what it said can be found. */
  async function isFound(id: string, word: string): Promise<void> {
    const found = async () => (await cockpit.hub.get(`/api/search?q=${word}&session=${id}`)).hits.length
    await expect.poll(async () => (await cockpit.hub.get(`/api/sessions/${id}`)).turns, WAIT).toBe(1)
    await expect.poll(found, WAIT).toBeGreaterThan(0)
  }
  /** The focused row holds the text, and both are in view. */
  async function isInView(page: Page, text: string): Promise<void> {
    const row = feed(page).locator("article:focus")
    await row.waitFor()
    const words = row.getByText(text).first()
    await words.waitFor()
    const view = await feed(page).boundingBox()
    await expect
      .poll(async () => {
        const box = await words.boundingBox()
        if (box === null || view === null) return false
        return box.y >= view.y - 1 && box.y + box.height <= view.y + view.height + 1
      }, WAIT)
      .toBe(true)
  }

  check("[F-1] a hit in the middle of a long session is gone to, focused and in view", async () => {
    const half = Math.floor(searchedEvents / 4)
    const step = (n: string) => ({ tool: "Grep", input: { pattern: `p${n}` }, result: "a.ts" })
    const { id } = await cockpit.agent({
      title: "Long",
      scenario: {
        turns: [
          {
            steps: [
              { loop: half, as: "n", steps: [step("{{n}}")] },
              { say: "Here the semaphore stands." },
              { loop: half, as: "n", steps: [step("{{n}}")] },
              { say: "The very end." },
            ],
          },
        ],
      },
      args: ["--speed", "max"],
    })
    await isFound(id, "semaphore")
    const { lastSeq } = await cockpit.hub.get(`/api/sessions/${id}`)
    expect(lastSeq).toBeGreaterThanOrEqual(searchedEvents)
    const page = await open()
    await field(page).fill("semaphore")
    await hits(page).first().waitFor()
    // Without a mouse: down to the hit, and in.
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await isInView(page, "Here the semaphore stands.")
    await findBar(page).getByText("1 of 1").waitFor()
    const seq = Number(new URL(page.url()).searchParams.get("seq"))
    expect(Math.abs(seq - lastSeq / 2)).toBeLessThan(lastSeq / 10)
    expect(await feed(page).locator("article:focus").getAttribute("data-seq")).toBe(String(seq))
  })

  check("[F-2] a hit in a closed group or a sub-agent's lane opens what it stands in", async () => {
    const read = (n: number, content: string) => ({ tool: "Read", input: { file_path: `/x/${n}.ts` }, result: content })
    const { id } = await cockpit.agent({
      title: "Nested",
      args: ["--allowedTools", "Read,Bash"],
      scenario: {
        turns: [
          {
            steps: [
              { say: "I look around." },
              read(1, "one"),
              read(2, "two"),
              read(3, "the grouped beacon"),
              read(4, "four"),
              { say: "Now others." },
              {
                tool: "Task",
                input: { description: "Look deeper", prompt: "Look deeper", subagent_type: "general-purpose" },
                agent: [
                  { say: "Deep down." },
                  { tool: "Bash", input: { command: "ls" }, result: "the laned beacon" },
                  { say: "That is all." },
                ],
              },
              { say: "Enough." },
            ],
          },
        ],
      },
    })
    await isFound(id, "laned")
    const page = await open(`/search?q=grouped`)
    await hits(page).first().click()
    await isInView(page, "the grouped beacon")
    const group = feed(page).locator("article:focus").getByRole("button", { expanded: true }).first()
    await group.waitFor()
    await page.goto(`/search?q=laned`)
    await hits(page).first().click()
    await isInView(page, "the laned beacon")
    await page.goto(`/search?q=beacon&session=${id}`)
    await hits(page).first().click()
    await findBar(page).getByText("2 of 2").waitFor()
    await findBar(page).getByRole("button", { name: "Previous match" }).click()
    await findBar(page).getByText("1 of 2").waitFor()
    await isInView(page, "the grouped beacon")
    await findBar(page).getByRole("button", { name: "Close search" }).click()
    await findBar(page).waitFor({ state: "detached" })
  })

  check("[F-3] words and filters are in the address, and survive a reload", async () => {
    const { id } = await cockpit.agent({ title: "A signal lamp", scenario: says("The lamp burns again.") })
    await isFound(id, "lamp")
    const page = await open()
    await field(page).fill("lamp")
    await expect.poll(() => hits(page).count(), WAIT).toBe(2)
    await page.getByRole("checkbox", { name: "Titles" }).check()
    await expect.poll(() => hits(page).count(), WAIT).toBe(1)
    await page.getByLabel("From").fill("2020-01-01")
    await page.getByLabel("To", { exact: true }).fill("2021-01-01")
    await page.getByText("No matches with these filters.").waitFor()
    expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
      q: "lamp",
      in: "titles",
      from: "2020-01-01",
      to: "2021-01-01",
    })
    await page.reload()
    await page.getByText("No matches with these filters.").waitFor()
    expect(await field(page).inputValue()).toBe("lamp")
    await page.getByRole("button", { name: "Search everywhere" }).click()
    await expect.poll(() => hits(page).count(), WAIT).toBe(2)
    await hits(page).last().click()
    await feed(page).waitFor()
    await page.goBack()
    await expect.poll(() => hits(page).count(), WAIT).toBe(2)
    await field(page).fill("")
    await page.getByRole("button", { name: "lamp", exact: true }).waitFor()
    await field(page).fill("nowhere at all")
    await page.getByText(/^No matches in \d+ sessions?\.$/).waitFor()
  })

  check("[F-4] markup in what was found is text", async () => {
    const { id } = await cockpit.agent({ title: EVIL, prompt: EVIL, scenario: says(EVIL) })
    await isFound(id, "lantern")
    const page = await open("/search?q=lantern")
    await hits(page).first().waitFor()
    expect(await hits(page).first().textContent()).toContain("<img src=x onerror=")
    expect(await page.locator("main img").count()).toBe(0)
    expect(await page.locator("mark").first().textContent()).toBe("lantern")
    expect(await page.title()).not.toContain("owned")
    expect(cockpit.complaints).toEqual([])
  })

  check("[F-5] a slash leads to the field, from a session to that session alone", async () => {
    const { id } = await cockpit.agent({ title: "Where the slash is typed", scenario: says("A turntable.") })
    await isFound(id, "turntable")
    const page = await cockpit.page()
    await page.goto(`/s/${id}`)
    await feed(page).locator("article").first().waitFor()
    await page.keyboard.press("/")
    await page.getByRole("button", { name: /^Only in Where the slash is typed/ }).waitFor()
    expect(new URL(page.url()).searchParams.get("session")).toBe(id)
    await page.keyboard.type("turntable")
    await hits(page).first().waitFor()
    await page.getByText(/^Indexed up to \d\d:\d\d$/).waitFor()
  })
})
