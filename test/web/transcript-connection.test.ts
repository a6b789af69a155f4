import type { Page, WebSocketRoute } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { check } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { says, talks } from "./scenarios.ts"
import { feed, nextFrame, openTranscript, seqsOf, turnsEnded, WAIT } from "./transcript-page.ts"

/** The stream between page and hub, to be cut or changed on its way. */
class Stream {
  readonly #open = new Set<WebSocketRoute>()
  isCut = false
  /** What becomes of a line of the hub's. Undefined: it is lost. */
  change: (line: string) => string | undefined = (line) => line

  async watch(page: Page): Promise<void> {
    await page.routeWebSocket(/./, (socket) => {
      if (this.isCut) return void socket.close()
      this.#open.add(socket)
      const hub = socket.connectToServer()
      hub.onMessage((data) => {
        // The hub puts several lines into one frame.
        const lines = String(data)
          .split("\n")
          .filter((line) => line !== "")
        for (const line of lines.flatMap((whole) => this.change(whole) ?? [])) socket.send(`${line}\n`)
      })
      hub.onClose(() => this.#open.delete(socket))
    })
  }

  async cut(): Promise<void> {
    this.isCut = true
    for (const socket of this.#open) await socket.close()
    this.#open.clear()
  }
}

describe.runIf(hasBrowser)("the transcript and its connection", () => {
  let cockpit: CockpitHarness
  beforeAll(async () => {
    cockpit = await CockpitHarness.open()
  })
  afterAll(async () => {
    await cockpit?.dispose()
  })

  async function open(id: string, stream: Stream): Promise<Page> {
    return openTranscript(cockpit, `/s/${id}`, {
      size: { width: 1440, height: 12_000 },
      prepare: (page) => stream.watch(page),
    })
  }
  const bar = (page: Page) => page.getByRole("status", { name: "Connection" })

  check("[C-1] fifty events while the connection is cut are all there afterwards, once, in order", async () => {
    const { id } = await cockpit.agent({
      title: "Cut off",
      scenario: {
        turns: [
          { steps: [{ say: "Hello." }] },
          {
            steps: [
              {
                loop: 50,
                steps: [{ say: "Word {{n}}." }, { tool: "Bash", input: { command: "step {{n}}" }, result: "ok" }],
              },
              { say: "That was all." },
            ],
          },
        ],
      },
      args: ["--allowedTools", "Bash", "--speed", "max"],
    })
    await turnsEnded(cockpit, id)
    const stream = new Stream()
    const page = await open(id, stream)
    await feed(page).getByText("Hello.").first().waitFor()
    await stream.cut()
    await bar(page)
      .getByText(/Last updated/)
      .waitFor(WAIT)
    await cockpit.hub.post(`/api/sessions/${id}/messages`, { content: "Go on" })
    await turnsEnded(cockpit, id, { turns: 2 })
    expect(await feed(page).getByText("That was all.").count()).toBe(0)
    stream.isCut = false
    await feed(page).getByText("That was all.").first().waitFor(WAIT)
    await bar(page)
      .getByText(/Last updated/)
      .waitFor({ state: "detached" })
    const seqs = await seqsOf(page)
    expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b))
    const texts = await feed(page).locator("article[data-kind='text']").allTextContents()
    const words = texts.flatMap((text) => /Word (\d+)\./.exec(text)?.[1] ?? [])
    expect(words.map(Number)).toEqual(Array.from({ length: 50 }, (_, n) => Number(words[0]) + n))
    const commands = await feed(page).locator("article[data-kind='tool']").count()
    expect(commands).toBe(50)
  })

  check("[C-3] after a gap nothing is there twice, and what the reader looks at stays where it is", async () => {
    const { id } = await cockpit.agent({
      title: "Gap",
      scenario: {
        turns: [
          {
            steps: [
              {
                loop: 60,
                steps: [{ say: "Past {{n}}." }, { tool: "Bash", input: { command: "step {{n}}" }, result: "ok" }],
              },
            ],
          },
          {
            steps: [
              {
                loop: 20,
                steps: [{ say: "Later {{n}}." }, { tool: "Bash", input: { command: "more {{n}}" }, result: "ok" }],
              },
              { say: "That was all." },
            ],
          },
        ],
      },
      args: ["--allowedTools", "Bash", "--speed", "max"],
    })
    await turnsEnded(cockpit, id)
    const stream = new Stream()
    const page = await openTranscript(cockpit, `/s/${id}`, { prepare: (opened) => stream.watch(opened) })
    await feed(page).hover()
    await page.mouse.wheel(0, -900)
    await page.getByRole("button", { name: /Jump to latest/ }).waitFor()
    await nextFrame(page)
    const seq = await seqInView(page)
    const anchor = feed(page).locator(`article[data-seq="${seq}"]`)
    const before = (await anchor.boundingBox())?.y ?? Number.NaN
    await stream.cut()
    await cockpit.hub.post(`/api/sessions/${id}/messages`, { content: "Go on" })
    await turnsEnded(cockpit, id, { turns: 2 })
    // The hub says that something is missing, and ten events are.
    let lost = 0
    stream.change = (line) => {
      const told = JSON.parse(line)
      if (told.ev === "subscribed" && told.session === id) return JSON.stringify({ ...told, verdict: "gap" })
      if (told.ev === "event" && ++lost <= 10) return undefined
      return line
    }
    stream.isCut = false
    await bar(page).getByText("Caught up.").waitFor(WAIT)
    await expect.poll(() => page.getByRole("button", { name: /Jump to latest, \d+ new/ }).count(), WAIT).toBe(1)
    expect(Math.abs(((await anchor.boundingBox())?.y ?? Number.NaN) - before)).toBeLessThanOrEqual(2)
    await page.getByRole("button", { name: /Jump to latest/ }).click()
    await feed(page).getByText("That was all.").first().waitFor(WAIT)
    const seqs = await seqsOf(page)
    expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b))
  })

  /** The first row whose beginning is in view. */
  function seqInView(page: Page): Promise<number> {
    return feed(page).evaluate((element) => {
      const { top } = element.getBoundingClientRect()
      const found = [...element.querySelectorAll("article")].find((row) => row.getBoundingClientRect().top >= top)
      return Number(found?.getAttribute("data-seq"))
    })
  }

  const compacted = {
    type: "system",
    subtype: "compact_boundary",
    compact_metadata: { trigger: "auto", pre_tokens: 1_313_000 },
  }

  check("[C-4] a row that cannot be drawn says so, and its neighbours can be read", async () => {
    const { id } = await cockpit.agent({
      title: "Broken",
      scenario: {
        turns: [{ steps: [{ say: "Before." }, { emit: compacted }, { say: "After." }] }],
      },
    })
    await turnsEnded(cockpit, id)
    const page = await openTranscript(cockpit, `/s/${id}`, {
      // Something that only the line about a compaction needs, and only of this size.
      prepare: (opened) =>
        opened.addInitScript(`{
          const whole = Number.prototype.toFixed
          Number.prototype.toFixed = function (digits) {
            if (Number(this) === 1.313) throw new Error("cannot be drawn")
            return whole.call(this, digits)
          }
        }`),
    })
    const broken = feed(page).locator("article[data-kind='compaction']")
    await broken.getByText("Couldn't show this event.").waitFor()
    await feed(page).getByText("Before.").first().waitFor()
    await feed(page).getByText("After.").first().waitFor()
    await broken.getByRole("button", { name: "Raw" }).click()
    await page.getByText("compact_boundary").first().waitFor()
  })

  check("[C-5] a hub that comes back with another cockpit is told about, and nothing happens by itself", async () => {
    const { id } = await cockpit.agent({ title: "Newer", scenario: says("Hello.") })
    const stream = new Stream()
    const page = await open(id, stream)
    await feed(page).getByText("Hello.").first().waitFor()
    await page.route("**/", async (route) => {
      const reply = await route.fetch()
      const body = (await reply.text()).replaceAll(/assets\/[\w.-]+\.js/g, "assets/newer.js")
      await route.fulfill({ response: reply, body })
    })
    await stream.cut()
    await bar(page)
      .getByText(/Last updated/)
      .waitFor(WAIT)
    stream.isCut = false
    await bar(page).getByText("A new version is ready.").waitFor(WAIT)
    await bar(page).getByRole("button", { name: "Reload" }).waitFor()
    await feed(page).getByText("Hello.").first().waitFor()
  })

  check("[X-6] what is sent while the reader looks elsewhere does not move them", async () => {
    const { id } = await cockpit.agent({
      title: "Elsewhere",
      args: ["--include-partial-messages"],
      scenario: { turns: [{ steps: [{ say: { repeat: "A line.\n\n", times: 80 } }] }, ...talks(20, 5).turns] },
    })
    await turnsEnded(cockpit, id)
    const page = await openTranscript(cockpit, `/s/${id}`)
    await feed(page).hover()
    await page.mouse.wheel(0, -900)
    await page.getByRole("button", { name: "Jump to latest" }).waitFor()
    await nextFrame(page)
    const top = () => feed(page).evaluate((element) => element.scrollTop)
    const before = await top()
    await page.getByRole("textbox", { name: "Message" }).fill("on you go")
    await page.keyboard.press("Enter")
    await page.getByRole("button", { name: "Sent. Jump to latest" }).waitFor()
    await turnsEnded(cockpit, id, { turns: 2 })
    expect(Math.abs((await top()) - before)).toBeLessThanOrEqual(2)
    await page.getByRole("button", { name: "Sent. Jump to latest" }).click()
    await feed(page).getByText("on you go").waitFor(WAIT)
  })

  const PANELS = ["Changes", "Tasks", "Context", "Tools", "Requests", "Raw"]
  check(
    "[C-6] a screen or panel that was not loaded before the hub went away says so, and comes when it is back",
    async () => {
      const { id } = await cockpit.agent({ title: "Not loaded", scenario: says("Hello.") })
      const page = await cockpit.page()
      // As if the hub had gone before there was time for them.
      await page.route(/assets\/(?:\w+-panel-|settings-screen)/, (route) => route.abort())
      await page.goto(`/s/${id}`)
      await feed(page).getByText("Hello.").first().waitFor()
      await page.getByRole("button", { name: "Panels" }).click()
      await page.getByRole("tab", { name: "Raw" }).waitFor()
      await cockpit.hub.kill()
      await bar(page)
        .getByText(/Last updated/)
        .waitFor(WAIT)
      const away = page.getByText("loads when the hub reconnects.")
      for (const name of PANELS) {
        await page.getByRole("tab", { name, exact: true }).click()
        await page.getByRole("tabpanel", { name, exact: true }).getByText("loads when the hub reconnects.").waitFor()
      }
      // Their neighbours go on.
      await feed(page).getByText("Hello.").first().waitFor()
      await page.getByRole("link", { name: "Settings" }).first().click()
      await away.waitFor()
      await page.unrouteAll()
      await cockpit.hub.startAgain()
      await page.getByRole("heading", { level: 1, name: "Settings" }).waitFor(WAIT)
      await page.goBack()
      await page.getByRole("tabpanel", { name: "Raw" }).waitFor()
      await away.waitFor({ state: "detached" })
    },
  )

  /** Files of the parts that are loaded later, shared ones too: neither the page itself nor the screen it is opened at names them. */
  async function laterFiles(page: Page, screen: string): Promise<(url: URL) => boolean> {
    const { request } = page.context()
    const read = async (path: string) => (await request.get(path, { headers: { accept: "text/html" } })).text()
    const first = await read("/")
    const shell = await Promise.all((first.match(/\/assets\/[\w-]+\.js/g) ?? []).map(read))
    const wanted = [`/${new RegExp(`assets/${screen}-[\\w-]+\\.js`).exec(shell.join("\n"))?.[0]}`]
    // Grows while it is walked: a file's own imports are wanted too.
    for (const file of wanted) {
      for (const [, other] of (await read(file)).matchAll(/(?:from|import)"\.\/([\w-]+\.js)"/g))
        if (!wanted.includes(`/assets/${other}`)) wanted.push(`/assets/${other}`)
    }
    return ({ pathname }) => pathname.startsWith("/assets/") && !first.includes(pathname) && !wanted.includes(pathname)
  }
  const SCREENS = ["Requests", "Search", "Machines", "Settings"]

  check("[C-7] every part whose files could not be had while the hub was away comes when it is back", async () => {
    await cockpit.agent({ title: "None loaded", scenario: says("Hello.") })
    const page = await cockpit.page()
    await page.route(await laterFiles(page, "sessions-screen"), (route) => route.abort())
    await page.goto("/sessions")
    await page.getByRole("link", { name: "None loaded" }).first().waitFor()
    await cockpit.hub.kill()
    await bar(page)
      .getByText(/Last updated/)
      .waitFor(WAIT)
    const away = page.getByText("loads when the hub reconnects.")
    await page.getByRole("link", { name: "None loaded" }).first().click()
    await away.waitFor()
    for (const name of SCREENS) {
      await page.getByRole("link", { name }).first().click()
      await away.waitFor()
    }
    await page.keyboard.press("c")
    await page.getByRole("dialog", { name: "New session" }).getByText("loads when the hub reconnects.").waitFor()
    await page.unrouteAll()
    await cockpit.hub.startAgain()
    await page.getByRole("dialog", { name: "New session" }).locator("button[type=submit]").waitFor(WAIT)
    await page.keyboard.press("Escape")
    for (const name of SCREENS) {
      await page.getByRole("link", { name }).first().click()
      await page.getByRole("heading", { level: 1, name }).waitFor()
    }
    await page.getByRole("link", { name: "Sessions" }).first().click()
    await page.getByRole("link", { name: "None loaded" }).first().click()
    await page.getByRole("button", { name: "Panels" }).click()
    for (const name of PANELS) {
      await page.getByRole("tab", { name, exact: true }).click()
      await page.getByRole("tabpanel", { name, exact: true }).waitFor()
    }
    expect(await away.count()).toBe(0)
  })

  check("[C-8] a part that the hub's newer build no longer has offers a reload, which keeps the draft", async () => {
    const { id } = await cockpit.agent({ title: "Rebuilt", scenario: says("Hello.") })
    const page = await cockpit.page()
    const isLater = await laterFiles(page, "session-screen")
    await page.route(isLater, (route) => route.fulfill({ status: 404, body: "no such file" }))
    await page.goto(`/s/${id}`)
    await page.getByRole("textbox", { name: "Message" }).fill("half a thou")
    await page.getByRole("button", { name: "Panels" }).click()
    await page.getByText("A new version is ready.").waitFor()
    await page.unrouteAll()
    await page.getByRole("button", { name: "Reload" }).click()
    await page.getByRole("tabpanel").waitFor()
    expect(await page.getByRole("textbox", { name: "Message" }).inputValue()).toBe("half a thou")
  })
})
