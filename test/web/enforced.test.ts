import type { Scenario } from "@signalbox/simulator"
import { afterAll, describe, expect } from "vitest"
import { Machine } from "../runner/runner-process.ts"
import { axe } from "./axe.ts"
import { check } from "./check.ts"
import { CockpitHarness, hasBrowser, SIZES } from "./cockpit.ts"
import { headerOf, openSession, turnsAre, WAIT } from "./session-page.ts"

/** The second turn tells of a tool that ran without a hook. */
const SLIPS: Scenario = {
  turns: [
    { steps: [{ say: "Ready." }] },
    {
      steps: [
        {
          emit: {
            type: "user",
            parent_tool_use_id: null,
            message: {
              role: "user",
              content: [{ type: "tool_result", tool_use_id: "toolu_unseen", content: "it ran" }],
            },
          },
        },
        { say: "Done." },
      ],
    },
  ],
}

describe.runIf(hasBrowser)("a session whose every tool call is judged", () => {
  let machine: Machine
  let cockpit: CockpitHarness
  let opening: Promise<void> | undefined
  const isReady = () => (opening ??= prepare())
  async function prepare(): Promise<void> {
    machine = await Machine.open({ scenario: SLIPS })
    cockpit = await CockpitHarness.open(machine.hub)
  }
  afterAll(async () => {
    await machine?.endRunner("SIGTERM")
    await cockpit?.dispose()
    await machine?.dispose()
  })

  check("[P-13] an admin chooses what the policy judges, and the session says so", async () => {
    await isReady()
    const page = await cockpit.page()
    await page.goto(`/new?cwd=${encodeURIComponent(machine.cwd)}`)
    await page.getByRole("textbox", { name: "First message" }).fill("Begin")
    await page.getByText("Advanced").click()
    await page.getByRole("combobox", { name: "Policy judges" }).selectOption("Every tool call")
    await page.getByRole("radio", { name: /^Simulator/ }).check()
    await page.getByRole("button", { name: /^Start on/ }).click()
    await page.waitForURL(/\/s\/[\w-]+$/)
    await headerOf(page).getByText("Policy judges every tool call").waitFor()
    const id = new URL(page.url()).pathname.split("/").at(-1) ?? ""
    expect(await machine.session(id)).toMatchObject({ enforce: "everything" })

    const operator = await cockpit.page({ role: "operator" })
    await operator.goto("/new")
    await operator.getByRole("textbox", { name: "Title" }).waitFor()
    expect(await operator.getByRole("combobox", { name: "Policy judges" }).count()).toBe(0)

    const phone = await openSession(cockpit, id, { size: "phone" })
    await phone.getByRole("button", { name: /mode, model and more$/ }).click()
    await phone.getByRole("dialog").getByText("Judges every tool call").waitFor()
  })

  check("[P-13] a call that nobody judged is told at the session and in the list, with what to do", async () => {
    await isReady()
    const { id } = await machine.launch({ title: "Slips", prompt: "Begin", enforce: "everything" })
    await turnsAre(machine.hub, id, 1)
    await machine.say(id, "Go on")
    await expect.poll(async () => (await machine.session(id)).enforce, WAIT).toBe("lost")
    const page = await openSession(cockpit, id)
    const warning = headerOf(page).getByRole("alert").filter({ hasText: "Not enforced." })
    await warning.getByText("Check what it did, then stop the session.").waitFor()
    await warning.getByRole("link", { name: "Show audit" }).click()
    await page.getByRole("list", { name: "Audit" }).getByText("Not enforced").waitFor()

    for (const theme of ["light", "dark"] as const) {
      for (const size of ["phone", "tablet", "desktop"] as const) {
        const look = await openSession(cockpit, id, { size, theme })
        await look.getByRole("alert").filter({ hasText: "Not enforced." }).waitFor()
        expect(await axe(look), `${size}, ${theme}`).toEqual([])
        await look.goto("/sessions")
        await look.getByRole("listitem").filter({ hasText: "Slips" }).getByText("Not enforced").waitFor()
        expect(await axe(look), `the list, ${size}, ${theme}`).toEqual([])
        const { width } = SIZES[size]
        expect(await look.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width)
        await look.context().close()
      }
    }
  })
})
