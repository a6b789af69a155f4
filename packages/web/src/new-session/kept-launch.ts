import { isObject } from "@signalbox/protocol/envelope"
import { keepStored, ofTab, readStored } from "../app/stored.ts"
import type { LaunchFields } from "./launch.ts"

/** The form of a launch, by its session: one that came to nothing can be mended and tried again. */
const LAUNCH = "signalbox:launch"
/** The draft of a form that was not sent, by its address: it is there again after a slip. */
const DRAFT = "signalbox:launch-draft"

type Kept = Partial<Readonly<Record<keyof LaunchFields, unknown>>>
/** Empty where nothing stood. */
type Before = (name: keyof LaunchFields) => string

/** The conversation that a launch goes on from. */
interface StartBefore {
  /** The session, or the conversation of the CLI's, that is offered beside those of the folder. */
  readonly asked: string | undefined
  readonly resume: string | undefined
  readonly isFork: boolean
  /** The message that it was to begin after. */
  readonly resumeAt: string | undefined
  /** The event of the asked one that the address names; 0 for none. */
  readonly at: number
}

export function keepLaunch(session: string, fields: LaunchFields): void {
  keep(LAUNCH, session, fields)
}

export function keepDraft(query: string, fields: LaunchFields): void {
  keep(DRAFT, query, fields)
}

/** A launch that was sent came to nothing: it is there again, unless something else was written meanwhile. */
export function restoreDraft(query: string, fields: LaunchFields): void {
  if (readStored(DRAFT, ofTab) === undefined) keepDraft(query, fields)
}

export function forgetDraft(): void {
  try {
    sessionStorage.removeItem(DRAFT)
  } catch {
    // Then there was none.
  }
}

export function readBefore(query: URLSearchParams): Before {
  const kept = keptFor(query) ?? {}
  return (name) => textIn(kept, name) ?? ""
}

/** Whether a box was ticked. */
export function readTicked(query: URLSearchParams, name: "worktree"): boolean {
  return keptFor(query)?.[name] === true
}

/** Machine and folder may be in the address too. Kept values win, even empty ones: somebody emptied them on purpose. */
export function readPlaceBefore(query: URLSearchParams): { readonly machine: string; readonly cwd: string | null } {
  const kept = keptFor(query)
  if (kept === undefined) return { machine: query.get("runner") ?? "", cwd: query.get("cwd") }
  return { machine: textIn(kept, "machine") ?? "", cwd: textIn(kept, "cwd") ?? "" }
}

export function readStartBefore(query: URLSearchParams): StartBefore {
  const kept = keptFor(query)
  const at = Number(query.get("at") ?? "0")
  const inAddress = query.get("fork") ?? query.get("resume") ?? undefined
  if (kept === undefined) {
    const isFork = query.get("fork") !== null || query.get("at") !== null
    return { asked: inAddress, resume: inAddress, isFork, resumeAt: undefined, at }
  }
  const resume = textIn(kept, "resume")
  const asked = inAddress ?? resume
  const resumeAt = resume === asked ? textIn(kept, "resumeAt") : undefined
  return { asked, resume, isFork: kept.isFork === true, resumeAt, at }
}

function keptFor(query: URLSearchParams): Kept | undefined {
  const again = query.get("again")
  return keptOf(DRAFT, String(query)) ?? (again === null ? undefined : keptOf(LAUNCH, again))
}

function textIn(kept: Kept, name: keyof LaunchFields): string | undefined {
  const value = kept[name]
  return typeof value === "string" ? value : undefined
}

/** The last one is enough, and no confirmation is given by an earlier one. */
function keep(key: string, of: string, fields: LaunchFields): void {
  keepStored(key, { of, fields: { ...fields, confirmation: "" } }, ofTab)
}

function keptOf(key: string, of: string): Kept | undefined {
  const kept = readStored(key, ofTab)
  return isObject(kept) && kept["of"] === of && isObject(kept["fields"]) ? kept["fields"] : undefined
}
