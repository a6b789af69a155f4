import { fieldOf, isObject, textOf } from "@signalbox/protocol/envelope"
import { objectsIn } from "../json.ts"
import type { McpToolResult } from "../mcp/servers.ts"
import { setMode } from "../permissions/rules.ts"
import type { Fields, OwnPage } from "../profiles/profile.ts"
import type { Files } from "./files.ts"
import { planFile, type Tool, type ToolOutcome, type ToolOwner, type ToolRun, toolFailure } from "./toolbox.ts"

// Tools that keep the agent's own books: todos, plans, questions.

export function ownTools(files: Files): Record<string, Tool> {
  return {
    TodoWrite: todoTool(),
    AskUserQuestion: questionTool,
    EnterPlanMode: enterPlanTool,
    ExitPlanMode: exitPlanTool(files),
    StructuredOutput: structuredOutputTool,
    WebFetch: {
      run: async ({ input }) =>
        toolFailure(`Unable to fetch ${textOf(input, "url") ?? ""}: this is a simulation and reaches no network.`),
    },
    WebSearch: { run: async () => ({ content: "No results: this is a simulation.", structured: { results: [] } }) },
  }
}

function todoTool(): Tool {
  let current: unknown = []
  return {
    async run({ core, input }) {
      const oldTodos = current
      const newTodos = input["todos"] ?? []
      current = newTodos
      const content =
        "Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress. " +
        "Please proceed with the current tasks if applicable"
      const nudge = core.profile.quirks.toolFormat === "detailed" ? { verificationNudgeNeeded: false } : {}
      return { content, structured: { oldTodos, newTodos, ...nudge } }
    },
  }
}

const questionTool: Tool = {
  async run({ core, input }) {
    const answers = fieldOf(input, "answers")
    const { readsAnswers } = core.profile.quirks
    const annotations = readsAnswers ? fieldOf(input, "annotations") : undefined
    const told = annotations === undefined ? {} : { annotations }
    const structured = { questions: input["questions"], answers: answers ?? {}, ...told }
    if (answers === undefined && readsAnswers) {
      return { content: "The user did not answer the questions.", structured, idLast: true }
    }
    const pairs = Object.entries(answers ?? {})
      .map(([question, answer]) => `"${question}"="${String(answer)}"`)
      .join(", ")
    if (readsAnswers && hasOwnWords(input["questions"], answers ?? {})) {
      const heed =
        "Read the answers carefully — they may request clarification, changes, or that you not proceed — and follow what they actually say."
      return { content: `The user answered: ${pairs}. ${heed}`, structured, idLast: true }
    }
    const content = readsAnswers
      ? `Your questions have been answered: ${pairs}. You can now continue with these answers in mind.`
      : `User has answered your questions: ${pairs}. You can now continue with the user's answers in mind.`
    return { content, structured, idLast: true }
  },
}

/** Whether somebody answered with words that no option has. */
function hasOwnWords(questions: unknown, answers: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(answers).some(([asked, answer]) => {
    const question = objectsIn(questions).find((each) => each["question"] === asked)
    const labels = objectsIn(question?.["options"]).map((option) => option["label"])
    const said = String(answer)
    return !labels.includes(said) && said.split(", ").some((part) => !labels.includes(part))
  })
}

const PLAN_MODE =
  "Entered plan mode. You should now focus on exploring the codebase and designing an implementation approach."

const enterPlanTool: Tool = {
  async run({ core }) {
    core.state.permissions = setMode(core.state.permissions, "plan")
    core.wire.system("status", { status: null, permissionMode: "plan" }, "uuid")
    return { content: PLAN_MODE, structured: { message: PLAN_MODE }, idLast: true }
  },
}

function exitPlanTool(files: Files): Tool {
  return {
    async run({ core, input }) {
      const path = planFile(core)
      const written = files.read(path)
      const passed = textOf(input, "plan")
      const plan = written ?? (core.profile.quirks.passedPlan === "kept" ? passed : undefined) ?? null
      if (plan !== null && passed !== undefined && passed !== written) files.write(path, passed)
      if (core.state.permissions.mode === "plan") {
        core.state.permissions = setMode(core.state.permissions, core.state.permissions.modeBeforePlan)
        core.wire.system("status", { status: null, permissionMode: core.state.permissions.mode }, "uuid")
      }
      const content =
        plan === null
          ? "User has approved exiting plan mode. You can now proceed."
          : `User has approved your plan. You can now start coding. Start with updating your todo list if applicable\n\nYour plan has been saved to: ${path}\n\n## Approved Plan:\n${passed ?? plan}`
      return { content, structured: { plan, isAgent: false, filePath: path }, idLast: true }
    },
  }
}

const structuredOutputTool: Tool = {
  async run({ core, input }) {
    // The validator is loaded where a host wants output of a form of its own.
    const { schemaProblems } = await import("./schema-problems.ts")
    const problems = schemaProblems(core.state.jsonSchema ?? {}, input, core.profile.quirks.detailsSchemaErrors)
    if (problems.length > 0) return toolFailure(`Output does not match required schema: ${problems.join(", ")}`)
    const content = "Structured output provided successfully"
    return { content, structured: content }
  },
}

/** Hands the model a skill's text. Of the vendor's own skills there is only the name. */
export const skillTool: Tool = {
  check(run) {
    const name = nameOf(run)
    const { skills } = run.core.profile.catalog
    return pageOf(run.core, name) === undefined && !skills.includes(name) ? `Unknown skill: ${name}` : undefined
  },
  async run(run) {
    const name = nameOf(run)
    const { skills } = run.core.profile.catalog
    const page = pageOf(run.core, name)
    if (page === undefined && !skills.includes(name)) return toolFailure(`Unknown skill: ${name}`)
    const outcome = {
      content: `Launching skill: ${name}`,
      structured: { success: true, commandName: name },
      typeFirst: true,
    }
    return page === undefined ? outcome : { ...outcome, says: textWith(page, textOf(run.input, "args") ?? "") }
  },
}

function nameOf({ input }: ToolRun): string {
  return (textOf(input, "skill") ?? "").replace(/^\//, "")
}

function pageOf({ launch }: ToolOwner, name: string): OwnPage | undefined {
  return [...launch.pages.skills, ...launch.pages.commands].find(({ info }) => info.name === name)
}

/** Its text, with what it was called with in the places for it, or else at its end. */
function textWith({ body, folder }: OwnPage, args: string): string {
  const words = args.split(/\s+/)
  const filled = body
    .replaceAll(/\$ARGUMENTS\[(\d+)\]|\$(\d+)/g, (_, a?: string, b?: string) => words[Number(a ?? b)] ?? "")
    .replaceAll("$ARGUMENTS", () => args)
  const text = folder === undefined ? filled : `Base directory for this skill: ${folder}\n\n${filled}`
  return filled === body && args !== "" ? `${text}\n\nARGUMENTS: ${args}` : text
}

// Tools that show what MCP servers have besides their own tools.

export const resourceTools: Record<string, Tool> = {
  ListMcpResourcesTool: { run: listResources },
  ReadMcpResourceTool: { run: readResource },
}

async function listResources({ core, input, signal }: ToolRun) {
  const wanted = textOf(input, "server")
  const servers = core.mcp.withResources()
  if (wanted !== undefined && !core.mcp.has(wanted)) return toolFailure(notFound(wanted, servers))
  const lists = servers
    .filter((server) => wanted === undefined || server === wanted)
    .map(async (server) => {
      const listed = await core.mcp.ask(server, () => ({ method: "resources/list" }), signal)
      const resources = "failed" in listed ? [] : listed.result["resources"]
      return objectsIn(resources).map((each) => listedResource(each, server))
    })
  const structured = (await Promise.all(lists)).flat()
  return { content: JSON.stringify(structured), structured }
}

function listedResource({ name, uri, mimeType, ...rest }: Readonly<Fields>, server: string): Fields {
  return { name, uri, ...(mimeType === undefined ? {} : { mimeType }), ...rest, server }
}

async function readResource({ core, input, signal }: ToolRun) {
  const server = textOf(input, "server") ?? ""
  if (!core.mcp.has(server)) return toolFailure(notFound(server, core.mcp.withResources()))
  const params = { uri: textOf(input, "uri") ?? "" }
  const read = await core.mcp.ask(server, () => ({ method: "resources/read", params }), signal)
  if ("failed" in read) return toolFailure(read.failed)
  const structured = { contents: objectsIn(read.result["contents"]).map(readContent) }
  return { content: JSON.stringify(structured), structured }
}

function readContent({ uri, mimeType, text, ...rest }: Readonly<Fields>): Fields {
  const type = mimeType === undefined ? {} : { mimeType }
  return { uri, ...type, ...(text === undefined ? rest : { text }) }
}

function notFound(server: string, servers: readonly string[]): string {
  return `Server "${server}" not found. Available servers: ${servers.join(", ")}`
}

/** The outcome of an MCP server's tool, as a result tells it. */
export function mcpOutcome(
  { profile }: ToolOwner,
  result: McpToolResult,
  called: { server: string; name: string },
): ToolOutcome {
  const { content, isError } = result
  if (isError) {
    const text = content.map((block) => textOf(block, "text") ?? "").join("\n")
    return { content: text, isError: true, structured: `Error: ${text}` }
  }
  const shown = { ...result, content: content.map((block) => shownBlock(block, called.server)) }
  if (!profile.quirks.mergesMcpContent) return olderOutcome(shown)
  const outcome = newestOutcome(shown)
  // A model must not be left with nothing.
  return outcome.content.length > 0 ? outcome : { ...outcome, content: `(${called.name} completed with no output)` }
}

/** A picture as the model's API takes it, and a text that came as a resource. */
function shownBlock(block: unknown, server: string): unknown {
  if (!isObject(block)) return block
  if (block["type"] === "image") {
    return { type: "image", source: { data: block["data"], media_type: block["mimeType"], type: "base64" } }
  }
  const text = block["type"] === "resource" ? textOf(block["resource"], "text") : undefined
  if (text === undefined) return block
  return textBlock(`[Resource from ${server} at ${textOf(block["resource"], "uri")}] ${text}`)
}

/** Older generations know structured content or the other, never both. */
function olderOutcome({ content, structuredContent }: McpToolResult): ToolOutcome {
  if (structuredContent === undefined) return { content, structured: content }
  const text = JSON.stringify(structuredContent)
  return { content: text, structured: { content: text, structuredContent } }
}

/** The newest generation writes links out for the model, and lets structured content stand for text. */
function newestOutcome({ content, structuredContent }: McpToolResult): ToolOutcome {
  const links = objectsIn(content).filter(isLink)
  const others = structuredContent === undefined ? content.filter((block) => !isLink(block)) : []
  const told = [
    ...others,
    ...links.map((link) => textBlock(`[Resource link: ${textOf(link, "name")}] ${textOf(link, "uri")}`)),
    ...(structuredContent === undefined ? [] : [textBlock(JSON.stringify(structuredContent))]),
  ]
  if (links.length === 0 && structuredContent === undefined) return { content: told, structured: told }
  const structured: Fields = {
    content: told,
    ...(structuredContent === undefined ? {} : { structuredContent }),
    ...(links.length === 0 ? {} : { resourceLinks: links.map(({ uri, name }) => ({ uri, name })) }),
  }
  return { content: told, structured }
}

function isLink(block: unknown): boolean {
  return textOf(block, "type") === "resource_link"
}

function textBlock(text: string): Fields {
  return { type: "text", text }
}
