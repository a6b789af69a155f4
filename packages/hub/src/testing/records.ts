import type { Grant } from "@signalbox/protocol/hub-api"
import { NO_TOKENS } from "@signalbox/protocol/usage"
import type { TokenRecord } from "../model/access.ts"
import type { AskRecord } from "../model/ask.ts"
import type { KeptSession, OutgoingMessage, SessionRecord } from "../model/session-record.ts"
import type { NewAuditRecord } from "../store/directory.ts"

const AT = "2030-01-01T00:00:00.000Z"

export function keptSession(id: string, change: Partial<SessionRecord> = {}): KeptSession {
  return {
    record: {
      id,
      title: null,
      state: "idle",
      agentSessionId: null,
      cwd: "/project",
      model: "a model",
      permissionMode: "default",
      cliVersion: "2.1.120",
      transport: "websocket",
      runner: null,
      archived: false,
      pinned: false,
      createdAt: AT,
      updatedAt: AT,
      lastSeq: 0,
      turns: 0,
      costUsd: 0.25,
      tokens: NO_TOKENS,
      ...change,
    },
    own: {
      incarnation: "process 1",
      lastAgentUuid: null,
      costBase: 0,
      initializeReply: { commands: [{ name: "help" }] },
      hooks: ["PreToolUse"],
      requestKey: null,
      agent: "external",
    },
  }
}

export function pendingAsk(id: string, change: Partial<AskRecord> = {}): AskRecord {
  return {
    id,
    sessionId: "s",
    seq: 7,
    kind: "tool",
    state: "pending",
    requestId: `request ${id}`,
    request: { subtype: "can_use_tool", tool_name: "Bash", input: { command: "echo \u0000 é" } },
    inputHash: "hash",
    toolName: "Bash",
    askedAt: AT,
    incarnation: "process 1",
    ...change,
  }
}

export function allowed(ask: AskRecord, by: string): AskRecord {
  return { ...ask, state: "allowed", settledAt: AT, settledBy: by, via: "person", answer: { behavior: "allow" } }
}

export function waitingMessage(uuid: string, seq: number, change: Partial<OutgoingMessage> = {}): OutgoingMessage {
  const line = JSON.stringify({ type: "user", uuid })
  return { uuid, sessionId: "s", seq, state: "waiting", incarnation: null, line, by: "somebody", at: AT, ...change }
}

export function token(id: string): TokenRecord {
  const parts = { name: `token ${id}`, hash: `hash of ${id}`, sessionId: null, expiresAt: null, revokedAt: null }
  return { id, role: "operator", createdAt: AT, ...parts }
}

export function grant(id: string, sessionId = "s"): Grant {
  const update = { type: "addRules", rules: [{ toolName: "Bash" }] }
  const given = { askId: "ask", grantedBy: "somebody", grantedAt: AT, where: "hub", machine: null, update } as const
  return { id, sessionId, ...given, revokedAt: null, revokedBy: null }
}

export function auditRecord(what: string, sessionId: string | null = null): NewAuditRecord {
  return { at: AT, what, by: "somebody", via: "person", sessionId, askId: null, details: { input: { command: "ls" } } }
}
