import type { HostRequest } from "./host-inbox.ts"

/** The answer to what a recording has none for. `initialize` and an interrupt succeed: a host would give up otherwise. */
export function strayAnswer({ id, subtype }: HostRequest): Record<string, unknown> {
  if (subtype === "initialize") {
    const lists = { commands: [], agents: [], models: [], available_output_styles: ["default"] }
    return { subtype: "success", request_id: id, response: { ...lists, output_style: "default", account: {} } }
  }
  if (subtype === "interrupt") return { subtype: "success", request_id: id }
  const error = `The recording has no answer to ${subtype}: record a conversation in which the host asks it.`
  return { subtype: "error", request_id: id, error }
}
