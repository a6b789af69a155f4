import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect, it } from "vitest"
import { hello, makeFolder, startSim, stdioFlags } from "../support/sim-process.ts"

const FILES = {
  "plugin/.claude-plugin/plugin.json": JSON.stringify({ name: "greeter", version: "1.0.0" }),
  "plugin/commands/greet.md": "---\ndescription: Greets\nargument-hint: NAME\n---\nGreet $ARGUMENTS warmly.",
  "plugin/commands/bye.md": "Just bye.",
  "plugin/skills/wave/SKILL.md": "---\nname: wave\ndescription: How to wave\n---\nWave.",
  "plugin/agents/host.md": "---\nname: host\ndescription: A host\n---\nYou host.",
  "plain/commands/one.md": "Only one.",
}

const initialize = JSON.stringify({ type: "control_request", request_id: "1", request: { subtype: "initialize" } })

it("[A41] tells what plugins bring: their commands, skills and agents, each under its plugin's name", async () => {
  const folder = makeFolder()
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const named = ["--plugin-dir", "plugin", "--plugin-dir", "plain", "--plugin-dir", "nowhere"]
  const child = await startSim([...stdioFlags, ...named], { folder })
  await child.send(initialize)
  await child.send(hello)
  child.endInput()
  const seen = []
  for await (const line of child.lines) seen.push(JSON.parse(line))
  const { commands } = seen[0].response.response
  expect(commands.filter((command: { builtin?: true }) => command.builtin === undefined)).toEqual([
    { name: "greeter:bye", description: "(greeter) Just bye.", argumentHint: "" },
    { name: "greeter:greet", description: "(greeter) Greets", argumentHint: "NAME" },
    { name: "plain:one", description: "(plain) Only one.", argumentHint: "" },
    { name: "greeter:wave", description: "(greeter) How to wave", argumentHint: "", aliases: ["wave"] },
  ])
  expect(seen[1]).toMatchObject({
    subtype: "init",
    slash_commands: expect.arrayContaining(["greeter:bye", "greeter:greet", "plain:one", "greeter:wave"]),
    skills: expect.arrayContaining(["greeter:wave"]),
    agents: expect.arrayContaining(["greeter:host"]),
    plugins: expect.arrayContaining([
      { name: "greeter", path: join(folder, "plugin"), source: "greeter@inline", version: "1.0.0" },
      { name: "plain", path: join(folder, "plain"), source: "plain@inline" },
    ]),
  })
})
