import type { Hub, Runner } from "@signalbox/client"

/** What people call a machine is a runner to the hub. */
export type Machine = Runner

export async function readMachines(hub: Hub): Promise<readonly Machine[]> {
  const runners = await hub.runners.list()
  return runners.toSorted((a, b) => Number(b.connected) - Number(a.connected) || a.name.localeCompare(b.name))
}

interface MadeToken {
  readonly token: string
}

/** What a new runner shows at the door. The hub tells it this once. */
export async function makeRunnerToken(hub: Hub, name: string): Promise<string> {
  const made = await hub.request<MadeToken>({ method: "POST", path: "/api/tokens", body: { role: "runner", name } })
  return made.token
}
