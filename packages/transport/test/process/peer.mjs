// @ts-check
// The far end of the transport contract: a process whose standard input and output are the connection under test, driven
// over a socket of its own. It reads a line only when asked for one, so that a pause is simply not asking.
import { connect } from "node:net"
import { argv, exit, stdin, stdout } from "node:process"

/** @typedef {{ id: number, op: "send", line: string } | { id: number, op: "receive" | "end" }} Command */

const control = connect(argv[2] ?? "")
control.on("error", () => exit(1))
control.on("close", () => exit(1))

/** @type {string[]} */
const received = []
/** @type {number[]} */
const wanted = []
let held = ""

/** @param {number} id @param {string} [line] */
function answer(id, line) {
  control.write(`${JSON.stringify({ id, line })}\n`)
}

function deliver() {
  while (wanted.length > 0 && received.length > 0) answer(wanted.shift() ?? 0, received.shift())
  if (wanted.length > 0) stdin.resume()
  else stdin.pause()
}

stdin.setEncoding("utf8")
stdin.pause()
stdin.on("data", (/** @type {string} */ chunk) => {
  const lines = (held + chunk).split("\n")
  held = lines.pop() ?? ""
  received.push(...lines)
  deliver()
})

let begun = ""
// Not readline: since Node 24 it also ends a line at U+2028, which JSON may hold.
control.setEncoding("utf8").on("data", (/** @type {string} */ chunk) => {
  const lines = (begun + chunk).split("\n")
  begun = lines.pop() ?? ""
  for (const line of lines) obey(JSON.parse(line))
})

/** @param {Command} command */
function obey(command) {
  if (command.op === "send") {
    stdout.write(`${command.line}\n`, () => answer(command.id))
  } else if (command.op === "receive") {
    wanted.push(command.id)
    deliver()
  } else {
    control.write(`${JSON.stringify({ id: command.id })}\n`, () => exit(0))
  }
}
