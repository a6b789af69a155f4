#!/usr/bin/env node
import { listen, sayResult } from "./agent.mjs"

process.on("SIGTERM", () => {})
setInterval(() => {}, 60_000)
listen((message) => message.type === "user" && sayResult("I stay."), { ended: () => {} })
