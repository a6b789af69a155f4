import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { AskingCockpit, allows, armed, dock, PATIENCE, READY } from "./asks-page.ts"
import { check, journey } from "./check.ts"
import { hasBrowser } from "./cockpit.ts"
import { asksFor } from "./scenarios.ts"

const long = Array.from({ length: 200 }, (_, index) => `npm run step-${index}`).join("\n")

async function chooseRules(page: Page): Promise<void> {
  await dock(page).getByRole("button", { name: "Allow and remember" }).click()
  await page.getByRole("menuitem", { name: "Choose rules…" }).click()
}

describe.runIf(hasBrowser)("requests", () => {
  let stage: AskingCockpit
  beforeAll(async () => {
    stage = await AskingCockpit.open()
  })
  afterAll(async () => {
    await stage?.dispose()
  })

  check("[K-1] what is typed while an ask arrives stays typed, and the focus stays where it is", async () => {
    const { id } = await stage.cockpit.agent({
      title: "Late",
      scenario: {
        turns: [
          { steps: [{ say: "First." }] },
          { steps: [{ tool: "Bash", input: { command: "npm test" }, result: "ok" }] },
        ],
      },
    })
    const page = await stage.session(id)
    const message = page.getByRole("textbox", { name: "Message" })
    await page.getByText("First.").first().waitFor()
    await message.click()
    await page.keyboard.type("yy")
    await stage.hub.post(`/api/sessions/${id}/messages`, { content: "go" })
    await dock(page)
      .getByRole("button", { name: /^Allow once/ })
      .waitFor()
    await page.keyboard.type("yy")
    expect(await message.inputValue()).toBe("yyyy")
    expect(await message.evaluate((field) => field.ownerDocument.activeElement === field)).toBe(true)
    expect(await stage.openAsks(id)).toHaveLength(1)
  })

  check("[K-2] F6 and y allow it, once, and a key that is held down allows nothing more", async () => {
    const id = await stage.asked({
      turns: [
        {
          steps: [
            { tool: "Bash", input: { command: "npm run one" }, result: "1" },
            { tool: "Bash", input: { command: "npm run two" }, result: "2" },
          ],
        },
      ],
    })
    const page = await stage.session(id)
    await armed(page)
    await page.keyboard.down("y")
    for (let n = 0; n < 20; n++) await page.keyboard.down("y")
    await expect
      .poll(async () => (await stage.asks(id)).map(({ state }: { state: string }) => state).toSorted())
      .toEqual(["allowed", "pending"])
    for (let n = 0; n < 20; n++) await page.keyboard.down("y")
    await page.keyboard.up("y")
    expect(await stage.openAsks(id)).toHaveLength(1)
  })

  check("[K-3] a long command must be seen to its end before it can be allowed", async () => {
    const page = await stage.session(await stage.asked(asksFor(long)))
    const gate = dock(page).getByRole("button", { name: /Read to the end to allow/ })
    await gate.waitFor()
    expect(await gate.getAttribute("data-unread")).toBe("true")
    await dock(page).getByRole("group", { name: "Request" }).focus()
    await page.keyboard.press("End")
    await allows(page).waitFor()
  })

  check("[K-3] nor does editing it go around that", async () => {
    const page = await stage.session(await stage.asked(asksFor(long)))
    await dock(page)
      .getByRole("button", { name: /Read to the end to allow/ })
      .waitFor()
    await dock(page).getByRole("button", { name: /^Edit/ }).click()
    await dock(page).getByRole("textbox", { name: "Edit command" }).press("Control+End")
    await page.keyboard.type(" # and more")
    const allow = dock(page).locator("[data-act=primary]")
    await expect
      .poll(async () => [await allow.textContent(), await allow.getAttribute("data-unread")])
      .toEqual(["Read to the end to allow", "true"])
  })

  check("[K-3] nor is a long file allowed before its end was seen", async () => {
    const content = Array.from({ length: 300 }, (_, index) => `line ${index + 1}`).join("\n")
    const scenario = { turns: [{ steps: [{ tool: "Write", input: { file_path: "/srv/api/long.txt", content } }] }] }
    const page = await stage.session(await stage.asked(scenario))
    const allow = dock(page).locator("[data-act=primary]")
    await dock(page)
      .getByRole("button", { name: /Read to the end to allow/ })
      .waitFor()
    await page.keyboard.press("F6")
    await page.keyboard.press("y")
    expect(await allow.getAttribute("data-unread")).toBe("true")
    // What is in it can be reached, and pushes nothing else out of the window.
    await dock(page).getByRole("group", { name: "Request" }).focus()
    await page.keyboard.press("End")
    await allows(page).waitFor()
    const last = dock(page).getByText("line 300", { exact: true })
    expect(await last.evaluate((element) => element.getBoundingClientRect().bottom <= innerHeight)).toBe(true)
    expect(await page.evaluate(() => document.documentElement.scrollHeight <= innerHeight)).toBe(true)
  })

  check("[K-4] a character that turns the text around is shown by its name", async () => {
    const page = await stage.session(await stage.asked(asksFor("npm run \u202Egnp.exe")))
    await dock(page).getByText("U+202E RLO").waitFor()
    const other = await stage.session(await stage.asked(asksFor("curl https://p\u0430ypal.example.org")))
    await dock(other).getByRole("group", { name: "Request" }).getByText("U+0430 Cyrillic").waitFor()
  })

  check("[K-5] an edited input goes out whole, and the log says who changed it", async () => {
    const id = await stage.asked(asksFor("npm run deploy"))
    const page = await stage.session(id)
    await armed(page)
    await page.keyboard.press("e")
    const field = dock(page).getByRole("textbox", { name: "Edit command" })
    await field.fill("npm run deploy -- --dry-run")
    await dock(page).getByRole("button", { name: "Allow edited" }).click()
    await expect.poll(async () => (await stage.asks(id))[0].state).toBe("allowed")
    expect((await stage.asks(id))[0].answer.updatedInput).toEqual({
      command: "npm run deploy -- --dry-run",
      description: "As you asked",
    })
    await page.getByText("edited by you").waitFor()
  })

  check("[K-23] an input that nobody edited is not sent back", async () => {
    const id = await stage.asked(asksFor("npm run deploy"))
    const page = await stage.session(id)
    const sent = page.waitForRequest(/\/api\/asks\/[^/]+\/answer$/)
    await armed(page)
    await page.keyboard.press("y")
    const body: unknown = (await sent).postDataJSON()
    expect(body).toMatchObject({ behavior: "allow" })
    expect(body).not.toHaveProperty("updatedInput")
    await expect.poll(async () => (await stage.asks(id))[0].state).toBe("allowed")
  })

  check("[K-6] a rule that was ticked is sent with the place it was given, and nothing else", async () => {
    const id = await stage.asked(asksFor("npm ci"))
    const page = await stage.session(id)
    await chooseRules(page)
    const rule = dock(page).getByRole("checkbox").first()
    await rule.check()
    await dock(page).getByRole("combobox").first().selectOption("projectSettings")
    await armed(page)
    await dock(page)
      .getByRole("button", { name: /Allow \+ 1 rule/ })
      .click()
    await expect.poll(async () => (await stage.asks(id))[0].state).toBe("allowed")
    const [ask] = await stage.asks(id)
    expect(ask.answer.updatedPermissions).toEqual([{ ...ask.suggestions[0], destination: "projectSettings" }])
  })

  check("[K-117] the button beside Allow once remembers it for a scope, and shows what would be stored", async () => {
    const id = await stage.asked(asksFor("npm ci"))
    const page = await stage.session(id)
    await armed(page)
    await page.keyboard.press("a")
    const menu = page.getByRole("menu", { name: "Allow and remember" })
    const project = menu.getByRole("menuitem", { name: /^Allow in this project/ })
    for (const scope of [/^Allow in this session/, /^Allow in all projects on this machine/])
      await menu.getByRole("menuitem", { name: scope }).waitFor()
    await project.getByText("Always allow Bash(npm ci *)").waitFor()
    await project.getByText(".claude/settings.local.json").waitFor()
    // Letters are the menu's here: nothing is allowed by them.
    await page.keyboard.press("y")
    expect(await stage.states(id)).toEqual(["pending"])
    await project.click()
    await expect.poll(async () => (await stage.asks(id))[0].state).toBe("allowed")
    const [ask] = await stage.asks(id)
    expect(ask.answer.updatedPermissions).toEqual([{ ...ask.suggestions[0], destination: "localSettings" }])
  })

  check("[K-117] the menu stays open when the file's content takes the place of the request's", async () => {
    let arrive: (reply: object) => void = () => {}
    const read = new Promise<object>((resolve) => {
      arrive = resolve
    })
    const agent = await stage.agent({ title: "Edits", replies: { read_file: read } })
    const permission_suggestions = [
      { type: "addRules", rules: [{ toolName: "Edit" }], behavior: "allow", destination: "session" },
    ]
    const input = { file_path: "/srv/api/a.ts", old_string: "sleep(50)", new_string: "clock.tick(50)" }
    agent.ask(input, { tool_name: "Edit", permission_suggestions })
    await stage.waitFor(agent.id, 1)
    const page = await stage.session(agent.id)
    await armed(page)
    await page.keyboard.press("a")
    const menu = page.getByRole("menu", { name: "Allow and remember" })
    await menu.waitFor()
    arrive({ contents: "first line of the file\nsleep(50)\n", absPath: "/srv/api/a.ts" })
    await dock(page).getByText("first line of the file").waitFor()
    await dock(page).locator(READY).waitFor()
    expect(await menu.evaluate((popup) => popup.contains(document.activeElement))).toBe(true)
    await menu.getByRole("menuitem", { name: /^Allow in this project/ }).click()
    await expect.poll(() => stage.states(agent.id), PATIENCE).toEqual(["allowed"])
    const [ask] = await stage.asks(agent.id)
    expect(ask.answer.updatedPermissions).toEqual([{ ...ask.suggestions[0], destination: "localSettings" }])
  })

  check("[K-6] a ticks the first rule, and never a change of mode", async () => {
    const id = await stage.asked({
      turns: [{ steps: [{ tool: "Write", input: { file_path: "a.txt", content: "a" }, result: "ok" }] }],
    })
    const page = await stage.session(id)
    await armed(page)
    await chooseRules(page)
    const mode = dock(page).getByRole("checkbox")
    await mode.waitFor()
    await dock(page).getByRole("group", { name: "Request" }).focus()
    await page.keyboard.press("a")
    expect(await mode.isChecked()).toBe(false)
    await page.keyboard.press("y")
    await expect.poll(async () => (await stage.asks(id))[0].state).toBe("allowed")
    expect((await stage.asks(id))[0].answer.updatedPermissions).toBeUndefined()
  })

  check("[K-6] many rules at once leave the request and the buttons in view, and are shown when ticked", async () => {
    const command = Array.from({ length: 40 }, (_, index) => `make service-${index}`).join(" && ")
    const page = await stage.session(await stage.asked(asksFor(command)))
    const [request, allow] = [
      dock(page).getByRole("group", { name: "Request" }),
      dock(page).locator("[data-act=primary]"),
    ]
    await allow.waitFor()
    const isSeen = (box: typeof allow) =>
      box.evaluate((element) => {
        const { left, top, width, height } = element.getBoundingClientRect()
        const middle = document.elementFromPoint(left + width / 2, top + Math.min(height, 40) / 2)
        return middle !== null && (element === middle || element.contains(middle))
      })
    expect([await isSeen(request), await isSeen(allow)]).toEqual([true, true])
    await page.keyboard.press("F6")
    await page.keyboard.press("End")
    await chooseRules(page)
    expect([await isSeen(request), await isSeen(allow)]).toEqual([true, true])
    const rules = dock(page).getByRole("list", { name: "Rules" })
    expect(await rules.isVisible()).toBe(false)
    await dock(page)
      .getByRole("checkbox", { name: /^Always allow \d+ rules$/ })
      .check()
    expect(await rules.getByRole("listitem").count()).toBeGreaterThan(3)
    expect([await rules.isVisible(), await isSeen(allow)]).toEqual([true, true])
  })

  check("[K-14] a viewer sees what is asked and nothing to answer it with", async () => {
    const page = await stage.session(await stage.asked(asksFor("npm run secret")), { role: "viewer" })
    await dock(page).getByText("npm run secret").first().waitFor()
    await dock(page).getByText("View only").waitFor()
    expect(
      await dock(page)
        .getByRole("button", { name: /Allow|Deny|Edit/ })
        .count(),
    ).toBe(0)
  })

  journey(
    "Shift+Tab from the message reaches what waits, Escape goes back, and F6 starts with it from anywhere",
    async () => {
      const page = await stage.session(await stage.asked(asksFor("npm run focus")))
      const message = page.getByRole("textbox", { name: "Message" })
      const isIn = (selector: string) =>
        page.evaluate((where) => document.activeElement?.closest(where) !== null, selector)
      await dock(page).waitFor()
      await message.click()
      await page.keyboard.press("Shift+Tab")
      expect(await isIn("[data-ask]")).toBe(true)
      await page.keyboard.press("Escape")
      expect(await message.evaluate((field) => field === document.activeElement)).toBe(true)
      await page.keyboard.press("F6")
      expect(await isIn("[data-ask]")).toBe(true)
      await page.keyboard.press("F6")
      expect(await isIn('[data-region="composer"]')).toBe(true)
      await page.keyboard.press("F6")
      expect(await isIn('[data-region="waiting"],[data-region="composer"]')).toBe(false)
      await message.focus()
      await page.keyboard.press("F6")
      expect(await isIn("[data-ask]")).toBe(true)
      await page.keyboard.press("Escape")
      expect(await message.evaluate((field) => field === document.activeElement)).toBe(true)
    },
  )

  journey("a click counts at once where the pointer had the time to aim, and answers move on to the next", async () => {
    const agent = await stage.agent({ title: "Clicks" })
    agent.ask({ command: "npm run first" })
    agent.ask({ command: "npm run second" })
    await stage.waitFor(agent.id, 2)
    const page = await stage.session(agent.id)
    await dock(page).getByText("npm run first").waitFor()
    await dock(page).locator("[data-ask][data-armed='true']").waitFor()
    await dock(page)
      .getByRole("button", { name: /^Allow once/ })
      .click()
    await expect.poll(() => stage.states(agent.id), PATIENCE).toEqual(["allowed", "pending"])
    await dock(page)
      .getByText(/^You allowed this after \d+ s\./)
      .waitFor()
    await dock(page).getByRole("group", { name: "Request" }).getByText("npm run second").waitFor()
    // Whoever answered goes on with the next: the keys are there already.
    await dock(page).locator("[data-ask][data-armed='true']").waitFor()
    await page.keyboard.press("n")
    await page.keyboard.type("Not now")
    await page.keyboard.press("Enter")
    await expect.poll(() => stage.states(agent.id), PATIENCE).toEqual(["allowed", "denied"])
    await dock(page)
      .getByText(/^You denied this/)
      .waitFor()
    await dock(page).getByText("Not now").waitFor()
  })

  journey("where the agent says so, no comes first, and reasons given before are a click away", async () => {
    const agent = await stage.agent({ title: "No first" })
    agent.ask({ command: "rm -rf /" }, { default_to_no: true, matched_ask_rule: "Bash(rm:*)" })
    await stage.waitFor(agent.id, 1)
    const page = await stage.session(agent.id)
    await dock(page).getByText("Required by CLI rule Bash(rm:*).").waitFor()
    const names = await dock(page).locator("[data-actions] button").allTextContents()
    expect(names[0]).toMatch(/^Deny/)
    await armed(page)
    await page.keyboard.press("n")
    await page.keyboard.type("Never that")
    await page.keyboard.press("Control+Enter")
    await expect.poll(() => stage.states(agent.id), PATIENCE).toEqual(["denied"])
    expect((await stage.asks(agent.id))[0].answer).toMatchObject({ message: "Never that", interrupt: true })

    agent.ask({ command: "rm -rf /tmp/x" })
    await stage.waitFor(agent.id, 1)
    await armed(page)
    await page.keyboard.press("n")
    await dock(page).getByRole("group", { name: "Recent reasons" }).getByRole("button", { name: "Never that" }).click()
    expect(await dock(page).getByRole("textbox").inputValue()).toBe("Never that")
  })
})
