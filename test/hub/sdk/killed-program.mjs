// A program on a hub's agent that writes down each message with its cursor, and never decides on a permission.
import { appendFileSync } from "node:fs"
import { query } from "../../../packages/sdk/dist/index.js"

const [file = "", place = "{}"] = process.argv.slice(2)
const running = query({
  prompt: "make it",
  options: {
    hub: JSON.parse(place),
    canUseTool: () => {
      appendFileSync(file, `${JSON.stringify({ asked: true })}\n`)
      return new Promise(() => undefined)
    },
  },
})
for await (const message of running) {
  appendFileSync(file, `${JSON.stringify({ message, cursor: running.hubCursor })}\n`)
}
