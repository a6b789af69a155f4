import type { Scenario } from "./schema.ts"

/** For those who bring no scenario: words that ask for something get it, and everything else gets an answer. */
export const builtInScenario: Scenario = {
  name: "built in",
  description:
    "Says something sensible to anything. Some words call for more: permission, question, plan, think, agent.",
  turns: [
    {
      on: "permission",
      repeat: true,
      steps: [
        { say: "I need to run a command for that." },
        {
          tool: "Bash",
          input: { command: "npm test", description: "Run the tests" },
          result: "12 tests passed",
          otherwise: [{ say: "I may not run the tests, so I leave it at that. Tell me what you would like instead." }],
        },
        { say: "The tests pass." },
      ],
    },
    {
      on: "question",
      repeat: true,
      steps: [
        {
          tool: "AskUserQuestion",
          input: {
            questions: [
              {
                question: "Which colour do you like best?",
                header: "Colour",
                options: [
                  { label: "Red", description: "Warm" },
                  { label: "Blue", description: "Cold" },
                ],
                multiSelect: false,
              },
            ],
          },
          otherwise: [{ say: "Then I will choose by myself." }],
        },
        { say: "Thank you, I will keep that in mind." },
      ],
    },
    {
      on: "plan",
      repeat: true,
      steps: [
        {
          tool: "ExitPlanMode",
          input: { plan: "1. Look\n2. Think\n3. Do" },
          otherwise: [{ say: "Then not that way. What should the plan be?" }],
        },
        { say: "Then let us begin." },
      ],
    },
    {
      on: "think",
      repeat: true,
      steps: [
        { think: "What could be meant by that? I had better say what I know." },
        { say: "I have thought about it." },
      ],
    },
    {
      on: "agent",
      repeat: true,
      steps: [
        {
          tool: "Task",
          input: { description: "Look around", prompt: "Look around and report.", subagent_type: "general-purpose" },
          agent: [{ say: "There is a README and a test." }],
        },
        { say: "The agent has reported." },
      ],
    },
    {
      repeat: true,
      steps: [
        {
          say: "This is a simulated agent. It plays a scenario; without one, it says this. Try the words permission, question, plan, think or agent.",
        },
      ],
    },
  ],
}
