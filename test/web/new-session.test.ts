import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Page } from "playwright-core"
import { afterAll, describe, expect } from "vitest"
import { Machine } from "../runner/runner-process.ts"
import { check } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { talks } from "./scenarios.ts"

describe.runIf(hasBrowser)("a new session", () => {
  let machine: Machine
  let cockpit: CockpitHarness
  let name: string
  let opening: Promise<void> | undefined
  /** Waits for conditions, which only a test may. */
  const isReady = () => (opening ??= prepare())
  async function prepare(): Promise<void> {
    machine = await Machine.open({ scenario: talks(600, 100), maxAgents: 4 })
    cockpit = await CockpitHarness.open(machine.hub)
    name = (await machine.hub.get("/api/runners")).runners[0].name
  }
  afterAll(async () => {
    await machine?.endRunner("SIGTERM")
    await cockpit?.dispose()
    await machine?.dispose()
  })

  async function open(options: Parameters<CockpitHarness["page"]>[0] = {}): Promise<Page> {
    await isReady()
    const page = await cockpit.page(options)
    await page.goto("/new")
    await message(page).waitFor()
    return page
  }
  const message = (page: Page) => page.getByRole("textbox", { name: "First message" })
  const folder = (page: Page) => page.getByRole("combobox", { name: "Folder" })
  const start = (page: Page) => page.getByRole("button", { name: `Start on ${name}` })
  /** Every word that the header said of the session's state, in order. */
  const watchStatus = (page: Page) =>
    page.addInitScript(() => {
      const words: string[] = []
      Object.assign(globalThis, { statusWords: words })
      const look = () => {
        const word = /Starting|Running|Idle|Ended|Failed/.exec(document.querySelector("main header")?.textContent ?? "")
        if (word !== null && words.at(-1) !== word[0]) words.push(word[0])
      }
      new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true })
    })

  check("[N-1] without a folder nothing is started: the field says so and has the focus", async () => {
    const page = await open()
    await folder(page).fill("")
    await message(page).fill("Go on")
    await start(page).click()
    await page.getByText("Choose a folder.").waitFor()
    expect(await folder(page).getAttribute("aria-invalid")).toBe("true")
    expect(await folder(page).evaluate((field) => field.ownerDocument.activeElement === field)).toBe(true)
    expect((await machine.hub.get("/api/sessions")).sessions).toEqual([])
  })

  check("[N-2] it lands on the session, which starts, then runs, on the machine by its name", async () => {
    await isReady()
    const page = await cockpit.page()
    await watchStatus(page)
    // A CLI that takes its time, so that the page is there before it is.
    await page.route("**/api/sessions", (route) => {
      if (route.request().method() !== "POST") return route.continue()
      const body = { ...route.request().postDataJSON(), env: { SIGNALBOX_SIM_FAULT: "hang=5s" } }
      return route.continue({ postData: JSON.stringify(body) })
    })
    await page.goto("/new")
    await folder(page).fill(machine.cwd)
    await message(page).fill("Write something long")
    await message(page).press("Control+Enter")
    await page.waitForURL(/\/s\/[\w-]+$/)
    const header = page.getByRole("main").getByRole("banner").or(page.locator("main header"))
    await header.getByText("Running").first().waitFor()
    await page.getByRole("feed", { name: "Transcript" }).getByText("Write something long").waitFor()
    expect(await page.evaluate<readonly string[]>("statusWords")).toEqual(["Starting", "Running"])
    await header.getByText(name, { exact: true }).waitFor()

    await page.goto("/sessions?group=machine")
    await page.getByRole("list", { name }).getByRole("listitem").getByText(name).first().waitFor()
    await page.goto(`/sessions?q=${encodeURIComponent(name)}`)
    await expect.poll(() => page.locator("[data-session]").count()).toBe(1)
  })

  check(
    "[N-3] a launch that fails says why, and what was typed stays; what was said is gone once that is changed",
    async () => {
      const page = await open()
      await folder(page).fill("/no/such/folder")
      await page.getByText(`Folder not found on ${name}.`).waitFor()
      await message(page).fill("Do not lose this")
      await start(page).click()
      await page.getByRole("alert").getByText("Couldn't start").waitFor()
      expect(await message(page).inputValue()).toBe("Do not lose this")
      expect(await folder(page).inputValue()).toBe("/no/such/folder")
      expect(new URL(page.url()).pathname).toBe("/new")
      // What was said of the form as it was does not hold for what it is now.
      await folder(page).fill("")
      await page.getByText("Couldn't start").waitFor({ state: "detached" })
      await start(page).click()
      await page.getByText("Choose a folder.").waitFor()
      await message(page).fill("Do not lose this either")
      await page.getByText("Choose a folder.").waitFor()
      await folder(page).fill(machine.cwd)
      await page.getByText("Choose a folder.").waitFor({ state: "detached" })
    },
  )

  check("[N-6] an agent that dies at once says why, and the form is as it was", async () => {
    await isReady()
    const broken = join(machine.cwd, "broken.mjs")
    writeFileSync(broken, 'console.error("There is no such model: opus-9"); process.exit(7)')
    const page = await cockpit.page()
    // As an admin would launch an executable of their own, which the form does not offer.
    await page.route("**/api/sessions", (route) => {
      if (route.request().method() !== "POST") return route.continue()
      const body = { ...route.request().postDataJSON(), agent: { command: [process.execPath, broken] } }
      return route.continue({ postData: JSON.stringify(body) })
    })
    await page.goto("/new")
    await folder(page).fill(machine.cwd)
    await message(page).fill("Do not lose this either")
    await page.getByText("Title, model, mode").click()
    await page.getByRole("textbox", { name: "Model" }).fill("opus-9")
    await start(page).click()
    const failure = page.getByRole("alert").filter({ hasText: "Couldn't start" })
    await failure.getByText(/code 7/).waitFor()
    await failure.getByLabel("stderr").getByText("There is no such model: opus-9").waitFor()
    await failure.getByRole("button", { name: "Edit and retry" }).click()
    await page.waitForURL(/\/new\?again=/)
    expect(await message(page).inputValue()).toBe("Do not lose this either")
    expect(await folder(page).inputValue()).toBe(machine.cwd)
    expect(await page.getByRole("textbox", { name: "Model" }).inputValue()).toBe("opus-9")
  })

  check("[N-7] budget, directories and tools become arguments; only an admin is offered them", async () => {
    const page = await open()
    await folder(page).fill(machine.cwd)
    await page.getByText("Advanced").click()
    await page.getByRole("textbox", { name: "Budget (USD)" }).fill("much")
    await start(page).click()
    const budget = page.getByRole("textbox", { name: "Budget (USD)" })
    expect(await budget.getAttribute("aria-invalid")).toBe("true")
    // In a part that was closed it is found all the same, as often as it is looked for.
    await page.getByText("Advanced").click()
    await budget.waitFor({ state: "hidden" })
    await start(page).click()
    await expect.poll(() => budget.evaluate((field) => field.ownerDocument.activeElement === field)).toBe(true)
    await budget.fill("2.50")
    await page.getByText("Enter an amount, such as 2.50.").waitFor({ state: "detached" })
    await page.getByRole("textbox", { name: /^Extra folders/ }).fill("/tmp\n/var/tmp")
    await page.getByRole("textbox", { name: /^Denied tools/ }).fill("WebFetch")
    await start(page).click()
    await page.waitForURL(/\/s\/[\w-]+$/)
    const { records } = await machine.hub.get(`/api/audit?session=${new URL(page.url()).pathname.slice(3)}`)
    const launched = records.find(({ what }: { what: string }) => what === "session/launched")
    expect(launched.details.args).toEqual([
      "--max-budget-usd=2.50",
      "--add-dir=/tmp",
      "--add-dir=/var/tmp",
      "--disallowedTools=WebFetch",
    ])
    const other = await open({ role: "operator" })
    expect(await other.getByText("Advanced").count()).toBe(0)
  })

  check("[N-4] with one machine there is none to choose; of two, the one that is away cannot be", async () => {
    const page = await open()
    await start(page).waitFor()
    expect(await page.getByRole("group", { name: "Machine" }).count()).toBe(0)
    await page.route("**/api/runners", async (route) => {
      const reply = await route.fetch()
      const { runners } = await reply.json()
      await route.fulfill({
        json: { runners: [...runners, { ...runners[0], id: "r2", name: "away", connected: false }] },
      })
    })
    await page.reload()
    const machines = page.getByRole("group", { name: "Machine" })
    expect(await machines.getByRole("radio", { name: /^away offline/ }).isDisabled()).toBe(true)
    await machines.getByText(/of 4 free/).waitFor()
  })

  check(
    "[N-5] a mode that asks nobody has to be meant: its name is typed, and only an admin is offered it",
    async () => {
      const page = await open()
      await folder(page).fill(machine.cwd)
      await page.getByText("Title, model, mode").click()
      await page.getByRole("combobox", { name: "Mode" }).selectOption("bypassPermissions")
      await start(page).click()
      const confirmation = page.getByRole("textbox", { name: /to confirm/ })
      expect(await confirmation.getAttribute("aria-invalid")).toBe("true")
      expect(new URL(page.url()).pathname).toBe("/new")
      const other = await open({ role: "operator" })
      await other.getByText("Title, model, mode").click()
      const modes = await other.getByRole("combobox", { name: "Mode" }).locator("option").allTextContents()
      for (const label of ["Bypass permissions", "Auto", "Machine default"]) expect(modes).not.toContain(label)
    },
  )
})
