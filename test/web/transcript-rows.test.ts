import { readFileSync } from "node:fs"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { check } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { everyMessage, everyRow } from "./every-row.ts"
import { says } from "./scenarios.ts"
import { feed, openTranscript, turnsEnded, WAIT } from "./transcript-page.ts"

describe.runIf(hasBrowser)("the rows of a transcript", () => {
  let cockpit: CockpitHarness
  beforeAll(async () => {
    cockpit = await CockpitHarness.open()
  })
  afterAll(async () => {
    await cockpit?.dispose()
  })

  const open = (id: string) => openTranscript(cockpit, `/s/${id}`)

  check(
    "[X-1] every message there is becomes the rows it should, no others, and the page has no complaint",
    async () => {
      const { id } = await cockpit.agent({ title: "Everything", scenario: everyMessage })
      await turnsEnded(cockpit, id)
      const complaints = cockpit.complaints.length
      // So high that every row is in the document.
      const page = await openTranscript(cockpit, `/s/${id}`, { size: { width: 1440, height: 9000 } })
      await feed(page).getByText("Here it ends.").first().waitFor()
      const names = await rowNames(page)
      const [from, to] = [names.indexOf("Claude: Here it begins."), names.indexOf("Claude: Here it ends.")]
      expect(names.slice(from, to + 1)).toEqual(everyRow.map(([name]) => name))
      expect(names.slice(0, from)).toEqual(
        expect.arrayContaining(["Started", expect.stringMatching(/^Message from .*: Go on$/)]),
      )
      expect(names.at(-1)).toBe("Turn finished")
      const articles = feed(page).locator("article")
      for (const [index, [name, ...texts]] of everyRow.entries()) {
        const article = articles.nth(from + index)
        // What a command wrote is a click away, unless it failed.
        const closed = article.getByRole("button", { name: /^\$/, expanded: false })
        if (name.startsWith("Command") && (await closed.count()) > 0) await closed.click()
        const shown = await article.innerText()
        for (const text of texts) expect(shown, name).toContain(text)
      }
      expect(cockpit.complaints.slice(complaints)).toEqual([])
    },
  )

  const rowNames = (page: Page) =>
    feed(page)
      .locator("article")
      .evaluateAll((articles) => articles.map((article) => article.getAttribute("aria-label") ?? ""))

  check("[X-19] a document that was read can be had, and its pages are looked at one by one", async () => {
    const pdf = Buffer.from("%PDF-1.4 a document of one line")
    const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    const image = { type: "image", source: { type: "base64", media_type: "image/png", data: pixel } }
    const document = { type: "document", source: { type: "base64", media_type: "application/pdf" } }
    const base64 = pdf.toString("base64")
    const read = (id: string, file: string) => ({
      emit: {
        type: "assistant",
        parent_tool_use_id: null,
        message: {
          id: `m${id}`,
          role: "assistant",
          model: "x",
          content: [{ type: "tool_use", id, name: "Read", input: { file_path: file } }],
        },
      },
    })
    const got = (id: string, content: readonly unknown[], structured: unknown) => ({
      emit: {
        type: "user",
        parent_tool_use_id: null,
        message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content }] },
        tool_use_result: structured,
      },
    })
    const { id } = await cockpit.agent({
      title: "Papers",
      scenario: {
        turns: [
          {
            steps: [
              read("whole", "/docs/whole.pdf"),
              got("whole", [{ ...document, source: { ...document.source, data: base64 } }], {
                type: "pdf",
                file: { filePath: "/docs/whole.pdf", base64, originalSize: pdf.length },
              }),
              read("parts", "/docs/parts.pdf"),
              got("parts", [{ type: "text", text: "PDF pages extracted" }, image, image], {
                type: "parts",
                file: { filePath: "/docs/parts.pdf", originalSize: 9000, count: 2 },
                firstPage: 7,
              }),
              { say: "The end." },
            ],
          },
        ],
      },
    })
    const page = await open(id)
    await feed(page).getByText("The end.").waitFor()
    // One document, although it was told twice.
    const card = feed(page).getByRole("button", { name: "Download whole.pdf" })
    expect(await card.count()).toBe(1)
    const [download] = await Promise.all([page.waitForEvent("download"), card.click()])
    expect(download.suggestedFilename()).toBe("whole.pdf")
    expect(readFileSync(await download.path()).equals(pdf)).toBe(true)
    const pages = feed(page).getByRole("list", { name: "Pictures" })
    expect(await pages.getByRole("button").count()).toBe(2)
    await pages.getByRole("button", { name: "Open parts.pdf, page 8" }).click()
    await page.getByRole("dialog", { name: "parts.pdf, page 8" }).getByRole("img").waitFor()
  })

  check("[X-124] footnotes are raised numbers, with their notes at the end", async () => {
    const { id } = await cockpit.agent({
      title: "Notes",
      scenario: says("It is so.[^why]\n\n[^why]: It was measured."),
    })
    const page = await open(id)
    await feed(page).getByText("It is so.¹").first().waitFor()
    await feed(page).getByText("¹ It was measured.").first().waitFor()
    expect(await feed(page).getByText("[^why]").count()).toBe(0)
  })

  check("[X-128] messages of people stand apart from what the agent says, and one's own are signed", async () => {
    const { id } = await cockpit.agent({ title: "Voices", prompt: "A person says.", scenario: says("An agent says.") })
    /** The ground that a row's words stand on; none is the page's. */
    const groundOf = (page: Page, words: string) =>
      feed(page)
        .getByText(words, { exact: true })
        .first()
        .evaluate((element) => {
          const grounds: string[] = []
          for (let at: Element | null = element; at !== null && at.tagName !== "ARTICLE"; at = at.parentElement)
            grounds.push(getComputedStyle(at).backgroundColor)
          return grounds.filter((ground) => ground !== "rgba(0, 0, 0, 0)")
        })
    for (const [role, name] of [
      ["admin", "You"],
      ["viewer", "admin"],
    ] as const) {
      for (const theme of ["light", "dark"] as const) {
        const page = await openTranscript(cockpit, `/s/${id}`, { role, theme })
        const row = (words: string) => feed(page).getByRole("article").filter({ hasText: words }).first()
        await row("An agent says.").waitFor()
        await row("A person says.").getByText(name, { exact: true }).waitFor()
        expect(await row("An agent says.").getByText(name, { exact: true }).count()).toBe(0)
        expect(await groundOf(page, "A person says.")).toHaveLength(1)
        expect(await groundOf(page, "An agent says.")).toEqual([])
        await page.context().close()
      }
    }
  })

  check("[X-2] a kind of event that nobody knows yet is shown, not dropped", async () => {
    const { id } = await cockpit.agent({
      title: "New",
      scenario: { turns: [{ steps: [{ emit: { type: "zebra", stripes: 3 } }, { say: "Done." }] }] },
    })
    const page = await open(id)
    await page.getByRole("article", { name: /Unknown event zebra/ }).waitFor()
  })

  check("[X-16] what would turn a text around or hide in it is shown by its name, wherever it stands", async () => {
    const hidden = "see \u202Egpj.exe and a\u200Bb \u{1F468}\u200D\u{1F469}"
    const steps = [
      { say: `${hidden}\n\n\`${hidden}\`\n\n\`\`\`\n${hidden}\n\`\`\`` },
      { tool: "Bash", input: { command: "ls", description: hidden }, result: hidden },
      { tool: "Bash", input: { command: "cat invoice\u202Egnp.exe\u200B" }, result: "" },
      { say: "The end." },
    ]
    const { id } = await cockpit.agent({
      title: "Hidden",
      args: ["--allowedTools", "Bash"],
      scenario: { turns: [{ steps }] },
    })
    const page = await open(id)
    await page.getByRole("feed").getByText("The end.").first().waitFor()
    const closed = page.getByRole("feed").getByRole("button", { expanded: false })
    while ((await closed.count()) > 0) await closed.first().click()
    const feed = await page.getByRole("feed").evaluate((element) => element.textContent ?? "")
    // The command with it is told in its line, and whole below.
    expect(feed).toContain("cat invoice⟨U+202E RLO⟩gnp.exe⟨U+200B ZWSP⟩")
    expect(feed.match(/U\+202E RLO/g)).toHaveLength(7)
    expect(feed.match(/U\+200B ZWSP/g)).toHaveLength(7)
    expect(/[\u202E\u200B]/.test(feed)).toBe(false)
    // What emoji are made of is left to them.
    expect(feed).toContain("\u{1F468}\u200D\u{1F469}")
  })

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

  check("[X-4] a turn that was interrupted is not told as one that failed", async () => {
    const { id } = await cockpit.agent({
      title: "Stopped",
      scenario: {
        turns: [
          {
            steps: [
              { say: "I wait." },
              { tool: "Bash", input: { command: "sleep 600" }, result: "x", durationMs: 600_000 },
            ],
          },
        ],
      },
      args: ["--allowedTools", "Bash"],
    })
    const page = await open(id)
    await page.getByRole("article", { name: "Command sleep 600" }).waitFor()
    await cockpit.hub.post(`/api/sessions/${id}/interrupt`)
    await turnsEnded(cockpit, id)
    await feed(page)
      .getByText(/Interrupted by/)
      .first()
      .waitFor(WAIT)
    expect(
      await page
        .locator("main")
        .getByText(/failed/i)
        .count(),
    ).toBe(0)
  })

  check(
    "[X-5] of five megabytes the end is there at once, and all of it on demand, with little in the document",
    async () => {
      const line = "one line of a log that never ends\n"
      const { id } = await cockpit.agent({
        title: "Flood",
        scenario: {
          turns: [
            {
              steps: [
                {
                  tool: "Bash",
                  input: { command: "cat log" },
                  result: { repeat: line, bytes: 5_000_000 },
                  structured: { stderr: "" },
                },
                { say: "That was long." },
              ],
            },
          ],
        },
        args: ["--allowedTools", "Bash", "--speed", "max"],
      })
      await turnsEnded(cockpit, id)
      const page = await open(id)
      const row = page.getByRole("article", { name: "Command cat log" })
      await row.waitFor()
      // One line while it is closed.
      expect(await row.getByText("one line of a log that never ends").count()).toBe(0)
      await row.getByRole("button", { expanded: false }).click()
      await row.getByText("one line of a log that never ends").first().waitFor()
      expect((await row.innerText()).length).toBeLessThan(10_000)
      await row.getByRole("button", { name: "Show all, 5.0 MB" }).click()
      const whole = row.getByRole("region", { name: "Whole output" })
      await whole.getByText("one line of a log").first().waitFor()
      const shown = () =>
        whole.evaluate((element) => ({ chars: element.textContent?.length ?? 0, top: element.scrollTop }))
      await expect.poll(async () => (await shown()).top, WAIT).toBeGreaterThan(10_000)
      expect((await shown()).chars).toBeLessThan(100_000)
      await whole.focus()
      await page.keyboard.press("Home")
      await expect.poll(async () => (await shown()).top, WAIT).toBe(0)
    },
  )

  // The last: its session is a failed one in the list beside the others.
  check("[X-21] an agent that is not signed in is not told to try again in a while", async () => {
    const { id } = await cockpit.agent({ title: "Signed out", scenario: { turns: [{ steps: [{ error: 401 }] }] } })
    const page = await open(id)
    await feed(page).getByText("The agent is not signed in.").waitFor(WAIT)
    const end = feed(page).getByRole("article", { name: "Turn failed" })
    await end.waitFor(WAIT)
    expect(await end.innerText()).toMatch(/^Failed · /)
  })
})
