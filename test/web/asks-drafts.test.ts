import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { AskingCockpit, allows, armed, detail, dock, PATIENCE, rows } from "./asks-page.ts"
import { check } from "./check.ts"
import { hasBrowser } from "./cockpit.ts"

const LONG = Array.from({ length: 200 }, (_, index) => `echo line ${index + 1}`).join(" &&\n")

describe.runIf(hasBrowser)("what was begun and not sent", () => {
  let stage: AskingCockpit
  beforeAll(async () => {
    stage = await AskingCockpit.open()
  })
  afterAll(async () => {
    await stage?.dispose()
  })
  async function asks(title: string, command: string) {
    const agent = await stage.agent({ title })
    const request = agent.ask({ command })
    const [ask] = await stage.waitFor(agent.id, 1)
    return { agent, request, ask }
  }
  /** Elsewhere and back, without a reload. */
  async function away(page: Page): Promise<void> {
    await page.getByRole("navigation").getByRole("link", { name: "Sessions" }).first().click()
    await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor()
    await page.goBack()
  }
  const editor = (page: Page) => page.getByRole("textbox", { name: "Edit command" })
  const reason = (page: Page) => page.getByRole("textbox", { name: /Reason for Claude/ })
  const hasFocus = (page: Page) => page.evaluate(() => document.activeElement?.matches("input, textarea") === true)

  check("[K-16] an edit is there on coming back, takes no focus, and goes out as it was left", async () => {
    const { agent } = await asks("Edited", "npm run deploy")
    const page = await stage.session(agent.id)
    await armed(page)
    await page.keyboard.press("e")
    await editor(page).fill("npm run deploy -- --dry-run")
    await away(page)
    await expect.poll(() => editor(page).inputValue(), PATIENCE).toBe("npm run deploy -- --dry-run")
    expect(await hasFocus(page)).toBe(false)
    // What it would change stands above it, since nobody has read it here yet.
    await dock(page).getByRole("group", { name: "Request" }).getByText("npm run deploy", { exact: true }).waitFor()
    await dock(page).getByRole("button", { name: "Allow edited" }).waitFor()
    await page.keyboard.press("F6")
    await dock(page).locator("[data-ask][data-armed='true']").waitFor()
    await dock(page).getByRole("button", { name: "Allow edited" }).click()
    await expect.poll(() => stage.states(agent.id), PATIENCE).toEqual(["allowed"])
    expect((await stage.asks(agent.id))[0].answer.updatedInput.command).toBe("npm run deploy -- --dry-run")
  })

  check("[K-16] a kept edit does not go around reading a long request to its end", async () => {
    const { agent } = await asks("Long", LONG)
    const page = await stage.session(agent.id)
    await armed(page)
    await page.keyboard.press("End")
    await allows(page).waitFor()
    await page.keyboard.press("e")
    await editor(page).fill("echo short")
    await dock(page).getByRole("button", { name: "Allow edited" }).waitFor()
    await away(page)
    await expect.poll(() => editor(page).inputValue(), PATIENCE).toBe("echo short")
    const allow = dock(page).locator("[data-act=primary]")
    // Until the page knows where the end is, the button says nothing of it, and does nothing.
    await expect
      .poll(async () => [await allow.textContent(), await allow.getAttribute("data-unread")], PATIENCE)
      .toEqual(["Read to the end to allow", "true"])
    await dock(page).getByRole("group", { name: "Request" }).focus()
    await page.keyboard.press("End")
    await dock(page).getByRole("button", { name: "Allow edited" }).waitFor()
  })

  check("[K-16] a half-written reason is there in the dock, the inbox and on a phone's sheet", async () => {
    const { agent, ask } = await asks("Reason", "npm run risky")
    const page = await stage.session(agent.id)
    await armed(page)
    await page.keyboard.press("n")
    await reason(page).fill("Not before the back")
    await page.getByRole("navigation").getByRole("link", { name: "Requests" }).first().click()
    await rows(page).filter({ hasText: "npm run risky" }).getByRole("link").click()
    await expect.poll(() => detail(page).getByRole("textbox").inputValue(), PATIENCE).toBe("Not before the back")
    expect(await hasFocus(page)).toBe(false)
    await page.goBack()
    await page.goBack()
    await expect.poll(() => dock(page).getByRole("textbox").inputValue(), PATIENCE).toBe("Not before the back")
    await page.setViewportSize({ width: 390, height: 844 })
    await dock(page).getByRole("button", { name: "Details" }).click()
    await expect
      .poll(() => page.getByRole("dialog").getByRole("textbox").inputValue(), PATIENCE)
      .toBe("Not before the back")
    await page.getByRole("dialog").getByRole("button", { name: "Back", exact: true }).click()
    await page
      .getByRole("dialog")
      .getByRole("button", { name: /^Allow once/ })
      .waitFor()
    expect((await stage.hub.get(`/api/asks/${ask.id}`)).state).toBe("pending")
  })

  check("[K-16] it is gone once the request is settled, by whomever", async () => {
    const { agent, request } = await asks("Gone", "npm run first")
    const page = await stage.session(agent.id)
    await armed(page)
    await page.keyboard.press("n")
    await reason(page).fill("Never mind")
    agent.cancel(request)
    await dock(page).getByText("Claude withdrew this request.").waitFor()
    // The same question once more is another ask.
    agent.ask({ command: "npm run first" })
    await dock(page)
      .getByRole("button", { name: /^Allow once/ })
      .waitFor()
    expect(await reason(page).count()).toBe(0)
  })

  check("[K-18] a request that is withdrawn takes nobody's focus along to the next", async () => {
    const { agent } = await asks("Withdrawn", "npm run answered")
    const request = agent.ask({ command: "npm run withdrawn" })
    const second = agent.ask({ command: "npm run next" })
    const [answered, first, next] = await stage.waitFor(agent.id, 3)
    const page = await stage.session(agent.id)
    await armed(page)
    const card = (id: string) => page.locator(`[data-ask="${id}"]`)
    // Whoever answers goes along.
    await page.keyboard.press("y")
    await expect.poll(() => card(first.id).evaluate((one) => one === document.activeElement), PATIENCE).toBe(true)
    expect((await stage.hub.get(`/api/asks/${answered.id}`)).state).toBe("allowed")
    agent.cancel(request)
    await card(first.id).getByText("Claude withdrew this request.").waitFor()
    await page.mouse.move(0, 0)
    // When that was read the next one has its place, and the focus is not in it: a key on its way to the first does nothing.
    await card(next.id)
      .getByRole("button", { name: /^Allow once/ })
      .waitFor()
    expect(await card(next.id).evaluate((one) => one.contains(document.activeElement))).toBe(false)
    await card(next.id).and(page.locator("[data-armed='true']")).waitFor()
    await page.keyboard.press("y")
    expect(await card(next.id).evaluate((one) => one.contains(document.activeElement))).toBe(false)
    expect((await stage.hub.get(`/api/asks/${next.id}`)).state).toBe("pending")
    // Answered by hand, it does go along.
    await armed(page)
    await page.keyboard.press("y")
    await expect.poll(() => agent.answersTo(second).length, PATIENCE).toBe(1)
  })
})
