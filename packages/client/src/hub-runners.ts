import type { Rest } from "./rest.ts"

/** A machine that runs agents, as the hub tells of it. A newer hub may tell more than is listed here. */
export interface Runner {
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
  /** Version of the runner itself. */
  readonly version: string
  readonly cliVersions: readonly string[]
  readonly hasSimulator: boolean
  /** The home directory of whom it runs as; older ones do not tell. */
  readonly home?: string
  /** The `claude` that it would start, or why there is none. */
  readonly claudePath?: string
  readonly claudeProblem?: string
  /** How its agents would sign in; null: no way was found. Absent when it cannot tell. */
  readonly signIn?: string | null
  /** Memory of the runner and its agents together, while the runner is connected. */
  readonly memoryBytes?: number
  /** Its agents' processor use, in per cent of one core. */
  readonly cpuPercent?: number
  readonly freeMemoryBytes?: number
  readonly loadAverage?: number
  readonly usage?: readonly { readonly session: string; readonly memoryBytes: number; readonly cpuPercent: number }[]
}

/** What a runner did and what it could not, in its own words. */
export interface RunnerLogLine {
  readonly at: string
  /** `info`, `warn` or `error`; a newer runner may have others. */
  readonly level: string
  readonly text: string
  /** The session that it is about. */
  readonly session?: string
}

export interface HubRunners {
  /** Those that are away too. */
  list(): Promise<readonly Runner[]>
  /** Whether it takes new agents; those that are there go on. */
  drain(id: string, draining: boolean): Promise<void>
  /** The last lines of its log, the newest last; only of one that is connected. `more`: there are older ones. */
  log(
    id: string,
    options?: { readonly lines?: number },
  ): Promise<{ readonly lines: readonly RunnerLogLine[]; readonly more: boolean }>
  /** Only one that is away. */
  forget(id: string): Promise<void>
}

export function hubRunners(rest: Rest): HubRunners {
  const pathOf = (id: string) => `/api/runners/${encodeURIComponent(id)}`
  return {
    list: async () => {
      const call = { method: "GET", path: "/api/runners", repeatable: true } as const
      return (await rest.call<{ readonly runners: readonly Runner[] }>(call)).runners
    },
    drain: async (id, draining) => {
      await rest.call({ method: "PATCH", path: pathOf(id), body: { draining }, repeatable: true })
    },
    log: (id, { lines } = {}) => {
      const query = lines === undefined ? "" : `?lines=${lines}`
      return rest.call({ method: "GET", path: `${pathOf(id)}/log${query}`, repeatable: true })
    },
    forget: async (id) => {
      await rest.call({ method: "DELETE", path: pathOf(id) })
    },
  }
}
