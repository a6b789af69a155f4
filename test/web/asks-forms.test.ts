import { afterAll, beforeAll, describe, expect } from "vitest"
import { AskingCockpit, armed, detail, dock, PATIENCE } from "./asks-page.ts"
import { check, journey } from "./check.ts"
import { hasBrowser } from "./cockpit.ts"
import { TWO_QUESTIONS } from "./scenarios.ts"

const SCHEMA = {
  type: "object",
  properties: {
    name: { type: "string", title: "Your name", minLength: 2 },
    count: { type: "integer", title: "How many", minimum: 1, maximum: 5, default: 2 },
    share: { type: "number", title: "Share" },
    urgent: { type: "boolean", title: "Urgent", default: true },
    colour: { type: "string", title: "Colour", enum: ["r", "g"], enumNames: ["Red", "Green"] },
    tags: { type: "array", title: "Tags", items: { type: "string", enum: ["x", "y"] } },
    day: { type: "string", title: "Day", format: "date" },
    mail: { type: "string", title: "Mail", format: "email" },
    page: { type: "string", title: "Page", format: "uri" },
    odd: { type: "object", title: "Odd" },
  },
  required: ["name", "count"],
}
const PLAN = "# Plan\n\n1. Drop the old table\n2. Ship it\n"

describe.runIf(hasBrowser)("forms that agents and servers ask to be filled in", () => {
  let stage: AskingCockpit
  beforeAll(async () => {
    stage = await AskingCockpit.open()
  })
  afterAll(async () => {
    await stage?.dispose()
  })
  async function asks(title: string, request: Readonly<Record<string, unknown>>, replies = {}) {
    const agent = await stage.agent({ title, replies })
    agent.request({ tool_use_id: `toolu_${title}`, ...request })
    await stage.waitFor(agent.id, 1)
    return agent
  }
  const questions = { subtype: "can_use_tool", tool_name: "AskUserQuestion", input: { questions: TWO_QUESTIONS } }
  const plan = { subtype: "can_use_tool", tool_name: "ExitPlanMode", input: { plan: PLAN } }
  const answerOf = async (id: string) => (await stage.asks(id))[0].answer

  check("[K-19] who types an answer of their own types it: no letter of it answers anything", async () => {
    const agent = await asks("Typist", questions)
    agent.ask({ command: "rm -rf build" })
    await stage.waitFor(agent.id, 2)
    const page = await stage.session(agent.id)
    const other = dock(page).getByRole("radio", { name: "Other" })
    await armed(page)
    await other.click()
    await page.keyboard.type("not any priority, ye")
    const field = dock(page).getByRole("textbox", { name: /^Other answer to/ })
    expect(await field.inputValue()).toBe("not any priority, ye")
    // By keys it is chosen on the way; the first letter goes to the words.
    await other.focus()
    await page.keyboard.type("n", { delay: 20 })
    expect(await field.inputValue()).toContain("n")
    await dock(page).getByRole("checkbox", { name: "Web" }).focus()
    await page.keyboard.type("nyeaye", { delay: 50 })
    expect(await stage.states(agent.id)).toEqual(["pending", "pending"])
  })

  check(
    "[K-9] answers are by the question's own words, notes beside them, and nothing is sent before all are answered",
    async () => {
      const { id } = await asks("Questions", questions)
      const page = await stage.session(id)
      await dock(page)
        .getByRole("radio", { name: /SQLite/ })
        .focus()
      await dock(page).getByRole("group", { name: "Preview of SQLite" }).getByText("app.db").waitFor()
      await dock(page)
        .getByRole("radio", { name: /Postgres/ })
        .check()
      await dock(page).getByRole("group", { name: "Preview of Postgres" }).getByText("postgres://…").waitFor()
      const send = dock(page).getByRole("button", { name: /Send answers/ })
      expect(await send.getAttribute("aria-disabled")).toBe("true")
      await dock(page).getByRole("button", { name: "Add note" }).first().click()
      await page.keyboard.type("the small one")
      // Half-filled it survives going elsewhere and coming back.
      await page.getByRole("navigation").getByRole("link", { name: "Sessions" }).first().click()
      await page.getByRole("heading", { name: "Sessions", level: 1 }).waitFor()
      await page.goBack()
      expect(
        await dock(page)
          .getByRole("radio", { name: /Postgres/ })
          .isChecked(),
      ).toBe(true)
      await dock(page).getByRole("checkbox", { name: "Web" }).check()
      await dock(page).getByRole("checkbox", { name: "API" }).check()
      await expect.poll(() => send.getAttribute("aria-disabled")).toBe("false")
      await dock(page).locator("[data-ask][data-armed='true']").waitFor()
      await send.click()
      await expect.poll(() => stage.states(id), PATIENCE).toEqual(["allowed"])
      const { updatedInput } = await answerOf(id)
      expect(updatedInput).toEqual({
        questions: TWO_QUESTIONS,
        answers: { "Which database?": "Postgres", "Which parts?": "API, Web" },
        annotations: { "Which database?": { notes: "the small one", preview: "postgres://…" } },
      })
      await dock(page)
        .getByText(/^You answered this/)
        .waitFor()
    },
  )

  check(
    "[K-10] a form has a labelled field of each kind, and a number that is none keeps it from being accepted",
    async () => {
      const form = { subtype: "elicitation", mcp_server_name: "tickets", message: "Tell me more", mode: "form" }
      const { id } = await asks("Form", { ...form, requested_schema: SCHEMA, property_order: ["count", "name"] })
      const page = await stage.session(id)
      const card = dock(page)
      await card.getByText("This form is from the MCP server").waitFor()
      await card.getByText("tickets", { exact: true }).waitFor()
      for (const name of [
        "Your name",
        "How many",
        "Share (optional)",
        "Mail (optional)",
        "Page (optional)",
        "Odd (optional)",
      ]) {
        await card.getByRole("textbox", { name, exact: true }).waitFor()
      }
      await card.getByRole("switch", { name: "Urgent" }).waitFor()
      await card.getByRole("combobox", { name: "Colour (optional)" }).selectOption({ label: "Green" })
      await card.getByRole("group", { name: "Tags (optional)" }).getByRole("checkbox", { name: "y" }).check()
      await card.getByLabel("Day (optional)").fill("2031-05-01")
      const count = card.getByRole("textbox", { name: "How many" })
      await card.getByRole("textbox", { name: "Your name" }).fill("Jo")
      await count.fill("many")
      await armed(page)
      const accept = card.getByRole("button", { name: /^Accept/ })
      await accept.click()
      await expect.poll(() => count.getAttribute("aria-invalid")).toBe("true")
      const note = await count.getAttribute("aria-describedby")
      expect(await page.locator(`[id='${note}']`).textContent()).toBe("Enter a number.")
      expect(await count.evaluate((field) => field === document.activeElement)).toBe(true)
      expect(await stage.states(id)).toEqual(["pending"])
      await count.fill("3")
      await accept.click()
      await expect.poll(() => stage.states(id), PATIENCE).toEqual(["allowed"])
      expect(await answerOf(id)).toEqual({
        action: "accept",
        content: { count: 3, name: "Jo", urgent: true, colour: "g", tags: ["y"], day: "2031-05-01" },
      })
    },
  )

  check("[A-4] a form that was settled is told in words, with who did it, when and after how long", async () => {
    const form = { subtype: "elicitation", mcp_server_name: "tickets", message: "Tell me more", mode: "form" }
    const accepted = await asks("Filled", { ...form, requested_schema: SCHEMA, property_order: ["count", "name"] })
    const declined = await asks("Not filled", { ...form, requested_schema: SCHEMA })
    const answered = await asks("Answered", questions)
    const idOf = async (id: string) => (await stage.asks(id))[0].id
    const reply = async (id: string, body: object) => stage.hub.post(`/api/asks/${await idOf(id)}/answer`, body)
    const content = { count: 3, name: "Jo", urgent: true, colour: "g", tags: ["x", "y"] }
    await reply(accepted.id, { action: "accept", content })
    await reply(declined.id, { action: "decline" })
    const answers = { "Which database?": "Postgres", "Which parts?": "API, Web" }
    const annotations = { "Which database?": { notes: "the small one" } }
    await reply(answered.id, { behavior: "allow", updatedInput: { questions: TWO_QUESTIONS, answers, annotations } })

    const page = await stage.inbox(`/requests/${await idOf(accepted.id)}`)
    const record = detail(page).getByRole("group", { name: "Request" })
    await detail(page)
      .getByText(/^settled \d\d:\d\d:\d\d, (?:immediately|after \d+ s)$/)
      .waitFor()
    await detail(page)
      .getByText(/^You accepted this/)
      .waitFor()
    const pairs = async () => [
      await record.getByRole("term").allTextContents(),
      await record.getByRole("definition").allTextContents(),
    ]
    await record.getByRole("term").first().waitFor()
    const [terms, values] = await pairs()
    expect(terms).toEqual(["How many", "Your name", "Share", "Urgent", "Colour", "Tags", "Day", "Mail", "Page", "Odd"])
    const empty = "Left empty"
    expect(values).toEqual(["3", "Jo", empty, "Yes", "Green", "x, y", empty, empty, empty, empty])
    expect(await record.textContent()).not.toContain("properties")

    await page.goto(`/requests/${await idOf(declined.id)}`)
    await record.getByText("Asked for: Your name, How many, Share").waitFor()
    expect(await record.textContent()).not.toContain("properties")

    await page.goto(`/requests/${await idOf(answered.id)}`)
    await record.getByText("Note: the small one").waitFor()
    expect(await pairs()).toEqual([
      ["DatabaseWhich database?", "PartsWhich parts?"],
      ["PostgresNote: the small one", "API, Web"],
    ])
  })

  check("[K-17] skipped questions are denied in plain words where the CLI knows nothing of skipping", async () => {
    const { id } = await asks("Old and skipped", questions)
    const page = await stage.session(id)
    await armed(page)
    await page.keyboard.press("n")
    await expect.poll(() => stage.states(id), PATIENCE).toEqual(["denied"])
    expect(await answerOf(id)).toMatchObject({ message: "The user chose not to answer these questions." })
    await dock(page)
      .getByText(/^You skipped this/)
      .waitFor()
  })

  check("[K-17] where it does, it is told that they were skipped, and so is everybody else", async () => {
    const agent = await stage.agent({ title: "New and skipped" })
    const capabilities = ["ask_user_question_unanswered_v1"]
    const init = { type: "system", subtype: "init", cwd: "/srv/api", tools: [], claude_code_version: "2.1.325" }
    agent.say({ ...init, model: "claude-test", permissionMode: "default", capabilities })
    const request = agent.request({ tool_use_id: "toolu_skipped", ...questions })
    const [ask] = await stage.waitFor(agent.id, 1)
    expect(ask.skippable).toBe(true)
    const page = await stage.session(agent.id)
    await armed(page)
    await page.keyboard.press("n")
    await expect.poll(() => agent.answersTo(request).length, PATIENCE).toBe(1)
    const words = "The user chose not to answer this question."
    expect((await answerOf(agent.id)).updatedInput).toEqual({
      questions: TWO_QUESTIONS,
      answers: { "Which database?": words, "Which parts?": words },
      annotations: { "Which database?": { unanswered: "skipped" }, "Which parts?": { unanswered: "skipped" } },
    })
    await dock(page)
      .getByText(/^You skipped this/)
      .waitFor()
    await page.goto(`/requests/${ask.id}`)
    const told = () => detail(page).getByRole("definition").allTextContents()
    await expect.poll(told, PATIENCE).toEqual(["Skipped", "Skipped"])
  })

  journey("a plan's parts are commented on, and the comments are quoted to whoever goes on planning", async () => {
    const { id } = await asks("Commented", plan)
    const page = await stage.session(id)
    const item = dock(page).getByRole("listitem").filter({ hasText: "Drop the old table" })
    await item.click({ clickCount: 3 })
    await dock(page)
      .getByRole("button", { name: /^Comment on “Drop the old table/ })
      .click()
    await page.keyboard.type("Keep the data")
    await page.keyboard.press("Enter")
    await dock(page).getByRole("list", { name: "Comments" }).getByText("Keep the data").waitFor()
    // Said once, it is not offered again, and the keys are the request's.
    expect(
      await dock(page)
        .getByRole("button", { name: /^Comment on/ })
        .count(),
    ).toBe(0)
    await expect.poll(() => page.locator("[data-ask]:focus").count(), PATIENCE).toBe(1)
    await armed(page)
    await page.keyboard.press("n")
    await page.keyboard.type("And test it")
    await dock(page).getByRole("button", { name: "Keep planning", exact: true }).click()
    await expect.poll(() => stage.states(id), PATIENCE).toEqual(["denied"])
    expect((await answerOf(id)).message).toBe("> Drop the old table\n\nKeep the data\n\nAnd test it")
    await dock(page)
      .getByText(/^You returned this/)
      .waitFor()
  })

  journey("a plan that was edited says so, and goes out as it was edited", async () => {
    const { id } = await asks("Edited", plan)
    const page = await stage.session(id)
    await armed(page)
    await page.keyboard.press("e")
    await dock(page).getByRole("textbox", { name: "Edit plan" }).fill("1. Keep the table")
    await dock(page).getByRole("button", { name: "Done editing" }).click()
    await dock(page).getByText("Edited", { exact: true }).waitFor()
    await dock(page).getByRole("button", { name: "Approve edited, auto-accept edits" }).click()
    await expect.poll(() => stage.states(id), PATIENCE).toEqual(["allowed"])
    expect(await answerOf(id)).toMatchObject({ updatedInput: { plan: "1. Keep the table" } })
  })

  journey("a plan that is not in the request is asked of its agent", async () => {
    const replies = { get_plan: { exists: true, content: "1. From the file", path: "/p.md" } }
    const { id } = await asks("Asked for", { ...plan, input: {} }, replies)
    const page = await stage.session(id)
    await dock(page).getByRole("group", { name: "Plan" }).getByText("From the file").waitFor()
  })

  journey(
    "[K-21] a plan that stands only in the call is shown with the request about it, to a viewer too",
    async () => {
      const agent = await stage.agent({ title: "In the call" })
      const input = { plan: "1. From the call" }
      const content = [{ type: "tool_use", id: "toolu_plan", name: "ExitPlanMode", input }]
      agent.say({ type: "assistant", parent_tool_use_id: null, message: { role: "assistant", content } })
      agent.request({ ...plan, input: {}, tool_use_id: "toolu_plan" })
      await stage.waitFor(agent.id, 1)
      const [asked] = await stage.asks(agent.id)
      for (const role of ["operator", "viewer"] as const) {
        const page = await stage.inbox(`/requests/${asked?.["id"]}`, { role })
        await page.getByText("From the call").first().waitFor()
      }
    },
  )

  journey("a page elsewhere is opened only on request, and the server's word that it is done is told", async () => {
    const url = "https://auth.example.org/start?code=1"
    const form = { subtype: "elicitation", mcp_server_name: "auth", message: "Sign in", mode: "url", url }
    const agent = await asks("Elsewhere", { ...form, elicitation_id: "e1" })
    const page = await stage.session(agent.id)
    await page.context().route("https://auth.example.org/**", (route) => route.fulfill({ body: "elsewhere" }))
    await dock(page).getByText(url).waitFor()
    await dock(page).locator("[data-ask][data-armed='true']").waitFor()
    const popup = page.context().waitForEvent("page")
    await dock(page).getByRole("button", { name: "Open auth.example.org" }).click()
    expect((await popup).url()).toBe(url)
    await expect.poll(() => stage.states(agent.id), PATIENCE).toEqual(["allowed"])
    await page.goto(`/requests/${(await stage.asks(agent.id))[0].id}`)
    await page.getByText(/Waiting for the server to confirm/).waitFor()
    agent.say({ type: "system", subtype: "elicitation_complete", mcp_server_name: "auth", elicitation_id: "e1" })
    await page.getByText(/The server confirmed/).waitFor()
  })
})
