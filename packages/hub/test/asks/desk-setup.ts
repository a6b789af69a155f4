import type { Envelope } from "@signalbox/protocol"
import type { AskVerdict } from "../../src/asks/answer.ts"
import { AskDesk } from "../../src/asks/ask-desk.ts"
import { AskReader, type Question } from "../../src/asks/whole-ask.ts"
import type { HubError } from "../../src/errors.ts"
import type { Ask } from "../../src/model/ask.ts"
import { GrantDesk, RuleUses } from "../../src/policy-desk.ts"
import { MemoryDirectory } from "../../src/testing/memory-directory.ts"
import { MemoryEventLog } from "../../src/testing/memory-event-log.ts"

export interface DeskSetup {
  readonly desk: AskDesk
  readonly grants: GrantDesk<string>
  readonly directory: MemoryDirectory
  readonly reader: AskReader
  readonly wire: { incarnation: string; message: Envelope }[]
  readonly published: Ask[]
  readonly steps: string[]
  /** Fires the timers that are due after this many milliseconds. */
  readonly timers: { ms: number; run: () => void; isCancelled: boolean }[]
  /** The time that all hubs have. */
  now: (() => Date) | undefined
  isReachable: boolean
  verdict: AskVerdict
}

export function setUpDesk(directory = new MemoryDirectory(), log = new MemoryEventLog()): DeskSetup {
  const reader = new AskReader(log)
  const setup = {
    directory,
    reader,
    wire: [] as DeskSetup["wire"],
    published: [] as Ask[],
    steps: [] as string[],
    timers: [] as DeskSetup["timers"],
    isReachable: true,
    now: undefined as DeskSetup["now"],
    verdict: { effect: "ask", reason: "No rule covers this." } as AskVerdict,
  }
  const grants = new GrantDesk<string>({
    directory,
    toRules: (grant) => (grant.update["type"] === "addRules" ? [`rule of ${grant.id}`] : undefined),
    machineOf: () => "this machine",
  })
  const desk = new AskDesk({
    directory,
    reader,
    grants,
    uses: new RuleUses(directory),
    sessions: {
      startedBy: () => "somebody",
      load: () => Promise.resolve(),
      judge: () => setup.verdict,
      send: async (incarnation, message) => {
        if (!setup.isReachable) return false
        setup.steps.push("wire")
        setup.wire.push({ incarnation, message })
        return true
      },
      publish: (ask) => {
        setup.steps.push(`published ${ask.state}`)
        setup.published.push(ask)
      },
      recall: async () => undefined,
    },
    now: () => setup.now?.() ?? new Date(),
    clock: {
      after: (ms, run) => {
        const timer = { ms, run, isCancelled: false }
        setup.timers.push(timer)
        return () => {
          timer.isCancelled = true
        }
      },
    },
  })
  return Object.assign(setup, { desk, grants })
}

export function question(change: Partial<Question> = {}): Question {
  return {
    sessionId: "s1",
    incarnation: "p1",
    requestId: "r1",
    seq: 7,
    askedAt: "2026-01-01T00:00:00.000Z",
    request: {
      subtype: "can_use_tool",
      tool_name: "Bash",
      input: { command: "npm test" },
      tool_use_id: "toolu_1",
      permission_suggestions: [{ type: "setMode", mode: "acceptEdits", destination: "session" }],
    },
    ...change,
  }
}

export function failure(promise: Promise<unknown>): Promise<HubError> {
  return promise.then(
    () => Promise.reject(new Error("it should have failed")),
    (error: HubError) => error,
  )
}
