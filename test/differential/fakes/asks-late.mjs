#!/usr/bin/env node
// A task in the background asks for a permission after the first result, and tells in a second one what came of it.
import { listen, say, sayResult } from "./agent.mjs"

const TASK = { task_id: "task-1", task_type: "local_bash", description: "in the background" }
let ended = false

/** @param {boolean} running */
const sayTasks = (running) =>
  say({ type: "system", subtype: "background_tasks_changed", tasks: running ? [TASK] : [], session_id: "", uuid: "" })

/** @param {string} text */
function finish(text) {
  sayTasks(false)
  sayResult(text)
  if (ended) process.exit(0)
}

listen(
  (message) => {
    if (message.type === "user") {
      sayTasks(true)
      sayResult("Started in the background.")
      setTimeout(askLate, 500)
    }
    if (message.type === "control_response") finish(`The answer was ${message.response.response?.behavior}.`)
  },
  {
    ended: () => {
      ended = true
    },
  },
)

function askLate() {
  const request = { subtype: "can_use_tool", tool_name: "Bash", input: { command: "ls" }, tool_use_id: "toolu_late" }
  if (ended) return finish("Nobody was there to answer.")
  say({ type: "control_request", request_id: "late-1", request })
}
