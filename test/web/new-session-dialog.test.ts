import type { Page } from "playwright-core"
import { afterAll, describe, expect } from "vitest"
import { Machine } from "../runner/runner-process.ts"
import { axe } from "./axe.ts"
import { check } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { says, talks } from "./scenarios.ts"

describe.runIf(hasBrowser)("a new session, over a screen", () => {
  let machine: Machine
  let cockpit: CockpitHarness
  let opening: Promise<void> | undefined
  /** Waits for conditions, which only a test may. */
  const isReady = () => (opening ??= prepare())
  async function prepare(): Promise<void> {
    machine = await Machine.open({ scenario: talks(3, 1), maxAgents: 4 })
    cockpit = await CockpitHarness.open(machine.hub)
    // A hub without sessions has nothing to filter.
    await cockpit.agent({ title: "Some", scenario: says("Hello.") })
  }
  afterAll(async () => {
    await machine?.endRunner("SIGTERM")
    await cockpit?.dispose()
    await machine?.dispose()
  })

  const dialog = (page: Page) => page.getByRole("dialog", { name: "New session" })
  const message = (page: Page) => page.getByRole("textbox", { name: "First message" })
  const folder = (page: Page) => page.getByRole("combobox", { name: "Folder" })
  const opener = (page: Page) => page.getByRole("button", { name: "New session" })
  const gone = { state: "hidden" } as const
  const at = async (page: Page, path: string) => {
    await expect.poll(() => new URL(page.url()).pathname).toBe(path)
  }
  const isFocused = async (page: Page, what: (page: Page) => ReturnType<typeof opener>) => {
    await expect.poll(() => what(page).evaluate((it) => it.ownerDocument.activeElement === it)).toBe(true)
  }

  async function atSessions(): Promise<Page> {
    await isReady()
    const page = await cockpit.page()
    await page.goto("/settings/appearance")
    await page.getByRole("heading", { name: "Settings" }).waitFor()
    await page.goto("/sessions?q=some&group=folder")
    await opener(page).waitFor()
    return page
  }

  check(
    "[N-8] it is a dialog over the screen it was opened from, and Escape, Close and Back return there",
    async () => {
      const page = await atSessions()
      for (const close of [
        () => page.keyboard.press("Escape"),
        () => dialog(page).getByRole("button", { name: "Close" }).click(),
        () => dialog(page).getByRole("button", { name: "Cancel" }).click(),
        () => page.mouse.click(5, 5),
        () => page.goBack(),
      ]) {
        await opener(page).focus()
        await page.keyboard.press("Enter")
        await message(page).waitFor()
        await dialog(page).getByRole("heading", { name: "New session", level: 2 }).waitFor()
        await at(page, "/new")
        expect(await page.title()).toContain("New session")
        // The screen behind is as it was, filter and all.
        expect(await page.getByRole("searchbox", { name: "Filter sessions", includeHidden: true }).inputValue()).toBe(
          "some",
        )
        await isFocused(page, folder)
        await page.keyboard.press("F6")
        expect(await dialog(page).evaluate((it) => it.contains(it.ownerDocument.activeElement))).toBe(true)
        await close()
        await dialog(page).waitFor(gone)
        await isFocused(page, opener)
        expect(new URL(page.url()).search).toBe("?q=some&group=folder")
        expect(await page.title()).toContain("Sessions")
      }
      await page.goBack()
      await at(page, "/settings/appearance")
    },
  )

  check("[N-8] asked for by its address it is over the sessions, and a page on a phone", async () => {
    await isReady()
    const page = await cockpit.page()
    await page.goto("/new")
    await dialog(page).waitFor()
    await message(page).waitFor()
    expect(await axe(page)).toEqual([])
    await page.keyboard.press("Escape")
    await at(page, "/sessions")
    await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor()
    const phone = await cockpit.page({ size: "phone" })
    await phone.goto("/new")
    await phone.getByRole("heading", { name: "New session", level: 1 }).waitFor()
    await message(phone).waitFor()
    expect(await phone.getByRole("dialog").count()).toBe(0)
    expect(await axe(phone)).toEqual([])
    await phone.getByRole("button", { name: "Cancel" }).tap()
    await at(phone, "/sessions")
  })

  check("[N-10] a session is forked from a message of its agent, and what came after is left out", async () => {
    await isReady()
    const { hub, cwd } = machine
    const { id } = await hub.post("/api/sessions", { agent: "simulator", cwd, prompt: "one", title: "Two turns" })
    const turns = async () => (await hub.get(`/api/sessions/${id}`)).turns
    await expect.poll(turns, { timeout: 60_000 }).toBe(1)
    await hub.post(`/api/sessions/${id}/messages`, { content: "two" })
    await expect.poll(turns, { timeout: 60_000 }).toBe(2)
    const { events } = await hub.get(`/api/sessions/${id}/events`)
    const said = events.filter(({ message: { type } }: { message: { type: string } }) => type === "assistant")
    const page = await cockpit.page()
    await page.goto(`/s/${id}`)
    const row = page.locator(`article[data-kind="text"][data-seq="${said[0].seq}"]`)
    await row.hover()
    await row.getByRole("button", { name: "Fork from here" }).click()
    await dialog(page)
      .getByText(/^Fork of “Two turns” at \d.*Later messages are left out\.$/)
      .waitFor()
    await message(page).fill("Another way")
    await dialog(page)
      .getByRole("button", { name: /^Start on/ })
      .click()
    await page.waitForURL((url) => url.pathname.startsWith("/s/") && url.pathname !== `/s/${id}`)
    const forked = new URL(page.url()).pathname.slice(3)
    expect(await hub.get(`/api/sessions/${forked}`)).toMatchObject({ parent: id })
    const { records } = await hub.get(`/api/audit?session=${forked}`)
    expect(records[0].details).toMatchObject({ fork: true, resumeAt: said[0].message.uuid })
    await page.getByRole("feed", { name: "Transcript" }).getByText("Another way").waitFor()
    // Any event leads to what the agent said last before it; without one that is told.
    await page.goto(`/new?resume=${id}&at=1`)
    await dialog(page).getByText("No agent message at that point. Continues from the end.").waitFor()
    // That it cannot be asked is no answer: nothing is started from the end.
    let isAway = true
    await page.route(
      (url) => url.pathname.endsWith(`/${id}/events`) && url.searchParams.has("before"),
      (route) => {
        const json = { error: { code: "hub/internal", message: "no luck" } }
        return isAway ? route.fulfill({ status: 500, json }) : route.continue()
      },
    )
    await page.goto(`/new?fork=${id}&at=${said[0].seq}`)
    const failure = dialog(page).getByRole("alert").filter({ hasText: "Couldn't find the message to fork from" })
    await failure.waitFor()
    const submit = dialog(page).getByRole("button", { name: /^Start on/ })
    expect(await submit.getAttribute("aria-disabled")).toBe("true")
    isAway = false
    await failure.getByRole("button", { name: "Retry" }).click()
    await dialog(page)
      .getByText(/^Fork of “Two turns” at /)
      .waitFor()
    expect(await submit.getAttribute("aria-disabled")).toBe("false")
    // What was unticked stays so after a slip.
    await dialog(page).getByRole("checkbox", { name: /fork/i }).uncheck()
    await page.keyboard.press("Escape")
    await dialog(page).waitFor(gone)
    await page.goto(`/new?fork=${id}&at=${said[0].seq}`)
    await message(page).waitFor()
    expect(await dialog(page).getByRole("checkbox", { name: /fork/i }).isChecked()).toBe(false)
  })

  check("[N-8] a launch that is under way is not closed by a slip, and takes nobody along who has left", async () => {
    const page = await atSessions()
    const held: (() => Promise<void>)[] = []
    await page.route("**/api/sessions", (route) => {
      if (route.request().method() !== "POST") return route.continue()
      held.push(() => route.continue())
      return undefined
    })
    await opener(page).click()
    await folder(page).fill(machine.cwd)
    await message(page).fill("Goes on by itself")
    await dialog(page).getByText("Simulator").click()
    await dialog(page)
      .getByRole("button", { name: /^Start on/ })
      .click()
    await dialog(page)
      .getByRole("button", { name: /^Starting on/ })
      .waitFor()
    await expect.poll(() => held.length).toBe(1)
    await page.keyboard.press("Escape")
    await page.mouse.click(5, 5)
    expect(await dialog(page).isVisible()).toBe(true)
    await at(page, "/new")
    await page.goBack()
    await dialog(page).waitFor(gone)
    // It was sent: it is not there to be sent once more.
    await opener(page).click()
    await message(page).waitFor()
    expect(await message(page).inputValue()).toBe("")
    // Kept when it has started, at the moment at which who is still there is taken to it.
    const isStarted = () => page.evaluate(() => sessionStorage.getItem("signalbox:launch") !== null)
    expect(await isStarted()).toBe(false)
    await held[0]?.()
    await expect.poll(isStarted).toBe(true)
    await at(page, "/new")
    await page.keyboard.press("Escape")
    await dialog(page).waitFor(gone)
    await at(page, "/sessions")
  })

  check("[N-9] what was typed is there again after a slip, and gone after Cancel", async () => {
    const page = await atSessions()
    const open = async () => {
      await opener(page).click()
      await message(page).waitFor()
    }
    await open()
    await folder(page).fill(machine.cwd)
    await message(page).fill("Do not lose this")
    await dialog(page).getByText("Simulator").click()
    await page.keyboard.press("Escape")
    await dialog(page).waitFor(gone)
    await open()
    expect(await message(page).inputValue()).toBe("Do not lose this")
    expect(await folder(page).inputValue()).toBe(machine.cwd)
    expect(
      await dialog(page)
        .getByRole("radio", { name: /^Simulator/ })
        .isChecked(),
    ).toBe(true)
    // On a window that becomes narrow it is a page, with the same in it.
    await page.setViewportSize({ width: 500, height: 800 })
    await page.getByRole("heading", { name: "New session", level: 1 }).waitFor()
    expect(await message(page).inputValue()).toBe("Do not lose this")
    await page.setViewportSize({ width: 1200, height: 800 })
    await dialog(page).getByRole("button", { name: "Cancel" }).click()
    await open()
    expect(await message(page).inputValue()).toBe("")
  })

  check("[N-11] a folder may be named from the home of its machine", async () => {
    const page = await atSessions()
    await opener(page).click()
    await message(page).waitFor()
    await folder(page).fill("project")
    await dialog(page).getByText("Enter a full path, starting with / or ~/.").waitFor()
    await folder(page).fill("~/none")
    await dialog(page).getByText("Folder not found on ").waitFor()
    await folder(page).fill("~")
    await dialog(page).getByText("Folder not found on ").waitFor(gone)
    await dialog(page).getByText("Simulator").click()
    await dialog(page)
      .getByRole("button", { name: /^Start on/ })
      .click()
    await page.waitForURL(/\/s\/[\w-]+$/)
    const { cwd } = await machine.hub.get(`/api/sessions/${new URL(page.url()).pathname.slice(3)}`)
    expect(cwd).toBe(machine.cwd.replace(/project$/, "home"))
  })

  check("[N-9] a command that is shown this once is not closed by a slip", async () => {
    const page = await atSessions()
    await opener(page).click()
    await dialog(page).getByText("External").click()
    await dialog(page).getByRole("button", { name: "Create session" }).click()
    await dialog(page)
      .getByText(/shown only once/)
      .waitFor()
    await page.keyboard.press("Escape")
    await page.mouse.click(5, 5)
    await dialog(page)
      .getByText(/shown only once/)
      .waitFor()
    await dialog(page).getByRole("button", { name: "Open session" }).click()
    await page.waitForURL(/\/s\/[\w-]+$/)
    await dialog(page).waitFor(gone)
    await page.goBack()
    await at(page, "/sessions")
  })
})
