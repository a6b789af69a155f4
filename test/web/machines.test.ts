import type { Page } from "playwright-core"
import { afterAll, describe, expect } from "vitest"
import { HubProcess } from "../hub/hub-process.ts"
import { hasPostgres, testServer } from "../postgres/server.ts"
import { Machine } from "../runner/runner-process.ts"
import { axe } from "./axe.ts"
import { check } from "./check.ts"
import { CockpitHarness, hasBrowser } from "./cockpit.ts"
import { says } from "./scenarios.ts"

describe.runIf(hasBrowser)("the machines", () => {
  let machine: Machine
  let cockpit: CockpitHarness
  let name: string
  let id: string
  let session: string
  let opening: Promise<void> | undefined
  /** Waits for conditions, which only a test may. */
  const isReady = () => (opening ??= prepare())
  async function prepare(): Promise<void> {
    machine = await Machine.open({ scenario: says("Done."), maxAgents: 4 })
    cockpit = await CockpitHarness.open(machine.hub)
    const { runners } = await machine.hub.get("/api/runners")
    name = runners[0].name
    id = runners[0].id
    session = (await machine.launch({ title: "Docs refresh", prompt: "Go on" })).id
    await machine.isIn(session, "idle")
  }
  afterAll(async () => {
    await machine?.endRunner("SIGTERM")
    await cockpit?.dispose()
    await machine?.dispose()
  })

  async function open(path = "/machines", options: Parameters<CockpitHarness["page"]>[0] = {}): Promise<Page> {
    await isReady()
    const page = await cockpit.page(options)
    // Minutes pass here as the test likes.
    await page.clock.install()
    await page.goto(path)
    await page.getByRole("heading", { level: 1 }).waitFor()
    return page
  }
  const card = (page: Page) => page.getByRole("list", { name: "Machines" }).getByRole("listitem")
  async function isAway(): Promise<void> {
    const look = async () => (await machine.hub.get("/api/runners")).runners[0].connected
    await expect.poll(look, { timeout: 60_000 }).toBe(false)
  }

  check("[M-1] a runner that was killed is silent, and its sessions are lost", async () => {
    const page = await open()
    await card(page).getByText("Online").waitFor()
    await card(page).getByText("1 of 4 agents").waitFor()
    await machine.endRunner("SIGKILL")
    await isAway()
    await page.clock.fastForward(31_000)
    await card(page)
      .getByText(/^Offline since \d\d:\d\d$/)
      .waitFor()
    await card(page).getByRole("link", { name }).click()
    await page.getByText(/^Offline since .*Its agents/).waitFor()
    await page.getByRole("list", { name: "Sessions on this machine" }).getByRole("link", { name: /^Lost/ }).waitFor()
    await page.getByRole("navigation").getByRole("link", { name: "Sessions" }).first().click()
    const lost = page.getByRole("list", { name: "Lost" }).getByRole("listitem").filter({ hasText: "Docs refresh" })
    await lost.getByText(/^as of \d\d:\d\d$/).waitFor()
    await lost.getByRole("link").click()
    await page
      .locator("main header")
      .getByText(/^as of \d\d:\d\d$/)
      .waitFor()
    await machine.startRunner()
  })

  check("[M-2] the command for a new machine is shown once, and not after a reload", async () => {
    const page = await open()
    await page.getByRole("button", { name: "Add machine" }).click()
    await page.locator("input[name=name]:focus").waitFor()
    await page.getByRole("button", { name: "Create token" }).click()
    await page.getByText("Enter a name.").waitFor()
    await page.getByRole("textbox", { name: "Machine name" }).fill("it's atlas")
    await page.keyboard.press("Enter")
    const command = (await page.getByLabel("Command", { exact: true }).textContent()) ?? ""
    expect(command).toMatch(/^SIGNALBOX_TOKEN=\S+ npx signalbox runner --hub http:\S+ --name 'it'\\''s atlas'$/)
    const token = /SIGNALBOX_TOKEN=(\S+)/.exec(command)?.[1] ?? ""
    expect(page.url()).not.toContain(token)
    await page.keyboard.press("Escape")
    await page.mouse.click(5, 5)
    expect(await page.getByLabel("Command", { exact: true }).isVisible()).toBe(true)
    const { tokens } = await machine.hub.get("/api/tokens")
    expect(tokens).toContainEqual(expect.objectContaining({ role: "runner", name: "it's atlas" }))
    await page.reload()
    await page.getByRole("heading", { name: "Machines" }).waitFor()
    expect(await page.content()).not.toContain(token)
  })

  check("[M-3] only a machine that is away is removed, and only by its name", async () => {
    await isReady()
    const before = await open(`/machines/${id}`)
    await before.getByText("Online").waitFor()
    expect(await before.getByRole("button", { name: "Remove…" }).count()).toBe(0)
    await machine.endRunner("SIGTERM")
    await isAway()
    const page = await open(`/machines/${id}`)
    await page.getByRole("button", { name: "Remove…" }).click()
    await page.getByRole("button", { name: "Remove machine" }).click()
    await page.getByText("That isn't the machine's name.").waitFor()
    await page.getByRole("textbox", { name: /to confirm$/ }).fill(name)
    await page.getByRole("button", { name: "Remove machine" }).click()
    await page.getByText("No machines yet.").waitFor()
    expect((await machine.hub.get("/api/runners")).runners).toEqual([])
    await machine.startRunner()
  })

  check("[M-4] a viewer reads, and has nothing to change", async () => {
    const page = await open("/machines", { role: "viewer" })
    await card(page).getByText("Online").waitFor()
    expect(await page.getByRole("button", { name: "Add machine" }).count()).toBe(0)
    await page.keyboard.press("j")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name, level: 1 }).waitFor()
    await page.getByText("only the simulator").waitFor()
    expect(await page.getByRole("button", { name: "Remove…" }).count()).toBe(0)
    expect(cockpit.complaints).toEqual([])
  })

  check("[M-6] a machine that an admin drains takes no new agents, until it is opened again", async () => {
    const page = await open(`/machines/${id}`)
    await page.getByRole("button", { name: "Drain" }).click()
    await page.getByText("No new agents start here.").waitFor()
    const refused = await machine.hub.call("POST", "/api/sessions", { agent: "simulator", cwd: machine.cwd })
    expect(refused).toMatchObject({ status: 409, body: { error: { code: "runner/draining" } } })
    await page.getByRole("button", { name: "Stop draining" }).click()
    await page.getByText("Online").waitFor()
  })

  check("[M-7] a machine's log is shown with when it was read, and read again on request", async () => {
    await isReady()
    const launched = await machine.launch({ title: "Notes", prompt: "Go on" })
    const page = await open(`/machines/${id}`)
    const log = page.getByRole("region", { name: "Log", exact: true })
    await log.getByText("Connected to hub").waitFor()
    await log.getByText(/^as of \d\d:\d\d:\d\d$/).waitFor()
    const refused = "Launch refused"
    expect(await log.getByText(refused).count()).toBe(0)
    const gone = `${machine.cwd}/<b>gone</b>`
    expect((await machine.hub.call("POST", "/api/sessions", { agent: "simulator", cwd: gone })).status).toBe(422)
    await log.getByRole("button", { name: "Refresh" }).click()
    await log.getByText(refused).getByText("<b>gone</b>").waitFor()
    const started = log.getByRole("listitem").filter({ hasText: "Agent started" }).first()
    expect(await started.getByRole("link", { name: "Notes" }).getAttribute("href")).toBe(`/s/${launched.id}`)

    const viewer = await open(`/machines/${id}`, { role: "viewer" })
    await viewer.getByRole("list", { name: "Sessions on this machine" }).waitFor()
    expect(await viewer.getByRole("heading", { name: "Log" }).count()).toBe(0)

    await machine.endRunner("SIGTERM")
    await isAway()
    await page.clock.fastForward(31_000)
    await log.getByText("Machine offline. Its log is available when it reconnects.").waitFor()
    await log.getByText(refused).waitFor()
    await machine.startRunner()
  })

  check("[M-8] a hub on its own lists itself", async () => {
    const page = await open()
    const hubs = page.getByRole("list", { name: "Hub" }).getByRole("listitem")
    await hubs.getByText(machine.hub.ready.url).waitFor()
    await hubs.getByText("1 machine", { exact: true }).waitFor()
    await hubs.getByText(/^up \d+ (s|min)$/).waitFor()
    expect(await hubs.count()).toBe(1)
  })

  check("[M-5] list and detail are free of what axe finds, in both themes, and do not scroll sideways", async () => {
    for (const theme of ["light", "dark"] as const) {
      for (const width of [320, 834, 1280]) {
        const page = await open("/machines", { theme, size: { width, height: 800 } })
        await card(page).getByText("Online").waitFor()
        expect(await axe(page), `the list at ${width}, ${theme}`).toEqual([])
        await page.goto(`/machines/${id}`)
        await page.getByRole("list", { name: "Sessions on this machine" }).getByRole("listitem").first().waitFor()
        expect(await axe(page), `the detail at ${width}, ${theme}`).toEqual([])
        const overflow = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
        expect(overflow, `at ${width}`).toBeLessThanOrEqual(0)
        await page.context().close()
      }
    }
  })

  if (hasPostgres)
    check("[M-8] each is listed with what it has, and one that is gone leaves the list", async () => {
      const database = await (await testServer()).createDatabase()
      const flags = ["--store", database, "--cluster-url", "http://127.0.0.1:{port}"]
      const beside = await HubProcess.start(flags)
      const cockpit = await CockpitHarness.open(await HubProcess.start(flags))
      try {
        const page = await cockpit.page()
        await page.goto("/machines")
        const hubs = page.getByRole("list", { name: "Hubs" }).getByRole("listitem")
        const own = hubs.filter({ hasText: "This page's hub" })
        await own.getByText(cockpit.hub.ready.url).waitFor()
        await own.getByText("1 viewer", { exact: true }).waitFor()
        const other = hubs.filter({ hasText: beside.ready.url })
        for (const words of ["0 sessions loaded", "0 machines", "0 viewers", /^version \d/, /^up \d+ (s|min)$/]) {
          await other.getByText(words).waitFor()
        }
        await beside.kill()
        await page.getByRole("list", { name: "Hub", exact: true }).getByText(cockpit.hub.ready.url).waitFor()
        expect(cockpit.complaints).toEqual([])
      } finally {
        await cockpit.dispose()
        await beside.dispose()
      }
    })
})
