import type { ToolRow } from "@signalbox/transcript"
import { describe, expect, it } from "vitest"
import { agentName, lanePath } from "../../src/transcript/rows/lane.tsx"
import { checklistOf, todoChanges } from "../../src/transcript/tools/checklist.ts"
import { gitFacts, toolFacts, webLinks } from "../../src/transcript/tools/tool-facts.ts"
import { toolWords } from "../../src/transcript/tools/tool-words.ts"

function tool(
  name: string,
  facts: Partial<ToolRow> = {},
  told: { structured?: unknown; content?: unknown } = {},
): ToolRow {
  const result = { isError: false, content: "", at: "", seq: 2, ...told }
  return {
    kind: "tool",
    key: `t:${name}`,
    headSeq: 1,
    lastSeq: 2,
    lane: null,
    at: "2031-01-01T00:00:00Z",
    state: "done",
    toolUseId: name,
    name,
    input: {},
    hasCall: true,
    hasLane: false,
    isRetracted: false,
    result,
    ...facts,
  }
}

describe("what a call came to", () => {
  it.each([
    [
      "the code of a command that failed",
      tool("Bash", { state: "failed" }, { content: "Exit code 3\nno" }),
      ["exit 3"],
    ],
    ["nothing for a command that went well", tool("Bash", {}, { structured: { stdout: "Exit code 3" } }), []],
    ["the lines of a file", tool("Read", {}, { structured: { file: { numLines: 1 } } }), ["1 line"]],
    [
      "files found, and that there are more",
      tool("Glob", {}, { structured: { numFiles: 100, truncated: true } }),
      ["100 files", "limit reached"],
    ],
    [
      "lines found, and that there are more",
      tool("Grep", {}, { structured: { mode: "content", numLines: 7, appliedLimit: 7 } }),
      ["7 lines", "limit reached"],
    ],
    ["that a person changed an edit", tool("Edit", {}, { structured: { userModified: true } }), ["edited by you"]],
    [
      "the cell of a notebook",
      tool("NotebookEdit", { input: { cell_id: "c1", edit_mode: "insert" } }),
      ["cell c1", "insert"],
    ],
    ["nothing for what is not known", tool("Zebra", {}, { structured: { numFiles: 3 } }), []],
  ])("tells %s", (_name, row, facts) => {
    expect(toolFacts(row)).toEqual(facts)
  })

  it("tells who approved a plan, and who did not", () => {
    const ask = { requestId: "r", request: {}, askedAt: "", isEdited: false, by: "kim" }
    expect(toolFacts(tool("ExitPlanMode", { ask: { ...ask, outcome: "allowed" } }))).toEqual(["Approved by kim"])
    expect(toolFacts(tool("ExitPlanMode", { ask: { ...ask, outcome: "denied" } }))).toEqual(["Kept planning by kim"])
    const mine = tool("ExitPlanMode", { ask: { ...ask, outcome: "allowed" } })
    expect(toolFacts(mine, (name) => (name === "kim" ? "you" : name))).toEqual(["Approved by you"])
  })

  it("finds commits and pull requests where a command makes them, and nowhere else", () => {
    const output = "[main (root-commit) 4be1c7d] Mend\nhttps://git.example/o/r/pull/12\n"
    const facts = (command: string) =>
      gitFacts(tool("Bash", { input: { command } }, { structured: { stdout: output } }))
    expect(facts("git add -A && git commit -m x")).toEqual([{ text: "commit 4be1c7d" }])
    expect(facts("gh pr create --fill")).toEqual([{ text: "PR #12", url: "https://git.example/o/r/pull/12" }])
    expect(facts("cat log")).toEqual([])
  })

  it("has the links of a web search, whatever else is in its result", () => {
    const results = ["words", { content: [{ title: "A", url: "https://a.example/" }, { title: "no address" }] }, null]
    expect(webLinks({ results })).toEqual([{ title: "A", url: "https://a.example/" }])
    for (const other of [undefined, "x", { results: 3 }]) expect(webLinks(other)).toEqual([])
  })
})

describe("a list of things to do", () => {
  const todo = (content: string, status: string) => ({ content, status })

  it("is told by how it changed", () => {
    const before = [todo("a", "in_progress"), todo("b", "pending"), todo("gone", "pending")]
    const after = [todo("a", "completed"), todo("b", "in_progress"), todo("c", "pending")]
    const changes = todoChanges(tool("TodoWrite", { input: { todos: after } }, { structured: { oldTodos: before } }))
    expect(changes?.words).toBe("1 done, 1 started, 1 added, 1 removed")
    expect(changes?.changed.map(({ text }) => text)).toEqual(["a", "b", "c"])
    expect(todoChanges(tool("TodoWrite", { input: { todos: after } }))).toBeUndefined()
  })

  it("stands as the last call left it, whichever tools keep it", () => {
    const list = tool("TodoWrite", { input: { todos: [todo("a", "completed")] } })
    expect(checklistOf([list])).toEqual([{ text: "a", status: "completed" }])
    const rows = [
      tool("TaskCreate", { input: { subject: "one" } }, { content: "Task #1 created successfully: one" }),
      tool("TaskCreate", { input: { subject: "two" } }, { structured: { task: { id: "2" } } }),
      tool("TaskUpdate", { input: { taskId: "2", status: "in_progress" } }),
      tool("TaskUpdate", { input: { taskId: "1", status: "deleted" } }),
      tool("TaskUpdate", { input: { taskId: "9", status: "completed" } }),
    ]
    expect(checklistOf(rows)).toEqual([{ text: "two", status: "in_progress" }])
    expect(toolWords(rows[2] ?? list)).toMatchObject({ name: "Task 2", subject: "started" })
  })
})

describe("where a sub-agent's lane is", () => {
  it("is told from the outside in, as far as it is loaded, and never in circles", () => {
    const agents = new Map([
      ["A", tool("Task", { toolUseId: "A", input: { subagent_type: "Explore", description: "look" } })],
      ["B", tool("Task", { toolUseId: "B", lane: "A", hasCall: false })],
      ["loop", tool("Task", { toolUseId: "loop", lane: "loop" })],
    ])
    const path = lanePath("B", (id) => agents.get(id))
    expect(path.map(agentName)).toEqual(["Explore: look", "Sub-agent"])
    expect(lanePath("unknown", (id) => agents.get(id))).toEqual([])
    expect(lanePath("loop", (id) => agents.get(id)).length).toBeLessThanOrEqual(10)
  })
})
