// Loaded into every process that scripts/trace-request.mjs starts: counts the calls of our functions, and writes the
// counts whenever a new number is in the file `take`. Counting starts again after each.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { Session } from "node:inspector"
import { join } from "node:path"
import { isMainThread } from "node:worker_threads"

const folder = process.env["SIGNALBOX_TRACE"]
const OURS = /\/packages\/([^/]+)\/dist\/(.+)\.js$/

// The search index follows the log in a thread of its own: nothing waits for it.
if (folder !== undefined && isMainThread) {
  const name = String(process.pid)
  const session = new Session()
  session.connect()
  session.post("Profiler.enable")
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false })
  writeFileSync(join(folder, `alive-${name}`), "")
  process.on("exit", () => rmSync(join(folder, `alive-${name}`), { force: true }))
  let taken = ""
  const look = () => {
    const file = join(folder, "take")
    const wanted = existsSync(file) ? readFileSync(file, "utf8") : ""
    if (wanted === "" || wanted === taken) return
    taken = wanted
    session.post("Profiler.takePreciseCoverage", (error, coverage) => {
      const calls = (coverage?.result ?? []).flatMap(({ url, functions }) => {
        const [, room, path] = OURS.exec(url) ?? []
        return room === undefined
          ? []
          : functions.flatMap(({ ranges: [range] }) =>
              range === undefined || range.count === 0
                ? []
                : [{ file: `${room}/src/${path}.ts`, at: range.startOffset, count: range.count }],
            )
      })
      writeFileSync(join(folder, `${name}.part`), JSON.stringify(error === null ? calls : { error: error.message }))
      renameSync(join(folder, `${name}.part`), join(folder, `calls-${wanted}-${name}`))
    })
  }
  setInterval(look, 10).unref()
}
