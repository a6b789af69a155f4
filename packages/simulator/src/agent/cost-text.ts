import type { AgentCore } from "./core.ts"

/** As `/cost` and `get_session_cost` tell it. */
export function costText(core: AgentCore): string {
  const lines = [
    `Total cost:            $${core.ledger.totalCostUsd.toFixed(4)}`,
    `Total duration (API):  ${Math.round(core.ledger.apiMs / 1000)}s`,
    "Total duration (wall): 0s",
    "Total code changes:    0 lines added, 0 lines removed",
  ]
  const models = [...core.ledger.spending].map(
    ([model, { input, output, costUsd }]) =>
      `     ${model}:  ${input} input, ${output} output ($${costUsd.toFixed(4)})`,
  )
  const usage =
    models.length === 0
      ? ["Usage:                 0 input, 0 output, 0 cache read, 0 cache write"]
      : ["Usage by model:", ...models]
  return [...lines, ...usage].join("\n")
}
