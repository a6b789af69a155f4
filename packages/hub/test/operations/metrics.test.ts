import { describe, expect, it } from "vitest"
import { createPrometheusMetrics } from "../../src/operations/metrics.ts"
import { setUpHttp } from "../http/http-setup.ts"

describe("metrics", () => {
  it("[HA40] have everything an operator watches", async () => {
    const metrics = createPrometheusMetrics()
    metrics.agentConnected("websocket")
    metrics.agentConnected("websocket")
    metrics.agentDisconnected("websocket")
    metrics.viewerAttached("stream")
    metrics.viewerAttached("raw")
    metrics.viewerDetached("raw")
    metrics.viewerLagged()
    metrics.linesReceived({ lines: 1, bytes: 100 })
    metrics.bytesSent(250)
    metrics.lineAbsorbed("keep_alive")
    metrics.logCommitted({ jobs: 7, durationMs: 2 })
    metrics.askSettled({ state: "allowed", via: "person", waitedSeconds: 12 })
    metrics.replayCaughtUp({ events: 500, seconds: 0.02 })
    const text = await metrics.text()
    for (const line of [
      'signalbox_agents{transport="websocket"} 1',
      'signalbox_viewers{door="stream"} 1',
      'signalbox_viewers{door="raw"} 0',
      "signalbox_viewers_lagged_total 1",
      "signalbox_lines_received_total 1",
      'signalbox_bytes_total{direction="in"} 100',
      'signalbox_bytes_total{direction="out"} 250',
      'signalbox_lines_absorbed_total{kind="keep_alive"} 1',
      "signalbox_events_total 7",
      'signalbox_log_commit_seconds_bucket{le="0.0025"} 1',
      'signalbox_ask_wait_seconds_bucket{le="15",state="allowed",via="person"} 1',
      'signalbox_replay_lag_events_bucket{le="1000"} 1',
      "signalbox_replay_seconds_count 1",
    ]) {
      expect(text.split("\n")).toContain(line)
    }
    expect(text).toMatch(/^signalbox_event_loop_delay_seconds\{quantile="0.99"\} \d/m)
    expect(text).toMatch(/^process_resident_memory_bytes [1-9]/m)
    metrics.close()
  })

  it("[JL48] tell what the lines of cold sessions take, before and after they were compressed", async () => {
    const metrics = createPrometheusMetrics()
    const bytes = { before: 0, after: 0 }
    metrics.watchColdLines(() => bytes)
    expect(await metrics.text()).toContain('signalbox_cold_line_bytes{form="plain"} 0')
    Object.assign(bytes, { before: 1000, after: 200 })
    const text = await metrics.text()
    expect(text).toContain('signalbox_cold_line_bytes{form="plain"} 1000')
    expect(text).toContain('signalbox_cold_line_bytes{form="compressed"} 200')
    metrics.close()
  })

  it("[HA40] count requests by route, and no label grows with what strangers send", async () => {
    const hub = await setUpHttp()
    await hub.ask("/api/sessions/s1", { as: "viewer" })
    for (const method of ["BREW", "FETCH", "POST"]) await hub.ask(`/${method}`, { method })
    await hub.ask("/api/made-up-1", { as: "viewer" })
    await hub.ask("/api/made-up-2")
    const text = await (await hub.ask("/metrics")).text()
    expect(text).toContain('signalbox_http_request_seconds_count{method="GET",path="/api/sessions/:id",status="200"} 1')
    expect(text).toContain('signalbox_http_request_seconds_count{method="other",path="other",status="404"} 2')
    expect(text).not.toMatch(/BREW|made-up/)
    hub.metrics.close()
  })
})
