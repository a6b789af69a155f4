import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Locator, Page } from "playwright-core"
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
  /** Drawn within the screen, and nothing lies over it. */
  const isInView = (part: Locator) =>
    part.evaluate((element) => {
      const { left, top, width, height } = element.getBoundingClientRect()
      const found = document.elementFromPoint(left + width / 2, top + height / 2)
      return found !== null && (element.contains(found) || found.contains(element))
    })
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
    await page.getByRole("combobox", { name: "Model" }).fill("opus-9")
    await start(page).click()
    const failure = page.getByRole("alert").filter({ hasText: "Couldn't start" })
    await failure.getByText(/code 7/).waitFor()
    await failure.getByLabel("stderr").getByText("There is no such model: opus-9").waitFor()
    await failure.getByRole("button", { name: "Edit and retry" }).click()
    await page.waitForURL(/\/new\?again=/)
    expect(await message(page).inputValue()).toBe("Do not lose this either")
    expect(await folder(page).inputValue()).toBe(machine.cwd)
    expect(await page.getByRole("combobox", { name: "Model" }).inputValue()).toBe("opus-9")
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
      await page.getByRole("combobox", { name: "Mode", exact: true }).selectOption("bypassPermissions")
      await start(page).click()
      const confirmation = page.getByRole("textbox", { name: /to confirm/ })
      expect(await confirmation.getAttribute("aria-invalid")).toBe("true")
      expect(new URL(page.url()).pathname).toBe("/new")
      const other = await open({ role: "operator" })
      const modes = await other.getByRole("combobox", { name: "Mode", exact: true }).locator("option").allTextContents()
      for (const label of ["Bypass permissions", "Auto", "Machine default"]) expect(modes).not.toContain(label)
    },
  )

  /** One conversation that `claude` recorded on the machine, in its folder. */
  async function recorded(page: Page) {
    const one = {
      sessionId: "3f0e6a1c-1111-4222-8333-444455556666",
      summary: "Tidy the docs",
      sizeBytes: 9,
      inUse: false,
    }
    await page.route("**/api/runners/*/sessions*", (route) =>
      route.fulfill({
        json: new URL(route.request().url()).searchParams.has("cwd")
          ? { sessions: [] }
          : { sessions: [{ ...one, cwd: machine.cwd, updatedAt: "2026-01-01T00:00:00.000Z" }] },
      }),
    )
    return one
  }

  check("[N-140] machine, folder, model, effort, mode and worktree are in view at once", async () => {
    await isReady()
    const page = await cockpit.page()
    await recorded(page)
    await page.route("**/api/runners", async (route) => {
      const { runners } = await (await route.fetch()).json()
      await route.fulfill({ json: { runners: [...runners, { ...runners[0], id: "r2", name: "zzz-spare" }] } })
    })
    await page.goto("/new")
    const fields = ["Folder", "Model", "Effort", "Mode"].map((field) =>
      page.getByRole("combobox", { name: field, exact: true }),
    )
    const worktree = page.getByRole("checkbox", { name: /^Git worktree/ })
    await worktree.waitFor()
    const from = page.getByRole("combobox", { name: "Start from" })
    await from.waitFor()
    for (const size of [
      { width: 1440, height: 900 },
      { width: 1280, height: 800 },
    ]) {
      await page.setViewportSize(size)
      for (const part of [from, page.getByRole("radio", { name: /^zzz-spare/ }), ...fields, worktree, start(page)])
        await expect.poll(() => isInView(part), { message: `${String(part)} at ${size.width} px` }).toBe(true)
    }
    const sent = page.waitForRequest(
      (request) => request.method() === "POST" && request.url().endsWith("/api/sessions"),
    )
    await page.getByRole("combobox", { name: "Model" }).fill("opus")
    await page.getByRole("combobox", { name: "Effort" }).selectOption("High")
    await page.getByRole("checkbox", { name: /^Git worktree/ }).check()
    await folder(page).fill(machine.cwd)
    await start(page).click()
    expect((await sent).postDataJSON()).toMatchObject({ model: "opus", effort: "high", worktree: true })
  })

  check("[N-141] the folders of the machine are browsed, and the one that is gone into is chosen", async () => {
    await isReady()
    mkdirSync(join(machine.cwd, "inner", "deep"), { recursive: true })
    const page = await open()
    await folder(page).fill(machine.cwd)
    await page.getByRole("button", { name: "Browse" }).click()
    const folders = page.getByRole("group", { name: "Folders" })
    await folders.getByRole("button", { name: "inner" }).click()
    await folders.getByRole("button", { name: "deep" }).click()
    await folders.getByText("No folders inside.").waitFor()
    expect(await folder(page).inputValue()).toBe(join(machine.cwd, "inner", "deep"))
    await folders.getByRole("button", { name: "Up" }).click()
    await folders.getByRole("button", { name: "deep" }).waitFor()
    expect(await folder(page).inputValue()).toBe(join(machine.cwd, "inner"))
    // From a folder that cannot be listed the way leads home, which is chosen then.
    const { runners } = await machine.hub.get("/api/runners")
    const { path: home } = await machine.hub.get(`/api/runners/${runners[0].id}/folders`)
    const lost = await open()
    await folder(lost).fill(join(machine.cwd, "no-such-folder"))
    await lost.getByRole("button", { name: "Browse" }).click()
    await lost.getByRole("group", { name: "Folders" }).getByRole("button", { name: "Home" }).click()
    await expect.poll(() => folder(lost).inputValue()).toBe(home)
  })

  check(
    "[N-142] it does not open in error: neither another machine's folder nor one that is gone is proposed",
    async () => {
      await isReady()
      const [gone, next] = [join(machine.cwd, "soon-gone"), join(machine.cwd, "still-there")]
      mkdirSync(next, { recursive: true })
      await machine.launch({ title: "Left behind", cwd: machine.cwd, prompt: "Go" })
      const page = await cockpit.page()
      await page.route("**/api/sessions?*", async (route) => {
        const reply = await (await route.fetch()).json()
        const [model] = reply.sessions
        const { id: runner } = (await machine.hub.get("/api/runners")).runners[0]
        const worked = (id: string, facts: object) => ({ ...model, worktree: undefined, runner, id, ...facts })
        const made = [
          worked("elsewhere", { runner: "r9", cwd: "/on/another/machine", updatedAt: "2099-01-03T00:00:00.000Z" }),
          worked("gone", { cwd: gone, updatedAt: "2099-01-02T00:00:00.000Z" }),
          worked("next", { cwd: next, updatedAt: "2099-01-01T00:00:00.000Z" }),
        ]
        await route.fulfill({ json: { ...reply, sessions: [...made, ...reply.sessions] } })
      })
      await page.goto("/new")
      await message(page).waitFor()
      // The folder after the one that is gone, and no later one.
      await expect.poll(() => folder(page).inputValue(), { timeout: 30_000 }).toBe(next)
      await page.waitForLoadState("networkidle")
      expect(await folder(page).inputValue()).toBe(next)
      expect(await page.locator("[aria-invalid]").count()).toBe(0)
      expect(await page.getByText("Folder not found").count()).toBe(0)
      await folder(page).fill(gone)
      await page.getByText("Folder not found on ").waitFor()
      expect(await folder(page).getAttribute("aria-invalid")).toBe("true")
    },
  )

  check("[N-143] templates fill the message, and this browser's own are kept and deleted", async () => {
    const page = await open()
    const template = page.getByRole("combobox", { name: "Template" })
    await message(page).fill("Mind the style.")
    await template.selectOption({ label: "Explain this project" })
    expect(await message(page).inputValue()).toMatch(/^Mind the style\.\n\nExplain this project/)
    await message(page).fill("Bump every dependency.\nRun the tests after each.")
    await page.getByRole("button", { name: "Save as template" }).click()
    await page.reload()
    await message(page).fill("")
    await template.selectOption({ label: "Bump every dependency." })
    expect(await message(page).inputValue()).toBe("Bump every dependency.\nRun the tests after each.")
    await page.getByRole("button", { name: "Delete template" }).click()
    expect(await template.locator("option").allTextContents()).not.toContain("Bump every dependency.")
    await message(page).fill("x".repeat(10_001))
    await page.getByText("Too long to save as a template. The limit is 10,000 characters.").waitFor()
    expect(await page.getByRole("button", { name: "Save as template" }).count()).toBe(0)
  })

  check(
    "[N-144] a conversation that claude recorded in another folder is offered, and brings its folder along",
    async () => {
      await isReady()
      const page = await cockpit.page()
      const one = await recorded(page)
      await page.goto("/new?cwd=%2Ftmp")
      const from = page.getByRole("combobox", { name: "Start from" })
      await from.waitFor()
      await from.selectOption(one.sessionId)
      expect(await folder(page).inputValue()).toBe(machine.cwd)
      expect(await from.inputValue()).toBe(one.sessionId)
    },
  )

  check("[N-145] on a phone Start is in view above the tab bar, however long the form is", async () => {
    const page = await open({ size: "phone" })
    const bar = await page.getByRole("navigation", { name: "Main" }).last().boundingBox()
    const button = await start(page).boundingBox()
    if (bar === null || button === null) throw new Error("the bar or the button is not shown")
    expect(button.y + button.height).toBeLessThanOrEqual(bar.y)
    expect(button.y).toBeGreaterThan(0)
    await start(page).click({ trial: true })
  })
})
