import { createRequire } from "node:module"
import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks"
import type { StoreSize } from "@signalbox/protocol/hub-api"
import type * as Prometheus from "prom-client"
import type { ColdBytes } from "../store/compression.ts"
import type { JournalCommit } from "../store/journal.ts"

/*
 * Files of prom-client are loaded one by one: the package has ninety, most of them to trace requests, and a hub is ready an eighth
 * sooner without them. The files have no types of their own; those of the package are theirs.
 */
const load = createRequire(import.meta.url)
/* oxlint-disable typescript/no-unsafe-type-assertion -- as said above */
const Counter = load("prom-client/lib/counter.js") as typeof Prometheus.Counter
const Gauge = load("prom-client/lib/gauge.js") as typeof Prometheus.Gauge
const Histogram = load("prom-client/lib/histogram.js") as typeof Prometheus.Histogram
const Registry = load("prom-client/lib/registry.js") as typeof Prometheus.Registry
/* oxlint-enable typescript/no-unsafe-type-assertion */
type Registry = Prometheus.Registry

/** The hub's counters, in the words of the rest of it. Counting never fails and never waits. */
export interface HubMetrics {
  agentConnected(transport: string): void
  agentDisconnected(transport: string): void
  runnerConnected(): void
  runnerDisconnected(): void
  viewerAttached(door: string): void
  viewerDetached(door: string): void
  /** A viewer did not keep up and was told to resume from its cursor. */
  viewerLagged(): void
  linesReceived(received: { lines: number; bytes: number }): void
  /** To viewers and agents, as bytes on the wire. */
  bytesSent(bytes: number): void
  /** Keep-alives, echoes, hook and MCP traffic: seen, not logged. */
  lineAbsorbed(kind: string): void
  /** One group commit. */
  readonly logCommitted: (commit: Pick<JournalCommit, "jobs" | "durationMs">) => void
  askSettled(settled: { state: string; via: string; waitedSeconds: number }): void
  /** A viewer that asked for the past reached the live edge. */
  replayCaughtUp(replay: { events: number; seconds: number }): void
  requestServed(request: { method: string; path: string; status: number; seconds: number }): void
}

type MeasuredStore = Pick<StoreSize, "bytes" | "freeBytes" | "walBytes" | "searchBytes" | "events">

/** Asked for each scrape. */
interface WatchedStore {
  size(): MeasuredStore | Promise<MeasuredStore>
  readonly journal: { readonly isStalled: boolean }
}

export interface PrometheusMetrics extends HubMetrics {
  watchStore(store: WatchedStore): void
  /** When the last backup was made. Undefined: never. */
  watchBackups(lastBackup: () => Date | undefined): void
  /** Asked whenever somebody reads the metrics. */
  watchColdLines(measure: () => ColdBytes): void
  /** All of it in Prometheus' text format. */
  text(): Promise<string>
  readonly contentType: string
  close(): void
}

const FAST_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5]
const REQUEST_SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30]
/** People answer in seconds or the next morning. */
const WAIT_SECONDS = [0.01, 0.1, 1, 5, 15, 60, 300, 1_800, 7_200, 43_200, 172_800]
const REPLAYED_EVENTS = [0, 1, 10, 100, 1_000, 10_000, 100_000]

/** The only file that knows the metrics library. */
export function createPrometheusMetrics(): PrometheusMetrics {
  const registry = new Registry()
  const traffic = countTraffic(registry)
  const delays = timeThings(registry)
  const loop = watchEventLoop(registry)
  watchProcess(registry)
  return {
    ...traffic,
    ...delays,
    watchStore: (store) => watchStore(registry, store),
    watchBackups: (lastBackup) => watchBackups(registry, lastBackup),
    watchColdLines: (measure) => watchColdLines(registry, measure),
    text: () => registry.metrics(),
    contentType: registry.contentType,
    close: () => void loop.disable(),
  }
}

function countTraffic(registry: Registry) {
  const registers = [registry]
  const gauge = (name: string, help: string, labelNames: string[]) => new Gauge({ name, help, labelNames, registers })
  const counter = (name: string, help: string, labelNames: string[] = []) =>
    new Counter({ name, help, labelNames, registers })
  const agents = gauge("signalbox_agents", "Agents connected now", ["transport"])
  const runners = gauge("signalbox_runners", "Runners connected now", [])
  const viewers = gauge("signalbox_viewers", "Viewers attached now", ["door"])
  const lagged = counter("signalbox_viewers_lagged_total", "Viewers told to resume from their cursor")
  const lines = counter("signalbox_lines_received_total", "Lines received from agents")
  const bytes = counter("signalbox_bytes_total", "Bytes of lines, by direction", ["direction"])
  const absorbed = counter("signalbox_lines_absorbed_total", "Lines seen and not logged", ["kind"])
  return {
    agentConnected: (transport) => agents.inc({ transport }),
    agentDisconnected: (transport) => agents.dec({ transport }),
    runnerConnected: () => runners.inc(),
    runnerDisconnected: () => runners.dec(),
    viewerAttached: (door) => viewers.inc({ door }),
    viewerDetached: (door) => viewers.dec({ door }),
    viewerLagged: () => lagged.inc(),
    linesReceived(received) {
      lines.inc(received.lines)
      bytes.inc({ direction: "in" }, received.bytes)
    },
    bytesSent: (count) => bytes.inc({ direction: "out" }, count),
    lineAbsorbed: (kind) => absorbed.inc({ kind }),
  } satisfies Partial<HubMetrics>
}

function timeThings(registry: Registry) {
  const histogram = (spec: { name: string; help: string; buckets: number[]; labelNames?: string[] }) =>
    new Histogram({ labelNames: [], ...spec, registers: [registry] })
  const events = new Counter({ name: "signalbox_events_total", help: "Events stored", registers: [registry] })
  const commits = histogram({ name: "signalbox_log_commit_seconds", help: "Commits of the log", buckets: FAST_SECONDS })
  const waits = histogram({
    name: "signalbox_ask_wait_seconds",
    help: "How long asks waited until they were settled",
    buckets: WAIT_SECONDS,
    labelNames: ["state", "via"],
  })
  const lag = histogram({
    name: "signalbox_replay_lag_events",
    help: "How far behind the live edge subscriptions began",
    buckets: REPLAYED_EVENTS,
  })
  const replay = histogram({
    name: "signalbox_replay_seconds",
    help: "How long subscriptions took to reach the live edge",
    buckets: REQUEST_SECONDS,
  })
  const requests = histogram({
    name: "signalbox_http_request_seconds",
    help: "HTTP requests",
    buckets: REQUEST_SECONDS,
    labelNames: ["method", "path", "status"],
  })
  return {
    logCommitted({ jobs, durationMs }) {
      events.inc(jobs)
      commits.observe(durationMs / 1000)
    },
    askSettled: ({ state, via, waitedSeconds }) => waits.observe({ state, via }, waitedSeconds),
    replayCaughtUp({ events: behind, seconds }) {
      lag.observe(behind)
      replay.observe(seconds)
    },
    requestServed: ({ method, path, status, seconds }) => requests.observe({ method, path, status }, seconds),
  } satisfies Partial<HubMetrics>
}

function watchColdLines(registry: Registry, measure: () => ColdBytes): void {
  const gauge = new Gauge({
    name: "signalbox_cold_line_bytes",
    help: "Lines of cold sessions, as they came and as they are kept",
    labelNames: ["form"],
    registers: [registry],
    collect() {
      const { before, after } = measure()
      gauge.set({ form: "plain" }, before)
      gauge.set({ form: "compressed" }, after)
    },
  })
}

function watchEventLoop(registry: Registry): IntervalHistogram {
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  const gauge = new Gauge({
    name: "signalbox_event_loop_delay_seconds",
    help: "How late the event loop ran since the last scrape",
    labelNames: ["quantile"],
    registers: [registry],
    collect() {
      // Before its first sample the histogram's figures are no numbers.
      const seconds = (nanoseconds: number) => (Number.isFinite(nanoseconds) ? nanoseconds / 1e9 : 0)
      for (const percentile of [50, 99, 100]) {
        const value = delay.count === 0 ? 0 : seconds(delay.percentile(percentile))
        gauge.set({ quantile: String(percentile / 100) }, value)
      }
      delay.reset()
    },
  })
  return delay
}

function watchStore(registry: Registry, store: WatchedStore): void {
  const registers = [registry]
  measured(registry, {
    name: "signalbox_store_stalled",
    help: "1 while the store cannot be written: new input is refused, and agents wait",
    value: () => (store.journal.isStalled ? 1 : 0),
  })
  // A store that cannot be asked now leaves the gauges as they were.
  const measure = async () => {
    try {
      return await store.size()
    } catch {
      return undefined
    }
  }
  const bytes = new Gauge({
    name: "signalbox_store_bytes",
    help: "Size of the store, by part; free is the part of the database that new events take first",
    labelNames: ["part"],
    registers,
    async collect() {
      const size = await measure()
      if (size === undefined) return
      bytes.set({ part: "database" }, size.bytes)
      bytes.set({ part: "free" }, size.freeBytes)
      bytes.set({ part: "wal" }, size.walBytes)
      bytes.set({ part: "search" }, size.searchBytes)
    },
  })
  const events = new Gauge({
    name: "signalbox_stored_events",
    help: "Events in the store",
    registers,
    async collect() {
      const size = await measure()
      if (size !== undefined) events.set(size.events)
    },
  })
}

function watchBackups(registry: Registry, lastBackup: () => Date | undefined): void {
  measured(registry, {
    name: "signalbox_last_backup_timestamp_seconds",
    help: "When the last backup was made on this machine; 0: never",
    value: () => (lastBackup()?.getTime() ?? 0) / 1000,
  })
}

function watchProcess(registry: Registry): void {
  const measure = (name: string, help: string, value: () => number) => measured(registry, { name, help, value })
  measure("process_resident_memory_bytes", "Resident memory", () => process.memoryUsage.rss())
  measure("process_heap_bytes", "Heap in use", () => process.memoryUsage().heapUsed)
  measure("process_cpu_seconds", "CPU time, user and system", () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
  measure("process_start_time_seconds", "When the process started", () => Date.now() / 1000 - process.uptime())
}

interface Measured {
  readonly name: string
  readonly help: string
  readonly value: () => number
}

function measured(registry: Registry, { value, ...named }: Measured): Prometheus.Gauge {
  return new Gauge({
    ...named,
    registers: [registry],
    collect() {
      this.set(value())
    },
  })
}
