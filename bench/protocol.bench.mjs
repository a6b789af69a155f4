import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { createLineSplitter, decode } from "@signalbox/protocol"
import { createAgentReader } from "@signalbox/protocol/dialects"
import { Transcript } from "@signalbox/transcript"
import { figure } from "./measure.mjs"

const fixtures = join(dirname(dirname(fileURLToPath(import.meta.url))), "packages/protocol/test/fixtures")

/** Lines of real CLIs, as many as make a measurable run. */
function recordedLines() {
  const files = readdirSync(fixtures, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ndjson"))
  const lines = files
    .flatMap((file) => readFileSync(join(fixtures, file), "utf8").split("\n"))
    .filter((line) => line !== "")
  if (lines.length === 0) throw new Error(`no recorded lines under ${fixtures}`)
  return lines
}

/** @param {(line: string) => unknown} read @param {string[]} lines @param {number} total */
function readAll(read, lines, total) {
  let taken = 0
  while (taken < total) {
    for (const line of lines) if (read(line) !== undefined) taken++
  }
  return taken
}

function decodeFigures() {
  const all = recordedLines()
  const delta = JSON.stringify({
    type: "stream_event",
    event: { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "a few words" } },
    session_id: "00000000-0000-4000-8000-000000000000",
    parent_tool_use_id: null,
    uuid: "00000000-0000-4000-8000-000000000001",
  })
  return [
    { title: "decode, every recorded line of the real CLIs", lines: all, total: 60_000 },
    { title: "decode, one small stream_event", lines: [delta], total: 600_000 },
    {
      title: "an agent's lines as the hub reads them, all recorded",
      lines: all,
      total: 60_000,
      read: createAgentReader(),
    },
    {
      title: "an agent's lines as the hub reads them, small stream_events",
      lines: [delta],
      total: 600_000,
      read: createAgentReader(),
    },
  ].map(({ title, lines, total, read = decode }) =>
    figure({
      title,
      limit: 1.15,
      contenders: [
        { name: "decode (parse + envelope guard)", run: () => readAll(read, lines, total) },
        { name: "JSON.parse alone", run: () => readAll(JSON.parse, lines, total) },
      ],
    }),
  )
}

/** @param {Uint8Array} bytes */
function inChunks(bytes) {
  const chunks = []
  for (let at = 0; at < bytes.length; at += 65_536) chunks.push(bytes.subarray(at, at + 65_536))
  return chunks
}

/** @param {Uint8Array[]} chunks */
function frame(chunks) {
  const splitter = createLineSplitter()
  return chunks.flatMap((chunk) => splitter.push(chunk))
}

function framingFigures() {
  const text = "2026-01-01 12:00:00 INFO  server: request 4711 took 12 ms, status 200\n".repeat(112_000)
  const entries = Array.from({ length: 108_000 }, (_, id) => ({
    id,
    name: `item ${id}`,
    ok: true,
    list: [1, 2, 3],
    text: "word",
  }))
  return [
    { kind: "one long text", line: JSON.stringify({ type: "user", message: { role: "user", content: text } }) },
    { kind: "many small values", line: JSON.stringify({ type: "user", message: { role: "user", content: entries } }) },
  ].map(({ kind, line }) => {
    const chunks = inChunks(Buffer.from(`${line}\n`))
    const megabytes = (line.length / 1e6).toFixed(1)
    return figure({
      title: `one line of ${megabytes} MB in 64 KB chunks, ${kind}`,
      limit: 1.5,
      contenders: [
        { name: "framing", run: () => frame(chunks) },
        { name: "framing and decode", run: () => frame(chunks).map((each) => decode(each)) },
        { name: "one JSON.parse of it", run: () => JSON.parse(line) },
      ],
    })
  })
}

/** A session of about 100,000 events: prompts, texts, tools and their results. */
function longSession() {
  const turns = Array.from({ length: 7_700 }, (_, turn) => [
    { type: "user", uuid: `p${turn}`, message: { role: "user", content: "do it" } },
    { type: "system", subtype: "init", uuid: `i${turn}`, model: "opus", permissionMode: "default", cwd: "/p" },
    ...[0, 1, 2, 3, 4].flatMap((step) => {
      const id = `t${turn}.${step}`
      const call = { type: "tool_use", id, name: step % 2 === 0 ? "Bash" : "Read", input: { file_path: "x" } }
      const result = { type: "tool_result", tool_use_id: id, content: "ok" }
      return [
        { type: "assistant", uuid: `a${id}`, message: { id: `m${id}`, content: [call] } },
        { type: "user", uuid: `r${id}`, message: { role: "user", content: [result] } },
      ]
    }),
    { type: "result", subtype: "success", uuid: `e${turn}`, is_error: false, result: "done", duration_ms: 1 },
  ]).flat()
  const at = "2026-01-01T00:00:00.000Z"
  return turns.map((message, index) => ({
    seq: index + 1,
    at,
    from: message.uuid.startsWith("p") ? /** @type {const} */ ("client") : /** @type {const} */ ("agent"),
    message,
  }))
}

function transcriptFigures() {
  const events = longSession()
  const lines = events.map((event) => JSON.stringify(event))
  return [
    figure({
      title: `the transcript of ${events.length} events, folded at once`,
      limit: 6,
      contenders: [
        {
          name: "fold and rows",
          run: () => {
            const transcript = new Transcript()
            transcript.fold(events)
            return transcript.rows()
          },
        },
        { name: "JSON.parse of the same events", run: () => lines.map((line) => JSON.parse(line)) },
      ],
    }),
  ]
}

export const figures = () => [...decodeFigures(), ...framingFigures(), ...transcriptFigures()]
