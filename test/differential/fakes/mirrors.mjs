#!/usr/bin/env node
// Says what it was told to write down, as a CLI with --session-mirror does: the portions are in the prompt, as JSON.
import { listen, say, sayResult } from "./agent.mjs"

const projects = `${process.env["CLAUDE_CONFIG_DIR"]}/projects`

listen((message) => {
  if (message.type !== "user") return
  const [{ text }] = message.message.content
  for (const { path, entries, says } of JSON.parse(text)) {
    if (says !== undefined) say({ type: "assistant", message: { content: [] }, says, session_id: "", uuid: "" })
    else say({ type: "transcript_mirror", filePath: `${projects}/${path}`, entries })
  }
  sayResult("Written.")
})
