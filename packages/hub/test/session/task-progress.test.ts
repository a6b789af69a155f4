import { expect, it } from "vitest"
import { newSession } from "../../src/model/session-record.ts"
import { foldTasks } from "../../src/session/task-progress.ts"
import { FakeAgent, setUpSessions } from "./session-setup.ts"

const call = (id: string, name: string, input: object, more = {}) => ({
  type: "assistant",
  parent_tool_use_id: null,
  message: { role: "assistant", content: [{ type: "tool_use", id, name, input }] },
  ...more,
})
const result = (id: string, content: string, more = {}) => ({
  type: "user",
  parent_tool_use_id: null,
  message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content }] },
  ...more,
})
const todo = (content: string, status: string) => ({ content, status, activeForm: `Doing ${content}` })
const progressAfter = (messages: readonly ReturnType<typeof call | typeof result>[]) =>
  messages.reduce(foldTasks, newSession({ agent: "external" }, new Date(0))).record.progress

it("[HS150] a list that is written as a whole is counted, with the task that it is at", async () => {
  const { registry } = setUpSessions()
  const session = registry.create({ agent: "external" })
  const agent = new FakeAgent("p1")
  await agent.attach(session)
  expect(session.view()).not.toHaveProperty("progress")
  const todos = [todo("a", "completed"), todo("b", "in_progress"), todo("c", "pending")]
  agent.say(call("t1", "TodoWrite", { todos }))
  await expect.poll(() => session.view().progress).toEqual({ done: 1, total: 3, step: "Doing b" })
  agent.say(call("t2", "TodoWrite", { todos: [] }))
  await expect.poll(() => session.view().progress).toBeUndefined()
})

it("[HS150] tasks that are made and changed one by one are counted once their ids are told", () => {
  const made = [
    call("t1", "TaskCreate", { subject: "Look" }),
    result("t1", "Task #1 created successfully: Look"),
    call("t2", "TaskCreate", { subject: "Leap", activeForm: "Leaping" }),
    result("t2", "", { tool_use_result: { task: { id: "2" } } }),
    call("t3", "TaskCreate", { subject: "Fails" }),
    result("t3", "no id"),
  ]
  expect(progressAfter(made)).toEqual({ done: 0, total: 2 })
  const updated = [
    ...made,
    call("t4", "TaskUpdate", { taskId: "1", status: "completed" }),
    call("t5", "TaskUpdate", { taskId: "2", status: "in_progress" }),
    call("t6", "TaskUpdate", { taskId: "9", status: "completed" }),
  ]
  expect(progressAfter(updated)).toEqual({ done: 1, total: 2, step: "Leaping" })
  expect(progressAfter([...updated, call("t7", "TaskUpdate", { taskId: "2", status: "deleted" })])).toEqual({
    done: 1,
    total: 1,
  })
})

it("[HS150] lists of sub-agents, nonsense and endless lists change nothing that matters", () => {
  const todos = [todo("a", "completed")]
  expect(progressAfter([call("t1", "TodoWrite", { todos }, { parent_tool_use_id: "toolu_1" })])).toBeUndefined()
  expect(progressAfter([call("t1", "TodoWrite", { todos: "many" })])).toBeUndefined()
  expect(progressAfter([call("t1", "TodoWrite", { todos: [null, 7] })])).toBeUndefined()
  const endless = Array.from({ length: 10_000 }, () => todo("x".repeat(10_000), "in_progress"))
  const kept = foldTasks(newSession({ agent: "external" }, new Date(0)), call("t1", "TodoWrite", { todos: endless }))
  expect(kept.record.progress?.total).toBe(100)
  expect(JSON.stringify(kept).length).toBeLessThan(50_000)
  const before = newSession({ agent: "external" }, new Date(0))
  expect(foldTasks(before, call("t1", "Read", { file_path: "/a" }))).toBe(before)
})

it("[HS150] a message with very many changes copies the list once, and is read to a bound", () => {
  const list = Array.from({ length: 100 }, (_, index) => todo(`t${index}`, "pending"))
  const made = foldTasks(newSession({ agent: "external" }, new Date(0)), call("t1", "TodoWrite", { todos: list }))
  const change = (status: string) => ({ type: "tool_use", name: "TaskUpdate", input: { taskId: "todo 1", status } })
  const blocks = [...Array.from({ length: 200 }, () => change("completed")), change("in_progress")]
  const message = { type: "assistant", parent_tool_use_id: null, message: { role: "assistant", content: blocks } }
  let copies = 0
  const tasks = made.own.tasks ?? { list: {}, making: {} }
  const watched = new Proxy(tasks.list, {
    ownKeys: (target) => {
      copies++
      return Reflect.ownKeys(target)
    },
  })
  const folded = foldTasks({ ...made, own: { ...made.own, tasks: { ...tasks, list: watched } } }, message)
  expect(copies).toBe(1)
  expect(folded.record.progress).toEqual({ done: 1, total: 100 })
})
