/** What the hub counts, as the rest of it says it. Counting never fails and never waits. */
export interface HubMetrics {
  agentConnected(transport: string): void
  agentDisconnected(transport: string): void
  runnerConnected(): void
  runnerDisconnected(): void
  viewerAttached(door: string): void
  viewerDetached(door: string): void
  /** A viewer did not keep up and was told to resume from its cursor. */
  viewerLagged(): void
  linesReceived(received: { lines: number; bytes: number }): void
  /** To viewers and agents, as bytes on the wire. */
  bytesSent(bytes: number): void
  /** Keep-alives, echoes, hook and MCP traffic: seen, not logged. */
  lineAbsorbed(kind: string): void
  /** One group commit. */
  logCommitted(commit: { events: number; seconds: number }): void
  askSettled(settled: { state: string; via: string; waitedSeconds: number }): void
  /** A viewer that asked for the past reached the live edge. */
  replayCaughtUp(replay: { events: number; seconds: number }): void
  requestServed(request: { method: string; path: string; status: number; seconds: number }): void
}

const nothing = () => {}

/** For tests, and for hubs that are not watched. */
export const noMetrics: HubMetrics = {
  agentConnected: nothing,
  agentDisconnected: nothing,
  runnerConnected: nothing,
  runnerDisconnected: nothing,
  viewerAttached: nothing,
  viewerDetached: nothing,
  viewerLagged: nothing,
  linesReceived: nothing,
  bytesSent: nothing,
  lineAbsorbed: nothing,
  logCommitted: nothing,
  askSettled: nothing,
  replayCaughtUp: nothing,
  requestServed: nothing,
}
