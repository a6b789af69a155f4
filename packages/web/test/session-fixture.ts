import type { Session } from "@signalbox/client"

/** A session as a hub tells of it, with what a test cares about. */
export function sessionOf(facts: Partial<Session> = {}): Session {
  return {
    id: "s1",
    title: null,
    state: "idle",
    agentSessionId: null,
    cwd: null,
    model: null,
    permissionMode: null,
    cliVersion: null,
    transport: null,
    runner: null,
    archived: false,
    pinned: false,
    createdAt: "2031-01-01T10:00:00Z",
    updatedAt: "2031-01-01T11:00:00Z",
    lastSeq: 0,
    turns: 0,
    costUsd: 0,
    tokens: { input: 0, output: 0, cacheRead: 0, cacheCreation: 0 },
    pendingAsks: 0,
    viewers: 0,
    ...facts,
  }
}
