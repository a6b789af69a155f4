import type { Scenario } from "@signalbox/simulator"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { check } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { asksFor } from "./scenarios.ts"

const QUESTIONS = [
  {
    question: "Which database?",
    header: "Database",
    options: [
      { label: "SQLite", description: "One file" },
      { label: "Postgres", description: "A server" },
    ],
    multiSelect: false,
  },
  {
    question: "Which parts?",
    header: "Parts",
    options: [
      { label: "API", description: "" },
      { label: "Web", description: "" },
    ],
    multiSelect: true,
  },
]
const tool = (name: string, input: Record<string, unknown>): Scenario => ({
  turns: [{ repeat: true, steps: [{ tool: name, input }, { say: "Thank you." }] }],
})
const long = Array.from({ length: 200 }, (_, index) => `npm run step-${index}`).join("\n")

describe.runIf(hasBrowser)("approvals", () => {
  let cockpit: CockpitHarness
  beforeAll(async () => {
    cockpit = await CockpitHarness.open()
  })
  afterAll(async () => {
    await cockpit?.dispose()
  })

  async function asked(scenario: Scenario, title = "Asks"): Promise<string> {
    const { id } = await cockpit.agent({ scenario, title })
    await expect.poll(async () => (await openAsks(id)).length, { timeout: 30_000 }).toBe(1)
    return id
  }
  const openAsks = async (id: string) => (await cockpit.hub.get(`/api/asks?state=pending&session=${id}`)).asks
  const allAsks = async (id: string) => (await cockpit.hub.get(`/api/asks?session=${id}`)).asks
  const dock = (page: Page) => page.getByRole("region", { name: "Waiting for you" })
  async function openSession(id: string, options: Parameters<CockpitHarness["page"]>[0] = {}): Promise<Page> {
    const page = await cockpit.page(options)
    await page.goto(`/s/${id}`)
    await page.getByRole("feed", { name: "Transcript" }).waitFor()
    return page
  }
  /** The card counts what is done to it only after a moment. */
  async function armed(page: Page): Promise<void> {
    await dock(page)
      .getByRole("button", { name: /^Allow/ })
      .waitFor()
    await page.keyboard.press("F6")
    await dock(page).locator("[data-ask][data-armed='true']").waitFor()
  }

  check("[K-1] what is typed while an ask arrives stays typed, and the focus stays where it is", async () => {
    const { id } = await cockpit.agent({
      title: "Late",
      scenario: {
        turns: [
          { steps: [{ say: "First." }] },
          { steps: [{ tool: "Bash", input: { command: "npm test" }, result: "ok" }] },
        ],
      },
    })
    const page = await openSession(id)
    const message = page.getByRole("textbox", { name: "Message" })
    await page.getByText("First.").first().waitFor()
    await message.click()
    await page.keyboard.type("yy")
    await cockpit.hub.post(`/api/sessions/${id}/messages`, { content: "go" })
    await dock(page)
      .getByRole("button", { name: /^Allow once/ })
      .waitFor()
    await page.keyboard.type("yy")
    expect(await message.inputValue()).toBe("yyyy")
    expect(await message.evaluate((field) => field.ownerDocument.activeElement === field)).toBe(true)
    expect(await openAsks(id)).toHaveLength(1)
  })

  check("[K-2] F6 and y allow it, once, and a key that is held down allows nothing more", async () => {
    const id = await asked({
      turns: [
        {
          steps: [
            { tool: "Bash", input: { command: "npm run one" }, result: "1" },
            { tool: "Bash", input: { command: "npm run two" }, result: "2" },
          ],
        },
      ],
    })
    const page = await openSession(id)
    await armed(page)
    await page.keyboard.down("y")
    for (let n = 0; n < 20; n++) await page.keyboard.down("y")
    await expect
      .poll(async () => (await allAsks(id)).map(({ state }: { state: string }) => state).toSorted())
      .toEqual(["allowed", "pending"])
    for (let n = 0; n < 20; n++) await page.keyboard.down("y")
    await page.keyboard.up("y")
    expect(await openAsks(id)).toHaveLength(1)
  })

  check("[K-3] a long command must be seen to its end before it can be allowed", async () => {
    const page = await openSession(await asked(asksFor(long)))
    const gate = dock(page).getByRole("button", { name: /Review to allow/ })
    await gate.waitFor()
    expect(await gate.getAttribute("aria-disabled")).toBe("true")
    await dock(page).getByRole("group", { name: "Request" }).focus()
    await page.keyboard.press("End")
    await dock(page)
      .getByRole("button", { name: /Allow once/ })
      .waitFor()
  })

  check("[K-4] a character that turns the text around is shown by its name", async () => {
    const page = await openSession(await asked(asksFor("npm run \u202Egnp.exe")))
    await dock(page).getByText("U+202E RLO").waitFor()
  })

  check("[K-5] an edited input goes out whole, and the log says who changed it", async () => {
    const id = await asked(asksFor("npm run deploy"))
    const page = await openSession(id)
    await armed(page)
    await page.keyboard.press("e")
    const field = dock(page).getByRole("textbox", { name: "Edit command" })
    await field.fill("npm run deploy -- --dry-run")
    await dock(page).getByRole("button", { name: "Allow edited" }).click()
    await expect.poll(async () => (await allAsks(id))[0].state).toBe("allowed")
    expect((await allAsks(id))[0].answer.updatedInput).toEqual({
      command: "npm run deploy -- --dry-run",
      description: "As you asked",
    })
    await page.getByText(/changed by/).waitFor()
  })

  check("[K-6] a rule that was ticked is sent with the place it was given, and nothing else", async () => {
    const id = await asked(asksFor("npm ci"))
    const page = await openSession(id)
    const rule = dock(page).getByRole("checkbox").first()
    await rule.check()
    await dock(page).getByRole("combobox").first().selectOption("projectSettings")
    await armed(page)
    await dock(page)
      .getByRole("button", { name: /Allow \+ 1 rule/ })
      .click()
    await expect.poll(async () => (await allAsks(id))[0].state).toBe("allowed")
    const [ask] = await allAsks(id)
    expect(ask.answer.updatedPermissions).toEqual([{ ...ask.suggestions[0], destination: "projectSettings" }])
  })

  check("[K-7] of two who answer at once one wins, and the other is told who", async () => {
    const id = await asked(asksFor("npm run race"))
    const [first, second] = [await openSession(id), await openSession(id, { role: "operator" })]
    await armed(first)
    await armed(second)
    await second.keyboard.press("n")
    await dock(second).getByRole("button", { name: "Deny", exact: true }).waitFor()
    await Promise.all([first.keyboard.press("y"), second.keyboard.press("Enter")])
    await expect.poll(async () => (await allAsks(id))[0].state).not.toBe("pending")
    const [ask] = await allAsks(id)
    const loser = ask.state === "allowed" ? second : first
    await loser
      .getByText(/before you\. Your answer was not used|allowed this at|denied this at/)
      .first()
      .waitFor()
  })

  check(
    "[K-9] answers to questions are by the question's own words, and nothing is sent before all are answered",
    async () => {
      const id = await asked(tool("AskUserQuestion", { questions: QUESTIONS }))
      const page = await openSession(id)
      await dock(page)
        .getByRole("radio", { name: /Postgres/ })
        .check()
      const send = dock(page).getByRole("button", { name: /Send answers/ })
      expect(await send.getAttribute("aria-disabled")).toBe("true")
      await dock(page).getByRole("checkbox", { name: "Web" }).check()
      await dock(page).getByRole("checkbox", { name: "API" }).check()
      await expect.poll(() => send.getAttribute("aria-disabled")).toBe("false")
      await dock(page).locator("[data-ask][data-armed='true']").waitFor()
      await send.click()
      await expect.poll(async () => (await allAsks(id))[0].state).toBe("allowed")
      expect((await allAsks(id))[0].answer.updatedInput.answers).toEqual({
        "Which database?": "Postgres",
        "Which parts?": "API, Web",
      })
    },
  )

  check("[K-11] on a phone both answers are large, apart and in view, however long the request", async () => {
    const id = await asked(asksFor(long))
    const [ask] = await openAsks(id)
    const page = await cockpit.page({ size: "phone" })
    await page.goto(`/approvals/${ask.id}`)
    const primary = await page.getByRole("button", { name: /Review to allow/ }).boundingBox()
    const deny = await page.getByRole("button", { name: /Deny/ }).boundingBox()
    if (primary === null || deny === null) throw new Error("a button is not there")
    expect(Math.min(primary.height, deny.height)).toBeGreaterThanOrEqual(44)
    for (const box of [primary, deny]) expect(box.y + box.height).toBeLessThanOrEqual(844)
    const apart = Math.max(
      primary.x - deny.x - deny.width,
      deny.x - primary.x - primary.width,
      primary.y - deny.y - deny.height,
      deny.y - primary.y - primary.height,
    )
    expect(apart).toBeGreaterThanOrEqual(12)
  })

  check("[K-14] a viewer sees what is asked and nothing to answer it with", async () => {
    const page = await openSession(await asked(asksFor("npm run secret")), { role: "viewer" })
    await dock(page).getByText("npm run secret").first().waitFor()
    await dock(page).getByText("Operators can answer").waitFor()
    expect(
      await dock(page)
        .getByRole("button", { name: /Allow|Deny|Edit/ })
        .count(),
    ).toBe(0)
  })

  check("[A-1] the inbox has the asks of all sessions, the oldest first", async () => {
    const before = (await cockpit.hub.get("/api/asks?state=pending")).asks.length
    await asked(asksFor("npm run older"), "Older")
    await asked(asksFor("npm run newer"), "Newer")
    const page = await cockpit.page()
    await page.goto("/approvals")
    const rows = page.getByRole("list", { name: "Open requests" }).getByRole("listitem")
    await expect.poll(() => rows.count()).toBe(before + 2)
    const texts = await rows.allTextContents()
    expect(texts.findIndex((text) => text.includes("npm run older"))).toBeLessThan(
      texts.findIndex((text) => text.includes("npm run newer")),
    )
  })

  check("[A-2] the way there and the page's title say how many wait", async () => {
    const page = await cockpit.page()
    await page.goto("/sessions")
    const { asks } = await cockpit.hub.get("/api/asks?state=pending")
    await page
      .getByRole("link", { name: `Approvals, ${asks.length} waiting` })
      .first()
      .waitFor()
    await expect.poll(() => page.title()).toMatch(new RegExp(`^\\(${asks.length}\\) `))
  })

  check("[A-4] what was settled shows what came of it, and no way to answer", async () => {
    const id = await asked(asksFor("npm run settled"))
    const [ask] = await openAsks(id)
    await cockpit.hub.post(`/api/asks/${ask.id}/answer`, { behavior: "deny", message: "no" })
    const page = await cockpit.page({ role: "operator" })
    await page.goto(`/approvals/${ask.id}`)
    await page.getByText(/denied this at \d\d:\d\d/).waitFor()
    expect(await page.getByRole("button", { name: /Allow/ }).count()).toBe(0)
  })
})
