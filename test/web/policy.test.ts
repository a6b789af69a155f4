import { readFile } from "node:fs/promises"
import type { Locator, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import type { Json } from "../hub/hub-process.ts"
import type { AskingAgent } from "./asking-agent.ts"
import { AskingCockpit, armed, dock, PATIENCE } from "./asks-page.ts"
import { axe } from "./axe.ts"
import { check } from "./check.ts"
import { hasBrowser, type PageOptions } from "./cockpit.ts"
import { KeyboardUser } from "./focus.ts"

const ALLOW_TESTS = { id: "tests", effect: "allow", tool: "Bash", input: { command: ["npm test", "npm test *"] } }
const NO_PUSH = {
  id: "no-push",
  effect: "deny",
  tool: "Bash",
  input: { command: "git push *" },
  message: "A person pushes.",
}
const DEPLOYS = { id: "deploys", effect: "ask", tool: "Bash", input: { command: "deploy *" }, expiresAfterMs: 600_000 }

describe.runIf(hasBrowser)("the policy", () => {
  let asking: AskingCockpit
  let agent: AskingAgent
  beforeAll(async () => {
    asking = await AskingCockpit.open()
    agent = await asking.agent({ title: "Fix flaky auth tests", cwd: "/srv/api" })
  })
  afterAll(() => asking?.dispose())

  async function put(...rules: readonly Json[]): Promise<void> {
    const reply = await asking.hub.call("PUT", "/api/policy?force=true", { rules })
    expect(reply.status, JSON.stringify(reply.body)).toBe(200)
  }
  async function open(path: string, options: PageOptions = {}): Promise<Page> {
    const page = await asking.cockpit.page(options)
    await page.goto(path)
    await page.getByRole("heading", { level: 1 }).first().waitFor()
    return page
  }
  /** A request that is open, by its id. */
  async function asked(command: string, more: Json = {}): Promise<Json> {
    agent.ask({ command }, more)
    const find = async () => (await asking.openAsks(agent.id)).find(({ input }) => input.command === command)
    await expect.poll(find, PATIENCE).toBeDefined()
    return find()
  }
  async function answered(command: string, answer: Json): Promise<Json> {
    const { id } = await asked(command)
    return asking.hub.post(`/api/asks/${id}/answer`, answer)
  }
  /** A request that a rule settles as it comes. */
  async function settledByRule(command: string): Promise<Json> {
    agent.ask({ command })
    const find = async () =>
      (await asking.asks(agent.id)).findLast(({ input, via }) => input?.command === command && via === "policy")
    await expect.poll(find, PATIENCE).toBeDefined()
    return find()
  }
  const allowedFor = (ruleContent: string, destination: string) => ({
    behavior: "allow",
    updatedPermissions: [
      { type: "addRules", behavior: "allow", destination, rules: [{ toolName: "Bash", ruleContent }] },
    ],
  })
  const audit = async (query: string): Promise<readonly Json[]> => (await asking.hub.get(`/api/audit?${query}`)).records
  const rule = (page: Page, name: string) => page.locator(`[data-rule="${name}"]`)

  check("[P-1] a rule that is wrong is not saved: each problem is at its field, the first has the focus", async () => {
    await put(ALLOW_TESTS)
    const page = await open("/policy")
    await page.getByRole("button", { name: "Add rule" }).click()
    const add = page.getByRole("button", { name: "Add rule" })
    await add.click()
    const name = page.getByRole("textbox", { name: "Name" })
    await page.getByText("Enter a name.").waitFor()
    expect(await name.getAttribute("aria-invalid")).toBe("true")
    await expect.poll(() => page.evaluate("document.activeElement.getAttribute('aria-invalid')")).toBe("true")

    await name.fill("tests")
    await add.click()
    await page.getByText("Another rule has this name.").waitFor()
    await name.fill("both")
    await page.getByRole("combobox", { name: "Tool" }).fill("Bash")
    await page.getByRole("button", { name: "Add condition" }).click()
    const patterns = page.getByRole("textbox", { name: "Matches any of" })
    await patterns.fill("npm ci &&")
    await add.click()
    await page.getByText(/^allows nothing because/).waitFor()
    const hasFocus = (field: Locator) => field.evaluate((element) => element === element.ownerDocument.activeElement)
    await expect.poll(() => hasFocus(patterns)).toBe(true)

    // A slip: everything is there again.
    await page.getByRole("navigation", { name: "Policy" }).getByRole("link", { name: "Rules" }).click()
    await rule(page, "tests").waitFor()
    await page.goBack()
    await expect.poll(() => patterns.inputValue()).toBe("npm ci &&")
    await patterns.fill("npm ci")
    const folder = page.getByRole("textbox", { name: "Folder" })
    await folder.fill("srv")
    await add.click()
    await page.getByText(/must begin with \//).waitFor()
    await expect.poll(() => hasFocus(folder)).toBe(true)
    await folder.fill("/srv/**")
    await add.click()
    await page.waitForURL(/\/policy\?rule=both$/)
    await page.locator('[data-rule="both"]:focus').waitFor()
    expect((await asking.hub.get("/api/policy")).rules[1]).toEqual({
      id: "both",
      effect: "allow",
      tool: "Bash",
      input: { command: "npm ci" },
      cwd: "/srv/**",
    })
    expect(asking.cockpit.complaints.filter((words) => !words.includes("400"))).toEqual([])
  })

  check("[P-2] the tester names the rule and why, or says that a person decides", async () => {
    await put(ALLOW_TESTS, NO_PUSH)
    const ask = await asked("git status")
    const page = await open("/policy/test", { role: "viewer" })
    const verdict = page.getByRole("status", { name: "Verdict" })
    const input = page.getByRole("textbox", { name: "Input" })
    await page.getByRole("button", { name: "Test request" }).click()
    await page.getByText("Must be a JSON object").waitFor()
    await input.fill("npm test -- --watch")
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await verdict.getByText("Allowed").waitFor()
    expect(await verdict.getByRole("link", { name: "tests" }).getAttribute("href")).toBe("/policy?rule=tests")
    await input.fill('{"command":"cd x && git push origin"}')
    await page.getByRole("button", { name: "Test request" }).click()
    await verdict.getByText("Denied").waitFor()
    await verdict.getByText("A person pushes.").waitFor()
    await verdict.getByText('To allow it, change or remove rule "no-push" (number 2).').waitFor()
    expect(await verdict.locator("mark").allTextContents()).toEqual(["git push origin"])

    await page.getByRole("combobox", { name: "Recent request" }).selectOption(ask.id)
    await verdict.getByText("A person decides").waitFor()
    await verdict.getByText("No rule", { exact: true }).waitFor()
    expect(new URL(page.url()).searchParams.get("ask")).toBe(ask.id)
    expect(await page.getByRole("textbox", { name: "Folder" }).inputValue()).toBe("/srv/api")
    await page.reload()
    await verdict.getByText("No rule", { exact: true }).waitFor()
    await asking.hub.post(`/api/asks/${ask.id}/answer`, { behavior: "allow" })
  })

  check("[P-3] a grant says where it was given; revoked it is off the list and in the audit", async () => {
    await put()
    const ask = await answered("npm run lint", allowedFor("npm run lint", "session"))
    await answered("npm run format", allowedFor("npm run format:*", "userSettings"))
    const byGrant = await settledByRule("npm run lint")
    const page = await open(`/requests/${byGrant.id}`)
    await page.getByRole("link", { name: "Show rule" }).click()
    const cards = page.getByRole("list", { name: "Grants" }).getByRole("listitem")
    const own = cards.filter({ hasText: "Bash(npm run lint)" })
    await own.and(page.locator(":focus")).waitFor()
    await own.getByText("This session, kept by the hub").waitFor()
    expect(await own.getByRole("link", { name: "Show request" }).getAttribute("href")).toBe(`/requests/${ask.id}`)
    await own.getByRole("button", { name: "Revoke" }).click()
    await own.waitFor({ state: "detached" })
    await page.getByText("This grant was revoked").waitFor()
    expect((await audit("what=grant/revoked")).map(({ by, askId }) => [by, askId])).toEqual([["admin", ask.id]])

    await cards.filter({ hasText: "Bash(npm run format:*)" }).getByRole("button", { name: "Revoke" }).click()
    await page.getByText("Claude Code still has it").waitFor()
    await page.getByText("No grants.").waitFor()
  })

  check("[P-4] an answer is one entry with my name, and leads to its place in the transcript", async () => {
    await put()
    const ask = await asked("npm run build")
    const session = await asking.session(agent.id)
    await armed(session)
    await dock(session)
      .getByRole("button", { name: /^Allow once/ })
      .click()
    await expect.poll(async () => (await asking.hub.get(`/api/asks/${ask.id}`)).state, PATIENCE).toBe("allowed")
    const entries = (await audit(`session=${agent.id}`)).filter(({ askId }) => askId === ask.id)
    expect(entries.map(({ what, by, via }) => ({ what, by, via }))).toEqual([
      { what: "ask/allowed", by: "admin", via: "person" },
    ])

    const page = await open(`/audit?session=${agent.id}`)
    const entry = page.getByRole("list", { name: "Audit" }).getByRole("listitem").filter({ hasText: "npm run build" })
    await entry.getByText("You").waitFor()
    const place = `/s/${agent.id}?seq=${ask.seq}`
    expect(await entry.getByRole("link", { name: "Fix flaky auth tests" }).getAttribute("href")).toBe(place)
    await entry.getByRole("link", { name: /^Allowed/ }).click()
    await page.waitForURL(new RegExp(`/audit/${entries[0]?.id}$`))
    await page.reload()
    await page.getByRole("heading", { name: "Allowed" }).waitFor()
    expect(await page.getByRole("link", { name: "Show request" }).getAttribute("href")).toBe(`/requests/${ask.id}`)
    await page.getByRole("link", { name: "Show in transcript" }).click()
    await page.getByRole("feed", { name: "Transcript" }).waitFor()
    expect(new URL(page.url()).pathname).toBe(`/s/${agent.id}`)
  })

  check("[P-5] the audit's filters are in the address, and what they leave can be exported", async () => {
    await put()
    await answered("npm run one", { behavior: "deny", message: '=cmd("x")' })
    await answered("npm run two", { behavior: "allow" })
    const page = await open("/audit")
    const entries = page.getByRole("list", { name: "Audit" }).getByRole("listitem")
    await entries.filter({ hasText: "npm run two" }).waitFor()
    await page.getByRole("searchbox", { name: "Person" }).fill("admin")
    await page.getByRole("searchbox", { name: "Tool" }).fill("Bash")
    await page.getByRole("combobox", { name: "Outcome" }).selectOption("Denied")
    await page.getByRole("combobox", { name: "Session" }).selectOption("Fix flaky auth tests")
    await expect
      .poll(() => Object.fromEntries(new URL(page.url()).searchParams), PATIENCE)
      .toEqual({ by: "admin", tool: "Bash", outcome: "ask/denied", session: agent.id })
    await entries.filter({ hasText: "npm run two" }).waitFor({ state: "detached" })
    await entries.filter({ hasText: "npm run one" }).waitFor()
    await page.reload()
    await entries.filter({ hasText: "npm run one" }).waitFor()
    expect(await page.getByRole("searchbox", { name: "Person" }).inputValue()).toBe("admin")
    const shown = await entries.count()

    const saved = async (name: string) => {
      const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).click()])
      return readFile(await download.path(), "utf8")
    }
    const lines = (await saved("Export NDJSON")).trim().split("\n")
    expect(lines.map((line) => JSON.parse(line).what)).toEqual(Array.from({ length: shown }, () => "ask/denied"))
    const [head, ...records] = (await saved("Export CSV")).trim().split("\r\n")
    expect(head).toMatch(/^id,at,what,by,/)
    expect(records).toHaveLength(shown)

    await page.getByRole("searchbox", { name: "Person" }).fill("nobody")
    await page.getByText("No entry matches.").waitFor()
    await page.getByRole("button", { name: "Clear filters" }).first().click()
    await entries.filter({ hasText: "npm run two" }).waitFor()
    expect(new URL(page.url()).search).toBe("")
  })

  check("[P-6] rules are sentences with what each did, and what a rule settled leads to it", async () => {
    await put(ALLOW_TESTS, NO_PUSH, DEPLOYS)
    const allowed = await settledByRule("npm test -- --run")
    expect(allowed).toMatchObject({ state: "allowed", via: "policy", rule: "tests" })
    const page = await open("/policy", { role: "operator" })
    await rule(page, "tests").getByText("Allow Bash when the command matches npm test or npm test *.").waitFor()
    await rule(page, "tests")
      .getByText(/^Decided \d+ requests? in 30 days, last \d+ (?:s|min) ago$/)
      .waitFor()
    await rule(page, "deploys")
      .getByText("Ask about Bash when the command matches deploy *, for 10 min at most.")
      .waitFor()
    await rule(page, "no-push").getByText("Claude is told: A person pushes.").waitFor()
    expect(await page.getByRole("heading", { level: 2 }).allTextContents()).toEqual(
      expect.arrayContaining(["Denied", "A person decides", "Allowed"]),
    )
    await page.goto(`/requests/${allowed.id}`)
    await page.getByText("Allowed by rule tests.").first().waitFor()
    await page.getByRole("link", { name: "Show rule" }).first().click()
    await page.locator('[data-rule="tests"]:focus').waitFor()
    await rule(page, "tests").getByRole("link", { name: "Decisions in the audit" }).click()
    await page.getByRole("list", { name: "Audit" }).getByText("npm test -- --run").first().waitFor()
    await page.goto("/policy?rule=gone")
    await page.getByText("isn't in force").waitFor()
  })

  check("[P-7] a request becomes a rule: the narrowest one, with its test on the past", async () => {
    await put()
    await answered("npm run e2e", { behavior: "allow" })
    const ask = await asked("npm run e2e")
    const page = await open(`/requests/${ask.id}`)
    await page.getByRole("link", { name: "Make this a rule…" }).click()
    await page.getByText("The narrowest rule that allows this request").waitFor()
    expect(await page.getByRole("textbox", { name: "Matches any of" }).inputValue()).toBe("npm run e2e")
    expect(await page.getByRole("textbox", { name: "Folder" }).inputValue()).toBe("/srv/api")
    const tested = page.getByRole("region", { name: "Test on past requests" })
    await tested.getByRole("heading", { name: /^No longer asked \(\d+\)$/ }).waitFor()
    const example = tested.getByRole("list", { name: "No longer asked" }).getByRole("link").first()
    expect(await example.getAttribute("href")).toMatch(new RegExp(`^/s/${agent.id}\\?seq=\\d+$`))
    await page.getByRole("textbox", { name: "Reason" }).fill("Our own tests.")
    await page.getByText("You changed the rule after this test.").waitFor()
    await page.getByRole("button", { name: "Add rule" }).click()
    await rule(page, "bash-npm-run-e2e").getByText("Our own tests.").waitFor()
    expect((await settledByRule("npm run e2e")).via).toBe("policy")
  })

  check("[P-12] where a rule asks or denies, the editor says that an allow rule changes nothing", async () => {
    await put(DEPLOYS, ALLOW_TESTS)
    const ask = await asked("deploy staging")
    const page = await open(`/policy/edit?ask=${ask.id}`)
    await page.getByText("ask beats allow").waitFor()
    const review = page.getByRole("region", { name: "New rule" })
    expect(await review.getByRole("link", { name: "deploys" }).getAttribute("href")).toBe("/policy?rule=deploys")
    await page.getByRole("region", { name: "Test on past requests" }).getByText("Nothing would have changed").waitFor()
    await review.getByRole("link", { name: "Edit that rule" }).click()
    await page.waitForURL(/\/policy\/edit\?rule=deploys$/)
    await expect.poll(() => page.getByRole("textbox", { name: "Name" }).inputValue()).toBe("deploys")
    await asking.hub.post(`/api/asks/${ask.id}/answer`, { behavior: "allow" })

    // A request that no rule stopped has no such note.
    const free = await asked("npm run docs")
    await page.goto(`/policy/edit?ask=${free.id}`)
    await page.getByText("The narrowest rule that allows this request").waitFor()
    expect(await page.getByText("changes nothing here").count()).toBe(0)
    await asking.hub.post(`/api/asks/${free.id}/answer`, { behavior: "allow" })
  })

  check("[P-8] what a person denied is not allowed by a rule, unless it is saved anyway", async () => {
    await put()
    const denied = await answered("curl example.org", { behavior: "deny" })
    const draft = { id: "fetch", effect: "allow", tool: "Bash", input: { command: "curl example.org" } }
    const page = await open(`/policy/edit?draft=${encodeURIComponent(JSON.stringify(draft))}`)
    const before = (await asking.hub.get("/api/policy/versions")).versions.length
    await page.getByRole("button", { name: "Add rule" }).click()
    const alert = page.getByRole("alert").filter({ hasText: "this would allow 1 request that a person denied" })
    await alert.and(page.locator(":focus")).waitFor()
    expect(await alert.getByRole("link").getAttribute("href")).toBe(`/s/${agent.id}?seq=${denied.seq}`)
    expect((await asking.hub.get("/api/policy")).rules).toEqual([])
    await alert.getByRole("button", { name: "Keep editing" }).click()
    await page.getByRole("button", { name: "Add rule" }).click()
    await alert.getByRole("button", { name: "Save anyway" }).click()
    await page.waitForURL(/\/policy\?rule=/)
    const { versions } = await asking.hub.get("/api/policy/versions")
    expect(versions).toHaveLength(before + 1)
    expect(versions[0].forced).toBe(1)
  })

  check("[P-9] versions say who changed what, and lead back", async () => {
    await put(NO_PUSH)
    await put(NO_PUSH, ALLOW_TESTS)
    const page = await open("/policy/versions")
    const rows = page.getByRole("list", { name: "Versions" }).getByRole("listitem")
    await rows.first().getByText("In force").waitFor()
    await rows.first().getByText("tests added").waitFor()
    await rows.first().getByText(/you/).waitFor()
    await rows.first().getByRole("link").click()
    await rows.first().getByText('"id": "tests"').waitFor()
    expect(await page.getByRole("button", { name: /Go back/ }).count()).toBe(0)
    await rows.nth(1).getByRole("link").click()
    await page.getByRole("button", { name: "Go back to this one…" }).click()
    await page.getByRole("region", { name: "Test on past requests" }).waitFor()
    await page.getByRole("button", { name: /^Go back to version \d+$/ }).click()
    await rows.first().getByText("tests removed").waitFor()
    expect((await asking.hub.get("/api/policy")).rules).toEqual([NO_PUSH])
  })

  check("[P-10] who may not change the policy reads it, and has nothing to press", async () => {
    await put(ALLOW_TESTS, NO_PUSH)
    await answered("npm run dev", { behavior: "allow" })
    for (const role of ["viewer", "operator"] as const) {
      const page = await open("/policy", { role })
      await rule(page, "tests").waitFor()
      const names = /Add rule|Edit|Delete|Change|Save|Go back|Review/
      expect(await page.getByRole("button", { name: names }).count(), role).toBe(0)
      await page.goto("/policy/versions?v=1")
      await page.getByRole("list", { name: "Versions" }).waitFor()
      expect(await page.getByRole("button", { name: names }).count(), role).toBe(0)
      await page.goto("/policy/edit?rule=tests")
      await page.getByText("Only admins change rules.").waitFor()
      await page.goto(`/s/${agent.id}`)
      await page.getByRole("feed", { name: "Transcript" }).waitFor()
      expect(await page.getByRole("link", { name: "Make this a rule…" }).count(), role).toBe(0)
      await page.context().close()
    }
    const { id } = await asked("npm run preview")
    const viewer = await open(`/requests/${id}`, { role: "viewer" })
    await viewer.getByText("npm run preview").first().waitFor()
    expect(await viewer.getByRole("link", { name: "Make this a rule…" }).count()).toBe(0)
    await asking.hub.post(`/api/asks/${id}/answer`, { behavior: "allow" })
  })

  for (const theme of ["light", "dark"] as const) {
    check(
      `[P-11] every screen of the policy is free of what axe finds, and does not scroll sideways (${theme})`,
      async () => {
        await put(ALLOW_TESTS, NO_PUSH, DEPLOYS)
        // The grant of the other theme's look would answer the same command.
        const command = `npm run pack-${theme}`
        await answered(command, allowedFor(command, "session"))
        const { id } = await asked("npm run story")
        const [last] = await audit("order=newest&limit=1")
        const paths = [
          "/policy?rule=tests",
          "/policy/edit?rule=no-push",
          `/policy/edit?ask=${id}`,
          `/policy/test?ask=${id}`,
          "/policy/grants",
          "/policy/versions?v=1",
          "/audit",
          `/audit/${last?.id}`,
        ]
        for (const width of [320, 834, 1280]) {
          const page = await open("/policy", { theme, size: { width, height: 800 } })
          for (const path of paths) {
            await page.goto(path)
            await page.getByRole("status", { name: "Loading" }).waitFor({ state: "detached" })
            await page.getByRole("main").locator("li, form, fieldset, article").first().waitFor()
            expect(await axe(page), `${path} at ${width}, ${theme}`).toEqual([])
            const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
            expect(overflow, `${path} at ${width}`).toBeLessThanOrEqual(0)
          }
          await page.context().close()
        }
        await asking.hub.post(`/api/asks/${id}/answer`, { behavior: "allow" })
      },
    )
  }

  check("[P-11] a rule is added, tested and deleted with the keyboard alone", async () => {
    await put(NO_PUSH)
    const page = await asking.cockpit.page()
    const user = await KeyboardUser.at(page)
    await page.goto("/sessions")
    await page.getByRole("heading", { level: 1 }).waitFor()
    await page.keyboard.press("g")
    await page.keyboard.press("p")
    await rule(page, "no-push").waitFor()
    await user.goTo(page.getByRole("button", { name: "Add rule" }))
    await user.press("Enter")
    await user.goTo(page.getByRole("textbox", { name: "Name" }))
    await user.type("search")
    await user.goTo(page.getByRole("combobox", { name: "Tool" }))
    await user.type("WebSearch")
    await user.goTo(page.getByRole("button", { name: "Add rule" }))
    await user.press("Enter")
    await page.locator('[data-rule="search"]:focus').waitFor()
    await page.keyboard.press("t")
    await user.goTo(page.getByRole("textbox", { name: "Input" }))
    await user.type("git push origin")
    await user.goTo(page.getByRole("button", { name: "Test request" }))
    await user.press("Enter")
    await page.getByRole("status", { name: "Verdict" }).getByText("Denied").waitFor()
    await page.goBack()
    await user.goTo(page.getByRole("button", { name: "Delete search" }))
    await user.press("Enter")
    await user.goTo(page.getByRole("button", { name: "Delete rule" }))
    await user.press("Enter")
    await rule(page, "search").waitFor({ state: "detached" })
    expect((await asking.hub.get("/api/policy")).rules).toEqual([NO_PUSH])
    await user.usedNoPointer()
  })
})
