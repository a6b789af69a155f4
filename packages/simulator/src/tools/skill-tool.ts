import { textOf } from "@signalbox/protocol/envelope"
import type { AgentCore } from "../agent/core.ts"
import type { OwnPage } from "../profiles/profile.ts"
import { type Tool, type ToolRun, toolFailure } from "./tool.ts"

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
    if (page === undefined) return outcome
    const says = textWith(page, textOf(run.input, "args") ?? "")
    return { ...outcome, says }
  },
}

function nameOf({ input }: ToolRun): string {
  return (textOf(input, "skill") ?? "").replace(/^\//, "")
}

function pageOf({ launch }: AgentCore, name: string): OwnPage | undefined {
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
