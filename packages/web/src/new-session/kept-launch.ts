import { isObject } from "@signalbox/protocol/envelope"
import type { LaunchFields } from "./launch.ts"

/** What stood in the form of a launch, by its session: one that came to nothing can be mended and tried again. */
const KEY = "signalbox:launch"

type Kept = Partial<Readonly<Record<keyof LaunchFields, unknown>>>

export function keepLaunch(session: string, fields: LaunchFields): void {
  try {
    // The last one is enough, and no confirmation is given by an earlier one.
    sessionStorage.setItem(KEY, JSON.stringify({ session, fields: { ...fields, confirmation: "" } }))
  } catch {
    // Then the form is empty.
  }
}

export function readLaunch(session: string | null): (name: keyof LaunchFields) => string {
  const kept = session === null ? {} : keptOf(session)
  return (name) => {
    const value = kept[name]
    return typeof value === "string" ? value : ""
  }
}

function keptOf(session: string): Kept {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "null")
    return isObject(kept) && kept["session"] === session && isObject(kept["fields"]) ? kept["fields"] : {}
  } catch {
    return {}
  }
}
