import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { createPrometheusMetrics } from "../../src/operations/metrics.ts"
import { backUpData } from "../../src/upkeep.ts"
import { call, openStage } from "../clients/stage.ts"
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

  it("[HA40] tell whether the store can be written, and when the last backup was made", async () => {
    const metrics = createPrometheusMetrics()
    const journal = { isStalled: false }
    let lastBackup: Date | undefined
    const size = { bytes: 4096, freeBytes: 0, walBytes: 0, searchBytes: 0, events: 1 }
    metrics.watchStore({ size: () => size, journal })
    metrics.watchBackups(() => lastBackup)
    const told = async () => (await metrics.text()).split("\n")
    expect(await told()).toEqual(
      expect.arrayContaining(["signalbox_store_stalled 0", "signalbox_last_backup_timestamp_seconds 0"]),
    )
    journal.isStalled = true
    lastBackup = new Date(1_800_000_000_000)
    expect(await told()).toEqual(
      expect.arrayContaining(["signalbox_store_stalled 1", "signalbox_last_backup_timestamp_seconds 1800000000"]),
    )
    metrics.close()
  })

  it("[HA40] have the time of the last backup from the process that made it", async () => {
    const stage = await openStage()
    const told = async () => (await call(stage, "GET", "/metrics")).text()
    expect(await told()).toMatch(/^signalbox_store_stalled 0$/m)
    expect(await told()).toMatch(/^signalbox_last_backup_timestamp_seconds 0$/m)
    const startedAt = Date.now()
    await backUpData(stage.folder, join(stage.folder, "kept.db"))
    const [, seconds] = /^signalbox_last_backup_timestamp_seconds (.+)$/m.exec(await told()) ?? []
    expect(Number(seconds) * 1000).toBeGreaterThanOrEqual(startedAt)
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
