#!/usr/bin/env node
import { listen, SESSION, say, sayResult } from "./agent.mjs"

const base = { session_id: SESSION, uuid: SESSION }

say("Warning: this is no JSON")
listen((message) => {
  if (message.type !== "user") return
  say("")
  say("{ cut off")
  say({ type: "keep_alive" })
  say({ type: "brand_new", detail: { deep: [1, 2] }, ...base })
  say({ type: "system", subtype: "brand_new", ...base })
  say({ type: "system", subtype: "session_state_changed", state: "running", sdk_host_only: true, ...base })
  say({ type: "system", subtype: "session_state_changed", state: "running", ...base })
  say({ type: "command_lifecycle", command_uuid: SESSION, state: "queued", ...base })
  say({ type: "transcript_mirror", filePath: "/x", entries: [] })
  say({ type: "control_response", response: { subtype: "success", request_id: "nobody's" } })
  say({ type: "control_cancel_request", request_id: "nobody's" })
  say({ type: "system", subtype: "session_state_changed", state: "idle", sdk_host_only: true, ...base })
  sayResult("Still here.")
})
