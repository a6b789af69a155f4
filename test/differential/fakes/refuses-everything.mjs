#!/usr/bin/env node
import { createInterface } from "node:readline"

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const { type, request_id, request } = JSON.parse(line)
    if (type !== "control_request") return
    const response = {
      subtype: "error",
      request_id,
      error: `no ${request.subtype} here`,
      error_code: "unsupported_request",
    }
    process.stdout.write(`${JSON.stringify({ type: "control_response", response })}\n`)
  })
  .on("close", () => process.exit(0))
