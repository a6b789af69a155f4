// A runner as a process of its own, to be killed. Its options are in its first argument, its token in the environment.
import { pino } from "pino"
import { openRunner } from "../dist/index.js"

const { hubUrl, ...options } = JSON.parse(process.argv[2] ?? "{}")
const runner = await openRunner({
  ...options,
  hubUrl: () => hubUrl,
  token: () => process.env["SIGNALBOX_TOKEN"] ?? "runner-token",
  log: pino({ level: process.env["RUNNER_LOG"] ?? "silent" }, pino.destination(2)),
})
process.stdout.write("ready\n")
process.once("SIGTERM", () => void runner.close({ agents: true }))
await runner.closed
