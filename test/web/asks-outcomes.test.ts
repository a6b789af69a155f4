import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect } from "vitest"
import { AskingCockpit, armed, dock, PATIENCE } from "./asks-page.ts"
import { check, journey } from "./check.ts"
import { hasBrowser } from "./cockpit.ts"
import { asksFor } from "./scenarios.ts"

/** Words on the page that say "denied", but for receipts of other requests, which may have been. */
function denials(page: Page, command: string): Promise<number> {
  return page.getByText(/denied/i).evaluateAll((found, own) => {
    const receipts = found.map((element) => element.closest('ul[aria-label="Just answered"] > li'))
    return receipts.filter((receipt) => receipt === null || receipt.textContent.includes(own)).length
  }, command)
}

describe.runIf(hasBrowser)("what comes of an ask", () => {
  let stage: AskingCockpit
  beforeAll(async () => {
    stage = await AskingCockpit.open()
  })
  afterAll(async () => {
    await stage?.dispose()
  })
  const outcome = (page: Page) => page.locator("[data-outcome]")

  /** Both answers are on their way before either arrives. */
  async function holdAnswers(pages: readonly Page[]): Promise<() => Promise<void>> {
    const held: (() => Promise<void>)[] = []
    for (const page of pages) {
      await page.route("**/api/asks/*/answer", (route) => {
        held.push(() => route.continue())
      })
    }
    return async () => {
      await expect.poll(() => held.length, PATIENCE).toBe(pages.length)
      await Promise.all(held.map((go) => go()))
    }
  }

  check(
    "[K-7] when two answer at once one wins, the other is told who was first, and there is one decision",
    async () => {
      const agent = await stage.agent({ title: "Race" })
      const request = agent.ask({ command: "npm run race" })
      const [ask] = await stage.waitFor(agent.id, 1)
      const [first, second] = [await stage.session(agent.id), await stage.session(agent.id, { role: "operator" })]
      // Before the cards are armed: the browser says that it holds requests before the page knows, and a key may be faster.
      const release = await holdAnswers([first, second])
      for (const page of [first, second]) {
        await armed(page)
        // Nothing goes away from under a pointer: what came of it stays to be read, however slow the machine.
        await dock(page).hover()
      }
      await second.keyboard.press("n")
      await dock(second).getByRole("button", { name: "Deny", exact: true }).waitFor()
      await Promise.all([first.keyboard.press("y"), second.keyboard.press("Enter")])
      await release()
      await expect.poll(() => stage.states(agent.id), PATIENCE).not.toEqual(["pending"])
      const [settled] = await stage.asks(agent.id)
      const [winner, loser] = settled.state === "allowed" ? [first, second] : [second, first]
      await outcome(loser)
        .getByText(/ this first\. Your (?:answer|denial) was not sent\./)
        .waitFor()
      // A message in green would say that all is as the loser wanted it.
      expect(await outcome(loser).getAttribute("class")).not.toContain("text-clear")
      await outcome(winner)
        .getByText(/^You (?:allowed|denied) this/)
        .waitFor()
      const { records } = await stage.hub.get(`/api/audit?session=${agent.id}&limit=100`)
      expect(records.filter(({ askId }: { askId: string }) => askId === ask.id)).toHaveLength(1)
      await expect.poll(() => agent.answersTo(request).length, PATIENCE).toBe(1)
    },
  )

  check("[A-151] the receipt of a request that somebody else allowed first is not green for the loser", async () => {
    const agent = await stage.agent({ title: "Receipts" })
    agent.ask({ command: "npm run receipt" })
    const [ask] = await stage.waitFor(agent.id, 1)
    const [other, loser] = [await stage.inbox(), await stage.session(agent.id, { role: "operator" })]
    const release = await holdAnswers([loser])
    await armed(loser)
    await dock(loser).hover()
    await loser.keyboard.press("n")
    await dock(loser).getByRole("button", { name: "Deny", exact: true }).waitFor()
    await loser.keyboard.press("Enter")
    await stage.hub.post(`/api/asks/${ask.id}/answer`, { behavior: "allow" })
    await release()
    await outcome(loser)
      .getByText(/ this first\. Your denial was not sent\./)
      .waitFor()
    const receipt = (page: Page) =>
      page
        .getByRole("list", { name: "Just answered" })
        .getByRole("listitem")
        .filter({ hasText: "npm run receipt" })
        .getByText(/allowed this at/)
    await loser
      .getByRole("navigation", { name: "Main" })
      .getByRole("link", { name: /^Requests/ })
      .click()
    expect(await receipt(loser).getAttribute("class")).not.toContain("text-clear")
    expect(await receipt(other).getAttribute("class")).toContain("text-clear")
  })

  check(
    "[K-8] what expired, was withdrawn or replaced says so, each in its own words, and never that it was denied",
    async () => {
      await stage.hub.call("PUT", "/api/policy", {
        rules: [
          { id: "hurry", effect: "ask", tool: "Bash", input: { command: "npm run hurry" }, expiresAfterMs: 9000 },
        ],
        relayAutoApproval: false,
      })
      const agent = await stage.agent({ title: "Ends" })
      const page = await stage.session(agent.id)
      agent.ask({ command: "npm run hurry" })
      await dock(page)
        .getByText(/^expires (?:in 0:0\d|now)$/)
        .waitFor()
      await outcome(page)
        .getByText(/^Nobody answered within \d+ s\. Claude was told\.$/)
        .waitFor()
      expect(
        await dock(page)
          .getByText(/denied/i)
          .count(),
      ).toBe(0)

      const taken = agent.ask({ command: "npm run withdrawn" })
      await dock(page).getByRole("group", { name: "Request" }).getByText("npm run withdrawn").waitFor()
      agent.cancel(taken)
      await outcome(page).getByText("Claude withdrew this request.").waitFor()
      expect(
        await dock(page)
          .getByText(/denied/i)
          .count(),
      ).toBe(0)

      agent.ask({ command: "npm run older" }, { tool_use_id: "toolu_same" })
      await dock(page).getByRole("group", { name: "Request" }).getByText("npm run older").waitFor()
      const [older] = await stage.waitFor(agent.id, 1)
      agent.ask({ command: "npm run newer" }, { tool_use_id: "toolu_same" })
      await expect.poll(async () => (await stage.hub.get(`/api/asks/${older.id}`)).state, PATIENCE).toBe("superseded")
      await page.goto(`/requests/${older.id}`)
      await outcome(page).getByText("Replaced by a newer request.").waitFor()
      expect(await denials(page, "npm run older")).toBe(0)
      await page.getByRole("link", { name: "Show newer request" }).click()
      await page.getByRole("group", { name: "Request" }).getByText("npm run newer").waitFor()
    },
  )

  check(
    "[K-20] settled elsewhere while a reason is written: that is said, and the next one takes its place",
    async () => {
      const agent = await stage.agent({ title: "Cut off" })
      const page = await stage.session(agent.id)
      agent.ask({ command: "npm run first" })
      const [first] = await stage.waitFor(agent.id, 1)
      agent.ask({ command: "npm run second" })
      await stage.waitFor(agent.id, 2)
      await armed(page)
      await dock(page).getByRole("button", { name: /^Deny/ }).click()
      await page.keyboard.type("Not before")
      const { token } = await stage.hub.post("/api/tokens", { role: "operator", name: "ops-phone" })
      await stage.hub.call("POST", `/api/asks/${first.id}/answer`, { behavior: "allow" }, token)
      await dock(page).filter({ hasText: "Your text was not sent." }).locator("[data-outcome]:focus-within").waitFor()
      // The pointer is still there, and yet it makes room: another one waits. The focus does not go along to that.
      await dock(page).getByRole("group", { name: "Request" }).getByText("npm run second").waitFor()
      await expect
        .poll(() => dock(page).evaluate((region) => region.contains(region.ownerDocument.activeElement)))
        .toBe(false)
    },
  )

  check("[K-8] the end of the agent is no denial, and a rule is named", async () => {
    await stage.hub.call("PUT", "/api/policy", {
      rules: [{ id: "npm-safe", effect: "allow", tool: "Bash", input: { command: "npm run lint" } }],
      relayAutoApproval: false,
    })
    const agent = await stage.agent({ title: "Ruled" })
    agent.ask({ command: "npm run lint" })
    await expect.poll(() => stage.states(agent.id), PATIENCE).toEqual(["allowed"])
    const page = await stage.inbox(`/requests/${(await stage.asks(agent.id))[0].id}`)
    await outcome(page).getByText("Allowed by rule npm-safe.").waitFor()

    const dies = await stage.agent({ title: "Dies" })
    dies.ask({ command: "npm run orphan" })
    const [ask] = await stage.waitFor(dies.id, 1)
    await page.goto(`/requests/${ask.id}`)
    await page.getByRole("button", { name: /^Allow once/ }).waitFor()
    dies.end()
    await stage.hub.call("DELETE", `/api/sessions/${dies.id}`)
    await outcome(page).getByText("The agent ended before this was answered.").waitFor()
    expect(await denials(page, "npm run orphan")).toBe(0)
  })

  check("[K-12] after a restart of the hub both open asks are back, and can be answered", async () => {
    const [one, two] = [
      await stage.asked(asksFor("npm run one"), "One"),
      await stage.asked(asksFor("npm run two"), "Two"),
    ]
    const page = await stage.session(one)
    await dock(page)
      .getByRole("button", { name: /^Allow once/ })
      .waitFor()
    await stage.hub.kill()
    await dock(page)
      .getByText(/Hub offline/)
      .waitFor()
    expect(
      await dock(page)
        .getByRole("button", { name: /^Allow once/ })
        .getAttribute("aria-disabled"),
    ).toBe("true")
    await stage.hub.startAgain()
    for (const id of [one, two]) {
      await page.goto(`/s/${id}`)
      await expect
        .poll(
          () =>
            dock(page)
              .getByRole("button", { name: /^Allow once/ })
              .getAttribute("aria-disabled"),
          PATIENCE,
        )
        .toBe("false")
      await armed(page)
      await page.keyboard.press("y")
      await expect.poll(() => stage.states(id), PATIENCE).toEqual(["allowed"])
      await page.getByText("It is done.").first().waitFor()
    }
  })

  journey("an answer that could not be sent says so, and is sent once when it is tried again", async () => {
    const agent = await stage.agent({ title: "Cut" })
    const request = agent.ask({ command: "npm run cut" })
    await stage.waitFor(agent.id, 1)
    const page = await stage.session(agent.id)
    await page.route("**/api/asks/*/answer", (route) => route.abort())
    await armed(page)
    await page.keyboard.press("y")
    const retry = dock(page).getByRole("button", { name: "Retry" })
    await retry.waitFor()
    await dock(page)
      .getByText(/^Not sent:/)
      .waitFor()
    expect(await stage.states(agent.id)).toEqual(["pending"])
    await page.unroute("**/api/asks/*/answer")
    await retry.click()
    await outcome(page)
      .getByText(/^You allowed this/)
      .waitFor()
    await expect.poll(() => agent.answersTo(request).length, PATIENCE).toBe(1)
    // Nothing goes away from under the pointer; without it the place is free again after a moment.
    await page.mouse.move(0, 0)
    await dock(page).waitFor({ state: "hidden" })
  })
})
