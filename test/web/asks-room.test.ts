import { afterAll, beforeAll, describe, expect } from "vitest"
import { AskingCockpit, armed, dock, PATIENCE } from "./asks-page.ts"
import { check, journey } from "./check.ts"
import { hasBrowser } from "./cockpit.ts"
import { asksFor } from "./scenarios.ts"

const long = Array.from({ length: 200 }, (_, index) => `npm run step-${index}`).join("\n")

describe.runIf(hasBrowser)("room to decide", () => {
  let stage: AskingCockpit
  beforeAll(async () => {
    stage = await AskingCockpit.open()
  })
  afterAll(async () => {
    await stage?.dispose()
  })

  check("[K-11] on a phone both answers are large, apart and in view, however long the request", async () => {
    const id = await stage.asked(asksFor(long))
    const page = await stage.session(id, { size: "phone" })
    await dock(page).getByRole("button", { name: "Review" }).click()
    const sheet = page.getByRole("dialog", { name: "Request" })
    const primary = await sheet.getByRole("button", { name: /Read to the end to allow/ }).boundingBox()
    const deny = await sheet.getByRole("button", { name: /Deny/ }).boundingBox()
    if (primary === null || deny === null) throw new Error("a button is not there")
    expect(Math.min(primary.height, deny.height)).toBeGreaterThanOrEqual(44)
    for (const box of [primary, deny]) expect(box.y + box.height).toBeLessThanOrEqual(844)
    // No on the left, yes on the right.
    expect(primary.x - deny.x - deny.width).toBeGreaterThanOrEqual(12)

    await sheet.getByRole("group", { name: "Request" }).focus()
    await page.keyboard.press("End")
    const allow = sheet.getByRole("button", { name: /^Allow once/ })
    await allow.waitFor()
    await sheet.locator("[data-ask][data-armed='true']").waitFor()
    await allow.tap()
    await expect.poll(() => stage.states(id), PATIENCE).toEqual(["allowed"])
    await sheet.getByText(/^You allowed this/).waitFor()
    // Nothing else waits: it goes by itself.
    await sheet.waitFor({ state: "hidden" })
  })

  journey(
    "on a small phone a short command is all in view with its copy button, and can be allowed at once",
    async () => {
      const id = await stage.asked(asksFor("npm run short"))
      const page = await stage.session(id, { size: "phone" })
      await page.setViewportSize({ width: 320, height: 568 })
      await dock(page).getByRole("button", { name: "Details" }).click()
      const sheet = page.getByRole("dialog", { name: "Request" })
      await sheet.getByRole("button", { name: /^Allow once/ }).waitFor()
      const request = sheet.getByRole("group", { name: "Request" })
      const [copy, box] = [
        await request.getByRole("button", { name: "Copy" }).boundingBox(),
        await request.boundingBox(),
      ]
      if (copy === null || box === null) throw new Error("it is not there")
      expect(copy.y + copy.height).toBeLessThanOrEqual(box.y + box.height)
      expect(await request.evaluate((element) => element.scrollHeight - element.clientHeight)).toBe(0)
    },
  )

  check(
    "[K-3] on a small phone the command is above its buttons, and what they lie over is not taken for seen",
    async () => {
      const agent = await stage.agent({ title: "Covered" })
      const rule = (ruleContent: string) => ({
        type: "addRules",
        rules: [{ toolName: "Bash", ruleContent }],
        behavior: "allow",
        destination: "localSettings",
      })
      const permission_suggestions = ["rm:*", "ls:*", "cat:*"].map(rule)
      agent.ask({ command: "rm -rf build", description: "Away with it" }, { permission_suggestions })
      await stage.waitFor(agent.id, 1)
      const page = await stage.session(agent.id, { size: "phone" })
      await page.setViewportSize({ width: 320, height: 568 })
      await dock(page).getByRole("button", { name: "Details" }).click()
      const sheet = page.getByRole("dialog", { name: "Request" })
      await sheet.getByRole("button", { name: /^Allow once/ }).waitFor()
      const command = await sheet
        .getByRole("group", { name: "Request" })
        .getByText("rm -rf build", { exact: true })
        .boundingBox()
      const bar = await sheet.locator("[data-actions]").boundingBox()
      if (command === null || bar === null) throw new Error("it is not there")
      expect(command.y + command.height).toBeLessThanOrEqual(bar.y)
      // Where there is no room for it, it is not taken for seen.
      await sheet.getByRole("button", { name: "Close" }).click()
      await page.setViewportSize({ width: 320, height: 300 })
      await page.reload()
      await dock(page).getByRole("button", { name: "Review" }).click()
      await sheet.getByRole("button", { name: "Read to the end to allow" }).waitFor()
      // To show all of it is not to see its end.
      await sheet.getByRole("button", { name: "Show all" }).click()
      await sheet.getByRole("button", { name: "Read to the end to allow" }).waitFor()
      await page.keyboard.press("End")
      await sheet.getByRole("button", { name: /^Allow once/ }).waitFor()
    },
  )

  check(
    "[K-113] on a phone a short request is shown with its answers right there, a long one behind Review",
    async () => {
      const id = await stage.asked(asksFor("npm run a-command-of-36-characters-here"))
      const page = await stage.session(id, { size: "phone" })
      const allow = dock(page).getByRole("button", { name: /^Allow once/ })
      const deny = dock(page).getByRole("button", { name: /^Deny/ })
      await allow.waitFor()
      expect(await dock(page).getByRole("button", { name: "Review" }).count()).toBe(0)
      const [yes, no] = [await allow.boundingBox(), await deny.boundingBox()]
      const command = await dock(page).getByRole("group", { name: "Request" }).boundingBox()
      if (yes === null || no === null || command === null) throw new Error("it is not there")
      expect(Math.min(yes.height, no.height)).toBeGreaterThanOrEqual(44)
      expect(yes.x).toBeGreaterThan(no.x)
      expect(command.y + command.height).toBeLessThanOrEqual(Math.min(yes.y, no.y))
      await dock(page).locator("[data-ask][data-armed='true']").waitFor()
      await allow.tap()
      await expect.poll(() => stage.states(id), PATIENCE).toEqual(["allowed"])
      const other = await stage.session(await stage.asked(asksFor(long)), { size: "phone" })
      await dock(other).getByRole("button", { name: "Review" }).waitFor()
      expect(
        await dock(other)
          .getByRole("button", { name: /Allow|Read to the end/ })
          .count(),
      ).toBe(0)
    },
  )

  journey("on a phone the sheet is put away by Back and by a pull, and neither answers", async () => {
    const id = await stage.asked(asksFor("npm run sheet"))
    const page = await stage.session(id, { size: "phone" })
    const sheet = page.getByRole("dialog", { name: "Request" })
    await dock(page).getByRole("button", { name: "Details" }).click()
    await sheet.waitFor()
    await page.goBack()
    await expect.poll(() => sheet.isVisible()).toBe(false)
    await dock(page).getByRole("button", { name: "Details" }).click()
    const head = await sheet.getByRole("heading", { name: "Request", exact: true }).boundingBox()
    if (head === null) throw new Error("the sheet has no head")
    const touch = await page.context().newCDPSession(page)
    const at = (y: number) => ({ touchPoints: [{ x: head.x + 40, y }] })
    await touch.send("Input.dispatchTouchEvent", { type: "touchStart", ...at(head.y + 5) })
    await touch.send("Input.dispatchTouchEvent", { type: "touchMove", ...at(head.y + 60) })
    await touch.send("Input.dispatchTouchEvent", { type: "touchMove", ...at(head.y + 160) })
    await touch.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] })
    await expect.poll(() => sheet.isVisible()).toBe(false)
    expect(await stage.states(id)).toEqual(["pending"])
  })

  check("[X-125] [K-125] a file that its agent does not show is no failed request in the console", async () => {
    const write = { tool: "Write", input: { file_path: "notes.md", content: "one\n" }, result: "ok" }
    const id = await stage.asked({ turns: [{ repeat: true, steps: [write] }] }, "Writes")
    const complaints = stage.cockpit.complaints.length
    const page = await stage.cockpit.page()
    const refused: string[] = []
    page.on("response", (reply) => {
      if (reply.status() >= 400) refused.push(`${reply.status()} ${reply.url()}`)
    })
    const asked = page.waitForRequest(
      (request) => request.url().endsWith("/control") && request.postDataJSON().request.subtype === "read_file",
    )
    await page.goto(`/s/${id}`)
    await asked
    await dock(page)
      .getByText(/^A new file, or one that couldn't be read\./)
      .waitFor()
    expect([...refused, ...stage.cockpit.complaints.slice(complaints)]).toEqual([])
  })

  journey("d gives a request the whole screen, with a diff's two sides against the file as it is", async () => {
    const agent = await stage.agent({
      title: "Edits",
      replies: { read_file: { contents: "one\nsleep(50)\nthree\n", absPath: "/srv/api/a.ts" } },
    })
    const input = { file_path: "/srv/api/a.ts", old_string: "sleep(50)", new_string: "tick(50)" }
    agent.ask(input, { tool_name: "Edit" })
    await stage.waitFor(agent.id, 1)
    const page = await stage.session(agent.id)
    await dock(page).getByText("three").waitFor()
    expect(
      await dock(page)
        .getByText(/Couldn't read the current file/)
        .count(),
    ).toBe(0)
    await armed(page)
    await page.keyboard.press("d")
    const sheet = page.getByRole("dialog", { name: "Request" })
    await sheet.locator("[data-split]").waitFor()
    expect(new URL(page.url()).searchParams.get("ask")).toMatch(/^ask_/)
    await page.keyboard.press("Escape")
    await expect.poll(() => sheet.isVisible()).toBe(false)
    expect(await stage.states(agent.id)).toEqual(["pending"])

    await page.keyboard.press("d")
    await sheet.locator("[data-ask][data-armed='true']").waitFor()
    await sheet.getByRole("button", { name: /^Allow once/ }).click()
    await expect.poll(() => stage.states(agent.id), PATIENCE).toEqual(["allowed"])
  })

  journey("the buttons stay in view below a request that is shown in full", async () => {
    const page = await stage.session(await stage.asked(asksFor(long)))
    await dock(page).getByRole("button", { name: "Show all" }).click()
    const box = await dock(page).locator("[data-act=primary]").boundingBox()
    const region = await dock(page).boundingBox()
    if (box === null || region === null) throw new Error("it is not there")
    expect(box.y + box.height).toBeLessThanOrEqual(region.y + region.height)
    expect(region.height).toBeLessThanOrEqual(0.55 * 900 + 1)
  })
})
