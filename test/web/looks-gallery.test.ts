import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { Locator, Page } from "playwright-core"
import { afterAll, describe, expect, it } from "vitest"
import { searchedEvents } from "../gate.ts"
import { READY } from "./asks-page.ts"
import { axe } from "./axe.ts"
import { hasBrowser, type PageOptions } from "./cockpit.ts"
import { type Shot, writeContactSheet } from "./contact-sheet.ts"
import { AUDIT_TURNS } from "./looks-scenarios.ts"
import { LooksScene } from "./looks-scene.ts"

const SHOTS = join(import.meta.dirname, "shots")
const LIGHT = { theme: "light" } as const
const DARK = { theme: "dark" } as const

/** The pictures of the specification: each of something that is really there, and none that axe objects to. */
describe.runIf(hasBrowser)("the cockpit's gallery", () => {
  let scene: LooksScene
  /** The longest of them is at it while the others are looked at. */
  let audited: Promise<void> | undefined
  const shots: Shot[] = []
  afterAll(async () => {
    writeContactSheet(join(SHOTS, "index.html"), "The cockpit", shots)
    await scene?.dispose()
  })

  const feed = (page: Page) => page.getByRole("feed", { name: "Transcript" })
  const dock = (page: Page) => page.getByRole("region", { name: "Waiting for you" })
  const at = (title: string, query = "") => `/s/${scene.session(title)}${query}`

  async function open(path: string, options: PageOptions = {}): Promise<Page> {
    const page = await scene.cockpit.page(options)
    await page.goto(path)
    return page
  }
  async function shoot(name: string, page: Page, ready: Locator): Promise<void> {
    await ready.first().waitFor()
    await page.evaluate("document.fonts.ready")
    const violations = await axe(page)
    await page.screenshot({ path: join(SHOTS, `${name}.png`) })
    shots.push({ name, violations: violations.length })
    await page.context().close()
    expect(violations).toEqual([])
  }
  const picture = (name: string, take: () => Promise<void>) => it(name, take, 240_000)

  picture("sessions-empty: no machine and no session yet", async () => {
    mkdirSync(SHOTS, { recursive: true })
    scene = await LooksScene.open()
    const page = await scene.cockpit.page(LIGHT)
    await page.route("**/api/runners", (route) => route.fulfill({ json: { runners: [] } }))
    await page.goto("/sessions")
    await shoot("sessions-empty", page, page.getByRole("main").getByRole("paragraph").first())
  })

  picture("sessions-list, sessions-phone: all eight statuses, two machines", async () => {
    await fill(scene)
    audited = scene.goesOn("Log audit", "Go on with the audit", AUDIT_TURNS)
    audited.catch(() => undefined)
    const seen = await open(at("Clock rework"))
    await feed(seen).getByText("That was all of them.").waitFor()
    for (const options of [LIGHT, { ...LIGHT, size: "phone" } as const]) {
      const page = await scene.cockpit.page(options)
      await page.goto("/sessions")
      await shoot(
        "size" in options ? "sessions-phone" : "sessions-list",
        page,
        page.getByRole("list", { name: "Idle" }),
      )
    }
    await seen.context().close()
  })

  picture("sessions-board: the same as columns", async () => {
    const page = await open("/sessions?view=board", DARK)
    await shoot("sessions-board", page, page.getByRole("list", { name: "Needs you" }))
  })

  picture("session-streaming: half a paragraph and an open fence", async () => {
    const page = await open(at("Docs refresh"), DARK)
    await shoot("session-streaming", page, feed(page).locator("pre"))
  })

  picture("session-tools: every built-in tool", async () => {
    const page = await open(at("Clock rework"), LIGHT)
    await shoot("session-tools", page, feed(page).getByText("That was all of them."))
  })

  picture("session-subagents: three lanes, one of them open", async () => {
    const page = await open(at("Queue research"), DARK)
    await feed(page).getByText("Postgres it is").or(feed(page).getByText("it is: the job commits")).first().waitFor()
    const lane = feed(page).locator("article").filter({ hasText: "Redis streams" }).first()
    await lane.getByRole("button", { expanded: false }).first().click()
    await shoot("session-subagents", page, lane.getByText("Reading the current jobs first."))
  })

  picture("session-tablet: the panels' drawer, on what changed", async () => {
    const page = await open(at("Fix flaky auth tests", "?panel=changes"), { ...LIGHT, size: "tablet" })
    await shoot("session-tablet", page, page.getByText("clock.tick(50)"))
  })

  picture("session-ask: what it did, and what it waits for", async () => {
    const page = await open(at("Fix flaky auth tests"), { ...LIGHT, size: { width: 1280, height: 860 } })
    await dock(page)
      .getByRole("button", { name: /Allow once/ })
      .waitFor()
    await shoot("session-ask", page, feed(page).getByText("The failure comes from"))
  })

  picture("session-phone: what was said, and what waits", async () => {
    const page = await open(at("Fix flaky auth tests"), { ...DARK, size: "phone" })
    await feed(page).locator("article").first().waitFor()
    await shoot("session-phone", page, dock(page))
  })

  picture("session-notices: what goes wrong and is survived", async () => {
    const page = await open(at("Interview themes"), DARK)
    await feed(page).getByText(/zebra/).first().waitFor()
    await page.getByRole("button", { name: "Interrupt" }).click()
    await shoot("session-notices", page, feed(page).getByText(/Interrupted by/))
  })

  picture("ask-bash-dock: a long command, not seen to its end", async () => {
    const page = await open(at("Restart everything"), LIGHT)
    await shoot("ask-bash-dock", page, dock(page).getByRole("button", { name: /Read to the end to allow/ }))
  })

  picture("ask-edit-diff: what an edit would change, and two rules with their places", async () => {
    const { id } = await scene.asks("Release skill")
    const page = await open(`/requests/${id}`, DARK)
    // Only the file itself has this line.
    await page.getByText("Only from `main`, with everything green.").first().waitFor()
    await page.getByRole("button", { name: "Allow and remember" }).click()
    await page.getByRole("menuitem", { name: "Choose rules…" }).click()
    const rules = page.getByRole("list", { name: "Remember" }).getByRole("listitem")
    for (const index of [0, 1]) await rules.nth(index).getByRole("checkbox").check()
    await rules.nth(1).getByRole("combobox").selectOption({ label: "This project (just me)" })
    // Beside the list there is less room than it takes by itself.
    await page.getByRole("button", { name: "Side by side" }).click()
    await page.locator("[data-split]").waitFor()
    await shoot("ask-edit-diff", page, page.getByRole("button", { name: /Allow \+ 2 rules/ }))
  })

  picture("ask-phone-sheet: a file to be written, on a phone", async () => {
    const page = await open(at("Migrate db"), { ...LIGHT, size: "phone" })
    await dock(page).getByText("Review", { exact: true }).click()
    await shoot("ask-phone-sheet", page, page.getByRole("button", { name: /Allow once|Read to the end to allow/ }))
  })

  picture("ask-question: two questions, one of them answered in other words", async () => {
    const { id } = await scene.asks("Data export")
    const page = await open(`/requests/${id}`, { ...DARK, size: "phone" })
    await page.getByRole("radio", { name: "Other" }).check()
    await page.getByRole("textbox", { name: /Other answer/ }).fill("Parquet")
    await page.getByRole("checkbox", { name: /Orders/ }).check()
    await shoot("ask-question", page, page.getByRole("button", { name: /Send answers/ }))
  })

  picture("ask-plan: a plan with one comment", async () => {
    const { id } = await scene.asks("Passwordless sign-in")
    const page = await open(`/requests/${id}`, { ...DARK, size: "tablet" })
    await page.getByRole("listitem").filter({ hasText: "a token works once" }).click({ clickCount: 3 })
    await page.getByRole("button", { name: /^Comment on “a token works once/ }).click()
    await page.keyboard.type("Across two hubs as well: the row must be locked.")
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: /ask before edits/ }).waitFor()
    await shoot("ask-plan", page, page.getByRole("list", { name: "Comments" }).getByRole("listitem"))
  })

  picture("ask-elicitation: every kind of field, one of them wrong", async () => {
    const { id } = await scene.asks("Payments incident")
    const page = await open(`/requests/${id}`, LIGHT)
    await page.getByLabel(/One line for the status page/).fill("Card payments fail for some")
    await page.getByLabel(/Customers affected/).fill("0")
    await page.locator(READY).waitFor()
    await page.getByRole("button", { name: /^Accept/ }).click()
    await shoot("ask-elicitation", page, page.locator("[aria-invalid='true']"))
  })

  picture("inbox: five requests, one of which expires", async () => {
    for (const title of ["Migrate db", "Payments incident", "Release skill"]) await scene.refuse(title)
    const { id } = await scene.asks("Restart everything")
    const page = await open(`/requests/${id}`, DARK)
    const rows = page.getByRole("list", { name: "Open requests" }).getByRole("listitem")
    await expect.poll(() => rows.count()).toBe(5)
    await rows.getByText(/^expires in/).waitFor()
    await shoot("inbox", page, page.getByRole("button", { name: "More time" }))
  })

  picture("new-session: one that goes on from another, in a folder that is not there", async () => {
    const query = new URLSearchParams({ fork: scene.session("Queue research"), cwd: "~/queues" })
    const page = await open(`/new?${String(query)}`, LIGHT)
    await shoot("new-session", page, page.getByText("Folder not found on atlas."))
  })

  picture("search-hits: what was found, by session", async () => {
    const page = await open("/search?q=clock", LIGHT)
    await shoot("search-hits", page, page.locator("[data-hit]").nth(2))
  })

  picture("machines, machine: where agents run", async () => {
    const list = await open("/machines", DARK)
    await shoot("machines", list, list.getByText("borealis"))
    const one = await open(`/machines/${scene.machine("atlas")}`, LIGHT)
    await shoot("machine", one, one.getByRole("list", { name: "Sessions on this machine" }))
  })

  picture(
    "policy, policy-test, policy-audit: the rules, a request they are tried on, and who decided what",
    async () => {
      const rules = [
        { id: "no-push", effect: "deny", tool: "Bash", input: { command: "git push *" }, message: "A person pushes." },
        { id: "deploys", effect: "ask", tool: "Bash", input: { command: "deploy *" }, expiresAfterMs: 600_000 },
        { id: "tests", effect: "allow", tool: "Bash", input: { command: ["npm test", "npm test *"] }, cwd: "/srv/**" },
      ]
      await scene.hub.call("PUT", "/api/policy?force=true", { rules })
      const list = await open("/policy", DARK)
      await shoot("policy", list, list.getByText("Allow Bash when"))
      const tester = await open("/policy/test", LIGHT)
      await tester.getByRole("textbox", { name: "Input" }).fill("cd api && git push origin main")
      await tester.getByRole("button", { name: "Test request" }).click()
      await shoot("policy-test", tester, tester.getByRole("status", { name: "Verdict" }))
      const entries = await open("/audit", LIGHT)
      await shoot("policy-audit", entries, entries.getByRole("list", { name: "Audit" }))
    },
  )

  picture("session-100k-track: in the middle of a long session", async () => {
    await audited
    const { lastSeq } = await scene.hub.get(`/api/sessions/${scene.session("Log audit")}`)
    expect(lastSeq).toBeGreaterThanOrEqual(searchedEvents)
    const page = await open(at("Log audit", `?seq=${searchedEvents / 2}`), LIGHT)
    await page
      .locator("[data-mark='prompt']")
      .nth(AUDIT_TURNS - 1)
      .waitFor({ state: "attached" })
    await shoot("session-100k-track", page, feed(page).locator("article:focus"))
  })

  picture("ask-lost-race: somebody else was faster", async () => {
    const ask = await scene.asks("Mend the clock")
    const { token } = await scene.hub.post("/api/tokens", { role: "operator", name: "ops-phone" })
    const page = await open(at("Mend the clock"), LIGHT)
    await dock(page)
      .getByRole("button", { name: /Allow once/ })
      .waitFor()
    await page.route("**/answer", async (route) => {
      await scene.hub.call("POST", `/api/asks/${ask.id}/answer`, { behavior: "deny", message: "Not today" }, token)
      await route.continue()
    })
    await page.keyboard.press("F6")
    await dock(page).locator(READY).waitFor()
    await page.keyboard.press("y")
    await shoot("ask-lost-race", page, page.getByText(/ this first\./))
  })

  it("nothing complained while they were taken", () => {
    // A browser notes every refusal: of an answer that came too late, a file that its agent does not show, a folder that
    // is not there.
    const refusals = /status of (?:409|422|502)/
    expect(scene.cockpit.complaints.filter((complaint) => !refusals.test(complaint))).toEqual([])
  })
})

async function fill(scene: LooksScene): Promise<void> {
  const hurry = { id: "production", effect: "ask", tool: "Bash", input: { command: "kubectl*" } }
  await scene.hub.call("PUT", "/api/policy", { rules: [{ ...hurry, expiresAfterMs: 1_500_000 }] })
  const api = { on: "atlas", folder: "api" } as const
  const web = { on: "borealis", folder: "web" } as const
  await scene.launch({ ...api, title: "Log audit", prompt: "An audit of every handler" })
  await scene.launch({
    ...api,
    title: "Fix flaky auth tests",
    prompt: "Make the auth tests deterministic",
    mode: "acceptEdits",
  })
  await scene.launch({ ...web, title: "Migrate db", prompt: "Write the migration for the new column" })
  await scene.launch({ ...api, title: "Mend the clock", prompt: "No real clock in auth.ts, please" })
  await scene.launch({ ...api, title: "Release skill", prompt: "The release skill should tag first" })
  await scene.launch({ ...web, title: "Data export", prompt: "Customers want an export" })
  await scene.launch({ ...api, title: "Passwordless sign-in", prompt: "Plan the sign-in by e-mail link" })
  await scene.launch({ ...web, title: "Payments incident", prompt: "Open an incident for the card payments" })
  await scene.launch({ ...web, title: "Restart everything", prompt: "One long command for all services" })
  await scene.launch({ ...api, title: "Docs refresh", prompt: "Bring the documentation up to date" })
  await scene.launch({ ...api, title: "Interview themes", prompt: "Summarise the interviews" })
  await scene.launch({ ...web, title: "Bump deps", prompt: "Update all dependencies" })
  await scene.launch({ ...web, title: "Release notes", prompt: "Which dependencies did we update?" })
  await scene.launch({ ...api, title: "Contract review", prompt: "A prompt that is too long" })
  await scene.launch({ ...api, title: "Clock rework", prompt: "Show me every tool" })
  await scene.launch({ ...api, title: "Queue research", prompt: "Compare job queues for us" })
  await scene.handmade()
  await scene.allow("Fix flaky auth tests", ({ input }) => String(input.command).startsWith("rm"))
  await scene.allow("Passwordless sign-in", ({ kind }) => kind === "plan")
  for (const title of ["Clock rework", "Queue research", "Bump deps", "Release notes", "Contract review"])
    await scene.allow(title)
  for (const title of [
    "Migrate db",
    "Mend the clock",
    "Release skill",
    "Data export",
    "Payments incident",
    "Restart everything",
  ])
    await scene.asks(title)
  await scene.hub.call("DELETE", `/api/sessions/${scene.session("Release notes")}`)
  await scene.isIn("Release notes", "ended")
}
