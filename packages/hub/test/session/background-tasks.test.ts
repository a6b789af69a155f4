import { expect, it } from "vitest"
import { FakeAgent, setUpSessions } from "./session-setup.ts"

const task = (task_id: string, more = {}) => ({ task_id, task_type: "local_bash", description: "npm start", ...more })
const changed = (...tasks: readonly object[]) => ({ type: "system", subtype: "background_tasks_changed", tasks })

it("[HS45] what goes on in the background is counted, without what is always there, and ends with its process", async () => {
  const { registry } = setUpSessions()
  const session = registry.create({ agent: "external" })
  const agent = new FakeAgent("p1")
  await agent.attach(session)
  expect(session.view()).not.toHaveProperty("backgroundTasks")
  agent.say(changed(task("a"), task("b"), task("c", { ambient: true })))
  await expect.poll(() => session.view().backgroundTasks).toBe(2)
  agent.say(changed(task("b")))
  await expect.poll(() => session.view().backgroundTasks).toBe(1)
  await session.end({ reason: "exit code 0", code: 0 })
  expect(session.view()).not.toHaveProperty("backgroundTasks")
  await new FakeAgent("p2").attach(session)
  expect(session.view()).not.toHaveProperty("backgroundTasks")
})
