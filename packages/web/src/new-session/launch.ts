import type { LaunchRequest } from "@signalbox/client"
import type { AgentChoice } from "./agent-choices.ts"

export const BYPASS = "bypassPermissions"
/** What somebody types who means it. */
export const BYPASS_WORD = "bypass"

/** What stands in the form. Empty: left to the machine. */
export interface LaunchFields {
  readonly agent: AgentChoice["value"] | undefined
  readonly machine: string | undefined
  readonly cwd: string
  readonly prompt: string
  readonly title: string
  readonly model: string
  readonly mode: string
  readonly confirmation: string
  readonly resume: string | undefined
  readonly isFork: boolean
}

export interface FieldProblem {
  readonly field: "cwd" | "confirmation"
  readonly why: string
}

/** The first thing that somebody has to mend before it can be sent. */
export function problemOf(fields: LaunchFields): FieldProblem | undefined {
  if (fields.agent === "external") return undefined
  if (fields.cwd === "" && fields.resume === undefined) return { field: "cwd", why: "Say in which folder it works." }
  if (fields.mode === BYPASS && fields.confirmation !== BYPASS_WORD)
    return { field: "confirmation", why: `Type “${BYPASS_WORD}” if you mean it.` }
  return undefined
}

export function requestOf(fields: LaunchFields): LaunchRequest {
  const { agent, machine, cwd, prompt, title, model, mode, resume, isFork } = fields
  const said = {
    ...(agent === undefined ? {} : { agent }),
    ...(prompt === "" ? {} : { prompt }),
    ...(title === "" ? {} : { title }),
  }
  if (agent === "external") return said
  return {
    ...said,
    ...(cwd === "" ? {} : { cwd }),
    ...(model === "" ? {} : { model }),
    ...(mode === "" ? {} : { permissionMode: mode }),
    ...(machine === undefined ? {} : { runner: machine }),
    ...(resume === undefined ? {} : { resume, ...(isFork ? { fork: true } : {}) }),
  }
}
