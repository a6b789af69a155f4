import { isObject } from "@signalbox/protocol/envelope"
import type { LaunchFields } from "./launch.ts"

/** What stood in the form of a launch, by its session: one that came to nothing can be mended and tried again. */
const LAUNCH = "signalbox:launch"
/** What stands in a form that was not sent, by its address: it is there again after a slip. */
const DRAFT = "signalbox:launch-draft"

type Kept = Partial<Readonly<Record<keyof LaunchFields, unknown>>>
/** Empty where nothing stood. */
export type Before = (name: keyof LaunchFields) => string

export function keepLaunch(session: string, fields: LaunchFields): void {
  keep(LAUNCH, session, fields)
}

export function keepDraft(query: string, fields: LaunchFields): void {
  keep(DRAFT, query, fields)
}

export function forgetDraft(): void {
  try {
    sessionStorage.removeItem(DRAFT)
  } catch {
    // Then there was none.
  }
}

export function readBefore(query: URLSearchParams): Before {
  const again = query.get("again")
  const kept = keptOf(DRAFT, String(query)) ?? (again === null ? undefined : keptOf(LAUNCH, again)) ?? {}
  return (name) => {
    const value = kept[name]
    if (typeof value === "boolean") return value ? "yes" : ""
    return typeof value === "string" ? value : ""
  }
}

/** The last one is enough, and no confirmation is given by an earlier one. */
function keep(key: string, of: string, fields: LaunchFields): void {
  try {
    sessionStorage.setItem(key, JSON.stringify({ of, fields: { ...fields, confirmation: "" } }))
  } catch {
    // Then the form is empty.
  }
}

function keptOf(key: string, of: string): Kept | undefined {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(key) ?? "null")
    return isObject(kept) && kept["of"] === of && isObject(kept["fields"]) ? kept["fields"] : undefined
  } catch {
    return undefined
  }
}
