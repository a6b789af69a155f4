import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { check } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { says, talks } from "./scenarios.ts"

const MANY = 3000

describe.runIf(hasBrowser)("the transcript", () => {
  let cockpit: CockpitHarness
  beforeAll(async () => {
    cockpit = await CockpitHarness.open()
  })
  afterAll(async () => {
    await cockpit?.dispose()
  })

  const feed = (page: Page) => page.getByRole("feed", { name: "Transcript" })
  async function open(id: string, query = "", options: Parameters<CockpitHarness["page"]>[0] = {}): Promise<Page> {
    const page = await cockpit.page(options)
    await page.goto(`/s/${id}${query}`)
    await feed(page).locator("article").first().waitFor()
    return page
  }
  async function idle(id: string): Promise<void> {
    const turns = async () => (await cockpit.hub.get(`/api/sessions/${id}`)).turns
    await expect.poll(turns, { timeout: 60_000 }).toBeGreaterThan(0)
  }
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
    await idle(id)
    return id
  }

  check("[X-2] a kind of event that nobody knows yet is shown, not dropped", async () => {
    const { id } = await cockpit.agent({
      title: "New",
      scenario: { turns: [{ steps: [{ emit: { type: "zebra", stripes: 3 } }, { say: "Done." }] }] },
    })
    const page = await open(id)
    await page.getByRole("article", { name: /Unknown event zebra/ }).waitFor()
  })

  check(
    "[X-1] text, thinking, tools, diffs, notices and results have their rows, and the page has no complaint",
    async () => {
      const { id } = await cockpit.agent({
        title: "Everything",
        args: ["--allowedTools", "Bash,Edit,Write,WebFetch,mcp__files__list"],
        scenario: {
          files: { "a.ts": "const a = 1\n" },
          turns: [
            {
              steps: [
                { think: "Hm." },
                { say: "# Title\n\nSome **bold** words." },
                { tool: "Read", input: { file_path: "{{cwd}}/a.ts" } },
                { tool: "Edit", input: { file_path: "{{cwd}}/a.ts", old_string: "1", new_string: "2" } },
                { tool: "Bash", input: { command: "ls -la" }, result: "\u001b[31mred\u001b[0m", isError: false },
                { tool: "mcp__files__list", input: { path: "/x" }, result: "one" },
                { compact: "auto", preTokens: 168_000, postTokens: 22_000 },
                { say: "The end." },
              ],
            },
          ],
        },
      })
      const page = await open(id)
      await feed(page).getByText("The end.").waitFor()
      for (const name of [
        /^Started/,
        /^Message of/,
        /^Thinking/,
        /^Claude: # Title/,
        /^Edit/,
        /^Command ls/,
        /Context compacted/,
        /Turn finished/,
      ]) {
        await page.getByRole("article", { name }).first().waitFor()
      }
      await feed(page).getByRole("heading", { name: "Title" }).waitFor()
      expect(cockpit.complaints).toEqual([])
    },
  )

  check("[X-3] markup of an agent never becomes markup, wherever it stands", async () => {
    const evil = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
    const { id } = await cockpit.agent({
      title: evil,
      prompt: evil,
      args: ["--allowedTools", "Bash,mcp__x__evil"],
      scenario: {
        turns: [
          {
            steps: [
              { think: evil },
              {
                say: `${evil}\n\n[link](javascript:document.title='owned') ![i](http://127.0.0.1:9/x.png)\n\n\`\`\`html\n${evil}\n\`\`\``,
              },
              { tool: "Bash", input: { command: evil }, result: evil },
              { tool: "mcp__x__evil", input: { [evil]: evil }, result: evil },
              { say: "The end." },
            ],
          },
        ],
      },
    })
    const page = await open(id)
    const foreign: string[] = []
    page.on("request", (request) => {
      if (!request.url().startsWith(cockpit.hub.ready.url)) foreign.push(request.url())
    })
    await page.reload()
    await feed(page).getByText("The end.").waitFor()
    const closed = feed(page).getByRole("button", { expanded: false })
    while ((await closed.count()) > 0) await closed.first().click()
    // The title is the session's, as text; a script would have made it another.
    expect(await page.title()).toContain("<img")
    expect(await feed(page).locator("img, script, iframe").count()).toBe(0)
    expect(await feed(page).locator("a[href^='javascript']").count()).toBe(0)
    expect(foreign).toEqual([])
  })

  check("[X-6] for a reader who scrolled up, what they read stays where it is while more is said", async () => {
    const { id } = await cockpit.agent({
      title: "Stream",
      scenario: {
        turns: [
          { steps: [{ say: { repeat: "A line of the past.\n\n", times: 80 } }] },
          talks(200, 40).turns[0] ?? { steps: [] },
        ],
      },
    })
    await idle(id)
    const page = await open(id)
    await cockpit.hub.post(`/api/sessions/${id}/messages`, { content: "go on" })
    await feed(page).getByText("More words come.").first().waitFor()
    await feed(page).hover()
    await page.mouse.wheel(0, -400)
    await page.getByRole("button", { name: /Jump to latest/ }).waitFor()
    const anchor = feed(page).locator("article[data-kind='text']").first()
    const top = async () => (await anchor.boundingBox())?.y ?? Number.NaN
    const before = await top()
    const moved: number[] = []
    for (let n = 0; n < 20; n++) {
      await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))")
      moved.push(Math.abs((await top()) - before))
    }
    expect(Math.max(...moved)).toBeLessThanOrEqual(2)
    await page.getByRole("button", { name: /Jump to latest/ }).click()
    await expect.poll(() => distanceToEnd(page)).toBeLessThanOrEqual(24)
  })

  const distanceToEnd = (page: Page) =>
    feed(page).evaluate((element) => element.scrollHeight - element.clientHeight - element.scrollTop)

  check("[X-7] a reader who follows has the end in view in every frame", async () => {
    const { id } = await cockpit.agent({ title: "Follow", scenario: talks(150, 30) })
    const page = await open(id)
    await feed(page).getByText("More words come.").first().waitFor()
    const distances: number[] = []
    for (let n = 0; n < 40; n++) {
      await page.evaluate("new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))")
      distances.push(await distanceToEnd(page))
    }
    expect(Math.max(...distances)).toBeLessThanOrEqual(24)
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
    await own.click()
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
