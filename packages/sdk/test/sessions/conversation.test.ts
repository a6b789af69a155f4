import { describe, expect, it } from "vitest"
import { getSessionMessages, getSubagentMessages } from "../../src/sessions/index.ts"
import { expectSame, readAll } from "./both.ts"
import {
  assistant,
  file,
  id,
  type Json,
  linked,
  makeWorld,
  oneSession,
  SESSION,
  system,
  toolCall,
  toolResult,
  user,
} from "./transcripts.ts"

type Line = Json | string

const kept = (compactMetadata: Json) =>
  system(14, null, "compact_boundary", { logicalParentUuid: id(13), compactMetadata })
const four = () => [user(10, null, "h"), assistant(11, 10, "1"), user(12, 11, "2"), assistant(13, 12, "3")]
const summary = () => user(15, 14, "sum", { isCompactSummary: true, isVisibleInTranscriptOnly: true })
const pair = () => [toolCall(11, 10, { tool: "t1", message: "m" }), toolCall(12, 11, { tool: "t2", message: "m" })]

/** What the conversation is, by the numbers of its messages. */
const CASES: readonly [string, string, () => Line[]][] = [
  ["a conversation", "10 11 12 13", four],
  ["the later of two branches", "10 11 13", () => [...four().slice(0, 3), user(13, 11, "instead")]],
  [
    "the later of two beginnings",
    "12 13",
    () => [...four().slice(0, 2), user(12, null, "anew"), assistant(13, 12, "x")],
  ],
  ["a branch that ends in an attachment", "10 11", () => [...four(), linked("attachment", 14, 11)]],
  [
    "a message whose uuid a later progress line has",
    "",
    () => [assistant(10, null, "h"), linked("progress", 10, null)],
  ],
  [
    "a progress line whose uuid a later message has",
    "10 11",
    () => [linked("progress", 10, null), ...four().slice(0, 2)],
  ],
  ["two lines with one uuid", "10 11", () => [...four().slice(0, 2), user(10, null, "later")]],
  ["a sidechain beside it", "10 11", () => [...four().slice(0, 2), user(12, 10, "aside", { isSidechain: true })]],
  [
    "a sidechain within it",
    "10 12",
    () => [user(10, null, "h"), assistant(11, 10, "x", { isSidechain: true }), user(12, 11, "y")],
  ],
  ["generated messages", "11", () => [user(10, null, "h", { isMeta: true }), assistant(11, 10, "x")]],
  ["a teammate's messages", "10 11", () => [...four().slice(0, 2), user(12, 10, "x", { teamName: "t" })]],
  [
    "attachments and notes in between",
    "10 13",
    () => [user(10, null, "h"), linked("attachment", 11, 10), system(12, 11, "x"), assistant(13, 12, "y")],
  ],
  [
    "progress in between",
    "10 13",
    () => [user(10, null, "h"), linked("progress", 11, 10), linked("progress", 12, 11), assistant(13, 12, "y")],
  ],
  [
    "a line of a type nobody knows in between",
    "12",
    () => [user(10, null, "h"), linked("new-kind", 11, 10), assistant(12, 11, "y")],
  ],
  ["a lost parent", "11 12", () => [user(10, null, "h"), assistant(11, 99, "x"), user(12, 11, "y")]],
  ["cut lines", "10 11", () => [user(10, null, "h"), '{"type":"user","uuid":"', assistant(11, 10, "x"), "null"]],
  [
    "the same uuid twice",
    "10 11 12",
    () => [user(10, null, "h"), assistant(11, 10, "x"), assistant(11, 10, "y"), user(12, 11, "z")],
  ],
  ["lines out of order", "10 11", () => [assistant(11, 10, "x"), user(10, null, "h")]],
  ["a circle", "", () => [user(10, 12, "h"), assistant(11, 10, "x"), user(12, 11, "y")]],
  ["a compaction", "15 16", () => [...four(), kept({}), summary(), user(16, 15, "on")]],
  [
    "a compaction that kept a part",
    "15 12 13 16",
    () => [
      ...four(),
      kept({ preservedSegment: { headUuid: id(12), anchorUuid: id(15), tailUuid: id(13) } }),
      summary(),
      user(16, 15, "on"),
    ],
  ],
  [
    "a compaction that kept some",
    "15 11 13 16",
    () => [
      ...four(),
      kept({ preservedMessages: { anchorUuid: id(15), uuids: [id(11), id(13)] } }),
      summary(),
      user(16, 15, "on"),
    ],
  ],
  [
    "a compaction that kept what is gone",
    "15 16",
    () => [
      ...four(),
      kept({ preservedMessages: { anchorUuid: id(15), uuids: [id(11), id(99)] } }),
      summary(),
      user(16, 15, "on"),
    ],
  ],
  [
    "several calls at once",
    "10 11 12 13 14 15",
    () => [user(10, null, "h"), ...pair(), toolResult(13, 11, "t1"), toolResult(14, 12, "t2"), assistant(15, 14, "x")],
  ],
  [
    "several calls, answered in another order",
    "10 11 12 13 14 15",
    () => [
      user(10, null, "h"),
      ...pair(),
      toolResult(14, 12, "t2", { timestamp: "2030-01-01T00:00:00Z" }),
      toolResult(13, 11, "t1"),
      assistant(15, 14, "x"),
    ],
  ],
  [
    "several calls, a prompt beside a result",
    "10 11 12 14 15",
    () => [user(10, null, "h"), ...pair(), user(13, 11, "instead"), toolResult(14, 12, "t2"), assistant(15, 14, "x")],
  ],
]

async function inWorld(files: Record<string, string>, check: () => Promise<void>): Promise<void> {
  const world = await makeWorld(files)
  try {
    await check()
  } finally {
    await world.remove()
  }
}

describe("the messages of a session", () => {
  it.each(CASES)("[Z8] %s", (_, numbers, lines) =>
    inWorld(oneSession(...lines()), async () => {
      await expectSame(readAll)
      const messages = await getSessionMessages(SESSION)
      expect(messages.map(({ uuid }) => Number(uuid.slice(0, 8))).join(" ")).toBe(numbers)
    }),
  )

  it("[Z8] a message tells its session, its time, and whether it is a compaction's summary", () =>
    inWorld(oneSession(...four(), kept({}), summary(), user(16, 15, "on", { origin: { kind: "k" } })), async () => {
      const messages = await expectSame((sdk) => sdk.getSessionMessages(SESSION, { includeSystemMessages: true }))
      expect(messages).toMatchObject([
        { type: "system", uuid: id(14), session_id: SESSION },
        { type: "user", is_meta: true, isCompactSummary: true, parent_tool_use_id: null, parent_agent_id: null },
        { type: "user", message: { role: "user", content: "on" }, origin: { kind: "k" } },
      ])
    }))

  const caveat = () => user(9, null, "<local-command-caveat>x</local-command-caveat>", { isMeta: true })
  const command = (n: number, parent: number) => user(n, parent, "<command-name>/compact</command-name>")
  const output = (n: number, parent: number) => user(n, parent, "<local-command-stdout>x</local-command-stdout>")
  const COMMANDS: readonly [string, () => Line[]][] = [
    ["announced, with output", () => [caveat(), command(10, 9), output(11, 10), user(12, 11, "on"), output(13, 12)]],
    ["not announced", () => [command(10, 9), output(11, 10)]],
    ["announced, then a prompt", () => [caveat(), user(10, 9, "x"), command(11, 10), output(12, 11)]],
    ["announced, then an answer", () => [caveat(), command(10, 9), assistant(11, 10, "x"), output(12, 11)]],
    ["an attachment in between", () => [caveat(), command(10, 9), linked("attachment", 11, 10), output(12, 11)]],
    [
      "in blocks",
      () => [caveat(), user(10, 9, [{ type: "text", text: "<command-name>/x" }]), output(11, 10), output(12, 11)],
    ],
  ]

  it.each(COMMANDS)("[Z8] commands that the CLI carried out are marked: %s", (_, lines) =>
    inWorld(oneSession(...lines()), async () => {
      await expectSame((sdk) => sdk.getSessionMessages(SESSION))
    }),
  )

  it("[Z8] a page of it is a page of the conversation", () =>
    inWorld(oneSession(...four()), async () => {
      const pages = [{ limit: 2 }, { limit: 0 }, { limit: -1 }, { offset: 1 }, { offset: -1 }, { offset: 9 }]
      for (const page of [...pages, { limit: 1, offset: 1 }, { limit: 1.5 }])
        await expectSame((sdk) => sdk.getSessionMessages(SESSION, page))
    }))

  it("[Z10] a transcript of 40 MB is read like a small one", () =>
    inWorld(
      oneSession(
        ...Array.from({ length: 400 }, (_, n) => user(1000 + n, n === 0 ? null : 999 + n, "x".repeat(100_000))),
      ),
      async () => {
        await expectSame((sdk) => sdk.getSessionMessages(SESSION, { limit: 3, offset: 396 }))
        await expectSame((sdk) => sdk.listSessions())
      },
    ))

  it("[Z10] going back beyond a compaction keeps the beginning, however long the transcript; the official SDK loses it in long ones", () => {
    const back = (words: string) => [
      user(10, null, "h"),
      assistant(11, 10, words),
      kept({}),
      summary(),
      user(16, 11, "on"),
    ]
    return inWorld(oneSession(...back("x".repeat(6_000_000))), async () => {
      const messages = await getSessionMessages(SESSION)
      expect(messages.map(({ uuid }) => uuid)).toEqual([id(10), id(11), id(16)])
    })
  })
})

describe("subagents", () => {
  const side = { isSidechain: true, agentId: "a1" }
  const folder = `-w-p/${SESSION}/subagents`

  it("[Z11] are listed from all folders beneath the session's, and know who started them", () => {
    const transcript = file(
      user(20, null, "look", side),
      linked("attachment", 21, 20, side),
      assistant(22, 21, "seen", side),
    )
    const files = {
      ...oneSession(...four()),
      [`${folder}/agent-a1.jsonl`]: transcript,
      [`${folder}/agent-a1.meta.json`]: '{"toolUseId":"toolu_1","agentType":"Explore"}',
      [`${folder}/agent-b2.jsonl`]: transcript,
      [`${folder}/agent-b2.meta.json`]: '{"toolUseId":"toolu_2","parentAgentId":"a1"}',
      [`${folder}/workflows/w1/agent-c3.jsonl`]: transcript,
      [`${folder}/agent-empty.jsonl`]: "",
      [`${folder}/notes.jsonl`]: transcript,
    }
    return inWorld(files, async () => {
      await expectSame(readAll)
      for (const page of [{ limit: 1 }, { offset: 1 }, { limit: 0 }])
        await expectSame((sdk) => sdk.getSubagentMessages(SESSION, "a1", page))
      for (const agent of ["", "agent-a1", "../subagents/agent-a1", "none"])
        await expectSame((sdk) => sdk.getSubagentMessages(SESSION, agent))
      expect(await getSubagentMessages(SESSION, "b2")).toMatchObject([
        { type: "user", parent_tool_use_id: "toolu_2", parent_agent_id: "a1" },
        { type: "assistant" },
      ])
    })
  })

  const SUBAGENTS: readonly [string, () => Line[]][] = [
    [
      "a branch left behind",
      () => [user(20, null, "h", side), assistant(21, 20, "x", side), user(22, 20, "alt", side)],
    ],
    ["a note in between", () => [user(20, null, "h", side), system(21, 20, "x", side), assistant(22, 21, "y", side)]],
    [
      "progress in between",
      () => [user(20, null, "h", side), linked("progress", 21, 20, side), assistant(22, 21, "y", side)],
    ],
    ["generated messages", () => [user(20, null, "h", { ...side, isMeta: true }), assistant(21, 20, "x", side)]],
    ["a teammate's", () => [user(20, null, "h", { ...side, teamName: "t" }), assistant(21, 20, "x", side)]],
    [
      "several calls at once",
      () => [
        user(20, null, "h", side),
        toolCall(21, 20, { tool: "t1", message: "m" }, side),
        toolCall(22, 21, { tool: "t2", message: "m" }, side),
        toolResult(23, 21, "t1", side),
        toolResult(24, 22, "t2", side),
      ],
    ],
    ["a circle", () => [user(20, 21, "h", side), assistant(21, 20, "x", side)]],
  ]

  it.each(SUBAGENTS)("[Z11] their messages are the chain to the last one: %s", (_, lines) =>
    inWorld({ ...oneSession(...four()), [`${folder}/agent-a1.jsonl`]: file(...lines()) }, async () => {
      await expectSame((sdk) => sdk.getSubagentMessages(SESSION, "a1"))
    }),
  )
})
