// A session goes on later, and a second one branches off it.
import { listSessions, query } from "@signalbox/sdk"

/**
 * @param {string} prompt
 * @param {import("@signalbox/sdk").Options} [options]
 */
async function ask(prompt, options = {}) {
  let sessionId = ""
  for await (const message of query({ prompt, options })) {
    if (message.type !== "result") continue
    sessionId = message.session_id
    if (message.subtype === "success") console.log(message.result)
  }
  return sessionId
}

const first = await ask("Remember the word plum.")
const resumed = await ask("Which word was it?", { resume: first })
const forked = await ask("And in French?", { resume: first, forkSession: true })
console.log(`resumed is the same session: ${resumed === first}, the fork is another: ${forked !== first}`)
console.log(`sessions on disk: ${(await listSessions({ dir: process.cwd(), includeProgrammatic: true })).length}`)
