import { Transcript, type TranscriptEvent } from "@signalbox/transcript"
import { describe, expect, it } from "vitest"
import { catalogOf, commandPart, matchingCommands } from "../../src/agent/agent-catalog.ts"
import { changesOf } from "../../src/session/panels/changes.ts"
import { toolRowsOf } from "../../src/session/panels/loaded-rows.tsx"

/** A call and its result, as the log has them. */
function call(
  seq: number,
  name: string,
  input: object,
  result: { structured?: object; isError?: boolean },
): TranscriptEvent[] {
  const [id, at, from] = [`t${seq}`, "2031-01-01T10:00:00Z", "agent"] as const
  const content = [{ type: "tool_use", id, name, input }]
  const told = [{ type: "tool_result", tool_use_id: id, content: "ok", is_error: result.isError ?? false }]
  return [
    { seq, at, from, message: { type: "assistant", message: { id: `m${seq}`, content } } },
    {
      seq: seq + 1,
      at,
      from,
      message: { type: "user", message: { content: told }, tool_use_result: result.structured },
    },
  ]
}

function changes(...events: readonly TranscriptEvent[]) {
  const transcript = new Transcript()
  transcript.fold(events)
  return changesOf(toolRowsOf((lane) => transcript.rows(lane)))
}

const edit = (from: string, to: string) => ({ file_path: "/a.ts", old_string: from, new_string: to })

describe("the changes of a session", () => {
  it("are from before the first edit of a file to after its last", () => {
    const [file, ...others] = changes(
      ...call(1, "Edit", edit("one", "two"), { structured: { originalFile: "one\n" } }),
      ...call(3, "Edit", edit("two", "$&"), { structured: { originalFile: "two\n" } }),
    )
    expect(others).toEqual([])
    expect(file).toMatchObject({ path: "/a.ts", added: 1, removed: 1, edits: 2, isNet: true })
    expect(file?.hunks.flatMap(({ lines }) => lines.map(({ text }) => text))).toEqual(["one", "$&"])
  })

  it("are the edits one after the other where the CLI does not tell what the file was", () => {
    const [file] = changes(...call(1, "Edit", edit("one", "two"), {}), ...call(3, "Edit", edit("two", "three"), {}))
    expect(file).toMatchObject({ added: 2, removed: 2, isNet: false })
  })

  it("leave out what failed", () => {
    expect(changes(...call(1, "Edit", edit("one", "two"), { isError: true }))).toEqual([])
  })
})

describe("the agent's commands", () => {
  const init = { slash_commands: ["compact", "review", "clear"] }
  const greeting = { commands: [{ name: "compact", description: "Shorter", argumentHint: "[how]" }, { name: "gone" }] }

  it("are those it named at the beginning of its turn, with what is known of them", () => {
    const { commands } = catalogOf(init, greeting)
    expect(commands.map(({ name }) => name)).toEqual(["clear", "compact", "review"])
    expect(commands[1]).toEqual({ name: "compact", description: "Shorter", hint: "[how]" })
    expect(catalogOf(undefined, greeting).commands.map(({ name }) => name)).toEqual(["compact", "gone"])
    expect(catalogOf("nonsense", 7)).toEqual({ commands: [], agents: [] })
  })

  it("are offered while the first word after a slash is typed, and nowhere else", () => {
    expect(commandPart("/co", 3)).toBe("co")
    expect(commandPart("/", 1)).toBe("")
    expect(commandPart("/compact now", 12)).toBeUndefined()
    expect(commandPart("see /co", 7)).toBeUndefined()
    expect(commandPart("/usr/bin", 8)).toBeUndefined()
  })

  it("that begin with what is typed stand before those that hold it", () => {
    const found = matchingCommands(catalogOf(init, undefined).commands, "RE")
    expect(found.map(({ name }) => name)).toEqual(["review"])
    expect(matchingCommands(catalogOf(init, undefined).commands, "c").map(({ name }) => name)).toEqual([
      "clear",
      "compact",
    ])
  })
})
