import { usageError } from "../base/failure.ts"
import type { LoopOptions } from "../commands/loop.ts"
import type { Plan } from "./run-state.ts"

/** How a run is worked through; recorded with it, so that it goes on the same way. */
export interface RunSettings {
  readonly atOnce: number
  readonly tries: number
  readonly verify?: string
  readonly maxCost?: number
  readonly maxTurns?: number
  readonly worktrees: boolean
  readonly agent: "claude" | "simulator"
  readonly cwd?: string
  readonly model?: string
  readonly mode?: string
  readonly args: readonly string[]
}

const DEFAULT_TRIES = 3

/** What is given now counts before what was recorded. */
export function runSettings(options: LoopOptions, recorded: Readonly<Record<string, unknown>> = {}): RunSettings {
  const verify = options.verify ?? textIn(recorded, "verify")
  const maxCost = options.maxCost ?? numberIn(recorded, "maxCost")
  const maxTurns = options.maxTurns ?? numberIn(recorded, "maxTurns")
  const cwd = options.cwd ?? textIn(recorded, "cwd")
  const model = options.model ?? textIn(recorded, "model")
  const mode = options.mode ?? textIn(recorded, "mode")
  const args = options.arg.length > 0 ? options.arg : textsIn(recorded, "args")
  return {
    atOnce: options.atOnce ?? numberIn(recorded, "atOnce") ?? 1,
    tries: options.tries ?? numberIn(recorded, "tries") ?? DEFAULT_TRIES,
    worktrees: options.worktrees ?? recorded["worktrees"] === true,
    agent: agentOf(options.agent ?? textIn(recorded, "agent") ?? "claude"),
    args,
    ...(verify === undefined ? {} : { verify }),
    ...(maxCost === undefined ? {} : { maxCost }),
    ...(maxTurns === undefined ? {} : { maxTurns }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(model === undefined ? {} : { model }),
    ...(mode === undefined ? {} : { mode }),
  }
}

export function planOf({ atOnce, tries, verify, maxCost, maxTurns }: RunSettings): Plan {
  return {
    atOnce,
    tries,
    checks: verify !== undefined,
    ...(maxCost === undefined ? {} : { maxCostUsd: maxCost }),
    ...(maxTurns === undefined ? {} : { maxTurns }),
  }
}

function agentOf(kind: string): "claude" | "simulator" {
  if (kind === "claude" || kind === "simulator") return kind
  throw usageError(`--agent ${kind}: give claude or simulator`)
}

type Recorded = Readonly<Record<string, unknown>>

function textIn(recorded: Recorded, name: string): string | undefined {
  const value = recorded[name]
  return typeof value === "string" && value !== "" ? value : undefined
}

function numberIn(recorded: Recorded, name: string): number | undefined {
  const value = recorded[name]
  return typeof value === "number" && value > 0 ? value : undefined
}

function textsIn(recorded: Recorded, name: string): readonly string[] {
  const value = recorded[name]
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : []
}
