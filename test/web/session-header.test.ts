// What runs inside of a page is typed as such.
/// <reference lib="dom" />
import { execFile } from "node:child_process"
import { existsSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import type { Scenario } from "@signalbox/simulator"
import type { Locator, Page } from "playwright-core"
import { afterAll, describe, expect } from "vitest"
import { Machine } from "../runner/runner-process.ts"
import { axe } from "./axe.ts"
import { check } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { asksFor, says } from "./scenarios.ts"
import { feedOf, headerOf, messageOf, openSession, turnsAre, WAIT } from "./session-page.ts"

const SIGNALBOX = join(import.meta.dirname, "../../packages/cli/bin/signalbox.mjs")

/** Each turn writes a file and says so. */
const writes: Scenario = {
  turns: [
    {
      repeat: true,
      steps: [{ tool: "Write", input: { file_path: "notes.md", content: "one\ntwo\n" } }, { say: "Written." }],
    },
  ],
}

async function isInside(part: Locator, width: number): Promise<boolean> {
  const box = await part.boundingBox()
  return box !== null && box.x >= 0 && box.x + box.width <= width
}

describe.runIf(hasBrowser)("the header of a session", () => {
  let machine: Machine
  let cockpit: CockpitHarness
  let opening: Promise<void> | undefined
  /** Waits for conditions, which only a test may. */
  const isReady = () => (opening ??= prepare())
  async function prepare(): Promise<void> {
    machine = await Machine.open({ scenario: writes, maxAgents: 16 })
    cockpit = await CockpitHarness.open(machine.hub)
  }
  afterAll(async () => {
    await machine?.endRunner("SIGTERM")
    await cockpit?.dispose()
    await machine?.dispose()
  })

  /** A session that has had one turn, with the newest CLI, whose tools are real. */
  async function worked(title: string): Promise<string> {
    await isReady()
    const env = { SIGNALBOX_SIM_TOOLS: "real" }
    const { id } = await machine.launch({ title, prompt: "Take notes", permissionMode: "acceptEdits", env })
    await turnsAre(machine.hub, id, 1)
    return id
  }
  const menu = async (page: Page, title: string, entry: string | RegExp) => {
    await headerOf(page)
      .getByRole("button", { name: `Menu of ${title}` })
      .click()
    await page.getByRole("menuitem", { name: entry }).click()
  }

  /** Model, thinking, version and folder, opened from the header. */
  async function detailsOf(page: Page): Promise<Locator> {
    await headerOf(page).getByRole("button", { name: "Session details" }).click()
    const details = page.getByRole("dialog", { name: "Session details" })
    await details.getByText("Folder", { exact: true }).waitFor(WAIT)
    return details
  }

  check("[V-6] a model or mode that the agent refuses is told with its code, and the old one stays", async () => {
    const id = await worked("Steering")
    const page = await openSession(cockpit, id)
    const mode = page.getByRole("combobox", { name: "Mode", exact: true })
    await expect.poll(() => mode.inputValue(), WAIT).toBe("acceptEdits")
    // Its CLI was not launched with the right to it, and says so itself.
    await mode.selectOption("bypassPermissions")
    await page.getByRole("alertdialog").getByRole("button", { name: "Bypass permissions" }).click()
    await page
      .getByRole("alert")
      .getByText(/not launched with .*\(bypass_not_launched\)/)
      .waitFor()
    expect(await mode.inputValue()).toBe("acceptEdits")
    await page.getByRole("alert").getByRole("button", { name: "Dismiss" }).click()

    // No CLI is known to refuse a model; this is how one that does is passed on by the hub.
    const refusal = { error: { code: "control/refused", message: "the agent refused set_model: no such model" } }
    await page.route("**/control", (route) =>
      route.request().postDataJSON().request.subtype === "set_model"
        ? route.fulfill({ status: 502, json: { ...refusal, agentErrorCode: "unknown_model" } })
        : route.continue(),
    )
    const model = (await detailsOf(page)).getByRole("combobox", { name: "Model", exact: true })
    const before = await model.inputValue()
    await model.focus()
    await expect.poll(() => model.locator("option").count(), WAIT).toBeGreaterThan(1)
    const other = await model.locator(`option:not([value="${before}"])`).first().getAttribute("value")
    await model.selectOption(other)
    await page
      .getByRole("alert")
      .getByText(/Couldn't change the model: .*no such model \(unknown_model\)/)
      .waitFor()
    await expect.poll(() => model.getAttribute("aria-busy")).toBe("false")
    expect(await model.inputValue()).toBe(before)
    await page.unroute("**/control")
    await model.selectOption(other)
    await expect.poll(async () => (await machine.session(id)).model !== before, WAIT).toBe(true)
  })

  check("[V-120] Bypass permissions is red, for a viewer and on a phone too, and no other mode is", async () => {
    await isReady()
    const ids = await Promise.all(
      ["bypassPermissions", "acceptEdits"].map(
        async (permissionMode) => (await machine.launch({ title: permissionMode, prompt: "Go on", permissionMode })).id,
      ),
    )
    for (const options of [{}, { role: "viewer" }, { size: "phone" }] as const) {
      const colours: string[] = []
      for (const id of ids) {
        const page = await openSession(cockpit, id, options)
        const mode = headerOf(page)
          .getByRole("combobox", { name: "Mode", exact: true })
          .or(headerOf(page).getByText(/^(?:Bypass permissions|Accept edits)$/))
          .filter({ visible: true })
        await mode.waitFor(WAIT)
        const red = await page.evaluate(dangerColour)
        const colour = await mode.evaluate((element) => getComputedStyle(element).color)
        colours.push(colour === red ? "red" : colour)
        await page.context().close()
      }
      expect(colours[0], JSON.stringify(options)).toBe("red")
      expect(colours[1], JSON.stringify(options)).not.toBe("red")
    }
  })

  check("[V-26] the models are those that the agent lists, or named when it started if its CLI cannot", async () => {
    const newest = await worked("Newest")
    const older = await cockpit.agent({ title: "Older", scenario: says("Hello.") })
    await turnsAre(machine.hub, older.id, 1)
    const offered = async (id: string) => {
      const page = await openSession(cockpit, id)
      const asked: string[] = []
      page.on("request", (request) => {
        if (request.url().endsWith("/control")) asked.push(request.postDataJSON().request.subtype)
      })
      const model = (await detailsOf(page)).getByRole("combobox", { name: "Model", exact: true })
      const current = await model.inputValue()
      await model.focus()
      await expect.poll(() => model.locator("option").count(), WAIT).toBeGreaterThan(1)
      // Also where it is none of those it offers.
      expect(await model.inputValue()).toBe(current)
      return asked.filter((subtype) => /initialize|list_models/.test(subtype))
    }
    expect(await offered(newest)).toEqual(["list_models"])
    expect(await offered(older.id)).toEqual(["list_models", "initialize"])
  })

  check(
    "[V-33] [V-120] the folder is copied by a click, the CLI is named, and a choice is busy until it is confirmed",
    async () => {
      const id = await worked("Facts")
      const page = await openSession(cockpit, id)
      await page.context().grantPermissions(["clipboard-read", "clipboard-write"])
      const details = await detailsOf(page)
      await details.getByRole("button", { name: "Copy folder" }).click()
      await expect.poll(() => page.evaluate(() => navigator.clipboard.readText()), WAIT).toBe(machine.cwd)
      await details.getByText("2.1.325").waitFor()
      // Escape closes it, and the focus is back where it was opened.
      await page.keyboard.press("Escape")
      await details.waitFor({ state: "hidden" })
      await expect
        .poll(() => page.evaluate(() => document.activeElement?.getAttribute("aria-label")), WAIT)
        .toBe("Session details")

      let letGo = () => undefined as void
      const isLetGo = new Promise<void>((resolve) => {
        letGo = resolve
      })
      await page.route("**/control", async (route) => {
        await isLetGo
        await route.continue()
      })
      const mode = page.getByRole("combobox", { name: "Mode", exact: true })
      await mode.selectOption("plan")
      await expect.poll(() => mode.getAttribute("aria-busy"), WAIT).toBe("true")
      expect(await mode.inputValue()).toBe("acceptEdits")
      letGo()
      await expect.poll(() => mode.inputValue(), WAIT).toBe("plan")
      await expect.poll(() => mode.getAttribute("aria-busy"), WAIT).toBe("false")
    },
  )

  check(
    "[V-36] how much it may think is chosen in its details, and told after a reload and to a viewer too",
    async () => {
      const id = await worked("Thinking")
      const page = await openSession(cockpit, id)
      const thinking = (await detailsOf(page)).getByRole("combobox", { name: "Thinking", exact: true })
      await expect.poll(() => thinking.locator("option:checked").textContent(), WAIT).toBe("Default thinking")
      await thinking.selectOption({ label: "Thinking up to 10k" })
      await feedOf(page)
        .getByText(/set: Thinking up to 10k/)
        .waitFor(WAIT)
      await expect.poll(() => thinking.inputValue(), WAIT).toBe("10000")
      await page.reload()
      await detailsOf(page)
      await expect.poll(() => thinking.inputValue(), WAIT).toBe("10000")
      const watched = await openSession(cockpit, id, { role: "viewer" })
      const told = await detailsOf(watched)
      await told.getByText("Thinking up to 10k").waitFor(WAIT)
      await thinking.selectOption({ label: "No thinking" })
      await told.getByText("No thinking").waitFor(WAIT)
      expect((await machine.session(id)).maxThinkingTokens).toBe(0)
    },
  )

  check("[V-19] the title is changed where it stands, for the agent too; Escape lets it be", async () => {
    const id = await worked("Old name")
    const page = await openSession(cockpit, id)
    const heading = page.getByRole("heading", { level: 1 })
    await headerOf(page).getByRole("button", { name: "Rename session" }).click()
    await page.getByRole("textbox", { name: "Title" }).fill("Never")
    await page.keyboard.press("Escape")
    await heading.getByText("Old name").waitFor()
    await headerOf(page).getByRole("button", { name: "Rename session" }).press("Enter")
    await page.getByRole("textbox", { name: "Title" }).fill("New name")
    await page.keyboard.press("Enter")
    await heading.getByText("New name").waitFor()
    expect((await machine.session(id)).title).toBe("New name")
    await feedOf(page).getByText("Title: New name").waitFor()
  })

  check("[V-20] the header tells how full the context is, to a viewer too", async () => {
    const id = await worked("Context")
    const page = await openSession(cockpit, id, { role: "viewer" })
    const meter = headerOf(page).getByRole("meter", { name: "Context" })
    await meter.waitFor()
    expect(await meter.getAttribute("aria-valuetext")).toMatch(/^\d+ %, \S+ of (200k|1\.0M) tokens$/)
  })

  check("[V-14] … and that it is done, unless it was interrupted", async () => {
    const id = await worked("Done")
    const page = await openSession(cockpit, id)
    await messageOf(page).fill("And more notes")
    await messageOf(page).press("Enter")
    const row = feedOf(page).getByRole("article").filter({ hasText: "And more notes" })
    await row.getByText("Done", { exact: true }).waitFor()
  })

  check("[V-34] the header tells how much of a limit is used, as of when, until its window is over", async () => {
    await isReady()
    const told = (utilization: number, resetsAt: number) => ({
      steps: [{ rateLimit: "allowed_warning" as const, utilization, resetsAt }, { say: "Told." }],
    })
    const now = Math.floor(Date.now() / 1000)
    const turns = [told(0.82, now + 3600), told(0.97, now - 60)]
    const { id } = await cockpit.agent({ title: "Limits", scenario: { turns } })
    await turnsAre(cockpit.hub, id, 1)
    const page = await openSession(cockpit, id, { role: "viewer" })
    const meter = page.getByRole("meter", { name: "5-hour limit" })
    await headerOf(page).getByText("5 h 82 %").waitFor()
    expect(await meter.getAttribute("aria-valuetext")).toMatch(
      // Near midnight with the day.
      /^82 %, as of (?:\w+ \d+, )?\d\d:\d\d, resets at (?:\w+ \d+, )?\d\d:\d\d$/,
    )
    await menu(page, "Limits", "About this session…")
    await expect.poll(() => meter.count()).toBe(2)
    await page.keyboard.press("Escape")
    await cockpit.hub.post(`/api/sessions/${id}/messages`, { content: "Once more" })
    await turnsAre(cockpit.hub, id, 2)
    await meter.waitFor({ state: "detached" })
  })

  check("[V-28] on a phone all of it is in view or one touch away, and model and mode are chosen there", async () => {
    const id = await worked("A title that is far too long for the head of a phone")
    for (const width of [320, 390]) {
      const page = await openSession(cockpit, id, { size: { width, height: 700 } })
      const header = headerOf(page)
      await header.getByRole("meter", { name: "Context" }).waitFor()
      for (const seen of [header.getByRole("heading", { level: 1 }), header.getByText(/Finished|Idle/).last()])
        expect(await isInside(seen, width)).toBe(true)
      const buttons = await header.getByRole("button").all()
      for (const button of [...buttons, header.getByRole("link", { name: "Back to sessions" })]) {
        expect(await isInside(button, width)).toBe(true)
        const box = await button.boundingBox()
        expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThanOrEqual(44)
      }
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width)
      await header.getByRole("button", { name: /^Accept edits: mode, model and more/ }).click()
      const about = page.getByRole("dialog", { name: "About this session" })
      await about.getByText(machine.cwd).waitFor()
      expect(await axe(page)).toEqual([])
      const mode = about.getByRole("combobox", { name: "Mode", exact: true })
      const confirm = page.getByRole("alertdialog")
      await mode.selectOption("bypassPermissions")
      await confirm.waitFor()
      await page.keyboard.press("Escape")
      await confirm.waitFor({ state: "hidden" })
      await mode.selectOption("bypassPermissions")
      await confirm.getByRole("button", { name: "Bypass permissions" }).click()
      await about
        .getByRole("alert")
        .getByText(/bypass_not_launched/)
        .waitFor()
      expect(await mode.inputValue()).toBe("acceptEdits")
      const model = about.getByRole("combobox", { name: "Model", exact: true })
      expect(await isInside(model, width)).toBe(true)
      await about.getByRole("button", { name: "Close" }).click()
      await page.context().close()
    }
  })

  check("[V-21] files are rewound only after what would change is listed", async () => {
    await isReady()
    const file = join(machine.cwd, "notes.md")
    // Others have written it too: before this session it is not there.
    rmSync(file, { force: true })
    const id = await worked("Rewind")
    expect(readFileSync(file, "utf8")).toBe("one\ntwo\n")
    const page = await openSession(cockpit, id)
    // The dry run hangs until it is let go: meanwhile nothing can be confirmed.
    let listed = () => undefined as void
    const isLetGo = new Promise<void>((resolve) => {
      listed = resolve
    })
    await page.route("**/control", async (route) => {
      if (route.request().postDataJSON().request.dry_run === true) await isLetGo
      await route.continue()
    })
    await menu(page, "Rewind", "Rewind files…")
    const dialog = page.getByRole("dialog", { name: "Rewind files" })
    const rewind = dialog.getByRole("button", { name: /^Rewind/ })
    expect(await rewind.getAttribute("aria-disabled")).toBe("true")
    await rewind.press("Enter")
    listed()
    await dialog.getByText("1 file would change").waitFor()
    await dialog.getByRole("list", { name: "Files to rewind" }).getByText(file).waitFor()
    expect(existsSync(file)).toBe(true)
    await dialog.getByRole("button", { name: "Rewind 1 file" }).click()
    await dialog.waitFor({ state: "hidden" })
    await expect.poll(() => existsSync(file), WAIT).toBe(false)
  })

  check("[V-22] the events of a session are downloaded as they are, one on each line", async () => {
    const id = await worked("Export")
    const page = await openSession(cockpit, id, { role: "viewer" })
    await menu(page, "Export", "Export…")
    const dialog = page.getByRole("dialog", { name: "Export" })
    await dialog.getByText(`signalbox export ${id} --html session.html`).waitFor()
    const downloading = page.waitForEvent("download")
    await dialog.getByRole("button", { name: "Download events" }).click()
    const download = await downloading
    expect(download.suggestedFilename()).toBe(`session-${id.slice(0, 8)}.ndjson`)
    const lines = readFileSync(await download.path(), "utf8")
      .trimEnd()
      .split("\n")
    expect(lines.map((line) => JSON.parse(line))).toEqual(await machine.events(id))
  })

  check("[V-29] a session is downloaded as the page that the command makes, to be read without a hub", async () => {
    const words = "<img src=x onerror=alert(1)> <b>bold</b>"
    await isReady()
    const { id } = await cockpit.agent({ title: "Page & all", scenario: says(`It says ${words}.`), prompt: words })
    await turnsAre(machine.hub, id, 1)
    const page = await openSession(cockpit, id, { role: "viewer" })
    await menu(page, "Page & all", "Export…")
    const downloading = page.waitForEvent("download")
    await page.getByRole("dialog", { name: "Export" }).getByRole("button", { name: "Download page" }).click()
    const download = await downloading
    expect(download.suggestedFilename()).toBe(`session-${id.slice(0, 8)}.html`)
    const file = readFileSync(await download.path(), "utf8")
    const { url, token } = machine.hub.ready
    const command = await promisify(execFile)(process.execPath, [SIGNALBOX, "export", id, "--html", "-"], {
      env: { ...process.env, SIGNALBOX_URL: url, SIGNALBOX_TOKEN: token },
    })
    // Only when it was written is another one.
    const untimed = (text: string) => text.replace(/<footer>[^]*<\/footer>/, "")
    expect(untimed(file)).toBe(untimed(command.stdout))

    const reader = await cockpit.page({ signedIn: false })
    await reader.context().setOffline(true)
    await reader.setContent(file)
    await reader.getByRole("heading", { level: 1, name: "Page & all" }).waitFor()
    await reader.getByText(`It says ${words}.`).waitFor()
    expect(await reader.locator("img, b, script").count()).toBe(0)
  })

  check("[V-23] [V-121] stopping names what it comes to, and a new message brings it back", async () => {
    const id = await worked("Stop")
    const page = await openSession(cockpit, id)
    await menu(page, "Stop", "Stop session…")
    const dialog = page.getByRole("alertdialog", { name: "Stop “Stop”?" })
    await dialog.getByText("History is kept; send a message to resume.").waitFor()
    await dialog.getByRole("button", { name: "Stop session" }).click()
    await headerOf(page).getByText("Ended").first().waitFor()
    await page.getByText(/^Send a message to resume on .+\.$/).waitFor(WAIT)
    await messageOf(page).fill("once more")
    await messageOf(page).press("Enter")
    await turnsAre(machine.hub, id, 2)
    const asking = await cockpit.agent({ title: "Asking", scenario: asksFor("npm test") })
    const other = await openSession(cockpit, asking.id)
    await headerOf(other).getByText("Needs you").first().waitFor()
    await menu(other, "Asking", "Stop session…")
    await other.getByText("1 open request will stay unanswered.").waitFor()
  })

  check(
    "[V-24] [X-122] a session goes on in another one from its menu, in the same folder, and that one names it",
    async () => {
      const id = await worked("Fork")
      const page = await openSession(cockpit, id)
      await menu(page, "Fork", "Fork…")
      expect(await page.getByRole("combobox", { name: "Folder" }).inputValue()).toBe(machine.cwd)
      expect(await page.getByRole("checkbox", { name: /fork/i }).isChecked()).toBe(true)
      await page.getByRole("textbox", { name: "First message" }).fill("Another way")
      await page.getByRole("textbox", { name: "First message" }).press("Control+Enter")
      await page.waitForURL((url) => url.pathname.startsWith("/s/") && !url.pathname.includes(id))
      const forked = new URL(page.url()).pathname.slice(3)
      expect(await machine.session(forked)).toMatchObject({ parent: id, cwd: machine.cwd })
      await turnsAre(machine.hub, forked, 1)
      // The history that it began with is there, before what is its own.
      await feedOf(page)
        .getByText(/^Forked here/)
        .waitFor(WAIT)
      const history = feedOf(page).locator("[data-history]")
      await history.filter({ hasText: "Take notes" }).waitFor(WAIT)
      await history.filter({ hasText: "Written." }).first().waitFor()
      await headerOf(page).getByText("Fork of").waitFor()
      await headerOf(page).getByRole("link", { name: "Fork", exact: true }).click()
      await page.waitForURL(`**/s/${id}`)
    },
  )

  check("[T-5] an admin lets operators use auto mode; only then are they offered it", async () => {
    const id = await worked("Auto")
    const admin = await cockpit.page()
    await admin.goto("/settings/permissions")
    const allowed = admin.getByRole("switch", { name: "Operators may use auto mode" })
    await allowed.waitFor()
    // Another admin changes another setting meanwhile.
    const retention = { olderThan: "900d" }
    expect((await machine.hub.call("PUT", "/api/settings", { retention })).status).toBe(200)
    /** The operator's select, once the page knows the setting. */
    const modeAt = async (path: string) => {
      const page = await cockpit.page({ role: "operator" })
      const known = page.waitForResponse("**/api/settings")
      await page.goto(path)
      await known
      const mode = page.getByRole("combobox", { name: "Mode", exact: true })
      await mode.waitFor()
      return mode
    }
    const paths = [`/s/${id}`, "/new"]
    const offered = (mode: Locator) => mode.locator("option").allTextContents()
    for (const path of paths) expect(await offered(await modeAt(path))).not.toContain("Auto")
    await allowed.click()
    await expect.poll(() => allowed.isChecked(), WAIT).toBe(true)
    expect(await machine.hub.get("/api/settings")).toMatchObject({ operatorsMayUseAuto: true, retention })
    for (const path of paths) {
      const mode = await modeAt(path)
      await expect.poll(() => offered(mode), WAIT).toContain("Auto")
      expect(await offered(mode)).not.toContain("Bypass permissions")
      await mode.selectOption("auto")
      await expect.poll(() => mode.inputValue(), WAIT).toBe("auto")
    }
    const operator = await cockpit.page({ role: "operator" })
    await operator.goto("/settings/permissions")
    await operator.getByRole("radio", { name: "Dark" }).waitFor()
    expect(await operator.getByRole("link", { name: "Permissions" }).count()).toBe(0)
  })
})

/** In the page: what red is there. */
function dangerColour(): string {
  const probe = document.createElement("i")
  probe.className = "text-danger"
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
