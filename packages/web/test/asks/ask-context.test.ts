import { expect, it } from "vitest"
import { contextOf, lastSentence, spokenIn } from "../../src/asks/ask-context.ts"

it("[K-115] the agent's last sentence before a request, without its markup and code", () => {
  expect(lastSentence("Looking. I will **remove** the `build` folder first.")).toBe(
    "I will remove the build folder first.",
  )
  expect(lastSentence("Now the tests:\n\n```sh\nnpm test. Really\n```\n")).toBe("Now the tests:")
  expect(lastSentence("- one\n- two")).toBe("two")
  expect(lastSentence("```\nonly code\n```")).toBeUndefined()
  expect(lastSentence("x".repeat(10_000))).toHaveLength(240)
})

it("[K-115] what was said after the request, or about the task before, is not its reason", () => {
  const spoken = [
    { seq: 1, by: "person", text: "First task" },
    { seq: 2, by: "agent", text: "Done." },
    { seq: 3, by: "person", text: "\nSecond task\nwith details" },
    { seq: 5, by: "agent", text: "I clean up." },
    { seq: 9, by: "agent", text: "Later." },
  ] as const
  expect(contextOf(spoken, 6)).toEqual({ said: "I clean up.", task: "Second task" })
  expect(contextOf(spoken, 4)).toEqual({ said: undefined, task: "Second task" })
  expect(contextOf([], 4)).toEqual({ said: undefined, task: undefined })
})

it("[K-115] of a log only the session's own talk is read", () => {
  const text = (words: string) => ({ role: "x", content: [{ type: "text", text: words }] })
  const events = [
    { seq: 1, from: "client", message: { type: "user", message: { content: "Do it" } } },
    { seq: 2, from: "agent", message: { type: "assistant", message: text("I do.") } },
    { seq: 3, from: "agent", message: { type: "assistant", parent_tool_use_id: "t", message: text("Sub.") } },
    { seq: 4, from: "client", message: { type: "control_request" } },
    { seq: 5, from: "agent", message: { type: "user", message: text("a result") } },
  ]
  expect(spokenIn(events)).toEqual([
    { seq: 1, by: "person", text: "Do it" },
    { seq: 2, by: "agent", text: "I do." },
  ])
})
