import type { Scenario } from "@signalbox/simulator"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { check } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { feed, openTranscript, turnsEnded, WAIT } from "./transcript-page.ts"

const agent = (id: string, name: string) => ({
  type: "tool_use",
  id,
  name: "Task",
  input: { description: `Look ${name}`, prompt: `Look ${name}.`, subagent_type: "Explore" },
})
const said = (content: readonly unknown[], parent: string | null, id: string) => ({
  emit: { type: "assistant", parent_tool_use_id: parent, message: { id, role: "assistant", model: "x", content } },
})
const answered = (id: string, text: string, parent: string | null = null) => ({
  emit: {
    type: "user",
    parent_tool_use_id: parent,
    message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: text }] },
  },
})
const words = (text: string, lane: string, n: number) => said([{ type: "text", text }], lane, `${lane}-${n}`)

/** Two sub-agents at once, line by line in turns. */
const parallel: Scenario = {
  turns: [
    {
      steps: [
        said([agent("north", "north"), agent("south", "south")], null, "both"),
        ...Array.from({ length: 30 }, (_, n) => [
          words(`North line ${n}.`, "north", n),
          words(`South line ${n}.`, "south", n),
        ]).flat(),
        answered("north", "Nothing up there."),
        answered("south", "Nothing down there."),
        { say: "Both are back." },
      ],
    },
  ],
}

/** An agent that starts one that starts one, and so on. */
const DEPTH = 5
const nested: Scenario = {
  turns: [
    {
      steps: [
        ...Array.from({ length: DEPTH }, (_, n) =>
          said([agent(`deep-${n}`, `level ${n + 1}`)], n === 0 ? null : `deep-${n - 1}`, `call-${n}`),
        ),
        words("The bottom.", `deep-${DEPTH - 1}`, 0),
        ...Array.from({ length: DEPTH }, (_, index) => DEPTH - 1 - index).map((n) =>
          answered(`deep-${n}`, `Back from level ${n + 1}.`, n === 0 ? null : `deep-${n - 1}`),
        ),
        { say: "Back at the top." },
      ],
    },
  ],
}

describe.runIf(hasBrowser)("sub-agents", () => {
  let cockpit: CockpitHarness
  beforeAll(async () => {
    cockpit = await CockpitHarness.open()
  })
  afterAll(async () => {
    await cockpit?.dispose()
  })

  const row = (page: Page, name: string) => feed(page).getByRole("article", { name })
  const breadcrumb = (page: Page) => page.getByRole("navigation", { name: "Lane" })

  check("[X-14] the rows of two sub-agents at work at once never mix", async () => {
    const { id } = await cockpit.agent({ title: "Two", scenario: parallel })
    await turnsEnded(cockpit, id)
    const page = await openTranscript(cockpit, `/s/${id}`)
    await feed(page).getByText("Both are back.").waitFor()
    const north = row(page, "Explore Look north")
    await north.getByRole("button", { expanded: false }).first().click()
    // The last twenty stand inline.
    await north.getByText("North line 29.").waitFor()
    expect(await north.getByText("North line 9.", { exact: true }).count()).toBe(0)
    expect(await north.getByText("North line 10.").count()).toBe(1)
    expect(await north.getByText(/South/).count()).toBe(0)
    expect(await row(page, "Explore Look south").getByText(/North/).count()).toBe(0)
    await north.getByRole("button", { name: "Open lane, 30 rows" }).click()
    await breadcrumb(page).getByText("Explore: Look north").waitFor()
    await feed(page).focus()
    await page.keyboard.press("Home")
    await feed(page).getByText("North line 0.").waitFor(WAIT)
    expect(await feed(page).getByText(/South/).count()).toBe(0)
    const seqs = await feed(page)
      .locator("article")
      .evaluateAll((all) => all.map((one) => one.getAttribute("data-kind")))
    expect(new Set(seqs)).toEqual(new Set(["text"]))
    await breadcrumb(page).getByRole("button", { name: "Whole session" }).click()
    await feed(page).getByText("Both are back.").waitFor()
    await breadcrumb(page).waitFor({ state: "detached" })
  })

  check("[X-14] a lane deep inside of others is looked at by itself, with the way to it", async () => {
    const { id } = await cockpit.agent({ title: "Deep", scenario: nested })
    await turnsEnded(cockpit, id)
    const page = await openTranscript(cockpit, `/s/${id}`)
    await feed(page).getByText("Back at the top.").waitFor()
    for (const level of [1, 2, 3])
      await feed(page)
        .getByRole("button", { name: new RegExp(`Look level ${level}`) })
        .click()
    await feed(page).getByText("Back from level 3.").waitFor()
    // Three deep it is no longer drawn inside.
    expect(
      await feed(page)
        .getByRole("button", { name: /Look level 4/ })
        .count(),
    ).toBe(0)
    await feed(page).getByRole("button", { name: "Open lane, 1 row" }).click()
    await breadcrumb(page).getByText("Explore: Look level 3").waitFor()
    expect(await breadcrumb(page).getByRole("button").allTextContents()).toEqual([
      "‹ Whole session",
      "Explore: Look level 1",
      "Explore: Look level 2",
    ])
    await feed(page)
      .getByRole("button", { name: /Look level 4/ })
      .first()
      .waitFor()
    await breadcrumb(page).getByRole("button", { name: "Explore: Look level 1" }).click()
    await feed(page)
      .getByRole("button", { name: /Look level 2/ })
      .first()
      .waitFor()
  })

  check("[X-17] Back to a lane, and out of it, leads to what was read there", async () => {
    const { id } = await cockpit.agent({ title: "Two again", scenario: parallel })
    await turnsEnded(cockpit, id)
    const page = await openTranscript(cockpit, `/s/${id}`)
    await feed(page).getByText("Both are back.").waitFor()
    const north = row(page, "Explore Look north")
    await north.getByRole("button", { expanded: false }).first().click()
    const open = north.getByRole("button", { name: "Open lane, 30 rows" })
    const topOf = (text: string) =>
      feed(page)
        .getByText(text, { exact: true })
        .evaluate((element) => Math.round(element.getBoundingClientRect().top))
    await open.hover()
    await page.mouse.wheel(0, 40)
    const line = await feed(page).getByText("North line 12.", { exact: true }).elementHandle()
    // At once: a click of its own would bring the button into view first.
    const left = await open.evaluate((button, shown) => {
      const top = Math.round(shown?.getBoundingClientRect().top ?? Number.NaN)
      button.dispatchEvent(new MouseEvent("click", { bubbles: true }))
      return top
    }, line)
    await breadcrumb(page).getByText("Explore: Look north").waitFor()
    await feed(page).focus()
    await page.keyboard.press("Home")
    await feed(page).getByText("North line 0.").waitFor(WAIT)
    const inLane = await topOf("North line 1.")
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Sessions" }).click()
    await page.waitForURL(/\/sessions$/)
    await page.goBack()
    await breadcrumb(page).getByText("Explore: Look north").waitFor(WAIT)
    await expect.poll(async () => Math.abs((await topOf("North line 1.")) - inLane), WAIT).toBeLessThanOrEqual(2)
    await breadcrumb(page).getByRole("button", { name: "Whole session" }).click()
    await north.waitFor(WAIT)
    await expect.poll(async () => Math.abs((await topOf("North line 12.")) - left), WAIT).toBeLessThanOrEqual(2)
  })

  check("[X-18] an address of a sub-agent that is not there says so, and leads to the whole session", async () => {
    const { id } = await cockpit.agent({ title: "None", scenario: parallel })
    await turnsEnded(cockpit, id)
    const page = await cockpit.page()
    await page.goto(`/s/${id}?lane=nonsense`)
    await page.getByText("Sub-agent not found in this session.").waitFor(WAIT)
    expect(await page.getByRole("status", { name: "Loading" }).count()).toBe(0)
    await page.getByRole("button", { name: "Show whole session" }).click()
    await feed(page).getByText("Both are back.").waitFor()
    expect(new URL(page.url()).search).toBe("")
  })

  check("[X-18] a sub-agent far up in a long session is looked for, a part at a time", async () => {
    const { id } = await cockpit.agent({
      title: "Far",
      args: ["--speed", "max"],
      scenario: {
        turns: [
          {
            steps: [
              said([agent("early", "early")], null, "early-call"),
              words("An early word.", "early", 0),
              answered("early", "Nothing."),
              { loop: 2600, as: "n", steps: [{ say: "Line {{n}}." }] },
              { say: "The very end." },
            ],
          },
        ],
      },
    })
    await turnsEnded(cockpit, id)
    const page = await cockpit.page()
    await page.goto(`/s/${id}?lane=early`)
    await page.getByText(/Not found in the [\d,]+ events searched so far\./).waitFor(WAIT)
    await page.getByRole("button", { name: "Search earlier events" }).click()
    await feed(page).getByText("An early word.").waitFor(WAIT)
  })

  check("[X-15] what a sub-agent asks is in the dock, and says which sub-agent asks", async () => {
    const { id } = await cockpit.agent({
      title: "Asks",
      scenario: {
        turns: [
          {
            steps: [
              {
                tool: "Task",
                input: { description: "Tidy the cellar", prompt: "Tidy.", subagent_type: "general-purpose" },
                agent: [{ tool: "Bash", input: { command: "rm -rf cellar" }, result: "done" }, { say: "Tidy." }],
              },
              { say: "All tidy." },
            ],
          },
        ],
      },
    })
    const page = await openTranscript(cockpit, `/s/${id}`)
    const dock = page.getByRole("region", { name: "Waiting for you" })
    await dock.getByText("rm -rf cellar").first().waitFor(WAIT)
    await dock
      .getByText(/Tidy the cellar/)
      .first()
      .waitFor(WAIT)
  })
})
