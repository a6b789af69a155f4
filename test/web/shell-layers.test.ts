import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { check } from "./check.ts"
import { CockpitHarness, hasBrowser, type PageOptions } from "./cockpit.ts"
import { talks } from "./scenarios.ts"

describe.runIf(hasBrowser)("what is opened over a screen", () => {
  let cockpit: CockpitHarness
  let session: string
  beforeAll(async () => {
    cockpit = await CockpitHarness.open()
    session = (await cockpit.agent({ title: "Layers", scenario: talks(3, 1) })).id
  })
  afterAll(async () => {
    await cockpit?.dispose()
  })

  const palette = (page: Page) => page.getByRole("dialog", { name: "Command palette" })
  const help = (page: Page) => page.getByRole("dialog", { name: "Keyboard shortcuts" })
  const menu = (page: Page) => page.getByRole("menu")
  const menuButton = (page: Page) => page.getByRole("button", { name: "Menu of Layers" })
  const rename = (page: Page) => page.getByRole("dialog", { name: "Rename session" })
  const gone = { state: "hidden" } as const
  const at = async (page: Page, path: string) => {
    await expect.poll(() => new URL(page.url()).pathname).toBe(path)
  }
  const settings = "/settings/appearance"

  /** The sessions, with the settings one step back. */
  async function atSessions(options: PageOptions = {}): Promise<Page> {
    const page = await cockpit.page(options)
    await page.goto(settings)
    await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Sessions" }).click()
    await menuButton(page).waitFor()
    return page
  }
  async function backIsSettings(page: Page): Promise<void> {
    await page.goBack()
    await page.getByRole("heading", { name: "Settings" }).waitFor()
    await at(page, settings)
  }

  check("[G-3] Back closes the layer that was opened last, and the focus returns", async () => {
    const page = await atSessions()
    await menuButton(page).focus()
    for (const [key, layer] of [
      ["Control+k", palette],
      ["?", help],
      ["Enter", menu],
    ] as const) {
      await page.keyboard.press(key)
      await layer(page).waitFor()
      await page.goBack()
      await layer(page).waitFor(gone)
      await at(page, "/sessions")
      await expect.poll(() => menuButton(page).evaluate((it) => it.ownerDocument.activeElement === it)).toBe(true)
    }
    await backIsSettings(page)
    await page.goForward()
    await menuButton(page).waitFor()
    // What was open there is not opened again, and is in nobody's way.
    await page.goForward()
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0)
    await at(page, "/sessions")
    await backIsSettings(page)
  })

  check("[G-3] so does it with a phone's More", async () => {
    const page = await atSessions({ size: "phone" })
    await page.getByRole("button", { name: "More" }).tap()
    await palette(page).waitFor()
    await page.goBack()
    await palette(page).waitFor(gone)
    await at(page, "/sessions")
    await page.getByRole("button", { name: "More" }).tap()
    await palette(page).getByRole("option", { name: "Machines" }).tap()
    await page.getByRole("heading", { name: "Machines" }).waitFor()
    await page.goBack()
    await at(page, "/sessions")
    expect(await page.getByRole("dialog").count()).toBe(0)
    await backIsSettings(page)
  })

  check("[G-4] a layer that is closed otherwise is not in the way of Back", async () => {
    const page = await atSessions()
    for (let time = 0; time < 5; time++) {
      await page.keyboard.press("Control+k")
      await page.keyboard.press("Escape")
    }
    await palette(page).waitFor(gone)
    await page.keyboard.press("?")
    await help(page).getByRole("button", { name: "Close" }).click()
    await menuButton(page).click()
    await menu(page).waitFor()
    await page.keyboard.press("Escape")
    await menuButton(page).click()
    await menu(page).waitFor()
    // Beside it.
    await page.mouse.click(300, 880)
    await menu(page).waitFor(gone)
    const before = await page.evaluate("history.length")
    await page.keyboard.press("Control+k")
    await palette(page).waitFor()
    await page.mouse.click(5, 5)
    await palette(page).waitFor(gone)
    expect(await page.evaluate("history.length")).toBe(before)
    await backIsSettings(page)
  })

  check("[G-4] a key right after the browser has hidden a menu finds it closed", async () => {
    const page = await atSessions()
    await page.keyboard.press("Control+k")
    await palette(page).waitFor()
    await page.keyboard.press("Escape")
    await menuButton(page).click()
    await menu(page).waitFor()
    const before = await page.evaluate("history.length")
    await menu(page).evaluate((element: HTMLElement) => {
      const page = element.ownerDocument
      element.hidePopover()
      page.body.dispatchEvent(new KeyboardEvent("keydown", { key: "k", ctrlKey: true, bubbles: true }))
    })
    await palette(page).waitFor()
    expect(await page.evaluate("history.length")).toBe(before)
    await page.keyboard.press("Escape")
    await palette(page).waitFor(gone)
    await backIsSettings(page)
  })

  check("[G-4] nor is one that was left for another screen or another layer", async () => {
    const page = await atSessions()
    await page.keyboard.press("Control+k")
    await palette(page)
      .getByRole("option", { name: /^Layers/ })
      .click()
    await at(page, `/s/${session}`)
    await page.goBack()
    await at(page, "/sessions")
    await menuButton(page).click()
    await page.getByRole("menuitem", { name: "Rename…" }).click()
    await rename(page).waitFor()
    await page.goBack()
    await rename(page).waitFor(gone)
    expect(await menu(page).count()).toBe(0)
    await at(page, "/sessions")
    await menuButton(page).click()
    await page.getByRole("menuitem", { name: "Rename…" }).click()
    await rename(page).getByRole("button", { name: "Cancel" }).click()
    await rename(page).waitFor(gone)
    await backIsSettings(page)
  })

  check("[G-4] nor is what was replaced after a layer had been open", async () => {
    const page = await atSessions()
    await menuButton(page).click()
    await menu(page).waitFor()
    await page.keyboard.press("Escape")
    const filter = page.getByRole("searchbox", { name: "Filter sessions" })
    await filter.fill("Lay")
    await expect.poll(() => new URL(page.url()).search).toBe("?q=Lay")
    // Over the filtered list too Back closes only the layer.
    await page.keyboard.press("Control+k")
    await palette(page).waitFor()
    await page.goBack()
    await palette(page).waitFor(gone)
    expect(await filter.inputValue()).toBe("Lay")
    await backIsSettings(page)
  })

  check("[G-4] nor is a form that was left after a layer had been open over it", async () => {
    const page = await atSessions()
    await page.keyboard.press("c")
    const form = page.getByRole("dialog", { name: "New session" })
    await form.waitFor()
    await page.keyboard.press("Control+k")
    await palette(page).waitFor()
    await page.keyboard.press("Escape")
    await palette(page).waitFor(gone)
    await form.getByRole("button", { name: "Cancel" }).click()
    await form.waitFor(gone)
    await at(page, "/sessions")
    await backIsSettings(page)
  })

  check("[G-4] a panel that was closed by its button is passed over too", async () => {
    const page = await atSessions()
    await page.locator(`[data-session="${session}"]`).getByRole("link").first().click()
    const panels = page.getByRole("button", { name: "Panels", exact: true })
    await panels.click()
    await page.getByRole("tabpanel").waitFor()
    await page.keyboard.press("Control+k")
    await palette(page).waitFor()
    await page.keyboard.press("Escape")
    await palette(page).waitFor(gone)
    // The palette was closed already: the panel is what is open.
    await page.goBack()
    await page.getByRole("tabpanel").waitFor(gone)
    await at(page, `/s/${session}`)
    await panels.click()
    await page.getByRole("tabpanel").waitFor()
    await panels.click()
    await page.getByRole("tabpanel").waitFor(gone)
    await page.goBack()
    await at(page, "/sessions")
    await backIsSettings(page)
  })
})
