import type { Backtest, Grant, Run, Runner, Session } from "@signalbox/protocol/hub-api"
import type { Page } from "../../src/asks/whole-ask.ts"
import { HubError } from "../../src/errors.ts"
import type { HubCore } from "../../src/hub-core.ts"
import type { Ask } from "../../src/model/ask.ts"
import type { StoredEvent } from "../../src/model/event.ts"
import { DEFAULT_SETTINGS } from "../../src/policy-desk.ts"

const POLICY = {
  rules: [],
  relayAutoApproval: false,
  enforce: "asked" as const,
  version: 0,
  sees: { judged: "", notJudged: [] },
}

const at = "2030-01-01T00:00:00.000Z"

const session: Session = {
  id: "s1",
  title: null,
  state: "idle",
  agentSessionId: "4f1c",
  cwd: "/srv",
  model: "sonnet",
  permissionMode: "default",
  cliVersion: "2.1.120",
  transport: "websocket",
  runner: null,
  archived: false,
  pinned: false,
  createdAt: at,
  updatedAt: at,
  lastSeq: 2,
  lastResult: { subtype: "success", isError: false, at, seq: 1 },
  exit: { reason: "ended", code: 0, at },
  turns: 1,
  costUsd: 0.01,
  tokens: { input: 1, output: 2, cacheRead: 3, cacheCreation: 4 },
  pendingAsks: 0,
  viewers: 1,
  parent: "s0",
}

export const ask: Ask = {
  id: "a1",
  sessionId: "s1",
  seq: 2,
  kind: "tool",
  state: "pending",
  requestId: "r1",
  request: { subtype: "can_use_tool", tool_name: "Bash", input: { command: "ls" } },
  inputHash: "h1",
  toolName: "Bash",
  input: { command: "ls" },
  suggestions: [{ type: "addRules" }],
  askedAt: at,
  incarnation: "secret-incarnation",
  toolUseId: "secret-tool-use",
  answerId: "secret-answer",
}

const grant: Grant = {
  id: "g1",
  sessionId: "s1",
  askId: "a1",
  grantedBy: "ada",
  grantedAt: at,
  where: "hub",
  machine: null,
  update: { type: "addRules" },
  revokedAt: null,
  revokedBy: null,
}

const auditRecord = { at, what: "ask/settled", by: "ada", via: "person", sessionId: "s1", askId: "a1", details: {} }

const none = { count: 0, examples: [] }
const example = { session: "s1", seq: 2, ask: "a1", at, tool: "Bash", text: "ls" }
const differences: Pick<Backtest, "noLongerAsked" | "newlyAsked" | "newlyDenied" | "contradicts"> = {
  noLongerAsked: { count: 1, examples: [{ ...example, was: "ask", would: "allow", rule: "tests", by: "ada" }] },
  newlyAsked: none,
  newlyDenied: none,
  contradicts: none,
}
const changes = { added: ["tests"], removed: [], changed: [], settings: [] }
const version = { version: 2, at, by: "ada", rules: 1, changes, forced: 1 }

const runner: Runner = {
  id: "r1",
  name: "box",
  connected: true,
  draining: false,
  seenAt: at,
  agents: 1,
  maxAgents: 4,
  labels: ["gpu"],
  host: "box",
  platform: "linux",
  version: "0.1.0",
  cliVersions: ["2.1.120"],
  hasSimulator: true,
  memoryBytes: 1,
  cpuPercent: 2.5,
  usage: [{ session: "s1", memoryBytes: 1, cpuPercent: 2.5 }],
}

const TOLD_BY_RUNNER: Readonly<Record<string, unknown>> = {
  folders: { path: "/", parent: null, folders: [{ name: "a", path: "/a", isGit: true }], more: false },
  sessions: [{ sessionId: "4f1c", cwd: "/a", summary: null, updatedAt: at, sizeBytes: 1, inUse: false }],
  log: { lines: [{ at, level: "info", text: "Connected to hub" }], more: false },
}

const run: Run = {
  id: "run1",
  title: "all of it",
  state: "running",
  createdAt: at,
  updatedAt: at,
  createdBy: "ada",
  options: { tries: 3 },
  tasks: [{ text: "one", state: "done", session: "s1", tries: 1, costUsd: 0.1, note: "fine" }],
}

/** As a CLI might write it: odd spacing, escapes that need not be there, a number that JSON.parse would round. */
export const ODD_LINE = '{"type" : "assistant","n":12345678901234567890.10,"t":"\\u0061\\/é","__proto__":{"x":1}}'

async function* pieces(...all: StoredEvent[][]): AsyncGenerator<readonly StoredEvent[]> {
  yield* all
}

export interface FakeCore extends HubCore {
  /** What reached the core: the method's name and its arguments, without the caller. */
  readonly calls: { method: string; args: readonly unknown[] }[]
}

/** The core as a port: it notes what it is asked for and answers with one of each thing. */
export function createFakeCore(replies: Partial<HubCore> = {}): FakeCore {
  const calls: FakeCore["calls"] = []
  const core: HubCore = {
    now: at,
    createSession: async () => ({
      ...session,
      ingress: { url: "ws://127.0.0.1/ws/s1", token: "t", command: "claude" },
    }),
    listSessions: async () => ({ sessions: [session], cursor: null }),
    getSession: async (id) => {
      if (id !== "s1") throw new HubError("session/unknown", `There is no session ${id}`)
      return session
    },
    patchSession: async () => session,
    readMarks: async () => ({ s1: 2 }),
    markRead: async (_id, seq) => seq,
    endSession: async () => ({ ...session, state: "ended" }),
    sendMessage: async (_id, message) => ({ uuid: message.uuid ?? "u1", seq: 3 }),
    cancelMessage: async () => ({ cancelled: true }),
    interrupt: async () => ({ response: {} }),
    control: async () => ({ response: { mode: "plan" } }),
    setEnvironment: async () => ({ applied: ["A"], refused: ["B"] }),
    readEvents: async () => ({
      pieces: pieces(
        [{ seq: 1, at: Date.parse(at), from: "client", by: 'a "b"', line: '{"type":"user"}' }],
        [{ seq: 2, at: Date.parse(at), from: "agent", line: ODD_LINE }],
      ),
      largestPieceBytes: 1_000,
      firstSeq: 1,
      lastSeq: 2,
      more: false,
    }),
    outline: async () => [{ seq: 1, kind: "prompt", label: "hi" }],
    search: async () => ({
      hits: [{ session: "s1", seq: 1, at, field: "text", snippet: "hi" }],
      more: false,
      indexedTo: 2,
      indexedAt: at,
    }),
    listAsks: async () => pageOf([ask], false),
    getAsk: async () => ask,
    asks: {
      answer: async () => ({ ...ask, state: "allowed", settledAt: at, settledBy: "ada", via: "person", answer: {} }),
      extend: async () => ({ ...ask, expiresAt: at, extension: { byMs: 60_000, left: 2 } }),
    },
    settings: { settings: DEFAULT_SETTINGS, put: async (settings) => ({ ...DEFAULT_SETTINGS, ...settings }) },
    policy: {
      told: POLICY,
      versions: async () => ({ versions: [version], more: false }),
      version: async () => ({ ...version, policy: { rules: [] } }),
    },
    policyTests: {
      put: async () => undefined,
      async *test() {
        yield { progress: { judged: 0, total: 1 } }
        yield { result: { requests: 1, notTestable: 0, ...differences, since: at, complete: true } }
      },
      explain: async () => ({
        effect: "ask",
        reason: "No rule covers this.",
        why: { rules: [], change: "Add a rule." },
      }),
      suggestions: async () => ({
        suggestions: [
          {
            rule: { id: "allow-bash", effect: "allow" },
            allowed: 5,
            sessions: 1,
            people: ["ada"],
            lastAt: at,
            test: { requests: 5, ...differences },
          },
        ],
        decided: [{ rule: "tests", count: 1, lastAt: at }],
        idle: [{ rule: "old", why: "expired" }],
        requests: 5,
        notTestable: 0,
        complete: true,
      }),
    },
    grants: { list: async () => [grant] },
    revokeGrant: async () => ({ grant: { ...grant, revokedAt: at, revokedBy: "ada" }, gone: true }),
    listAudit: async ({ after, limit }) =>
      pageOf(
        Array.from({ length: limit }, (_, i) => ({ ...auditRecord, id: after + i + 1 })),
        true,
      ),
    retention: {
      purge: async () => undefined,
      prune: async () => ({
        count: 1,
        sessions: [{ id: "s1", title: null, updatedAt: at }],
        events: 2,
        bytes: 512,
        more: false,
      }),
      size: async () => ({
        bytes: 4_096,
        freeBytes: 0,
        walBytes: 0,
        searchBytes: 1_024,
        events: 2,
        canShrink: true,
        purging: 0,
        dayAgo: { at, bytes: 4_000 },
      }),
    },
    removeWorktree: async () => session,
    changeRunner: async () => runner,
    forgetRunner: async () => runner,
    runners: {
      list: () => [runner],
      shared: async () => {},
      request: async (_id, request) => TOLD_BY_RUNNER[request.kind],
    },
    hubs: {
      list: () => [
        {
          id: "h1",
          url: "http://127.0.0.1:1",
          version: "0.1.0",
          startedAt: at,
          seenAt: at,
          sessions: 1,
          runners: 1,
          viewers: 0,
          self: true,
        },
      ],
      rotateSecret: async () => ({ rotatedAt: at }),
    },
    runs: {
      create: async () => run,
      change: async () => run,
      changeTask: async () => run,
      list: async () => ({ runs: [run], more: false }),
      get: async () => run,
    },
    ...replies,
  }
  return Object.assign(noting(core, "", calls), { calls })
}

/** The same object, with calls of its functions and of the desks in it noted. */
function noting<T extends object>(target: T, path: string, calls: FakeCore["calls"]): T {
  const noted = new Proxy(target, {
    get(_, name: string) {
      const inner: unknown = Reflect.get(target, name)
      // What is only read is no call.
      if (typeof inner === "object" && inner !== null && path === "") return noting(inner, `${name}.`, calls)
      if (typeof inner !== "function") return inner
      return (...args: unknown[]) => {
        const isCaller = (arg: unknown) => typeof arg === "object" && arg !== null && "role" in arg
        calls.push({ method: `${path}${name}`, args: args.filter((arg) => !isCaller(arg)) })
        return inner(...args)
      }
    },
  })
  return path === "" ? (Object.create(noted) as T) : noted
}

function pageOf<T>(entries: readonly T[], more: boolean): Page<T> {
  async function* each() {
    yield* entries
  }
  return { entries: each(), largestBytes: 1_000, more }
}
