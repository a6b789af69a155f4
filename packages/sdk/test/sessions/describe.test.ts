import { mkdtemp, realpath, rm, symlink, utimes } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, it } from "vitest"
import { expectSame } from "./both.ts"
import { assistant, file, id, type Json, makeWorld, nextTime, oneSession, SESSION, user } from "./transcripts.ts"

type Line = Json | string

const long = (n: number) => "z".repeat(n)
const title = (customTitle: unknown): Json => ({ type: "custom-title", customTitle, sessionId: SESSION })
const made = (aiTitle: unknown): Json => ({ type: "ai-title", aiTitle, sessionId: SESSION })
const last = (lastPrompt: unknown): Json => ({ type: "last-prompt", lastPrompt, sessionId: SESSION })
const tag = (text: unknown): Json => ({ type: "tag", tag: text, sessionId: SESSION })
const hello = () => user(10, null, "hello")
const far = () => assistant(11, 10, long(200_000))

async function sameDescription(...lines: Line[]): Promise<unknown> {
  const world = await makeWorld(oneSession(...lines))
  try {
    return await expectSame(async (sdk) => [await sdk.listSessions(), await sdk.getSessionInfo(SESSION)])
  } finally {
    await world.remove()
  }
}

const TITLES: readonly [string, () => Line[]][] = [
  ["nothing but a prompt", () => [hello(), assistant(11, 10, "hi")]],
  ["a title", () => [hello(), title("One"), title("Two")]],
  ["a title taken back", () => [hello(), title("One"), title("")]],
  ["a title of the CLI's own", () => [hello(), made("AI")]],
  ["both kinds of title", () => [hello(), title("Mine"), made("AI")]],
  ["a title taken back and one of the CLI's own", () => [hello(), title("One"), title(""), made("AI")]],
  ["an early title and a late one of the CLI's", () => [hello(), title("Early"), far(), made("AI")]],
  ["an early title taken back late", () => [hello(), title("Early"), far(), title("")]],
  ["an early title of the CLI's, a late empty one", () => [hello(), made("AI"), far(), title("")]],
  ["a title in the middle of a long file", () => [hello(), far(), title("Middle"), far()]],
  ["a title as a number", () => [hello(), title("x"), title(5)]],
  ["a title in a line of another type", () => [hello(), { type: "other", customTitle: "No" }]],
  ["a title deep in a line", () => [hello(), { type: "custom-title", deep: { customTitle: "No" } }]],
  ["a title with spaces in its JSON", () => [hello(), '{"type": "custom-title", "customTitle": "Spaced"}']],
  ["a cut title", () => [hello(), '{"type":"custom-title","customTitle":"Cut']],
  ["a latest prompt", () => [hello(), last("latest")]],
  ["a latest prompt that is empty", () => [hello(), last("latest"), last("")]],
  ["a latest prompt far from the end", () => [hello(), last("latest"), far()]],
  ["a summary", () => [hello(), { type: "summary", summary: "Sum" }]],
  ["a summary and a latest prompt", () => [hello(), { type: "summary", summary: "Sum" }, last("latest")]],
  ["a summary in a message", () => [hello(), assistant(11, 10, "x", { summary: "in it" })]],
  ["a summary deep in a message", () => [hello(), assistant(11, 10, [{ type: "tool_use", input: { summary: "no" } }])]],
  ["only a title", () => [title("One")]],
  ["only a latest prompt", () => [last("latest")]],
]

const PROMPTS: readonly [string, () => Line[]][] = [
  ["no prompt at all", () => [assistant(11, null, "hi")]],
  ["a generated message first", () => [user(10, null, "meta", { isMeta: true }), user(11, 10, "real")]],
  ["a compaction's summary first", () => [user(10, null, "sum", { isCompactSummary: true }), user(11, 10, "real")]],
  ["a tool's result first", () => [user(10, null, [{ type: "tool_result", content: "x" }]), user(11, 10, "real")]],
  ["a result deep in a prompt", () => [user(10, null, "x", { deep: { type: "tool_result" } }), user(11, 10, "real")]],
  ["a slash command", () => [user(10, null, "<command-name>/foo</command-name>")]],
  ["a slash command, then a prompt", () => [user(10, null, "<command-name>/a</command-name>"), user(11, 10, "real")]],
  [
    "a nameless command",
    () => [user(10, null, "<command-name></command-name>"), user(11, 10, "<command-name>/x</command-name>")],
  ],
  ["a shell line", () => [user(10, null, "<bash-input> ls\n -l </bash-input>"), user(11, 10, "real")]],
  ["an empty shell line", () => [user(10, null, "<bash-input></bash-input>")]],
  ["a tag", () => [user(10, null, " <foo-bar x='y'>x</foo-bar>"), user(11, 10, "real")]],
  ["what only looks like a tag", () => [user(10, null, "<br/> <5"), user(11, 10, "real")]],
  ["an interruption", () => [user(10, null, "[Request interrupted by user for tool use]"), user(11, 10, "real")]],
  ["an image and a text", () => [user(10, null, [{ type: "image" }, { type: "text", text: "see" }])]],
  [
    "a tag and a text in blocks",
    () => [
      user(10, null, [
        { type: "text", text: "<a>" },
        { type: "text", text: "b" },
      ]),
    ],
  ],
  ["several lines", () => [user(10, null, "  one\n\ntwo\r\n\tthree  ")]],
  ["201 characters", () => [user(10, null, "x".repeat(201))]],
  ["a space at the cut", () => [user(10, null, `${"x".repeat(199)} ${"y".repeat(50)}`)]],
  ["a character of two units at the cut", () => [user(10, null, `${"x".repeat(199)}😀${"y".repeat(50)}`)]],
  ["an empty prompt", () => [user(10, null, ""), user(11, 10, "real")]],
  ["a first prompt beyond the beginning", () => [assistant(11, null, long(70_000)), hello()]],
  ["a first prompt of 100 KB and a title", () => [user(10, null, long(100_000)), far(), title("T")]],
]

const FIELDS: readonly [string, () => Line[]][] = [
  ["a tag", () => [hello(), tag("x")]],
  ["a tag taken away", () => [hello(), tag("x"), tag("")]],
  ["a tag at the beginning of a long file", () => [hello(), tag("x"), far()]],
  ["a tag at the end of a long file", () => [hello(), far(), tag("x")]],
  ["another branch later", () => [hello(), assistant(11, 10, "x", { gitBranch: "dev", cwd: "/other" })]],
  [
    "an empty branch last",
    () => [hello(), assistant(11, 10, "x", { gitBranch: "dev" }), assistant(12, 11, "x", { gitBranch: "" })],
  ],
  ["a branch only in the beginning", () => [hello(), assistant(11, 10, long(200_000), { gitBranch: undefined })]],
  [
    "a branch deep in a call",
    () => [hello(), assistant(11, 10, [{ type: "tool_use", input: { gitBranch: "deep" } }], { gitBranch: undefined })],
  ],
  ["a branch with escapes", () => [user(10, null, "x", { gitBranch: 'a"é\\', cwd: "C:\\x" })]],
  ["an empty working directory first", () => [user(10, null, "x", { cwd: "" }), assistant(11, 10, "y")]],
  ["neither branch nor time", () => [{ type: "user", message: { content: "bare" } }]],
  ["a time that is none", () => [user(10, null, "x", { timestamp: "nonsense" }), assistant(11, 10, "y")]],
  ["a time as a number", () => [user(10, null, "x", { timestamp: 5 }), assistant(11, 10, "y")]],
  ["a queue's line first", () => [{ type: "queue-operation", timestamp: nextTime() }, hello()]],
  ["a subagent's transcript", () => [user(10, null, "x", { isSidechain: true })]],
  ["a title before a subagent's line", () => [title("T"), user(10, null, "x", { isSidechain: true })]],
  ["lines that are not JSON", () => ["garbage", "[1]", "null", hello(), "{cut"]],
  ["nothing but garbage", () => ["garbage", "{"]],
  ["blank lines", () => ["", ""]],
]

describe("what is told of a session", () => {
  it.each(TITLES)("[Z4] titles and summaries: %s", async (_, lines) => {
    await sameDescription(...lines())
  })

  it.each(PROMPTS)("[Z5] first prompts: %s", async (_, lines) => {
    await sameDescription(...lines())
  })

  it.each(FIELDS)("[Z6] other fields: %s", async (_, lines) => {
    await sameDescription(...lines())
  })

  it.each([
    ['{"customTitle":" F "}', [hello()]],
    ['{"customTitle":"F"}', [hello(), made("AI")]],
    ['{"customTitle":"F"}', [hello(), title("in the transcript")]],
    ['{"customTitle":"F"}', [hello(), title("")]],
    ['{"customTitle":"F"}', [hello(), title("early"), far()]],
    ['{"customTitle":5}', [hello()]],
    ["garbage", [hello()]],
  ] as const)(
    "[Z4] the CLI's own file of the title counts where the transcript's end has none: %s",
    async (note, lines) => {
      const world = await makeWorld({ ...oneSession(...lines), [`-w-p/${SESSION}/custom-title.json`]: note })
      try {
        await expectSame((sdk) => sdk.getSessionInfo(SESSION))
      } finally {
        await world.remove()
      }
    },
  )

  it.each([
    "{}",
    "garbage",
    '{"archived":true}',
    '{"archived":"yes","at":"2026-11-15T05:11:50Z"}',
    '{"archived":false,"at":"2026-11-15T05:11:50Z"}',
    '{"archived":true,"at":"x"}',
  ])("[Z6] a note of archiving counts only if it is whole: %s", async (note) => {
    const world = await makeWorld({ ...oneSession(hello()), [`-w-p/${SESSION}/archived.json`]: note })
    try {
      await expectSame((sdk) => sdk.getSessionInfo(SESSION))
    } finally {
      await world.remove()
    }
  })
})

describe("which sessions are listed", () => {
  const session = (text: string, extra: Json = {}) => file(user(10, null, text, extra))

  async function inWorld(files: Record<string, string>, check: (config: string) => Promise<void>): Promise<void> {
    const world = await makeWorld(files)
    try {
      await check(world.config)
    } finally {
      await world.remove()
    }
  }

  it("[Z1] a folder nobody made holds no sessions, and that is no error", async () => {
    await inWorld({}, async () => {
      await expectSame((sdk) => sdk.listSessions())
      await expectSame((sdk) => sdk.listSessions({ dir: "/no/such/folder" }))
      await expectSame((sdk) => sdk.getSessionInfo(SESSION))
      await expectSame((sdk) => sdk.getSessionInfo("not an id"))
      await expectSame((sdk) => sdk.getSessionMessages("../-w-p/x"))
      await expectSame((sdk) => sdk.listSubagents(SESSION))
      await expectSame((sdk) => sdk.getSubagentMessages(SESSION, "a"))
    })
  })

  it("[Z2] the latest come first, equals by id, and limit and offset count what is told", async () => {
    const names = [1, 2, 3, 4, 5, 6].map((n) => `-w-${n % 2}/${id(n)}.jsonl`)
    const files = Object.fromEntries(names.map((name, at) => [name, at === 2 ? "" : session(`s${at}`)]))
    await inWorld(files, async (config) => {
      for (const name of names.slice(3)) await utimes(join(config, "projects", name), 1_800_000_000, 1_800_000_000.1238)
      const pages = [{}, { limit: 2 }, { limit: 0 }, { limit: -1 }, { offset: 2 }, { offset: -1 }, { offset: 9 }]
      const odd = [{ limit: 2, offset: 1 }, { limit: 1.5 }, { limit: Number.NaN }, { limit: Number.POSITIVE_INFINITY }]
      for (const page of [...pages, ...odd]) await expectSame((sdk) => sdk.listSessions(page))
    })
  })

  it("[Z1] only files named by a UUID are sessions; one in two projects is told once", async () => {
    const files = {
      [`-w-p/${id(1)}.jsonl`]: session("older"),
      [`-w-q/${id(1)}.jsonl`]: session("newer"),
      "-w-p/notes.jsonl": session("no"),
      [`-w-p/${id(2)}.txt`]: session("no"),
      [`${id(3)}.jsonl`]: session("in the root"),
      [`-w-p/${id(4)}.jsonl/file`]: "a folder",
      "-w-p/abcdef01-2345-4678-9ABC-DEF012345678.jsonl": session("upper case"),
    }
    await inWorld(files, async (config) => {
      await symlink(
        join(config, "projects", "-w-p", `${id(1)}.jsonl`),
        join(config, "projects", "-w-p", `${id(5)}.jsonl`),
      )
      await symlink(join(config, "projects", "-w-q"), join(config, "projects", "-w-linked"))
      await expectSame((sdk) => sdk.listSessions())
      for (const n of [1, 3, 4, 5]) await expectSame((sdk) => sdk.getSessionInfo(id(n)))
      for (const dir of ["/w/p", "/w/q", "/w/linked", "/w/p/", ""]) {
        await expectSame((sdk) => sdk.listSessions({ dir }))
        await expectSame((sdk) => sdk.getSessionInfo(id(1), { dir }))
        await expectSame((sdk) => sdk.getSessionMessages(id(1), { dir }))
      }
    })
  })

  it("[Z3] a folder is found under its real path, and a long one by the beginning of its name", async () => {
    const base = await realpath(await mkdtemp(join(tmpdir(), "signalbox-dirs-")))
    const link = join(base, "link")
    await symlink(base, link)
    const name = (path: string) => path.replaceAll(/[^a-zA-Z0-9]/g, "-")
    const deep = `/${"a-long-directory-name/".repeat(12)}end`
    const files = {
      [`${name(base)}/${id(1)}.jsonl`]: session("real"),
      [`${name(link)}/${id(2)}.jsonl`]: session("link"),
      [`${name(deep).slice(0, 200)}-otherhash/${id(3)}.jsonl`]: session("deep", { cwd: deep }),
      [`${name(deep).slice(0, 200)}-thirdhash/${id(4)}.jsonl`]: session("somewhere else"),
    }
    await inWorld(files, async () => {
      for (const dir of [base, link, `${base}/`, deep, `${deep}x`]) await expectSame((sdk) => sdk.listSessions({ dir }))
    })
    await rm(base, { recursive: true })
  })

  it.each(["cli", "sdk-cli", "sdk-ts", "sdk-py", "sdk-go", "mcp", "claude-vscode", ""])(
    "[Z7] what programs started can be left out: %s",
    async (entrypoint) => {
      await inWorld({ [`-w-p/${SESSION}.jsonl`]: session("x", { entrypoint }) }, async () => {
        for (const includeProgrammatic of [true, false])
          await expectSame((sdk) => sdk.listSessions({ includeProgrammatic }))
        await expectSame((sdk) => sdk.getSessionInfo(SESSION))
      })
    },
  )
})
