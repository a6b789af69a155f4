import { describe, expect, it } from "vitest"
import { getSessionInfo, renameSession, SessionError, tagSession } from "../../src/sessions/index.ts"
import { expectSameChange, type SessionFunctions } from "./both.ts"
import { createRandom, randomTranscript } from "./random-transcript.ts"
import { assistant, file, id, type Json, linked, makeWorld, oneSession, SESSION, system, user } from "./transcripts.ts"

type Change = (sdk: SessionFunctions) => Promise<unknown>
type Line = Json | string

const two = () => oneSession(user(10, null, "hello"), assistant(11, 10, "hi"))

const CHANGES: readonly [string, Change][] = [
  ["a title", (sdk) => sdk.renameSession(SESSION, "  New  name\n")],
  ["a title with strange characters", (sdk) => sdk.renameSession(SESSION, 'a\u200bb\u0000\u2028"ﬁ')],
  ["no title", (sdk) => sdk.renameSession(SESSION, "   ")],
  ["a title in its folder", (sdk) => sdk.renameSession(SESSION, "x", { dir: "/w/p" })],
  ["a title in another folder", (sdk) => sdk.renameSession(SESSION, "x", { dir: "/w/q" })],
  ["a title of a session that is not there", (sdk) => sdk.renameSession(id(99), "x")],
  ["a title of what is no id", (sdk) => sdk.renameSession("../x", "x")],
  ["a tag", (sdk) => sdk.tagSession(SESSION, " My Tag ")],
  [
    "a tag with invisible characters",
    (sdk) => sdk.tagSession(SESSION, "a\u200bb\u0000c\ufeff\u202e\u{e0041}\ue000d ﬁ Ａ"),
  ],
  ["a tag of nothing but invisible characters", (sdk) => sdk.tagSession(SESSION, "\u200b\ufeff")],
  ["no tag", (sdk) => sdk.tagSession(SESSION, null)],
  ["an empty tag", (sdk) => sdk.tagSession(SESSION, "")],
  ["a tag of a session that is not there", (sdk) => sdk.tagSession(id(99), "x")],
  ["archiving", (sdk) => sdk.archiveSession(SESSION)],
  ["archiving and back", async (sdk) => [await sdk.archiveSession(SESSION), await sdk.unarchiveSession(SESSION)]],
  ["back without archiving", (sdk) => sdk.unarchiveSession(SESSION)],
  ["archiving in another folder", (sdk) => sdk.archiveSession(SESSION, { dir: "/w/q" })],
  ["archiving what is no id", (sdk) => sdk.archiveSession("x")],
  ["removing", (sdk) => sdk.deleteSession(SESSION)],
  ["removing a session that is not there", (sdk) => sdk.deleteSession(id(99))],
  ["removing what is no id", (sdk) => sdk.deleteSession("x")],
]

describe("changes to a session", () => {
  it.each(CHANGES)("[Z13] leave the same files as the official SDK's: %s", async (_, change) => {
    const beside = { [`-w-p/${SESSION}/subagents/agent-a.jsonl`]: "{}\n", "../todos/x.json": "{}" }
    await expectSameChange({ ...two(), ...beside }, change)
    await expectSameChange(two(), change)
  })

  it("[Z13] an empty transcript is no session, and another project's file of the id is taken", async () => {
    const other = file(user(10, null, "hello"))
    for (const change of [CHANGES[0]?.[1], CHANGES[13]?.[1], CHANGES[18]?.[1]]) {
      if (change === undefined) continue
      await expectSameChange({ [`-w-p/${SESSION}.jsonl`]: "" }, change)
      await expectSameChange({ [`-w-p/${SESSION}.jsonl`]: "", [`-w-q/${SESSION}.jsonl`]: other }, change)
    }
  })

  it("[Z14] a line cut off by a crash is ended first; the official SDK writes into it", async () => {
    const world = await makeWorld({ [`-w-p/${SESSION}.jsonl`]: `${file(user(10, null, "hello"))}{"type":"assis` })
    try {
      await renameSession(SESSION, "New")
      expect(await getSessionInfo(SESSION)).toMatchObject({ customTitle: "New" })
    } finally {
      await world.remove()
    }
  })

  it("[Z13] a refusal has a code", async () => {
    const world = await makeWorld(two())
    try {
      const refusals: [() => Promise<void>, string][] = [
        [() => renameSession("x", "y"), "session/bad-id"],
        [() => renameSession(id(99), "y"), "session/not-found"],
        [() => renameSession(SESSION, " "), "session/bad-text"],
        // What a program without types may pass.
        [() => Reflect.apply(renameSession, undefined, [SESSION, 5]), "session/bad-text"],
        [() => Reflect.apply(tagSession, undefined, [SESSION, undefined]), "session/bad-text"],
      ]
      for (const [refused, code] of refusals) {
        const error: unknown = await refused().catch((reason: unknown) => reason)
        expect(error).toBeInstanceOf(SessionError)
        expect(error).toMatchObject({ code })
      }
    } finally {
      await world.remove()
    }
  })
})

const replaced = (sessionId: string, x: number): Json => ({
  type: "content-replacement",
  sessionId,
  replacements: [{ x }],
})

const FORKS: readonly [string, () => Line[], Parameters<SessionFunctions["forkSession"]>[1]?][] = [
  [
    "a conversation",
    () => [user(10, null, "hello"), assistant(11, 10, "hi"), user(12, 11, "more", { toolUseResult: { a: 1 } })],
  ],
  ["a title", () => [user(10, null, "hello")], { title: " Fork " }],
  ["a blank title", () => [user(10, null, "hello")], { title: "  " }],
  [
    "up to a message",
    () => [user(10, null, "hello"), assistant(11, 10, "hi"), user(12, 11, "more")],
    { upToMessageId: id(11) },
  ],
  ["up to what is not there", () => [user(10, null, "hello")], { upToMessageId: id(99) }],
  [
    "up to a sidechain's",
    () => [user(10, null, "h"), user(11, 10, "s", { isSidechain: true })],
    { upToMessageId: id(11) },
  ],
  ["all branches", () => [user(10, null, "hello"), user(11, 10, "a"), user(12, 10, "b")]],
  [
    "a named session",
    () => [
      user(10, null, "hello"),
      { type: "custom-title", customTitle: "Name" },
      { type: "last-prompt", lastPrompt: "lp" },
    ],
  ],
  ["a session the CLI named", () => [user(10, null, "hello"), { type: "ai-title", aiTitle: "AI" }]],
  [
    "a session without a name",
    () => [assistant(10, null, "x"), { type: "last-prompt", lastPrompt: "lp" }, { type: "summary", summary: "s" }],
  ],
  ["a long first prompt", () => [user(10, null, "x".repeat(300))]],
  [
    "what is not of the conversation",
    () => [
      "cut {",
      { type: "queue-operation" },
      user(10, null, "h"),
      linked("attachment", 11, 10),
      linked("progress", 12, 11),
      system(13, 12, "x"),
      user(14, 13, "aside", { isSidechain: true }),
      { type: "tag", tag: "t" },
      { type: "mode" },
      assistant(15, 12, "y"),
    ],
  ],
  ["a lost parent", () => [user(10, 99, "h", { logicalParentUuid: id(98) }), assistant(11, 10, "x")]],
  [
    "entries without time and flag",
    () => [
      { type: "user", uuid: id(10), parentUuid: null, message: { content: "x" } },
      { type: "attachment", uuid: id(11), parentUuid: id(10) },
    ],
  ],
  [
    "what ties an entry to its process",
    () => [
      user(10, null, "h", {
        slug: "s",
        teamName: "t",
        agentName: "a",
        sourceToolAssistantUUID: id(9),
        forkedFrom: { sessionId: "o" },
        agentId: "g",
        promptId: "p",
      }),
    ],
  ],
  [
    "a compaction",
    () => [
      user(10, null, "h"),
      system(11, null, "compact_boundary", {
        logicalParentUuid: id(10),
        compactMetadata: {
          trigger: "auto",
          preservedSegment: { headUuid: id(10), anchorUuid: id(12), tailUuid: id(99) },
          preservedMessages: { anchorUuid: id(12), uuids: [id(10), id(99)] },
        },
      }),
      user(12, 11, "sum", { isCompactSummary: true }),
    ],
  ],
  [
    "replaced contents",
    () => [
      user(10, null, "h"),
      replaced(SESSION, 1),
      replaced("other", 2),
      assistant(11, 10, "x"),
      replaced(SESSION, 3),
    ],
    { upToMessageId: id(10) },
  ],
  [
    "the CLI's notes of its state",
    () => [
      user(10, null, "h"),
      { type: "atis-latch", atis: "a", sessionId: SESSION },
      { type: "atis-latch", atis: "b", sessionId: "other" },
      { type: "tools-used", tools: ["Bash"], sessionId: SESSION },
      { type: "tools-used", tools: ["Read", 5], sessionId: SESSION },
      { type: "tools-used", tools: "none", sessionId: SESSION },
      replaced(SESSION, 1),
    ],
  ],
  ["the same uuid twice", () => [user(10, null, "h"), user(10, null, "again"), assistant(11, 10, "x")]],
  [
    "an entry without a uuid",
    () => [{ type: "user", message: { content: "none" }, isSidechain: false }, user(10, null, "h")],
  ],
  ["nothing", () => ["", "cut {"]],
  ["only a sidechain", () => [user(10, null, "h", { isSidechain: true })]],
  ["another folder", () => [user(10, null, "h")], { dir: "/w/q" }],
  [
    "a name in the middle of a long file",
    () => [
      user(10, null, "h"),
      assistant(11, 10, "x".repeat(100_000)),
      { type: "custom-title", customTitle: "Mid" },
      assistant(12, 11, "x".repeat(100_000)),
    ],
  ],
]

describe("a fork", () => {
  it.each(FORKS)("[Z15] is the file the official SDK writes: %s", async (_, lines, options) => {
    await expectSameChange(oneSession(...lines()), (sdk) => sdk.forkSession(SESSION, options))
  })

  it("[Z15] of a session the CLI keeps a title file of", async () => {
    const files = { ...two(), [`-w-p/${SESSION}/custom-title.json`]: '{"customTitle":"F"}' }
    await expectSameChange(files, (sdk) => sdk.forkSession(SESSION))
  })

  it("[Z15] of what is not there is refused", async () => {
    for (const wrong of [id(99), "x"]) await expectSameChange(two(), (sdk) => sdk.forkSession(wrong))
  })

  it("[Z15] of transcripts at random", { timeout: 300_000 }, async () => {
    const random = createRandom(7)
    for (let done = 0; done < 50; done++)
      await expectSameChange({ [`-w-p/${SESSION}.jsonl`]: randomTranscript(random) }, (sdk) => sdk.forkSession(SESSION))
  })
})
