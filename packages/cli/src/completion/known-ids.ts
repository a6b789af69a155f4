import type { Hub } from "@signalbox/client"
import type { CommandContext } from "../base/command-context.ts"
import { findHub } from "../hub/find-hub.ts"
import { withHub } from "../hub/with-hub.ts"

export type KnownThing = "session" | "ask" | "token" | "run"

const MAX = 200
const PATIENCE_MS = 2_000

/** Ids of the hub that is running, or none: completion never complains, and never keeps anybody waiting. */
export async function knownIds(
  thing: KnownThing,
  { data }: { readonly data: string | undefined },
  context: CommandContext,
): Promise<readonly string[]> {
  if (!isThereHub(data, context)) return []
  const late = new Promise<readonly string[]>((resolve) => setTimeout(resolve, PATIENCE_MS, []).unref())
  const asked = withHub(data === undefined ? {} : { data }, context, (hub) => idsOf(hub, thing)).catch(() => [])
  return Promise.race([asked, late])
}

/** Where there is none nobody is looked for either. */
function isThereHub(data: string | undefined, context: CommandContext): boolean {
  try {
    findHub(data === undefined ? {} : { data }, context)
    return true
  } catch {
    return false
  }
}

async function idsOf(hub: Hub, thing: KnownThing): Promise<readonly string[]> {
  switch (thing) {
    case "session":
      return (await hub.sessions({ limit: MAX })).sessions.map(({ id }) => id)
    case "ask":
      return (await hub.asks({ state: "pending" })).slice(0, MAX).map(({ id }) => id)
    case "run":
      return (await hub.runs.list({ limit: MAX })).runs.map(({ id }) => id)
    case "token": {
      const { tokens } = await hub.tokens.list()
      return tokens.flatMap(({ id, revokedAt }) => (revokedAt === null ? [id] : [])).slice(-MAX)
    }
  }
}
