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
