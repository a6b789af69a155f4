#!/usr/bin/env node
import { listen } from "./agent.mjs"

listen((message) => {
  if (message.type === "user") process.kill(process.pid, "SIGKILL")
})
