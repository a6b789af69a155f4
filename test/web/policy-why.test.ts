import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import type { Json } from "../hub/hub-process.ts"
import type { AskingAgent } from "./asking-agent.ts"
import { AskingCockpit, armed, detail, dock, PATIENCE } from "./asks-page.ts"
import { axe } from "./axe.ts"
import { check } from "./check.ts"
import { hasBrowser } from "./cockpit.ts"

const TESTS = { id: "tests", effect: "allow", tool: "Bash", input: { command: "npm test *" } }
const NO_PUSH = { id: "no-push", effect: "deny", tool: "Bash", input: { command: "git push *" } }
const DEPLOYS = { id: "deploys", effect: "ask", tool: "Bash", input: { command: "deploy *" } }

describe.runIf(hasBrowser)("why a request is asked, allowed or denied", () => {
  let asking: AskingCockpit
  let agent: AskingAgent
  beforeAll(async () => {
    asking = await AskingCockpit.open()
    agent = await asking.agent({ title: "Release the API", cwd: "/srv/api" })
  })
  afterAll(() => asking?.dispose())

  async function put(...rules: readonly Json[]): Promise<void> {
    const reply = await asking.hub.call("PUT", "/api/policy?force=true", { rules })
    expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  }
  /** A request, open or settled, by its command. */
  async function asked(command: string): Promise<Json> {
    agent.ask({ command })
    const find = async () => (await asking.asks(agent.id)).findLast(({ input }) => input?.command === command)
    await expect.poll(find, PATIENCE).toBeDefined()
    return find()
  }
  const answer = (id: string) => asking.hub.call("POST", `/api/asks/${id}/answer`, { behavior: "allow" })
  const why = (page: Page) => page.getByRole("list", { name: "Why" })

  check("[P-14] a request says why it is asked, with the rule and the part of the command", async () => {
    await put(TESTS, NO_PUSH, DEPLOYS)
    const ask = await asked("cd web && deploy production")
    const inbox = await asking.inbox(`/requests/${ask.id}`, { role: "operator" })
    await why(inbox).getByText('Rule "deploys" wants a person to decide this.').waitFor()
    await why(inbox).getByText('change or remove rule "deploys" (number 3).').waitFor()
    expect(await why(inbox).getByRole("link", { name: "deploys" }).getAttribute("href")).toBe("/policy?rule=deploys")
    await expect.poll(() => detail(inbox).locator("mark").allTextContents(), PATIENCE).toEqual(["deploy production"])

    const session = await asking.session(agent.id)
    await dock(session).getByText('Rule "deploys" wants a person to decide this.').waitFor()
    await expect.poll(() => dock(session).locator("mark").allTextContents(), PATIENCE).toEqual(["deploy production"])
    await answer(ask.id)

    const hidden = await asked("deploy one\u202etwo")
    await inbox.goto(`/requests/${hidden.id}`)
    await why(inbox).getByRole("link", { name: "deploys" }).waitFor()
    await detail(inbox)
      .getByText(/U\+202E/)
      .first()
      .waitFor()
    await answer(hidden.id)

    // Of very many lines only those in view are drawn: the mark is in its part.
    const lines = Array.from({ length: 320 }, (_, n) => (n === 9 ? "deploy production" : `echo ${n}`))
    const many = await asked(lines.join("\n"))
    await inbox.goto(`/requests/${many.id}`)
    await expect.poll(() => detail(inbox).locator("mark").allTextContents(), PATIENCE).toEqual(["deploy production"])
    await answer(many.id)
  })

  check("[P-14] a decision of a rule and its audit entry say the same", async () => {
    await put(TESTS, NO_PUSH, DEPLOYS)
    const allowed = await asked("npm test -- --run")
    const page = await asking.inbox(`/requests/${allowed.id}`, { role: "viewer" })
    await page.getByText("Allowed by rule tests.").first().waitFor()
    await why(page).getByText('Rule "tests" allows this.').waitFor()

    const denied = await asked("cd web; git push origin main")
    const words = 'Rule "no-push" forbids this.'
    await page.goto(`/requests/${denied.id}`)
    await page.getByText("Denied by rule no-push.").first().waitFor()
    await why(page).getByText(words).waitFor()
    await expect.poll(() => detail(page).locator("mark").allTextContents(), PATIENCE).toEqual(["git push origin main"])
    const { records } = await asking.hub.get(`/api/audit?session=${agent.id}&what=ask/denied&order=newest&limit=1`)
    await page.goto(`/audit/${records[0].id}`)
    await page.getByRole("article").getByText(words).waitFor()
    const marks = page.getByRole("article").locator("mark")
    await expect.poll(() => marks.allTextContents(), PATIENCE).toEqual(["git push origin main"])
    for (const theme of ["light", "dark"] as const) {
      for (const width of [390, 820, 1280]) {
        const look = await asking.cockpit.page({ theme, size: { width, height: 800 } })
        for (const path of [`/requests/${denied.id}`, `/audit/${records[0].id}`]) {
          await look.goto(path)
          await look.locator("[data-why]").first().waitFor()
          expect(await axe(look), `${path} at ${width}, ${theme}`).toEqual([])
          expect(await look.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0)
        }
        await look.context().close()
      }
    }
  })

  check("[P-15] the editor offers a branch, hours, a bound and a second person", async () => {
    await put()
    const page = await asking.cockpit.page()
    await page.goto("/policy/edit")
    const add = page.getByRole("button", { name: "Add rule" })
    await page.getByRole("textbox", { name: "Name" }).fill("releases")
    await page.getByRole("combobox", { name: "Tool" }).fill("Bash")
    await page.getByRole("button", { name: "Add condition" }).click()
    await page.getByRole("textbox", { name: "Matches any of" }).fill("npm run release")
    await page.getByRole("textbox", { name: "Branch" }).fill("release/*")
    const count = page.getByRole("textbox", { name: "At most (times)", exact: true })
    await count.fill("0")
    await add.click()
    await page.getByText("Enter a whole number, such as 20.").waitFor()
    await count.and(page.locator(":focus")).waitFor()
    await count.fill("20")
    await page.getByRole("combobox", { name: "Counted per" }).selectOption("Day")
    await add.click()
    const releases = page.locator('[data-rule="releases"]')
    await releases.getByText("on branch release/*, at most 20 times per day.").waitFor()

    await page.goto("/policy/edit")
    await page.getByRole("textbox", { name: "Name" }).fill("deploys")
    await page.getByRole("radio", { name: "Ask" }).check()
    await expect.poll(() => page.getByRole("textbox", { name: "At most (times)", exact: true }).count()).toBe(0)
    const eyes = page.getByRole("switch", { name: "Another person must allow" })
    await eyes.check()
    await page.getByText("an admin with two tokens can get around this").waitFor()
    const hours = page.getByRole("group", { name: "Hours" })
    await hours.getByLabel("From").fill("22:00")
    await add.click()
    await hours.getByText("Enter both times.").waitFor()
    await hours.getByLabel("From").and(page.locator(":focus")).waitFor()
    await hours.getByLabel("To", { exact: true }).fill("06:00")
    await hours.getByLabel("Time zone").fill("Europe/Nowhere")
    await hours.getByRole("checkbox", { name: "Sat" }).check()
    await add.click()
    await hours.getByText("must be the name of a time zone").waitFor()
    expect(await axe(page)).toEqual([])
    await hours.getByLabel("Time zone").fill("Europe/Berlin")
    await add.click()
    await page
      .locator('[data-rule="deploys"]')
      .getByText("allowed only by someone who didn't start the session")
      .waitFor()
    expect((await asking.hub.get("/api/policy")).rules).toEqual([
      {
        id: "releases",
        effect: "allow",
        tool: "Bash",
        input: { command: "npm run release" },
        branch: "release/*",
        atMost: { count: 20, per: "day" },
      },
      {
        id: "deploys",
        effect: "ask",
        hours: { from: "22:00", to: "06:00", zone: "Europe/Berlin", days: ["sat"] },
        fourEyes: true,
      },
    ])
    await page.goto("/policy/edit?rule=deploys")
    await expect.poll(() => eyes.isChecked()).toBe(true)
    expect(await hours.getByLabel("From").inputValue()).toBe("22:00")
  })

  check("[P-16] whoever started a session can't allow what needs another person, and can deny it", async () => {
    await put({ ...DEPLOYS, fourEyes: true })
    const ask = await asked("deploy staging")
    expect((await answer(ask.id)).body.error.code).toBe("ask/four-eyes")
    const own = await asking.session(agent.id)
    await armed(own)
    const allow = dock(own).getByRole("button", { name: /^Allow once/ })
    await dock(own).getByText("You started this session, so someone else must allow this.").waitFor()
    expect(await allow.getAttribute("aria-disabled")).toBe("true")
    const note = await allow.getAttribute("aria-describedby")
    expect(await own.locator(`[id="${note}"]`).textContent()).toContain("someone else must allow")
    await own.keyboard.press("y")
    await allow.click({ force: true })
    expect((await asking.hub.get(`/api/asks/${ask.id}`)).state).toBe("pending")
    expect(await axe(own)).toEqual([])

    const other = await asking.session(agent.id, { role: "operator" })
    await armed(other)
    await dock(other).getByText("Someone other than admin must allow this.").waitFor()
    // As a hub answers somebody whose part in it the page doesn't know.
    const error = { code: "ask/four-eyes", message: "another person than the operator must answer" }
    await other.route("**/api/asks/*/answer", (route) => route.fulfill({ status: 403, json: { error } }))
    await dock(other)
      .getByRole("button", { name: /^Allow once/ })
      .click()
    const refusal = dock(other).getByRole("alert")
    await refusal.getByText("Not accepted: another person than the operator must answer").waitFor()
    expect(await refusal.getByRole("button", { name: "Retry" }).count()).toBe(0)
    await other.unroute("**/api/asks/*/answer")
    await dock(other)
      .getByRole("button", { name: /^Allow once/ })
      .click()
    await expect.poll(async () => (await asking.hub.get(`/api/asks/${ask.id}`)).state, PATIENCE).toBe("allowed")

    const second = await asked("deploy production")
    await dock(own).getByRole("group", { name: "Request" }).getByText("deploy production").waitFor()
    await armed(own)
    await own.keyboard.press("n")
    await dock(own).getByRole("button", { name: "Deny", exact: true }).click()
    await expect.poll(async () => (await asking.hub.get(`/api/asks/${second.id}`)).state, PATIENCE).toBe("denied")
  })
})
