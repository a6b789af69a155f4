import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { RunState, Task } from "../../src/loop/run-state.ts"
import { type RunView, runLines, summaryLines } from "../../src/loop/run-view.ts"
import { coloursFor } from "../../src/terminal/output.ts"
import { cellWidth } from "../../src/terminal/text.ts"

const colours = coloursFor({ isTTY: false }, {})
const RUN = "1b0e9a52-6f0c-4d0e-9d7e-0c3a1f2b4d5e"

function viewOf(
  tasks: readonly Task[],
  more: Partial<RunView> = {},
  phase: RunState["phase"] = { name: "running" },
): RunView {
  const plan = { atOnce: 2, tries: 3, checks: true }
  const command = (words: string) => `signalbox ${words}`
  const facts = { run: RUN, title: "TASKS.md", elapsedMs: 252_000, isHubAway: false, command }
  return { ...facts, state: { plan, phase, tasks }, ...more }
}

const session = "3f2a91c0-0000-4000-8000-000000000000"
const TASKS: readonly Task[] = [
  { number: 1, text: "Fix the login", state: "done", tries: 1, turns: 1, costUsd: 0.3, session },
  { number: 2, text: "Write\nthe docs", state: "working", asks: true, tries: 2, turns: 2, costUsd: 0.12, session },
  {
    number: 3,
    text: "Paint it \u001b[31mred",
    state: "failed",
    tries: 3,
    turns: 3,
    costUsd: 0,
    session,
    note: "npm test failed (exit code 1)",
  },
  { number: 4, text: "Rest", state: "waiting", tries: 0, turns: 0, costUsd: 0 },
]

describe("what is shown of a run", () => {
  it("[LP20] a bar with the counts, and a row for each task", () => {
    expect(runLines(viewOf(TASKS), { width: 80, height: 24, colours })).toEqual([
      "██████████░░░░░░░░░░ 1 request waiting: signalbox asks · 1 of 4 done, 1 failed …",
      "#  STATE    TRY   COST  SESSION   TASK",
      "1  done       1  $0.30  3f2a91c0  Fix the login",
      "2  asks       2  $0.12  3f2a91c0  Write the docs",
      "3  failed     3         3f2a91c0  Paint it red",
      "4  waiting                        Rest",
    ])
  })

  it("[LP20] at the end what failed and why, and how to go on", () => {
    const tasks = TASKS.filter(({ state }) => state !== "working")
    const stopped = viewOf(tasks, {}, { name: "over", outcome: "stopped", why: { kind: "user" } })
    expect(summaryLines(stopped, colours)).toEqual([
      "Stopped (you stopped it): 1 of 3 done, 1 failed · $0.30 · 4 turns · 4 min 12 s",
      "  3. Paint it red: npm test failed (exit code 1) (signalbox log 3f2a91c0)",
      "Resume: signalbox loop --resume 1b0e9a52",
    ])
  })

  it("[LP20] [CL41] commands are of the data directory that was named, and leave the counts their room", () => {
    const command = (words: string) => `signalbox ${words} --data /srv/sbx`
    const lines = runLines(viewOf(TASKS, { command }), { width: 80, height: 24, colours })
    expect(lines[0]).toMatch(/ 1 request waiting · 1 of 4 done, 1 failed · \$0\.42 · /)
    expect(lines.at(-1)).toBe("Answer: signalbox asks --data /srv/sbx")
    expect(runLines(viewOf(TASKS, { command }), { width: 80, height: 7, colours }).length).toBeLessThanOrEqual(7)
    const tasks = TASKS.filter(({ state }) => state !== "working")
    const stopped = viewOf(tasks, { command }, { name: "over", outcome: "stopped", why: { kind: "user" } })
    expect(summaryLines(stopped, colours).slice(1)).toEqual([
      expect.stringContaining("(signalbox log 3f2a91c0 --data /srv/sbx)"),
      "Resume: signalbox loop --resume 1b0e9a52 --data /srv/sbx",
    ])
  })

  it("[LP20] fits the terminal, whatever its size: those at work stay in sight", () => {
    const states = fc.constantFrom("waiting", "cut", "checking", "leaving", "done", "failed") as fc.Arbitrary<"done">
    const tasks = fc.array(fc.tuple(states, fc.string({ maxLength: 300, unit: "grapheme" }), fc.nat(200)), {
      minLength: 1,
      maxLength: 60,
    })
    fc.assert(
      fc.property(
        tasks,
        fc.integer({ min: 60, max: 220 }),
        fc.integer({ min: 4, max: 60 }),
        fc.boolean(),
        (given, width, height, isHubAway) => {
          const all = given.map(
            ([state, text, cost], index): Task => ({
              number: index + 1,
              text,
              state,
              tries: index % 4,
              turns: index % 4,
              costUsd: cost / 7,
              session,
            }),
          )
          const lines = runLines(viewOf(all, { isHubAway }), { width, height, colours })
          expect(lines.length).toBeLessThanOrEqual(height)
          expect(Math.max(...lines.map(cellWidth))).toBeLessThanOrEqual(width)
          const active = all.filter(({ state }) => ["checking", "leaving"].includes(state)).slice(0, height - 3)
          for (const { number } of active)
            expect(lines.some((line) => line.trimStart().startsWith(`${number} `))).toBe(true)
        },
      ),
    )
  })
})
