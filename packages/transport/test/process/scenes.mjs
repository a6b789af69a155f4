// @ts-check
// Small plays for the tests of the child process transport. Each says on its standard output that it is ready.
import { spawn } from "node:child_process"
import { closeSync } from "node:fs"
import { argv, argv0, execPath, exit, kill, pid, stderr, stdin, stdout } from "node:process"

/** @param {unknown} value */
const say = (value) => stdout.write(`${JSON.stringify(value)}\n`)
/** Keeps a process alive, longer than any test; a test that fails leaves it behind, but not for ever. */
const stay = () => setTimeout(() => exit(9), 120_000)

/** @param {string} scene @param {import("node:child_process").StdioOptions} stdio */
const startAnother = (scene, stdio) => spawn(execPath, [argv[1] ?? argv0, scene], { stdio })

/** @type {Record<string, () => void>} */
const scenes = {
  stay() {
    say({ pid })
    stay()
  },
  /** Ends when its input ends, after some more lines. */
  "finish-after-input"() {
    say({ pid })
    stdin.resume().on("end", () => {
      say({ last: 1 })
      say({ last: 2 })
    })
  },
  "exit-with"() {
    stderr.write(argv[4] ?? "")
    stdout.write('{"n":1}\n{"n":2}\n{"unterminated":1}')
    exit(Number(argv[3]))
  },
  "die-by"() {
    stderr.write("about to die\n")
    kill(pid, argv[3])
  },
  "ignore-term"() {
    process.on("SIGTERM", () => say({ term: 1 }))
    say({ pid })
    stay()
  },
  /** Ends at TERM, but leaves a child that does not. */
  "stubborn-grandchild"() {
    startAnother("announce-ignore-term", ["ignore", "inherit", "ignore"])
    stay()
  },
  "announce-ignore-term"() {
    process.on("SIGTERM", () => undefined)
    say({ grandchild: pid })
    stay()
  },
  grandchild() {
    startAnother("announce-stay", ["ignore", "inherit", "inherit"])
    stay()
  },
  "announce-stay"() {
    say({ grandchild: pid })
    stay()
  },
  /** Ends by itself once its child, which shares its output, is up. */
  "leave-output-open"() {
    startAnother("announce-stay", ["ignore", "inherit", "ignore"])
    stdin.once("data", () => exit(0))
  },
  /** As above, with a child that writes without end. */
  "leave-flood"() {
    startAnother("flood", ["ignore", "inherit", "ignore"])
    stdin.once("data", () => exit(0))
  },
  flood() {
    say({ grandchild: pid })
    const line = `{"fill":"${"x".repeat(60_000)}"}\n`
    const more = () => void (stdout.write(line) ? setImmediate(more) : stdout.once("drain", more))
    stdout.on("error", () => exit(0))
    stay()
    more()
  },
  "close-input"() {
    closeSync(0)
    say({ pid })
    stay()
  },
  "write-stderr"() {
    const text = "é".repeat(1000)
    for (let n = 0; n < 200; n++) stderr.write(`${n} ${text}\n`)
    say({ pid })
    stay()
  },
  /** Many small lines, as fast as they are taken. */
  "many-lines"() {
    let block = ""
    for (let n = 0; n < Number(argv[3]); n++) {
      block += `{"n":${n},"type":"stream_event"}\n`
      if (block.length > 60_000 || n === Number(argv[3]) - 1) {
        stdout.write(block)
        block = ""
      }
    }
  },
}

scenes[argv[2] ?? ""]?.()
