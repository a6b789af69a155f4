// The process a program runs in: `node child-main.js <program.js> <task.json>`. It opens the scripted model, runs the
// program, and writes what was observed when the process ends by itself, or says that it did not.
import { readFileSync, writeFileSync } from "node:fs"
import { pathToFileURL } from "node:url"
import { openScriptedApi } from "@signalbox/simulator"
import { begin, describeError, observe, type Program } from "./program-context.ts"

interface Task {
  readonly claude: string
  readonly cwd: string
  readonly home: string
  readonly fakes: string
  readonly report: string
}

const RUN_LIMIT_MS = 90_000
/** A query leaves up to two seconds for a process to go by itself and five more until it is killed. */
const LEAVE_LIMIT_MS = 12_000

const [programFile = "", taskFile = ""] = process.argv.slice(2)
// Written by the harness that compiled this very file.
const task = JSON.parse(readFileSync(taskFile, "utf8")) as Task

process.on("unhandledRejection", (error) => observe("unhandled", describeError(error)))
process.on("uncaughtException", (error) => observe("uncaught", describeError(error)))

// The module is one of `programs`, all of which are compiled against this interface.
const program = (await import(pathToFileURL(programFile).href)) as Program
const api = await openScriptedApi({ scenario: program.scenario })
process.env["ANTHROPIC_BASE_URL"] = api.url
const observed = begin({ ...task, api })
process.on("exit", () => writeFileSync(task.report, JSON.stringify({ apiUrl: api.url, observed })))

const limit = setTimeout(() => {
  observe("harness", `the program did not finish; api: ${JSON.stringify(api.errors)}`)
  process.exit(1)
}, RUN_LIMIT_MS)
try {
  await program.run()
} catch (error) {
  observe("uncaught", describeError(error))
}
clearTimeout(limit)
if (program.modelUnobserved !== true)
  for (const { kind, model, system, tools, messages } of api.requests)
    if (kind === "conversation") observe("model", { model, system, tools, messages })
for (const { kind, message } of api.errors) observe("script", { kind, message })
await api.close()
// Nothing of ours keeps the process alive now; whatever still does was left behind by the SDK.
setTimeout(() => {
  observe("harness", `the process did not end by itself: ${process.getActiveResourcesInfo().join(", ")}`)
  process.exit(1)
}, LEAVE_LIMIT_MS).unref()
