#!/usr/bin/env node
import { listen, sayResult } from "./agent.mjs"

listen((message) => {
  if (message.type !== "user") return
  process.stderr.write("a word on the side\n", () => sayResult("Said."))
})
