import type { Scenario, Step } from "./schema.ts"

/** `path` is kept as keys, so that a reader of files can find the line. */
export type ScenarioProblem = { path: (string | number)[]; message: string }

const MISPLACED_ERROR =
  "an error answers a call instead of a reply: put it before the text or after a tool, or use streamError"
const MISPLACED_COMPACTION = "the history is compacted between calls: put it before the text or after a tool"

/** An HTTP error comes instead of a reply; after text has begun it can only be an error inside the stream. */
function misplacedIn(steps: readonly Step[], path: ScenarioProblem["path"]): ScenarioProblem[] {
  return steps.flatMap((step, index) => {
    const place = [...path, index]
    if ("loop" in step) return misplacedIn(step.steps, [...place, "steps"])
    const before = steps[index - 1]
    const speaking = before !== undefined && ("say" in before || "think" in before)
    if (!speaking) return []
    if ("error" in step) return [{ path: place, message: MISPLACED_ERROR }]
    return "compact" in step ? [{ path: place, message: MISPLACED_COMPACTION }] : []
  })
}

/** What a schema cannot say: steps that make no sense where they stand. */
export function misplacedSteps({ turns }: Scenario): ScenarioProblem[] {
  return turns.flatMap((turn, index) => misplacedIn(turn.steps, ["turns", index, "steps"]))
}
