import { once } from "node:events"
import { describe, expect, it } from "vitest"
import type { AgentLink, LinkEnd } from "../src/launch/open-agent.ts"
import { flagsIn, readCrossingArguments, withoutHabits } from "../src/spawn/arguments.ts"
import { HubAgentProcess } from "../src/spawn/spawn-on-hub.ts"

/** A link at its seam: what it is told, and what it tells. */
class ScriptedLink implements AgentLink {
  readonly sent: string[] = []
  readonly closed: Promise<LinkEnd>
  readonly batches: AsyncIterable<readonly string[]>
  isInputEnded = false
  #close: (end: LinkEnd) => void = () => undefined
  #waiting: (readonly string[])[] = []
  #wake: () => void = () => undefined
  #isOver = false

  constructor() {
    this.closed = new Promise((resolve) => {
      this.#close = resolve
    })
    this.batches = this.#read()
  }

  async *#read() {
    for (;;) {
      const batch = this.#waiting.shift()
      if (batch !== undefined) yield batch
      else if (this.#isOver) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  say(...lines: string[]): void {
    this.#waiting.push(lines)
    this.#wake()
  }

  end(end: LinkEnd): void {
    this.#isOver = true
    this.#close(end)
    this.#wake()
  }

  async send(line: string): Promise<void> {
    this.sent.push(line)
  }

  endInput(): void {
    this.isInputEnded = true
    this.end({ by: "us", reason: "the run is over" })
  }

  async close(reason: string): Promise<void> {
    this.end({ by: "us", reason })
  }

  terminate(reason: string): Promise<void> {
    return this.close(reason)
  }
}

function play(link: ScriptedLink = new ScriptedLink()) {
  const abort = new AbortController()
  const opened: string[] = []
  const played = new HubAgentProcess(async (firstLine) => {
    opened.push(firstLine)
    return link
  }, abort.signal)
  let text = ""
  played.stdout.on("data", (data: Buffer) => {
    text += data.toString()
  })
  return { played, link, abort, opened, text: () => text }
}

const HELLO = '{"type":"control_request","request_id":"1","request":{"subtype":"initialize"}}'

describe("what an official SDK writes on its command line", () => {
  it("[CL32] is read in both spellings", () => {
    const older = ["--model", "m", "--permission-mode", "plan", "--resume", "r", "--fork-session", "--max-turns", "3"]
    const newer = ["--model=m", "--permission-mode=plan", "--resume=r", "--fork-session", "--max-turns=3"]
    const plain = {
      model: "m",
      permissionMode: "plan",
      resume: "r",
      isContinued: false,
      fork: true,
      wantsPieces: false,
      wantsHookEvents: false,
    }
    expect(readCrossingArguments(older)).toEqual({ ...plain, options: { maxTurns: 3 }, args: [] })
    expect(readCrossingArguments(newer)).toEqual({ ...plain, options: { maxTurns: 3 }, args: [] })
    for (const flag of ["--continue", "-c"]) {
      expect(readCrossingArguments([flag])).toMatchObject({ isContinued: true, args: [] })
    }
    expect(flagsIn(["--max-turns=3", "--add-dir", "x"])).toEqual(["--max-turns", "--add-dir"])
  })

  it("[CL32] loses what is the runner's business, and servers of the program itself", () => {
    const wire = ["--output-format", "stream-json", "--verbose", "--input-format=stream-json"]
    const more = ["--permission-prompt-tool", "stdio", "--include-partial-messages", "--print"]
    expect(readCrossingArguments([...wire, ...more])).toEqual({
      isContinued: false,
      fork: false,
      wantsPieces: true,
      wantsHookEvents: false,
      options: {},
      args: [],
    })
    const own = { a: { type: "sdk", name: "a" } }
    const beside = { b: { command: "x" } }
    const config = (servers: object) => ["--mcp-config", JSON.stringify({ mcpServers: servers })]
    expect(readCrossingArguments(config(own)).options).toEqual({})
    expect(readCrossingArguments(config({ ...own, ...beside })).options).toEqual({ mcpServers: beside })
    expect(readCrossingArguments(["--mcp-config=servers.json"]).args).toEqual(["--mcp-config", "servers.json"])
  })

  it("[CL22] of what is sent always, only that no settings are read can be left out", () => {
    const left = (argv: readonly string[]) => withoutHabits(readCrossingArguments(argv).options)
    expect(left(["--setting-sources", ""])).toEqual({})
    expect(left(["--setting-sources", "project"])).toEqual({ settingSources: ["project"] })
    expect(left(["--setting-sources", "", "--max-turns", "3"])).toEqual({ maxTurns: 3 })
  })

  it("[CL70] what a launch has a field for becomes that field, in both spellings; the rest stays an argument", () => {
    const schema = { type: "object" }
    const equals = [
      "--max-budget-usd=1.5",
      "--allowedTools=Read,Bash(git commit -m a, b)",
      "--disallowedTools=Write",
      "--add-dir=/a",
      "--add-dir=/b",
      "--effort=low",
      "--max-thinking-tokens=2000",
      "--thinking-display=omitted",
      "--betas=x",
      `--json-schema=${JSON.stringify(schema)}`,
      "--fallback-model=haiku",
    ]
    const options = {
      maxBudgetUsd: 1.5,
      disallowedTools: ["Write"],
      additionalDirectories: ["/a", "/b"],
      effort: "low",
      thinking: { type: "enabled", budgetTokens: 2000, display: "omitted" },
      betas: ["x"],
      outputFormat: { type: "json_schema", schema },
    }
    const words = (word: string) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]
    for (const argv of [equals, equals.slice(0, -1).flatMap(words)]) {
      const { allowedTools, ...others } = readCrossingArguments(argv).options
      expect(others).toEqual(options)
      expect(allowedTools?.join(",")).toBe("Read,Bash(git commit -m a, b)")
    }
    expect(readCrossingArguments(equals).args).toEqual(["--fallback-model=haiku"])
    expect(readCrossingArguments(["--thinking=disabled"]).options).toEqual({ thinking: { type: "disabled" } })
  })
})

describe("a process that is none", () => {
  it("[CL33] sends whole lines in order, shows lines without the hub's own, and exits after the last", async () => {
    const { played, link, opened, text } = play()
    played.stdin.write(HELLO.slice(0, 20))
    played.stdin.write(`${HELLO.slice(20)}\n{"type":"user"}\n{"type":"control_resp`)
    played.stdin.write('onse"}\n')
    await expect.poll(() => link.sent.length).toBe(3)
    expect(opened).toEqual([HELLO])
    expect(link.sent.toSorted()).toEqual([HELLO, '{"type":"user"}', '{"type":"control_response"}'].toSorted())
    expect(played.exitCode).toBeNull()
    link.say(
      '{"signalbox_cursor":{"session":"s","after":3},"type":"assistant","n":1}',
      '{"type":"hub","subtype":"connected"}',
    )
    link.say('{"type":"system","sdk_host_only":true}', '{"type":"result"}')
    const order: string[] = []
    played.stdout.on("end", () => order.push("end"))
    played.on("exit", () => order.push("exit"))
    played.stdin.end()
    const [code, signal] = await once(played, "exit")
    expect([code, signal, played.exitCode, played.killed]).toEqual([0, null, 0, false])
    expect(order).toEqual(["end", "exit"])
    expect(text()).toBe('{"type":"assistant","n":1}\n{"type":"result"}\n')
    expect(link.isInputEnded).toBe(true)
  })

  it("[CL33] detaches when it is killed or aborted, also before anything was said", async () => {
    const first = play()
    first.played.stdin.write(`${HELLO}\n`)
    await expect.poll(() => first.link.sent.length).toBe(1)
    const exited = once(first.played, "exit")
    expect(first.played.kill("SIGTERM")).toBe(true)
    expect(await exited).toEqual([null, "SIGTERM"])
    expect([first.played.killed, first.played.kill()]).toEqual([true, false])
    const second = play()
    const ended = once(second.played, "exit")
    second.abort.abort()
    expect(await ended).toEqual([null, "SIGTERM"])
    const third = play()
    const left = once(third.played, "exit")
    third.played.stdin.end()
    expect(await left).toEqual([0, null])
    expect(third.opened).toEqual([])
  })

  it("[CL33] tells a failure before its end, and survives that nobody listens", async () => {
    const failing = new HubAgentProcess(() => Promise.reject(new Error("no hub")), new AbortController().signal)
    failing.stdout.resume()
    const order: string[] = []
    failing.on("error", (error: Error) => order.push(error.message))
    failing.on("exit", (code: number | null) => order.push(`exit ${code}`))
    failing.stdin.write(`${HELLO}\n`)
    await expect.poll(() => order).toEqual(["no hub", "exit 1"])
    const unheard = new HubAgentProcess(() => Promise.reject(new Error("no hub")), new AbortController().signal)
    unheard.stdout.resume()
    unheard.stdin.write(`${HELLO}\n`)
    // Not by `once`, which would listen for errors too.
    expect(await new Promise((resolve) => unheard.on("exit", resolve))).toBe(1)
    unheard.stdin.write("too late\n")
  })
})
