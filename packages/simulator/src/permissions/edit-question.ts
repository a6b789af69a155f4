import { basename, relative, resolve } from "node:path"
import { textOf } from "@signalbox/protocol/envelope"
import type { Fields } from "../profiles/profile.ts"
import { isInside } from "./bash-command.ts"
import type { Question } from "./decide.ts"
import { findRule, type PermissionState } from "./permission-state.ts"
import { type Call, EDITS } from "./rules.ts"

export const ACCEPT_EDITS: Fields = { type: "setMode", mode: "acceptEdits", destination: "session" }
const OUTSIDE = { text: "Path is outside allowed working directories", type: "workingDir" }

/** What others run, or what says what an agent may do: the newest asks about it in every mode. */
const SENSITIVE_FOLDERS = new Set([".git", ".vscode", ".idea", ".husky"])
const SENSITIVE_FILES = new Set(
  ".gitconfig .gitmodules .bashrc .bash_profile .zshrc .zprofile .profile .ripgreprc .mcp.json .claude.json".split(" "),
)

/** What would be asked about a change to a file; undefined where nothing has to be. */
export function editQuestion(state: PermissionState, call: Call): Question | undefined {
  const { input, cwd, quirks } = call
  const path = resolve(cwd, textOf(input, "file_path") ?? textOf(input, "notebook_path") ?? "")
  const inside = [cwd, ...state.directories].some((folder) => isInside(path, folder))
  const description = isInside(path, cwd) ? relative(cwd, path) : path
  const mode = state.mode === "acceptEdits" ? [] : [ACCEPT_EDITS]
  const danger = quirks.guardsFiles ? dangerOf(path, cwd) : undefined
  if (danger !== undefined && state.mode !== "plan") {
    const reason = { text: danger, type: "safetyCheck" }
    return { description, suggestions: [...mode, ...skillRule(path, cwd)], reason }
  }
  if (state.mode === "acceptEdits" && inside) return undefined
  if (state.mode === "plan" && quirks.asksInPlanMode) return { description, reasonType: "mode" }
  if (inside) return { description, suggestions: [ACCEPT_EDITS], policyAskOnly: true }
  const directories = { type: "addDirectories", directories: [resolve(path, "..")], destination: "session" }
  return { description, suggestions: [...mode, directories], reason: OUTSIDE, policyAskOnly: true }
}

/** What lies outside of the folders of this session is not read unasked. */
export function readQuestion(state: PermissionState, { input, cwd }: Call): Question | undefined {
  const path = resolve(cwd, textOf(input, "file_path") ?? "")
  if ([cwd, ...state.directories].some((folder) => isInside(path, folder))) return undefined
  const rules = [{ toolName: "Read", ruleContent: `/${resolve(path, "..")}/**` }]
  const suggestions = [{ type: "addRules", rules, behavior: "allow", destination: "session" }]
  return { description: path, suggestions, reason: OUTSIDE, policyAskOnly: true }
}

interface FileDenial {
  readonly message: string
  /** The rule is in the user's own settings. */
  readonly isUsers: boolean
}

/** Why a file may not be touched at all: told before anyone is asked. */
export function fileDenial(state: PermissionState, call: Call): FileDenial | undefined {
  const isEdit = EDITS.has(call.toolName)
  if (!isEdit && call.toolName !== "Read") return undefined
  const own = findRule(state, "deny", call)
  const unreadable =
    isEdit && call.quirks.guardsFiles ? findRule(state, "deny", { ...call, toolName: "Read" }) : undefined
  const rule = own ?? unreadable
  if (rule?.ruleContent === undefined) return undefined
  const message =
    own === undefined
      ? "File is covered by a Read deny rule in your permission settings and cannot be edited."
      : "File is in a directory that is denied by your permission settings."
  return { message, isUsers: rule.source === "userSettings" || rule.source === "localSettings" }
}

function dangerOf(path: string, cwd: string): string | undefined {
  const folders = relative(cwd, path).split("/").slice(0, -1)
  if (folders.some((folder) => SENSITIVE_FOLDERS.has(folder)) || SENSITIVE_FILES.has(basename(path))) {
    return `Claude requested permissions to edit ${path} which is a sensitive file.`
  }
  if (folders[0] !== ".claude") return undefined
  return `Claude requested permissions to write to ${path}, but you haven't granted it yet.`
}

/** A skill may be worked on as a whole. */
function skillRule(path: string, cwd: string): Fields[] {
  const skill = /^\.claude\/skills\/[^/]+/.exec(relative(cwd, path))?.[0]
  if (skill === undefined) return []
  const rules = [{ toolName: "Edit", ruleContent: `/${skill}/**` }]
  return [{ type: "addRules", rules, behavior: "allow", destination: "session" }]
}
