import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Locator } from "playwright-core"
import { afterAll, describe, expect } from "vitest"
import type { Json } from "../hub/hub-process.ts"
import { Machine } from "../runner/runner-process.ts"
import { check } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { says, talks } from "./scenarios.ts"
import { feedOf, messageOf, openSession, PIXEL, promptsOf, turnsAre, WAIT, waitingOf } from "./session-page.ts"

describe.runIf(hasBrowser)("the composer", () => {
  let machine: Machine
  let cockpit: CockpitHarness
  let opening: Promise<void> | undefined
  /** Waits for conditions, which only a test may. */
  const isReady = () => (opening ??= prepare())
  async function prepare(): Promise<void> {
    machine = await Machine.open({ scenario: talks(3000, 100), maxAgents: 6 })
    cockpit = await CockpitHarness.open(machine.hub)
  }
  afterAll(async () => {
    await machine?.endRunner("SIGTERM")
    await cockpit?.dispose()
    await machine?.dispose()
  })

  /** A session whose turn goes on for minutes, with the newest CLI. */
  async function working(title: string): Promise<string> {
    await isReady()
    const env = { SIGNALBOX_SIM_TOOLS: "real" }
    const { id } = await machine.launch({ title, prompt: "Write something long", env })
    await machine.isIn(id, "running")
    return id
  }

  check("[V-12] a slash offers the agent's commands; Enter takes one and sends nothing", async () => {
    await isReady()
    const { id } = await cockpit.agent({ title: "Slash", scenario: says("Hello.") })
    const page = await openSession(cockpit, id)
    await feedOf(page).getByText("Hello.").first().waitFor()
    const before = await promptsOf(cockpit.hub, id)
    const commands = page.getByRole("listbox", { name: "Commands" })
    await messageOf(page).pressSequentially("/com")
    await commands.getByRole("option", { name: /^\/compact/ }).waitFor()
    await messageOf(page).press("Enter")
    expect(await messageOf(page).inputValue()).toBe("/compact ")
    await commands.waitFor({ state: "detached" })
    await messageOf(page).fill("/c")
    await commands.waitFor()
    const chosen = () => commands.getByRole("option", { selected: true }).textContent()
    const first = await chosen()
    await messageOf(page).press("ArrowDown")
    await expect.poll(chosen).not.toBe(first)
    await messageOf(page).press("Escape")
    await commands.waitFor({ state: "detached" })
    expect(await messageOf(page).inputValue()).toBe("/c")
    expect(await promptsOf(cockpit.hub, id)).toEqual(before)
  })

  check("[V-30] in a field End goes to the end of what is written there, and nowhere else", async () => {
    await isReady()
    const { id } = await cockpit.agent({ title: "Typed", scenario: says("Hello.") })
    const page = await openSession(cockpit, id)
    await messageOf(page).fill("one line\nand another")
    await messageOf(page).press("Control+Home")
    await messageOf(page).press("End")
    await messageOf(page).pressSequentially("!")
    expect(await messageOf(page).inputValue()).toBe("one line!\nand another")
  })

  check("[V-25] what the agent suggests is taken into the field, and not sent", async () => {
    await isReady()
    const steps = [{ say: "Done." }, { emit: { type: "prompt_suggestion", suggestion: "Run the tests" } }]
    const { id } = await cockpit.agent({
      title: "Suggests",
      scenario: { turns: [{ steps }, { steps: [{ say: "Ran." }] }] },
    })
    const page = await openSession(cockpit, id)
    const suggestion = page.getByRole("button", { name: "Take the suggestion: Run the tests" })
    await suggestion.click()
    expect(await messageOf(page).inputValue()).toBe("Run the tests")
    expect(await promptsOf(cockpit.hub, id)).toHaveLength(1)
    await messageOf(page).press("Enter")
    await feedOf(page).getByText("Ran.").waitFor()
    expect(await suggestion.count()).toBe(0)
  })

  check("[V-13] an @ offers the agent's files, and says so where the CLI cannot", async () => {
    const id = await working("Files")
    for (const name of ["clock.ts", "clock.test.ts", "other.ts"]) writeFileSync(join(machine.cwd, name), "")
    const page = await openSession(cockpit, id)
    const files = page.getByRole("listbox", { name: "Files" })
    await messageOf(page).pressSequentially("see @clo")
    await files.getByRole("option", { name: "clock.ts", exact: true }).waitFor()
    expect(await files.getByRole("option", { name: "other.ts" }).count()).toBe(0)
    while ((await files.getByRole("option", { selected: true }).textContent()) !== "clock.ts")
      await messageOf(page).press("ArrowDown")
    await messageOf(page).press("Tab")
    expect(await messageOf(page).inputValue()).toBe("see @clock.ts ")
    await messageOf(page).pressSequentially("and say why")
    expect(await messageOf(page).inputValue()).toBe("see @clock.ts and say why")

    const old = await cockpit.agent({ title: "Old", scenario: says("Hello.") })
    await turnsAre(cockpit.hub, old.id, 1)
    const other = await openSession(cockpit, old.id)
    await messageOf(other).pressSequentially("see @clo")
    await other.getByText("Files: Not supported by CLI 2.1.120").waitFor()
    await messageOf(other).press("Escape")
    await other.getByText("Files: Not supported").waitFor({ state: "detached" })
    await messageOf(other).press("Enter")
    await feedOf(other).getByText("see @clo").waitFor()
  })

  check("[V-14] [X-120] a message waits while the agent works, and says what becomes of it", async () => {
    const id = await working("Queue")
    const page = await openSession(cockpit, id)
    const waiting = waitingOf(page).getByRole("listitem")
    const row = (text: string) => feedOf(page).getByRole("article").filter({ hasText: text })
    const queue = async (text: string) => {
      await messageOf(page).fill(text)
      await page.getByRole("button", { name: "Queue", exact: true }).click()
      await waiting.filter({ hasText: text }).getByText("Queued").waitFor()
    }
    await queue("not this one")
    await queue("then this one")
    // Until the agent takes it up it stands above the composer, and nowhere else.
    expect(await row("then this one").count()).toBe(0)
    await waiting.filter({ hasText: "not this one" }).getByRole("button", { name: "Cancel" }).click()
    await waiting.filter({ hasText: "not this one" }).waitFor({ state: "detached" })
    await row("not this one").getByText("Cancelled").waitFor()
    // Whoever comes in later has it from the log.
    const later = await openSession(cockpit, id)
    await feedOf(later).getByRole("article").filter({ hasText: "not this one" }).getByText("Cancelled").waitFor()
    await waitingOf(later).getByText("not this one").waitFor({ state: "detached" })
    await waitingOf(later).getByText("then this one").waitFor()
    expect(await feedOf(later).getByText("then this one").count()).toBe(0)
    await page.getByRole("button", { name: "Interrupt" }).click()
    await row("then this one").getByText("Started").waitFor()
    await waitingOf(page).waitFor({ state: "detached" })
    // It follows the turn that it waited for, once, after a reload and for a later viewer too.
    await later.reload()
    for (const reader of [page, later]) {
      await feedOf(reader).getByText("then this one").waitFor(WAIT)
      const kinds = await feedOf(reader)
        .getByRole("article")
        .evaluateAll((articles) =>
          articles.map(({ dataset, textContent }) =>
            textContent?.includes("then this one") ? "mine" : dataset["kind"],
          ),
        )
      expect(kinds.filter((kind) => kind === "mine" || kind === "result").slice(0, 2)).toEqual(["result", "mine"])
      expect(kinds.filter((kind) => kind === "mine")).toHaveLength(1)
    }
    // The turn under way is this one's: it is done when that is.
    await page.getByRole("button", { name: "Interrupt" }).click()
    await row("then this one").getByText("Started").waitFor({ state: "detached" })
    expect(await row("then this one").getByText("Done").count()).toBe(0)
    await turnsAre(cockpit.hub, id, 2)
    expect(await promptsOf(cockpit.hub, id)).toEqual(["Write something long", "not this one", "then this one"])
  })

  check(
    "[X-121] [X-127] half an answer stays, dimmed, while the hub is away, and a later viewer sees it too",
    async () => {
      const id = await working("Half")
      const page = await openSession(cockpit, id)
      const said = feedOf(page).getByRole("article").filter({ hasText: "More words come." }).last()
      await said.waitFor(WAIT)
      expect(await said.locator(".has-caret").count()).toBe(1)
      const colourOf = (where: Locator) => where.evaluate((element) => getComputedStyle(element).color)
      const clear = await colourOf(said)
      await machine.hub.kill()
      // While the hub is away: dimmed by a colour, and without a caret.
      const stale = said.locator("[data-stale]")
      await stale.waitFor(WAIT)
      expect(await said.locator(".has-caret").count()).toBe(0)
      expect(await colourOf(stale)).not.toBe(clear)
      expect(await stale.evaluate((element) => getComputedStyle(element).opacity)).toBe("1")
      await machine.restartHub()
      // Until it is told anew.
      await expect.poll(() => said.locator(".has-caret").count(), WAIT).toBe(1)
      expect(await stale.count()).toBe(0)
      // So high that every row is in the document.
      const later = await openSession(cockpit, id, { size: { width: 1440, height: 9000 } })
      await feedOf(later).getByText("More words come.").first().waitFor(WAIT)
      // The agent came to the hub twice, and was never away.
      const { events } = await machine.hub.get(`/api/sessions/${id}/events?after=0&limit=5000`)
      const came = events.filter(({ message }: Json) => message.type === "hub" && message.subtype === "connected")
      expect(came).toHaveLength(2)
      expect(await feedOf(later).getByRole("article", { name: "The agent is connected" }).count()).toBe(1)
      await page.getByRole("button", { name: "Interrupt" }).click()
    },
    300_000,
  )

  check("[V-15] sent now, a message breaks into the turn, with a CLI that knows no priorities too", async () => {
    const newest = await working("Now")
    const { id: older } = await cockpit.agent({ title: "Now, older", version: "2.1.37", scenario: talks(3000, 100) })
    for (const id of [newest, older]) {
      const page = await openSession(cockpit, id)
      await page.getByRole("button", { name: "Other ways to send" }).waitFor()
      await messageOf(page).fill("stop that, do this")
      await page.getByRole("button", { name: "Other ways to send" }).click()
      await page.getByRole("menuitem", { name: "Send now (interrupts)" }).click()
      await turnsAre(cockpit.hub, id, 1)
      const state = async () => (await cockpit.hub.get(`/api/sessions/${id}`)).state
      await expect.poll(state, WAIT).toBe("running")
      await waitingOf(page).waitFor({ state: "detached" })
      expect((await promptsOf(cockpit.hub, id)).at(-1)).toBe("stop that, do this")
      expect(await feedOf(page).getByText("Failed").count()).toBe(0)
    }
  })

  check("[V-16] images go along, pasted or chosen, and one that is too large is named", async () => {
    await isReady()
    const { id } = await cockpit.agent({ title: "Images", scenario: says("A dot.") })
    const page = await openSession(cockpit, id)
    await feedOf(page).getByText("A dot.").first().waitFor()
    /** As a browser does it: a picture on the clipboard. 0: a small one that is a picture. */
    const paste = (bytes: number) =>
      messageOf(page).evaluate(async (field, size) => {
        const canvas = new OffscreenCanvas(60, 40)
        canvas.getContext("2d")?.fillRect(10, 10, 30, 20)
        const content = size === 0 ? await canvas.convertToBlob() : new Uint8Array(size)
        const data = new DataTransfer()
        data.items.add(new File([content], "dot.png", { type: "image/png" }))
        field.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }))
      }, bytes)
    await paste(6 * 1024 * 1024)
    await page.getByRole("alert").getByText("Not attached: 1 image larger than 5 MB.").waitFor()
    await paste(0)
    const attached = page.getByRole("list", { name: "Images" }).getByRole("img", { name: "dot.png" })
    await attached.waitFor()
    // Elsewhere and back: it is there. After a reload it is not, and that is said.
    await page.getByRole("link", { name: "Settings" }).first().click()
    await attached.waitFor({ state: "detached" })
    await page.goBack()
    await attached.waitFor()
    await page.reload()
    await page.getByRole("alert").getByText("An image was not kept. Add it again.").waitFor()
    await paste(0)
    await attached.waitFor()
    const chosen = page.waitForEvent("filechooser")
    await page.getByRole("button", { name: "Attach images" }).click()
    const file = (name: string, mimeType: string, content: string) => ({
      name,
      mimeType,
      buffer: Buffer.from(content, "base64"),
    })
    await (await chosen).setFiles([
      file("other.png", "image/png", PIXEL),
      file("liar.png", "image/png", "bm8gcGljdHVyZQ=="),
      file("other.heic", "", PIXEL),
    ])
    await page.getByRole("list", { name: "Images" }).getByRole("img", { name: "other.png" }).waitFor()
    await page.getByRole("alert").getByText("Not attached: 2 files that are not PNG, JPEG, GIF or WebP.").waitFor()
    expect(await page.getByRole("list", { name: "Images" }).getByRole("listitem").count()).toBe(2)
    await page.getByRole("button", { name: "Remove other.png" }).click()
    expect(await messageOf(page).evaluate((field) => field.ownerDocument.activeElement === field)).toBe(true)
    await messageOf(page).fill("what is this?")
    await messageOf(page).press("Enter")
    await page.getByRole("list", { name: "Images" }).waitFor({ state: "detached" })
    await feedOf(page).getByRole("img", { name: "Image in this message" }).waitFor()
  })
})
