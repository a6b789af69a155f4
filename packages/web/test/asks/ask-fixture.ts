import type { Ask } from "@signalbox/client"

export const askOf = (facts: Partial<Ask>): Ask => ({
  id: "a1",
  sessionId: "s1",
  seq: 1,
  kind: "tool",
  state: "pending",
  requestId: "r1",
  request: {},
  inputHash: "h",
  askedAt: "2031-01-01T12:00:00Z",
  ...facts,
})
