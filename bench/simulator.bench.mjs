import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { best, figureOf, median, samplesInTurns } from "./measure.mjs"

const DELTAS = 600_000
const ASKED_FOR = 300_000
const START_ROUNDS = 15
const NEWLINE = 10
const claudeSim = fileURLToPath(new URL("../packages/simulator/bin/claude-sim.mjs", import.meta.url))
const writer = fileURLToPath(new URL("./stream-writer.mjs", import.meta.url))
const FLAGS = "--output-format stream-json --input-format stream-json --verbose --no-session-persistence".split(" ")
const initialize = { type: "control_request", request_id: "1", request: { subtype: "initialize" } }
const user = { type: "user", message: { role: "user", content: "go" }, parent_tool_use_id: null, session_id: "" }

/** @param {string[]} args @param {string} cwd @param {Record<string, string>} [env] */
function run(args, cwd, env = {}) {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", HOME: cwd, SIGNALBOX_SIM_SPEED: "max", ...env },
    stdio: ["pipe", "pipe", "inherit"],
  })
  child.stdin.on("error", () => undefined) // `node -e 0` does not read
  return child
}

/** From the start of the process to its answer to `initialize`. @param {string[]} args @param {string} cwd */
async function untilAnswer(args, cwd) {
  const start = performance.now()
  const child = run([claudeSim, ...FLAGS, ...args], cwd)
  child.stdin.end(`${JSON.stringify(initialize)}\n`)
  await once(child.stdout, "data")
  const wallMs = performance.now() - start
  child.stdout.resume()
  await once(child, "close")
  return { wallMs }
}

/** @param {string} cwd */
async function nothing(cwd) {
  const start = performance.now()
  const child = run(["-e", "0"], cwd)
  child.stdin.end()
  child.stdout.resume()
  await once(child, "close")
  return { wallMs: performance.now() - start }
}

/** @param {string} cwd @param {{ json: string, yaml: string }} scenarios */
async function startFigure(cwd, { json, yaml }) {
  const contenders = [
    () => untilAnswer([], cwd),
    () => untilAnswer(["--scenario", json], cwd),
    () => untilAnswer(["--scenario", yaml], cwd),
    () => nothing(cwd),
  ]
  const [plain = [], inJson = [], inYaml = [], floor = []] = await samplesInTurns(contenders, START_ROUNDS)
  return figureOf({
    title: `start, median of ${START_ROUNDS}`,
    unit: "ms",
    atMost: 3,
    rows: [
      { name: "claude-sim, to its first answer", value: median(plain, "wallMs") },
      { name: "… with a scenario of JSON", value: median(inJson, "wallMs") },
      { name: "… with a scenario of YAML", value: median(inYaml, "wallMs") },
      { name: "node -e 0, to its end", value: median(floor, "wallMs") },
    ],
  })
}

/** From the first byte to the end, with a reader that only counts. @param {ReturnType<typeof run>} child */
async function readAll(child) {
  let lines = 0
  let start = 0
  child.stdout.on("data", (/** @type {Buffer} */ chunk) => {
    start ||= performance.now()
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) lines++
  })
  await once(child, "close")
  if (lines < DELTAS) throw new Error(`${lines} lines of ${DELTAS} came`)
  return { wallMs: performance.now() - start }
}

/** @param {string} cwd @param {string} scenario */
function floodOfSim(cwd, scenario) {
  const child = run([claudeSim, ...FLAGS, "--include-partial-messages", "--scenario", scenario], cwd)
  child.stdin.end(`${JSON.stringify(user)}\n`)
  return readAll(child)
}

/** Lines that were prepared. @param {string} cwd */
function floodOfWriter(cwd) {
  const child = run([writer], cwd, { BENCH_MESSAGES: String(DELTAS) })
  child.stdin.write(`${JSON.stringify(user)}\n`)
  child.stdout.on("data", (/** @type {Buffer} */ chunk) => {
    if (chunk.includes('"type":"result"')) child.stdin.end()
  })
  return readAll(child)
}

/** @param {string} cwd @param {string} scenario */
async function floodFigure(cwd, scenario) {
  const [ours = [], floor = []] = await samplesInTurns([() => floodOfSim(cwd, scenario), () => floodOfWriter(cwd)])
  const perSecond = (/** @type {typeof ours} */ samples) => DELTAS / (best(samples, "wallMs") / 1000)
  return figureOf({
    title: `${DELTAS.toLocaleString("en")} deltas on stdio, by the clock`,
    unit: "deltas/s",
    atLeast: 1,
    rows: [
      { name: "claude-sim", value: perSecond(ours) },
      { name: "prepared lines, only written", value: perSecond(floor) },
      { name: "asked for", value: ASKED_FOR },
    ],
  })
}

export async function figures() {
  const cwd = mkdtempSync(join(tmpdir(), "signalbox-bench-"))
  try {
    const small = join(cwd, "small.yaml")
    writeFileSync(small, "turns:\n  - steps:\n      - say: Hello.\n")
    const smallJson = join(cwd, "small.json")
    writeFileSync(smallJson, JSON.stringify({ turns: [{ steps: [{ say: "Hello." }] }] }))
    const flood = join(cwd, "flood.yaml")
    writeFileSync(
      flood,
      `turns:\n  - steps:\n      - say: { repeat: "words ", times: ${DELTAS} }\n        deltas: ${DELTAS}\n`,
    )
    return [await startFigure(cwd, { json: smallJson, yaml: small }), await floodFigure(cwd, flood)]
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}
