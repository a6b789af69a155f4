#!/usr/bin/env node
// Tells how it was started and what lies in its configuration folder, if that is one made for this session.
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { listen, SESSION, say, sayResult } from "./agent.mjs"

const folder = process.env["CLAUDE_CONFIG_DIR"] ?? ""
const isOwn = folder.includes("resume")
const files = isOwn ? readdirSync(folder, { recursive: true, encoding: "utf8" }).sort() : []
const contents = files
  .filter((name) => statSync(join(folder, name)).isFile())
  .map((name) => ({ name, text: readFileSync(join(folder, name), "utf8") }))

say({ type: "told", argv: process.argv.slice(2), isOwn, contents, session_id: SESSION, uuid: SESSION })
listen((message) => {
  if (message.type === "user") sayResult("Told.")
})
