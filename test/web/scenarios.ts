import type { Scenario } from "@signalbox/simulator"

export const asksFor = (command: string): Scenario => ({
  turns: [
    {
      repeat: true,
      steps: [
        { say: "I need to run a command." },
        { tool: "Bash", input: { command, description: "As you asked" }, result: "done" },
        { say: "It is done." },
      ],
    },
  ],
})

export const says = (text: string): Scenario => ({ turns: [{ repeat: true, steps: [{ say: text }] }] })

/** Words for a long while: `times` pieces, one every `pauseMs`. */
export const talks = (times: number, pauseMs: number): Scenario => ({
  turns: [{ repeat: true, steps: [{ say: { repeat: "More words come. ", times }, deltas: times, pauseMs }] }],
})

/** A to-do list, two files, a sub-agent, and a command that goes on. */
export const works: Scenario = {
  turns: [
    {
      repeat: true,
      steps: [
        {
          tool: "TodoWrite",
          input: {
            todos: [
              { content: "Read the tests", status: "completed", activeForm: "Reading the tests" },
              { content: "Mend the clock", status: "in_progress", activeForm: "Mending the clock" },
            ],
          },
        },
        {
          tool: "Write",
          input: {
            file_path: "src/clock.ts",
            content: "export function now() {\n  return Date.now()\n}\n\nexport const tick = 50\n",
          },
        },
        {
          tool: "Edit",
          input: { file_path: "src/clock.ts", old_string: "tick = 50", new_string: "tick = 20" },
        },
        { tool: "Write", input: { file_path: "test/clock.test.ts", content: "expect(tick).toBe(20)\n" } },
        {
          tool: "Task",
          input: { description: "Look for other sleeps", prompt: "Look", subagent_type: "general-purpose" },
          agent: [{ say: "There are none." }],
        },
        {
          tool: "Bash",
          input: { command: "npm run watch", description: "Watch the tests", run_in_background: true },
          background: { durationMs: 600_000 },
        },
        { say: "All is in place." },
      ],
    },
  ],
}

/** One of which one is chosen, and one of which several can be. */
export const TWO_QUESTIONS = [
  {
    question: "Which database?",
    header: "Database",
    options: [
      { label: "SQLite", description: "One file", preview: "app.db" },
      { label: "Postgres", description: "A server", preview: "postgres://…" },
    ],
    multiSelect: false,
  },
  {
    question: "Which parts?",
    header: "Parts",
    options: [
      { label: "API", description: "" },
      { label: "Web", description: "" },
    ],
    multiSelect: true,
  },
]
