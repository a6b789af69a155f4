import type { Hub } from "@signalbox/client"

/** A machine that runs agents, as the hub tells of it. */
export interface Machine {
  readonly id: string
  readonly name: string
  readonly connected: boolean
  /** Takes no new agents, because an admin said so. */
  readonly draining: boolean
  readonly seenAt: string
  readonly agents: number
  /** 0: as many as fit. */
  readonly maxAgents: number
  readonly labels: readonly string[]
  readonly host: string
  readonly platform: string
  /** Of the runner itself. */
  readonly version: string
  readonly cliVersions: readonly string[]
  readonly hasSimulator: boolean
  readonly memoryBytes?: number
  /** Of its agents, in per cent of one core. */
  readonly cpuPercent?: number
  readonly freeMemoryBytes?: number
  readonly loadAverage?: number
  readonly usage?: readonly { readonly session: string; readonly memoryBytes: number; readonly cpuPercent: number }[]
}

export async function readMachines(hub: Hub): Promise<readonly Machine[]> {
  const { runners } = await hub.request<{ runners: readonly Machine[] }>({
    method: "GET",
    path: "/api/runners",
    repeatable: true,
  })
  return runners.toSorted((a, b) => Number(b.connected) - Number(a.connected) || a.name.localeCompare(b.name))
}

export async function drainMachine(hub: Hub, id: string, draining: boolean): Promise<void> {
  await hub.request({ method: "PATCH", path: `/api/runners/${encodeURIComponent(id)}`, body: { draining } })
}

export async function removeMachine(hub: Hub, id: string): Promise<void> {
  await hub.request({ method: "DELETE", path: `/api/runners/${encodeURIComponent(id)}` })
}

interface MadeToken {
  readonly token: string
}

/** What a new runner shows at the door. The hub tells it this once. */
export async function makeRunnerToken(hub: Hub, name: string): Promise<string> {
  const made = await hub.request<MadeToken>({ method: "POST", path: "/api/tokens", body: { role: "runner", name } })
  return made.token
}
