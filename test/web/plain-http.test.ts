// What runs inside of a page is typed as such.
/// <reference lib="dom" />
import { afterAll, beforeAll, describe, expect } from "vitest"
import { armed } from "./asks-page.ts"
import { check } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { asksFor } from "./scenarios.ts"
import { feedOf, headerOf, messageOf, PIXEL, promptsOf, turnsAre } from "./session-page.ts"

/** A phone in the same network as the hub: its browser keeps back what it has for pages over https alone. */
describe.runIf(hasBrowser)("a page over plain http", () => {
  let cockpit: CockpitHarness
  beforeAll(async () => {
    cockpit = await CockpitHarness.open(undefined, { host: "hub.test" })
  })
  afterAll(async () => {
    await cockpit?.dispose()
  })

  check("[G-5] whoever comes over plain http signs in, allows, sends, attaches and copies all the same", async () => {
    const { id } = await cockpit.agent({ title: "Over http", scenario: asksFor("npm test") })
    const page = await cockpit.page({ signedIn: false, size: "tablet" })
    await page.goto(`/s/${id}`)
    expect(await page.evaluate(() => [isSecureContext, "clipboard" in navigator, "randomUUID" in crypto])).toEqual([
      false,
      false,
      false,
    ])
    await page.getByLabel("Token").fill(cockpit.hub.ready.token)
    await page.getByRole("button", { name: "Sign in" }).click()
    await armed(page)
    await page.keyboard.press("y")
    await turnsAre(cockpit.hub, id, 1)

    const picture = Buffer.from(PIXEL, "base64")
    const chosen = page.waitForEvent("filechooser")
    await page.getByRole("button", { name: "Attach images" }).click()
    await (await chosen).setFiles({ name: "dot.png", mimeType: "image/png", buffer: picture })
    await page.getByRole("img", { name: "dot.png" }).waitFor()
    await messageOf(page).fill("Look at this")
    await messageOf(page).press("Enter")
    await feedOf(page).getByText("Look at this").waitFor()
    await feedOf(page).getByRole("img", { name: "Image in this message" }).waitFor()
    expect(await promptsOf(cockpit.hub, id)).toContain("Look at this")

    await headerOf(page)
      .getByRole("button", { name: /^Menu of/ })
      .click()
    await page.getByRole("menuitem", { name: "About this session…" }).click()
    const copy = page.getByRole("dialog").getByRole("button", { name: "Copy session" })
    await copy.click()
    await page.getByRole("status", { name: "Announcements" }).getByText("Copied").waitFor()
    expect(await copy.evaluate((element) => element.ownerDocument.activeElement === element)).toBe(true)
    await page.keyboard.press("Escape")
    await messageOf(page).focus()
    await page.keyboard.press("Control+V")
    expect(await messageOf(page).inputValue()).toBe(id)

    await page.goto("/settings/notifications")
    await page.getByText("This page came over plain http").waitFor()
  })
})
