import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { ensureOfficialSdk } from "../scripts/official-sdk.mjs"
import { best, figureOf, median, samplesInTurns } from "./measure.mjs"

const MESSAGES = 200_000
const MESSAGES_FOR_MEMORY = 1_000_000
const STREAM_ROUNDS = 9
const IMPORT_ROUNDS = 9
const OURS = import.meta.resolve("@signalbox/sdk")
const reader = fileURLToPath(new URL("./stream-reader.mjs", import.meta.url))
const runNode = promisify(execFile)

/** @param {string} how @param {number} messages @param {string} [pace] */
async function read(how, messages, pace = "fast") {
  const { stdout } = await runNode(process.execPath, [reader, how, String(messages), pace])
  return JSON.parse(stdout)
}

/** Milliseconds from before the import until after it, in a fresh process. @param {string} entry */
async function importTime(entry) {
  const program = `const start = performance.now(); await import(${JSON.stringify(entry)}); process.stdout.write(String(performance.now() - start)); process.exit(0)`
  const { stdout } = await runNode(process.execPath, ["--input-type=module", "-e", program])
  return { wallMs: Number(stdout) }
}

/** @param {string} official */
async function streamFigures(official) {
  const contenders = [() => read(OURS, MESSAGES), () => read(official, MESSAGES), () => read("floor", MESSAGES)]
  const [ours = [], theirs = [], floor = []] = await samplesInTurns(contenders, STREAM_ROUNDS)
  const perSecond = (/** @type {number} */ wallMs) => MESSAGES / (wallMs / 1000)
  const perMessage = (/** @type {number} */ cpuMs) => (cpuMs * 1000) / MESSAGES
  const names = { ours: "@signalbox/sdk", theirs: "official SDK 0.3.325", floor: "spawn, split, JSON.parse" }
  return [
    figureOf({
      title: "200,000 stream_events from a child process, by the clock",
      unit: "messages/s",
      atLeast: 2,
      rows: [
        { name: names.ours, value: perSecond(best(ours, "wallMs")) },
        { name: names.floor, value: perSecond(best(floor, "wallMs")) },
        { name: names.theirs, value: perSecond(best(theirs, "wallMs")) },
      ],
    }),
    figureOf({
      title: "the same, CPU of the reading process against the official SDK",
      unit: "µs CPU/message",
      atMost: 0.5,
      rows: [
        { name: names.ours, value: perMessage(best(ours, "cpuMs")) },
        { name: names.theirs, value: perMessage(best(theirs, "cpuMs")) },
      ],
    }),
    figureOf({
      title: "the same, CPU of the reading process against the floor",
      unit: "µs CPU/message",
      atMost: 1.3,
      rows: [
        { name: names.ours, value: perMessage(best(ours, "cpuMs")) },
        { name: names.floor, value: perMessage(best(floor, "cpuMs")) },
      ],
    }),
  ]
}

/** @param {string} official */
async function importFigure(official) {
  const contenders = [() => importTime(OURS), () => importTime(official)]
  const [ours = [], theirs = []] = await samplesInTurns(contenders, IMPORT_ROUNDS)
  return figureOf({
    title: `import, median of ${IMPORT_ROUNDS} fresh processes`,
    unit: "ms",
    atMost: 1 / 3,
    rows: [
      { name: "@signalbox/sdk", value: median(ours, "wallMs") },
      { name: "official SDK 0.3.325", value: median(theirs, "wallMs") },
    ],
  })
}

/** The child could be done long before a slow reader is; if it has to wait, memory stays where it was. */
async function memoryFigure() {
  /** @type {{ memory: number[] }} */
  const { memory } = await read(OURS, MESSAGES_FOR_MEMORY, "slow")
  const megabytes = (/** @type {number} */ bytes) => bytes / 1024 / 1024
  const tenth = Math.ceil(memory.length / 10)
  const early = Math.max(...memory.slice(0, tenth))
  const later = Math.max(...memory.slice(tenth))
  return figureOf({
    title: "1,000,000 messages with a slow consumer: memory of the reading process",
    unit: "MB",
    atMost: 1.5,
    rows: [
      { name: "highest in the last nine tenths", value: megabytes(later) },
      { name: "highest in the first tenth", value: megabytes(early) },
    ],
  })
}

export async function figures() {
  const { entry } = await ensureOfficialSdk("0.3.325")
  return [...(await streamFigures(entry)), await importFigure(entry), await memoryFigure()]
}
