#!/usr/bin/env node
import { listen, sayResult } from "./agent.mjs"

listen((message) => {
  if (message.type !== "user") return
  sayResult("So far so good.")
  process.stderr.write("and then it broke\n", () => process.exit(1))
})
