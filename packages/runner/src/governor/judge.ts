/** What the governor does about one agent now. */
export type Judgement =
  | { readonly kind: "leave" }
  /** Idle for so long: put to rest, and brought back by the next message. */
  | { readonly kind: "park"; readonly reason: string }
  /** Too large: at the end of its turn, and brought back small by the next message. */
  | { readonly kind: "stop-when-idle"; readonly reason: string }
  | { readonly kind: "kill"; readonly reason: string }

export interface AgentLimits {
  /** Counts the agent and every process it started. */
  readonly memoryCeilingBytes: number
  /** How long an agent above its ceiling may go on with its turn. */
  readonly memoryGraceMs: number
  /** Idle for as long, it is put to rest. `Infinity`: never. */
  readonly parkAfterMs: number
}

export interface JudgedAgent {
  readonly memoryBytes: number
  readonly isIdle: boolean
  readonly idleForMs: number
  /** For how long it has been above its ceiling. */
  readonly overForMs: number
}

/** Above the ceiling by as much, waiting for the turn's end would endanger everything else. */
const FAR_ABOVE = 1.5

export function judge(agent: JudgedAgent, limits: AgentLimits): Judgement {
  const { memoryBytes } = agent
  const { memoryCeilingBytes, memoryGraceMs, parkAfterMs } = limits
  if (memoryBytes > memoryCeilingBytes) {
    const reason = `memory: ${mb(memoryBytes)} with all it started, above the ceiling of ${mb(memoryCeilingBytes)}`
    const isFarAbove = !agent.isIdle && memoryBytes > memoryCeilingBytes * FAR_ABOVE
    const isUrgent = isFarAbove || agent.overForMs > memoryGraceMs
    return { kind: isUrgent ? "kill" : "stop-when-idle", reason }
  }
  if (agent.isIdle && agent.idleForMs >= parkAfterMs) {
    return { kind: "park", reason: `parked after ${Math.round(agent.idleForMs / 1000)} s without work` }
  }
  return { kind: "leave" }
}

function mb(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MB`
}
