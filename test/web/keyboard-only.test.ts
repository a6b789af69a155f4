// What runs inside of a page is typed as such.
/// <reference lib="dom" />
import type { Scenario } from "@signalbox/simulator"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { Machine } from "../runner/runner-process.ts"
import { READY } from "./asks-page.ts"
import { journey } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { KeyboardUser } from "./focus.ts"
import { asksFor, says, TWO_QUESTIONS } from "./scenarios.ts"

const PATIENCE = { timeout: 60_000, interval: 100 }
const LONG_MS = 180_000

const QUESTIONS: Scenario = {
  turns: [
    {
      steps: [
        {
          tool: "AskUserQuestion",
          input: {
            questions: TWO_QUESTIONS,
          },
        },
        { say: "Thank you." },
      ],
    },
  ],
}
const PLAN: Scenario = {
  turns: [
    { steps: [{ tool: "ExitPlanMode", input: { plan: "# A plan\n\n1. Look.\n2. Leap." } }, { say: "I begin." }] },
  ],
}
const FORM: Scenario = {
  turns: [
    {
      steps: [
        {
          elicit: "Who should be called?",
          server: "tracker",
          schema: {
            type: "object",
            required: ["summary"],
            properties: {
              summary: { type: "string", title: "Summary" },
              count: { type: "integer", title: "How many", minimum: 1 },
              page: { type: "boolean", title: "Call them now" },
            },
          },
        },
        { say: "It is open." },
      ],
    },
  ],
}

/** Whole ways through the cockpit with keys alone. After each key, what has the focus can be seen. */
describe.runIf(hasBrowser)("without a mouse", () => {
  let cockpit: CockpitHarness
  const opened: { readonly machine: Machine; readonly own: CockpitHarness }[] = []
  beforeAll(async () => {
    cockpit = await CockpitHarness.open()
  })
  afterAll(async () => {
    await cockpit?.dispose()
    for (const { machine, own } of opened) {
      await machine.endRunner("SIGTERM")
      await own.dispose()
      await machine.dispose()
    }
  })

  const feed = (page: Page) => page.getByRole("feed", { name: "Transcript" })
  const dock = (page: Page) => page.getByRole("region", { name: "Waiting for you" })
  const askOf = async (id: string) => (await cockpit.hub.get(`/api/asks?session=${id}`)).asks[0]

  async function asked(title: string, scenario: Scenario): Promise<string> {
    const { id } = await cockpit.agent({ title, scenario })
    await expect.poll(async () => (await askOf(id))?.state, PATIENCE).toBe("pending")
    return id
  }
  /** From the list to the session by its name, and on to what it asks. */
  async function atAsk(title: string): Promise<KeyboardUser> {
    const page = await cockpit.page()
    const user = await KeyboardUser.at(page)
    await page.goto("/sessions")
    await user.goTo(page.getByRole("link", { name: new RegExp(`^Needs you ${title}`) }))
    await user.press("Enter")
    await dock(page).waitFor()
    await user.press("F6")
    await dock(page).locator(READY).waitFor()
    return user
  }

  it(
    "[L-169] a command is allowed, another one is refused with a reason",
    async () => {
      const id = await asked("Runs", asksFor("npm test"))
      const user = await atAsk("Runs")
      await user.press("y")
      await expect.poll(async () => (await askOf(id)).state, PATIENCE).toBe("allowed")
      await feed(user.page).getByText("It is done.").waitFor()

      await user.goTo(user.page.getByRole("textbox", { name: "Message" }))
      await user.type("again")
      await user.press("Enter")
      await dock(user.page)
        .getByRole("button", { name: /Allow once/ })
        .waitFor()
      await user.press("F6")
      await dock(user.page).locator(READY).waitFor()
      await user.press("n")
      await user.type("Not on a Friday")
      await user.press("Enter")
      const latest = async () => {
        const { asks } = await cockpit.hub.get(`/api/asks?session=${id}`)
        return asks.find(({ state }: { state: string }) => state === "denied")?.answer.message
      }
      await expect.poll(latest, PATIENCE).toBe("Not on a Friday")
      // What came of it is read where it was asked; then one is back where one came from.
      await dock(user.page).waitFor({ state: "detached" })
      const isAtMessage = () =>
        user.page.getByRole("textbox", { name: "Message" }).evaluate((field) => field === document.activeElement)
      await expect.poll(isAtMessage, PATIENCE).toBe(true)
      await user.usedNoPointer()
    },
    LONG_MS,
  )

  journey("[L-169] questions are answered, one of them twice over", async () => {
    const id = await asked("Questions", QUESTIONS)
    const user = await atAsk("Questions")
    const { page } = user
    await user.goTo(dock(page).getByRole("radio", { name: /SQLite/ }))
    await user.press("ArrowDown")
    await user.goTo(dock(page).getByRole("checkbox", { name: "API" }))
    await user.press("Space")
    await user.goTo(dock(page).getByRole("checkbox", { name: "Web" }))
    await user.press("Space")
    await user.goTo(dock(page).getByRole("button", { name: /Send answers/ }))
    await user.press("Enter")
    await expect.poll(async () => (await askOf(id)).state, PATIENCE).toBe("allowed")
    expect((await askOf(id)).answer.updatedInput.answers).toEqual({
      "Which database?": "Postgres",
      "Which parts?": "API, Web",
    })
    await user.usedNoPointer()
  })

  journey("[L-169] a plan is sent back with what is missing, and a form is filled in", async () => {
    const id = await asked("Plans", PLAN)
    const user = await atAsk("Plans")
    await user.press("n")
    await user.type("What about the tests?")
    await user.press("Enter")
    await expect.poll(async () => (await askOf(id)).state, PATIENCE).toBe("denied")
    expect((await askOf(id)).answer.message).toContain("What about the tests?")
    await user.usedNoPointer()

    const form = await asked("Forms", FORM)
    const other = await atAsk("Forms")
    const { page } = other
    await other.goTo(page.getByRole("textbox", { name: /Summary/ }))
    await other.type("Payments fail")
    await other.goTo(page.getByLabel(/How many/))
    await other.type("12")
    await other.goTo(page.getByLabel(/Call them now/))
    await other.press("Space")
    await other.goTo(page.getByRole("button", { name: /^Accept/ }))
    await other.press("Enter")
    await expect.poll(async () => (await askOf(form)).state, PATIENCE).not.toBe("pending")
    expect(JSON.stringify((await askOf(form)).answer)).toContain('"count":12')
    await other.usedNoPointer()
  })

  journey("[L-169] the inbox is worked through from one request to the next", async () => {
    const first = await asked("Inbox one", asksFor("npm run one"))
    const second = await asked("Inbox two", asksFor("npm run two"))
    const page = await cockpit.page()
    const user = await KeyboardUser.at(page)
    await page.goto("/sessions")
    await page.getByRole("heading", { level: 1 }).waitFor()
    await user.press("g", "a")
    const rows = page.getByRole("list", { name: "Open requests" })
    await user.goTo(rows.getByRole("link", { name: /npm run one/ }))
    await user.press("Enter")
    for (const [id, command] of [
      [first, "npm run one"],
      [second, "npm run two"],
    ] as const) {
      await page.getByRole("main").getByText(command, { exact: true }).last().waitFor()
      await user.goTo(page.getByRole("button", { name: /^Allow once/ }))
      await page.locator(READY).waitFor()
      await user.press("Enter")
      await expect.poll(async () => (await askOf(id)).state, PATIENCE).toBe("allowed")
      if (id === second) break
      await user.goTo(rows.getByRole("link", { name: /npm run two/ }), "Shift+Tab")
      await user.press("Enter")
    }
    await user.usedNoPointer()
  })

  journey("[L-169] what was said is found and gone to", async () => {
    const { id } = await cockpit.agent({ title: "Said", scenario: says("The semaphore stands at danger.") })
    const isFound = async () => (await cockpit.hub.get(`/api/search?q=semaphore&session=${id}`)).hits.length
    await expect.poll(isFound, PATIENCE).toBeGreaterThan(0)
    const page = await cockpit.page()
    const user = await KeyboardUser.at(page)
    await page.goto("/sessions")
    await page.getByRole("heading", { level: 1 }).waitFor()
    await user.press("/")
    await page.getByRole("searchbox", { name: "Search all sessions" }).waitFor()
    await user.type("semaphore")
    await page.locator("[data-hit]").first().waitFor()
    await user.press("ArrowDown", "Enter")
    await feed(page).locator("article:focus").getByText("The semaphore stands at danger.").waitFor()
    await user.isSeen("on the row that was found")
    await user.usedNoPointer()
  })

  journey("[L-169] somebody signs in, looks at every screen and signs out", async () => {
    const page = await cockpit.page({ signedIn: false })
    const user = await KeyboardUser.at(page)
    await page.goto("/sessions")
    await user.goTo(page.getByLabel("Token"))
    await user.type(cockpit.hub.ready.token)
    // The door gives way to a page that begins at its top, as if it had just been opened.
    await page.keyboard.press("Enter")
    const heading = (name: string) => page.getByRole("heading", { name, level: 1 }).waitFor()
    await heading("Sessions")
    await page.keyboard.press("Tab")
    for (const name of ["Requests", "Machines", "Settings"]) {
      await user.goTo(page.getByRole("navigation", { name: "Main" }).getByRole("link", { name }))
      await user.press("Enter")
      await heading(name)
    }
    await user.goTo(page.getByRole("radio", { name: "System" }))
    await user.goTo(page.getByRole("button", { name: "Sign out" }))
    await user.press("Enter")
    await page.getByText("You signed out.").waitFor()
    await user.usedNoPointer()
  })

  journey("[L-169] an agent is started, spoken to and interrupted", async () => {
    const machine = await Machine.open({
      scenario: {
        turns: [
          { repeat: true, steps: [{ say: { repeat: "Word by word. ", times: 600 }, deltas: 600, pauseMs: 100 }] },
        ],
      },
    })
    const own = await CockpitHarness.open(machine.hub)
    opened.push({ machine, own })
    const page = await own.page()
    const user = await KeyboardUser.at(page)
    await page.goto("/sessions")
    await page.getByRole("heading", { level: 1 }).waitFor()
    await user.press("c")
    await user.goTo(page.getByRole("combobox", { name: "Folder" }))
    await user.type(machine.cwd)
    await user.goTo(page.getByRole("textbox", { name: "First message" }))
    await user.type("Write something long")
    await user.press("Control+Enter")
    const feed = page.getByRole("feed", { name: "Transcript" })
    await feed.getByText("Word by word.").first().waitFor()
    await user.goTo(page.getByRole("textbox", { name: "Message" }))
    await user.type("Shorter, please")
    await user.press("Control+.")
    await feed.getByText(/Interrupted by/).waitFor()
    expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("Shorter, please")
    await user.press("Enter")
    await feed.getByText("Shorter, please").waitFor()
    await user.usedNoPointer()
  })
})
