#!/usr/bin/env node
import { listen, SESSION, say, sayResult } from "./agent.mjs"

const NAMES = /^(CLAUDE_|NODE_OPTIONS|DEBUG|MCP_|NoDefault)/

/** @param {Record<string, unknown>} detail */
const tell = (detail) => say({ type: "told", ...detail, session_id: SESSION, uuid: SESSION })

tell({ argv: process.argv.slice(2), node: process.execArgv })
tell({ environment: Object.fromEntries(Object.entries(process.env).filter(([name]) => NAMES.test(name))) })
listen((message) => {
  tell({ line: message })
  if (message.type === "user") sayResult("Told.")
})
