import type { Hub } from "@signalbox/hub"
import { isObject, textOf } from "@signalbox/protocol"

/** How many agents live on runners of this hub, as far as one page of its sessions tells. */
export async function livingAgents(hub: Hub): Promise<number> {
  try {
    const reply = await fetch(`${hub.address.url}/api/sessions?limit=500`, {
      headers: { authorization: `Bearer ${hub.admin.token}` },
    })
    const body: unknown = await reply.json()
    const sessions = isObject(body) ? body["sessions"] : []
    return Array.isArray(sessions) ? sessions.filter((session) => textOf(session, "transport") === "runner").length : 0
  } catch {
    return 0
  }
}
