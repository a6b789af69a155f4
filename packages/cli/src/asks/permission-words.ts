import { isObject, textOf } from "@signalbox/protocol"
import { visibleLine } from "@signalbox/transcript"

const DESTINATIONS: Readonly<Record<string, string>> = {
  session: "for this session",
  localSettings: "in this project, for me",
  projectSettings: "in this project, for everyone",
  userSettings: "in all my projects here",
  cliArg: "as it was started",
}

/** A standing permission in words: "allow Bash(npm ci:*), in this project, for me". */
export function permissionWords(update: unknown): string {
  if (!isObject(update)) return "an unknown permission"
  const where = DESTINATIONS[textOf(update, "destination") ?? ""] ?? `in ${textOf(update, "destination") ?? "?"}`
  return visibleLine(`${whatOf(update)}, ${where}`)
}

function whatOf(update: Readonly<Record<string, unknown>>): string {
  const { rules, directories } = update
  switch (update["type"]) {
    case "addRules":
    case "replaceRules":
    case "removeRules": {
      const verb = update["type"] === "removeRules" ? "no longer " : ""
      const named = Array.isArray(rules) ? [...new Set(rules.map(ruleWords))].join(" and ") : "everything"
      return `${verb}${textOf(update, "behavior") ?? "allow"} ${named}`
    }
    case "setMode":
      return `switch to mode ${textOf(update, "mode") ?? "?"}`
    case "addDirectories":
    case "removeDirectories": {
      const verb = update["type"] === "addDirectories" ? "trust" : "no longer trust"
      return `${verb} ${Array.isArray(directories) ? directories.join(", ") : "a folder"}`
    }
    default:
      return textOf(update, "type") ?? "an unknown permission"
  }
}

function ruleWords(rule: unknown): string {
  const content = textOf(rule, "ruleContent")
  const tool = textOf(rule, "toolName") ?? "a tool"
  return content === undefined ? tool : `${tool}(${content})`
}
