import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, it } from "vitest"
import { hello, makeFolder, startSim, stdioFlags } from "../support/sim-process.ts"

const FILES = {
  "home/skills/zulu/SKILL.md": "---\nname: zulu\ndescription: Z thing\n---\nZ body",
  "home/commands/mike.md": "M for $ARGUMENTS.",
  "home/agents/author.md": "---\nname: author\ndescription: Writes\n---\nYou write.",
  ".claude/skills/alpha/SKILL.md":
    "---\ndescription: A thing\nargument-hint: what\n---\nA body with $ARGUMENTS and $1.",
  ".claude/commands/git/push.md": "Push it.",
  ".claude/agents/tester.md": "---\nname: tester\ndescription: Tests things\nmodel: haiku\n---\nYou test.",
  ".claude/agents/notes.md": "No head, no agent.",
  "scenario.yaml": [
    "turns:",
    "  - steps:",
    "      - { tool: Skill, input: { skill: alpha, args: x y } }",
    "      - { tool: Skill, input: { skill: zulu, args: loud } }",
    "      - { tool: Skill, input: { skill: mike, args: 1 2 } }",
    "      - { tool: Skill, input: { skill: nothing } }",
    "      - say: Done.",
    "  - on: push",
    "    steps: [{ say: Pushed. }]",
  ].join("\n"),
}

const initialize = JSON.stringify({ type: "control_request", request_id: "1", request: { subtype: "initialize" } })
const command = JSON.stringify({ type: "user", message: { role: "user", content: "/git:push" } })

async function play(profile: string, flags: readonly string[], messages: readonly string[]) {
  const folder = makeFolder()
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const child = await startSim([...stdioFlags, "--profile", profile, "--scenario", "scenario.yaml", ...flags], {
    folder,
    env: { CLAUDE_CONFIG_DIR: join(folder, "home") },
  })
  for (const message of messages) await child.send(message)
  child.endInput()
  const seen = []
  for await (const line of child.lines) seen.push(JSON.parse(line))
  return { seen, folder }
}

/** What the model was told, by a tool or beside one. */
const toldIn = (seen: readonly { type: string; message: { content: { content?: string; text?: string }[] } }[]) =>
  seen
    .filter(({ type }) => type === "user")
    .map(({ message }) => message.content[0]?.content ?? message.content[0]?.text)

describe("skills, commands and agents that are kept in files", () => {
  it.each([
    ["2.1.37", "debug", ["zulu", "alpha", "mike", "git:push"]],
    ["2.1.120", "claude-api", ["zulu", "alpha", "mike", "git:push"]],
    ["2.1.325", undefined, ["zulu", "alpha", "git:push", "mike"]],
  ])("[A42] %s tells of them, the user's first", async (profile, before, names) => {
    const { seen } = await play(profile, [], [initialize, hello])
    const init = seen.find(({ subtype }) => subtype === "init")
    const at = before === undefined ? 0 : init.slash_commands.indexOf(before) + 1
    expect(init.slash_commands.slice(at, at + names.length)).toEqual(names)
    expect(init.skills).toEqual(expect.arrayContaining(["zulu", "alpha"]))
    expect(init.agents).toEqual(expect.arrayContaining(["author", "tester"]))
    expect(init.agents).not.toContain("notes")
    expect(seen[0].response.response.commands).toEqual(
      expect.arrayContaining([
        { name: "alpha", description: "A thing (project)", argumentHint: "what" },
        { name: "mike", description: "M for $ARGUMENTS. (user)", argumentHint: "" },
      ]),
    )
  })

  it("[A42] a skill is handed to the model with what it was called with; one that is not there is refused", async () => {
    const { seen, folder } = await play("2.1.325", [], [hello])
    expect(toldIn(seen)).toEqual([
      "Launching skill: alpha",
      `Base directory for this skill: ${folder}/.claude/skills/alpha\n\nA body with x y and y.`,
      "Launching skill: zulu",
      `Base directory for this skill: ${folder}/home/skills/zulu\n\nZ body\n\nARGUMENTS: loud`,
      "Launching skill: mike",
      "M for 1 2.",
      "<tool_use_error>Unknown skill: nothing</tool_use_error>",
    ])
    expect(seen.at(-1)).toMatchObject({ type: "result", num_turns: 8 })
  })

  it("[A42] only what `--setting-sources` lets it read is there", async () => {
    const { seen } = await play("2.1.325", ["--setting-sources", "project"], [hello])
    const init = seen.find(({ subtype }) => subtype === "init")
    expect(init.slash_commands.slice(0, 2)).toEqual(["alpha", "git:push"])
    expect(init.agents).not.toContain("author")
  })

  it("[A42] a command of a file is played as a turn, also where an unknown one is refused", async () => {
    const { seen } = await play("2.1.37", [], [command])
    expect(seen.at(-1)).toMatchObject({ type: "result", result: "Pushed." })
  })
})
