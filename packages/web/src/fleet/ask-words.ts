import type { Ask } from "@signalbox/client"
import { fieldOf, isObject } from "@signalbox/protocol/envelope"
import { oneLine } from "../design/visible-text.tsx"
import { shortPath } from "../design/words.ts"

type AskLike = Pick<Ask, "kind" | "request" | "toolName" | "input">

function text(source: Readonly<Record<string, unknown>> | undefined, field: string): string | undefined {
  const value = source?.[field]
  return typeof value === "string" && value !== "" ? value : undefined
}

/** The request as a heading: the CLI's own words, or ours. */
export function headingOf(ask: AskLike): string {
  const hasOwnWords = ask.kind === "elicitation" || ask.kind === "dialog"
  // Tools, questions and plans have only the tool's bare name here: our words say more.
  const own = text(ask.request, "title") ?? (hasOwnWords ? text(ask.request, "display_name") : undefined)
  if (own !== undefined) return oneLine(own, 120)
  const { input } = ask
  switch (ask.kind) {
    case "question":
      return "Claude has a question"
    case "plan":
      return "Approve plan"
    case "elicitation":
      return `${oneLine(text(ask.request, "mcp_server_name") ?? "An MCP server", 60)} asks for information`
    case "dialog":
      return `Dialog: ${oneLine(text(ask.request, "dialog_kind") ?? "unknown kind", 60)}`
    case "tool":
      return toolHeading(ask.toolName ?? "a tool", input)
  }
}

function toolHeading(tool: string, input: Ask["input"]): string {
  const path = text(input, "file_path") ?? text(input, "notebook_path")
  const file = path === undefined ? "a file" : oneLine(shortPath(path), 80)
  switch (tool) {
    case "Bash":
      return "Run a command"
    case "Edit":
    case "MultiEdit":
    case "NotebookEdit":
      return `Edit ${file}`
    case "Write":
      return `Write ${file}`
    case "Read":
      return `Read ${file}`
    case "WebFetch":
      return `Fetch ${oneLine(hostOf(text(input, "url")) ?? "a page", 60)}`
    case "WebSearch":
      return "Search the web"
  }
  const mcp = /^mcp__(.+?)__(.+)$/.exec(tool)
  return mcp === null ? `Use ${oneLine(tool, 60)}` : `Use ${oneLine(mcp[2] ?? "", 60)} (${oneLine(mcp[1] ?? "", 40)})`
}

function hostOf(url: string | undefined): string | undefined {
  return url === undefined || !URL.canParse(url) ? url : new URL(url).host
}

/** One line that tells it apart in a list. */
export function summaryOf(ask: AskLike): string {
  const { input } = ask
  const questions = input?.["questions"]
  if (ask.kind === "question" && Array.isArray(questions)) {
    const first: unknown = questions[0]
    if (isObject(first) && "question" in first) return oneLine(String(first["question"]), 160)
  }
  if (ask.kind === "plan") return `Plan: ${firstWords(text(input, "plan") ?? "")}`
  if (ask.kind === "elicitation") return oneLine(text(ask.request, "message") ?? headingOf(ask), 160)
  const command = text(input, "command")
  if (ask.toolName === "Bash" && command !== undefined) return `$ ${oneLine(command, 160)}`
  return headingOf(ask)
}

/** The first line of a plan, without the marks of its markup. */
function firstWords(plan: string): string {
  const line = plan.split("\n").find((one) => /\w/.test(one)) ?? ""
  return oneLine(line.replace(/^[\s#>*-]+/, "").replaceAll(/\*\*|__|`/g, ""), 160)
}

/** Whether the line that tells a request apart is the command itself: code, not words. */
export function isCommand({ toolName, input }: Pick<Ask, "toolName" | "input">): boolean {
  return toolName === "Bash" && text(input, "command") !== undefined
}

export const MAIN_AGENT = "main agent"

/** Names the agent of a session that asks. */
export function agentWords({ request }: Pick<Ask, "request">): string {
  const agent = text(request, "agent_id")
  return agent === undefined ? MAIN_AGENT : `sub-agent ${oneLine(agent, 40)}`
}

const WORDS: ReadonlyMap<string, string> = new Map([
  ["pending", "Waiting for an answer"],
  ["allowed", "Allowed"],
  ["denied", "Denied"],
  ["expired", "Expired"],
  ["cancelled", "Withdrawn"],
  ["superseded", "Replaced"],
  ["orphaned", "Agent ended"],
  ["settled", "Answered"],
])

/** An ask's state, in a word. */
export function outcomeWords(outcome: string): string {
  return WORDS.get(outcome) ?? outcome
}

const VERBS: Readonly<Record<Ask["kind"], readonly [allowed: string, denied: string]>> = {
  tool: ["Allowed", "Denied"],
  question: ["Answered", "Skipped"],
  plan: ["Approved", "Returned"],
  elicitation: ["Accepted", "Declined"],
  dialog: ["Answered", "Cancelled"],
}

interface Settled extends Pick<Ask, "kind"> {
  readonly state: string
  readonly answer?: Ask["answer"] | undefined
}

/** The verb for an ask that somebody or some rule answered, by its kind. */
export function outcomeVerb({ kind, state, answer }: Settled): string {
  if (state !== "allowed" && state !== "denied") return outcomeWords(state)
  // Told to the agent as an answer, and none all the same.
  if (kind === "question" && isSkipped(answer)) return VERBS.question[1]
  return VERBS[kind][state === "allowed" ? 0 : 1]
}

/** Whether an answer to questions says of all of them that they were skipped. */
function isSkipped(answer: Ask["answer"]): boolean {
  const notes = Object.values(fieldOf(fieldOf(answer, "updatedInput"), "annotations") ?? {})
  return notes.length > 0 && notes.every((note) => isObject(note) && note["unanswered"] === "skipped")
}

/** The page of a rule. A grant is a rule too, and has its own page. */
export function ruleAddress(id: string): string {
  const [, grant] = /^grant:([^.]+)/.exec(id) ?? []
  return grant === undefined ? `/policy?rule=${encodeURIComponent(id)}` : `/policy/grants?grant=${grant}`
}

/** Open asks, the longest wait first. */
export function openAsks(asks: ReadonlyMap<string, Ask>, session?: string): readonly Ask[] {
  return [...asks.values()]
    .filter((ask) => ask.state === "pending" && (session === undefined || ask.sessionId === session))
    .sort((a, b) => (a.askedAt < b.askedAt ? -1 : Number(a.askedAt > b.askedAt)) || a.seq - b.seq)
}
