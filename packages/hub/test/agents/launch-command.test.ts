import { describe, expect, it } from "vitest"
import { commandFor } from "../../src/agents/launch-command.ts"
import { call, openStage } from "../clients/stage.ts"

describe("a command to paste", () => {
  it("[HS43] has what was asked for, each word as the shell must see it", () => {
    const { command } = commandFor({
      url: "ws://127.0.0.1:1/ws/cli/s",
      token: "t",
      version: "2.1.120",
      model: "opus",
      permissionMode: "plan",
      resume: "r1",
      fork: true,
      resumeAt: "m1",
      args: ["--add-dir", "/my files"],
    })
    expect(command).toMatch(/^CLAUDE_CODE_SESSION_ACCESS_TOKEN=t claude --sdk-url ws:\/\/127\.0\.0\.1:1\/ws\/cli\/s /)
    expect(command).toMatch(
      / --model opus --permission-mode plan --resume r1 --fork-session --resume-session-at m1 --add-dir '\/my files'$/,
    )
  })

  it("[HA61] names the mode, also where none was asked for; what the machine's settings say is not named", () => {
    const plain = { url: "ws://127.0.0.1:1/ws/cli/s", token: "t", version: "2.1.120" }
    expect(commandFor(plain).command).toMatch(/ --permission-mode default$/)
    expect(commandFor({ ...plain, permissionMode: "machine" }).command).not.toContain("--permission-mode")
  })

  it("[HS52] no value that somebody gives becomes a flag", () => {
    const sly = "--dangerously-skip-permissions"
    const given = { model: sly, permissionMode: sly, resume: sly, resumeAt: sly }
    const { command } = commandFor({ url: "ws://127.0.0.1:1/ws/cli/s", token: "t", version: "2.1.120", ...given })
    expect(command.split(" ")).not.toContain(sly)
    expect(command).toContain(` --resume=${sly}`)
    const empty = commandFor({ url: "ws://127.0.0.1:1/ws/cli/s", token: "t", version: "2.1.120", resume: "-c" })
    expect(empty.command).toMatch(/ --resume=-c$/)
  })

  it("[HS61] names variables for the header and environment values of MCP servers, and says which to set", () => {
    const mcpServers = {
      web: { type: "http", url: "http://x", headers: { Authorization: "Bearer secret-1", "X-Own": "Bearer ${TOKEN}" } },
      "my.files": { command: "files", args: ["-v"], env: { KEY: "secret-2", OWN: "${OWN}", SLY: "${A:-secret-3}" } },
      "my-files": { command: "files", env: { KEY: "secret-4" } },
      plain: { type: "sse", url: "http://y" },
    }
    const plain = { url: "ws://127.0.0.1:1/ws/cli/s", token: "t", version: "2.1.120" }
    const { command, note } = commandFor({ ...plain, options: { mcpServers } })
    expect(command).not.toContain("secret-")
    const [, config] = /--mcp-config '([^']*)'/.exec(command) ?? []
    expect(JSON.parse(config ?? "")).toEqual({
      mcpServers: {
        web: {
          ...mcpServers.web,
          headers: { Authorization: "${MCP_WEB_AUTHORIZATION}", "X-Own": "Bearer ${TOKEN}" },
        },
        "my.files": {
          ...mcpServers["my.files"],
          env: { KEY: "${MCP_MY_FILES_KEY}", OWN: "${OWN}", SLY: "${MCP_MY_FILES_SLY}" },
        },
        "my-files": { command: "files", env: { KEY: "${MCP_MY_FILES_KEY_2}" } },
        plain: mcpServers.plain,
      },
    })
    const names = "MCP_WEB_AUTHORIZATION, MCP_MY_FILES_KEY, MCP_MY_FILES_SLY, MCP_MY_FILES_KEY_2"
    expect(note).toBe(`Set ${names} first: the command leaves out the header and environment values of MCP servers.`)
    expect(commandFor({ ...plain, options: { mcpServers: { plain: mcpServers.plain } } }).note).toBeUndefined()
    const newer = commandFor({ ...plain, version: "2.1.325", options: { mcpServers } })
    expect(newer.note).toMatch(/cannot dial a hub.* Set MCP_WEB_AUTHORIZATION/)
  })

  it("[HS43] what only a machine that starts it could give is refused by name", async () => {
    const stage = await openStage()
    for (const [name, value] of Object.entries({ runner: "box", worktree: true, env: { A: "1" } })) {
      const reply = await call(stage, "POST", "/api/sessions", { agent: "external", [name]: value })
      expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining(`${name}: an agent`)])
    }
    const reply = await call(stage, "POST", "/api/sessions", { agent: "external", resume: "r1", cwd: "/srv" })
    expect(reply.status).toBe(201)
    expect(await reply.json()).toMatchObject({ ingress: { command: expect.stringContaining("--resume r1") } })
  })
})
