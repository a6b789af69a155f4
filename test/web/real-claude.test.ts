import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Scenario } from "@signalbox/simulator"
import type { Page } from "playwright-core"
import { afterAll, describe, expect } from "vitest"
import type { Json } from "../hub/hub-process.ts"
import { Machine } from "../runner/runner-process.ts"
import { READY } from "./asks-page.ts"
import { check, journey } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"

const VERSION = "2.1.325"
const PATIENCE = { timeout: 90_000, interval: 100 }

const SCENARIO: Scenario = {
  turns: [
    {
      on: "make a file",
      repeat: true,
      steps: [
        { say: "I make it now." },
        { tool: "Bash", input: { command: "echo made > made.txt", description: "Make the file" } },
        { say: "The file is made." },
      ],
    },
    {
      on: "mend the clock",
      repeat: true,
      steps: [
        { tool: "Read", input: { file_path: "clock.ts" } },
        {
          tool: "Edit",
          input: { file_path: "clock.ts", old_string: "sleep(50)", new_string: "clock.tick(50)" },
        },
        { say: "The clock is mended." },
      ],
    },
    {
      on: "long story",
      repeat: true,
      steps: [{ say: { repeat: "Once upon a time. ", times: 800 }, deltas: 800, pauseMs: 100 }],
    },
    {
      on: "ask me something",
      repeat: true,
      steps: [
        {
          tool: "AskUserQuestion",
          input: {
            questions: [
              {
                question: "Which colour?",
                header: "Colour",
                options: [
                  { label: "Red", description: "warm" },
                  { label: "Blue", description: "cold" },
                ],
                multiSelect: false,
              },
            ],
          },
        },
        { say: "I choose by myself." },
      ],
    },
    { on: "are you there", repeat: true, steps: [{ say: "I am here again." }] },
  ],
}

/** The real CLI on a runner, its model scripted, and a person in the browser. */
describe.runIf(hasBrowser)(`the cockpit with claude ${VERSION}`, () => {
  let machine: Machine | undefined
  let cockpit: CockpitHarness | undefined
  afterAll(async () => {
    await machine?.endRunner("SIGTERM")
    await cockpit?.dispose()
    await machine?.dispose()
  })

  const feed = (page: Page) => page.getByRole("feed", { name: "Transcript" })
  const dock = (page: Page) => page.getByRole("region", { name: "Waiting for you" })
  const message = (page: Page) => page.getByRole("textbox", { name: "Message" })
  async function say(page: Page, text: string): Promise<void> {
    await message(page).fill(text)
    await message(page).press("Enter")
  }
  async function press(page: Page, key: string): Promise<void> {
    await dock(page)
      .getByRole("button", { name: /^(?:Allow once|Read to the end to allow)/ })
      .waitFor(PATIENCE)
    await page.keyboard.press("F6")
    await dock(page).locator(READY).waitFor()
    await page.keyboard.press(key)
  }
  /** In the browser, from the form to the session. */
  async function launched(prompt: string): Promise<{ readonly on: Machine; readonly page: Page; readonly id: string }> {
    // The path of a file is the model's to know: it cannot ask for the folder.
    machine ??= await Machine.open({ scenario: SCENARIO, claude: VERSION })
    cockpit ??= await CockpitHarness.open(machine.hub)
    const page = await cockpit.page()
    await page.goto("/new")
    await page.getByRole("combobox", { name: "Folder" }).fill(machine.cwd)
    await page.getByRole("textbox", { name: "First message" }).fill(prompt)
    await page.getByRole("button", { name: /^Start on/ }).click()
    await page.waitForURL(/\/s\/[\w-]+$/, PATIENCE)
    return { on: machine, page, id: new URL(page.url()).pathname.split("/")[2] ?? "" }
  }

  check("a session is started in the browser, its command is allowed there, and it is run", async () => {
    const { on, page, id } = await launched("please make a file")
    await press(page, "y")
    await feed(page).getByText("The file is made.").waitFor(PATIENCE)
    expect(readFileSync(join(on.cwd, "made.txt"), "utf8")).toBe("made\n")
    const { asks } = await on.hub.get(`/api/asks?session=${id}`)
    expect(asks).toMatchObject([{ state: "allowed", toolName: "Bash" }])
    await feed(page).getByText(VERSION).first().waitFor()
  })

  journey("a command is changed before it is allowed, and what was changed is what is run", async () => {
    const { on, page, id } = await launched("please make a file")
    await press(page, "e")
    await dock(page).getByRole("textbox", { name: "Edit command" }).fill("echo other > other.txt")
    await dock(page).getByRole("button", { name: "Allow edited" }).click()
    await feed(page).getByText("The file is made.").waitFor(PATIENCE)
    expect(readFileSync(join(on.cwd, "other.txt"), "utf8")).toBe("other\n")
    const [ask] = (await on.hub.get(`/api/asks?session=${id}`)).asks
    expect(ask.answer.updatedInput.command).toBe("echo other > other.txt")
  })

  journey("a refusal with a reason reaches the agent, and nothing is run", async () => {
    const { on, page } = await launched("please make a file")
    writeFileSync(join(on.cwd, "made.txt"), "")
    await press(page, "n")
    await page.getByRole("textbox", { name: /Reason for Claude/ }).fill("Not today")
    await page.getByRole("button", { name: "Deny", exact: true }).click()
    await feed(page).getByText("Not today").first().waitFor(PATIENCE)
    await page.getByText("Idle", { exact: true }).first().waitFor(PATIENCE)
    expect(readFileSync(join(on.cwd, "made.txt"), "utf8")).toBe("")
  })

  check("[K-17] a question that is skipped is told as skipped, and the agent goes on", async () => {
    const { on, page, id } = await launched("please ask me something")
    await dock(page).getByRole("button", { name: /^Skip/ }).waitFor(PATIENCE)
    await page.keyboard.press("F6")
    await dock(page).locator(READY).waitFor()
    await page.keyboard.press("n")
    await feed(page).getByText("I choose by myself.").waitFor(PATIENCE)
    const { events } = await on.hub.get(`/api/sessions/${id}/events?after=0&limit=500`)
    const results = events.flatMap(({ message }: Json) => message.tool_use_result ?? [])
    expect(results).toMatchObject([{ annotations: { "Which colour?": { unanswered: "skipped" } } }])
    const { asks } = await on.hub.get(`/api/asks?session=${id}`)
    expect(asks).toMatchObject([{ state: "allowed", kind: "question", skippable: true }])
  })

  journey("it is interrupted in the middle of a word, says by whom, and goes on with the next message", async () => {
    const { page } = await launched("tell me a long story")
    await feed(page).getByText("Once upon a time.").first().waitFor(PATIENCE)
    await page.getByRole("button", { name: "Interrupt" }).click()
    await feed(page)
      .getByText(/Interrupted by/)
      .waitFor(PATIENCE)
    expect(await page.getByText("Failed").count()).toBe(0)
    await say(page, "are you there?")
    await feed(page).getByText("I am here again.").waitFor(PATIENCE)
  })

  journey("one that was stopped is resumed by a message, with all that was said before", async () => {
    const { on, page, id } = await launched("are you there, for the first time?")
    await feed(page).getByText("I am here again.").waitFor(PATIENCE)
    await on.hub.call("DELETE", `/api/sessions/${id}`)
    await on.isIn(id, "ended")
    await page.getByText("Ended", { exact: true }).first().waitFor(PATIENCE)
    await say(page, "are you there, for the second time?")
    await expect.poll(() => feed(page).getByText("I am here again.").count(), PATIENCE).toBe(2)
    await on.isIn(id, "idle")
    expect((await on.session(id)).turns).toBe(2)
    await feed(page).getByText("are you there, for the first time?").waitFor()
  })

  journey("a file is changed after its difference was seen", async () => {
    const { on, page } = await launched("are you there?")
    writeFileSync(join(on.cwd, "clock.ts"), "export const wait = () => sleep(50)\n")
    await feed(page).getByText("I am here again.").waitFor(PATIENCE)
    await say(page, "now mend the clock")
    await dock(page).getByText("clock.tick(50)").first().waitFor(PATIENCE)
    await press(page, "y")
    await feed(page).getByText("The clock is mended.").waitFor(PATIENCE)
    expect(readFileSync(join(on.cwd, "clock.ts"), "utf8")).toBe("export const wait = () => clock.tick(50)\n")
  })
})
