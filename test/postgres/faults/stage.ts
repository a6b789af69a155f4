import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { connectHub, type Hub } from "@signalbox/client"
import type { Scenario } from "@signalbox/simulator"
import { PostgresServer } from "../../../scripts/postgres-server.mjs"
import type { Json } from "../../hub/hub-process.ts"
import { quietPort } from "../../quiet-port.ts"
import { Machine } from "../../runner/runner-process.ts"
import { insist, type Seats } from "./people.ts"
import { type Cut, Pipe } from "./pipe.ts"

const HUBS = 3
const REAL = "2.1.325"
const REAL_ONES = ["claude", "claude"] as const
const SETTINGS = { max_connections: 120 }
const SETTLED_MS = 120_000
const QUIET_MS = 1_000

/** Runners give up a hub that is silent for 25 s. */
const LONG_STOP_MS = 26_000
const LONG_STOP_EVERY = 3
/** How long agents may take to come back to hubs before they are cut off again. */
const SPREAD_MS = 8_000

/** The tables of a session's own, each with the column that says whose a row is. */
const WATCHED = { asks: "session", events: "log", messages: "session", sessions: "id" }
/** Notes who wrote each session's rows under which epoch, as the database itself sees it. A line of an event may be long. */
const NOTE_WRITERS = `
  CREATE TABLE signalbox.written (
    log integer, epoch integer, kind text, writer text, PRIMARY KEY (log, epoch, kind, writer)
  );
  CREATE FUNCTION signalbox.note_writer() RETURNS trigger SECURITY DEFINER LANGUAGE plpgsql AS $$
    DECLARE
      writer text := current_setting('application_name');
      whose text;
    BEGIN
      IF TG_TABLE_NAME = 'events' THEN
        INSERT INTO signalbox.written SELECT number, epoch, 'events', writer FROM signalbox.logs WHERE number = NEW.log
          ON CONFLICT DO NOTHING;
      ELSE
        whose := to_jsonb(NEW) ->> TG_ARGV[0];
        INSERT INTO signalbox.written SELECT number, epoch, TG_TABLE_NAME, writer FROM signalbox.logs WHERE name = whose
          ON CONFLICT DO NOTHING;
      END IF;
      RETURN NULL;
    END $$;
  ${Object.entries(WATCHED)
    .map(
      ([table, column]) =>
        `CREATE TRIGGER note_writer AFTER INSERT OR UPDATE ON signalbox.${table}
         FOR EACH ROW EXECUTE FUNCTION signalbox.note_writer('${column}')`,
    )
    .join(";")}`
const TWO_WRITERS = `
  SELECT logs.name, written.epoch, array_agg(DISTINCT writer || ' wrote ' || kind) AS writers
  FROM signalbox.written JOIN signalbox.logs ON number = log
  GROUP BY 1, 2 HAVING count(DISTINCT writer) > 1`
const WRITTEN_KINDS = "SELECT DISTINCT kind FROM signalbox.written ORDER BY kind"

/** A permission request, as the agent's process asked it and was answered on its standard input. */
export interface HeardAnswers {
  readonly pid: number
  readonly behaviors: string[]
}

/**
 * Three hubs on a PostgreSQL server with a synchronous standby, three machines whose agents' connections are spread over the hubs, and
 * a pipe wherever a network would be: from each hub to the database, to each hub from the others, and from the machines to the hubs.
 */
export class FaultStage {
  readonly machines: readonly Machine[]
  readonly client: Hub
  readonly #databasePipes: readonly Pipe[]
  readonly #hubPipes: readonly Pipe[]
  readonly #balancer: Pipe
  readonly #database: string
  /** One for each hub. */
  readonly #clients: readonly Hub[]
  readonly #heard = new Map<string, HeardAnswers>()
  /** How much of each recording was read. */
  readonly #read = new Map<string, number>()
  #stops = 0
  #primary: PostgresServer
  #standby: PostgresServer

  private constructor(parts: {
    machines: readonly Machine[]
    databasePipes: readonly Pipe[]
    hubPipes: readonly Pipe[]
    balancer: Pipe
    database: string
    primary: PostgresServer
    standby: PostgresServer
  }) {
    this.machines = parts.machines
    this.#databasePipes = parts.databasePipes
    this.#hubPipes = parts.hubPipes
    this.#balancer = parts.balancer
    this.#database = parts.database
    this.#primary = parts.primary
    this.#standby = parts.standby
    const how = { token: this.token, reconnect: { baseDelayMs: 50, maxDelayMs: 500 } }
    this.client = connectHub({ url: this.urls, ...how })
    this.#clients = this.urls.map((url) => connectHub({ url, ...how }))
  }

  /** Somebody must dispose of it. */
  static async open(scenario: Scenario, agentsOfEach: number): Promise<FaultStage> {
    const ports = [await quietPort(), await quietPort()] as const
    const primary = await PostgresServer.start({ port: ports[0], settings: SETTINGS })
    const standby = await primary.startStandby({ port: ports[1] })
    const database = await primary.createDatabase()
    const balancer = await Pipe.open()
    const [databasePipes, hubPipes, machines]: [Pipe[], Pipe[], Machine[]] = [[], [], []]
    for (let index = 0; index < HUBS; index += 1) {
      const [toDatabase, toHub] = [await Pipe.open(), await Pipe.open()]
      toDatabase.leadTo(ports[0])
      const store = new URL(database)
      store.port = String(toDatabase.port)
      const reach = (url: string) => {
        toHub.leadTo(portOf(url))
        balancer.leadTo(...machines.map(({ hub }) => portOf(hub.ready.url)), portOf(url))
        return `http://127.0.0.1:${balancer.port}`
      }
      const hubFlags = ["--store", store.href, "--cluster-url", `http://127.0.0.1:${toHub.port}`]
      const kind = { isRecording: true, ...(index === 0 ? { claude: REAL } : {}) }
      machines.push(await Machine.open({ scenario, hubFlags, reach, maxAgents: agentsOfEach * 2, ...kind }))
      databasePipes.push(toDatabase)
      hubPipes.push(toHub)
    }
    const name = new URL(database).pathname.slice(1)
    await primary.query(NOTE_WRITERS, [], name)
    return new FaultStage({ machines, databasePipes, hubPipes, balancer, database: name, primary, standby })
  }

  get urls(): readonly string[] {
    return this.machines.map(({ hub }) => hub.ready.url)
  }

  get token(): string {
    return this.#machine(0).hub.ready.token
  }

  /** Simulated agents on every machine, and two of the real CLI on the first. */
  async launch(agentsOfEach: number): Promise<readonly string[]> {
    const runners = await insist(() => this.#runners())
    const launches = this.machines.flatMap(({ cwd }, index) => {
      const runner = runners[index] ?? ""
      const simulated = Array.from({ length: agentsOfEach }, () => "simulator" as const)
      const agents = [...simulated, ...(index === 0 ? REAL_ONES : [])]
      return agents.map((agent) => this.client.launch({ agent, cwd, runner }))
    })
    return (await Promise.all(launches)).map(({ id }) => id)
  }

  /** Each ends with everything as it was. @returns the machine whose agents may be others now */
  readonly faults: Readonly<Record<string, (chance: () => number) => Promise<Machine | undefined>>> = {
    "a hub is killed": async (chance) => {
      const { hub } = this.#one(chance)
      await hub.kill()
      await pause(chance() * 5_000)
      await hub.startAgain()
      return undefined
    },
    "a hub is stopped for longer than its lease": async (chance) => {
      const { hub } = this.#one(chance)
      hub.signal("SIGSTOP")
      const isLong = this.#stops++ % LONG_STOP_EVERY === 0
      await pause((isLong ? LONG_STOP_MS : 11_000) + chance() * 3_000)
      hub.signal("SIGCONT")
      return undefined
    },
    "two hubs cannot reach each other": async (chance) => {
      const first = Math.floor(chance() * HUBS)
      const pair = [first, (first + 1) % HUBS] as const
      const how = howOf(chance)
      for (const [to, from] of [pair, pair.toReversed()] as const)
        this.#hubPipes[to ?? 0]?.cut(how, () => [this.#machine(from ?? 0).hub.ready.pid])
      await pause(3_000 + chance() * 9_000)
      for (const index of pair) this.#hubPipes[index]?.mend()
      return undefined
    },
    "a hub cannot reach the database": async (chance) => {
      const pipe = this.#databasePipes[Math.floor(chance() * HUBS)]
      pipe?.cut(howOf(chance))
      await pause(2_000 + chance() * 12_000)
      pipe?.mend()
      return undefined
    },
    "the primary is killed, and the standby promoted": async (chance) => {
      for (const pipe of this.#databasePipes) pipe.cut("refused")
      await this.#primary.kill()
      await this.#standby.promote()
      await pause(chance() * 3_000)
      for (const pipe of this.#databasePipes) {
        pipe.leadTo(portOf(this.#standby.url("any")))
        pipe.mend()
      }
      await this.#primary.dispose()
      this.#primary = this.#standby
      this.#standby = await this.#primary.startStandby({ port: await quietPort() })
      return undefined
    },
    "a runner is killed": async (chance) => {
      const machine = this.#one(chance)
      await machine.endRunner("SIGKILL")
      await pause(chance() * 2_000)
      await machine.startRunner()
      return machine
    },
  }

  /** Every session as the hubs tell it when nothing is under way any more, and nothing has happened for a moment. */
  async settled(after: string): Promise<ReadonlyMap<string, Json>> {
    const late = performance.now() + SETTLED_MS
    for (let before = ""; ; await pause(QUIET_MS)) {
      const { sessions } = await insist(() => this.client.sessions({ limit: 500 }))
      const isBusy = ({ state, pendingAsks }: Json) => pendingAsks > 0 || (state !== "idle" && state !== "ended")
      const busy = sessions.filter(isBusy)
      const now = JSON.stringify(sessions.map(({ id, lastSeq }) => [id, lastSeq]))
      if (busy.length === 0 && now === before) return new Map(sessions.map((session) => [session.id, session]))
      if (performance.now() > late) {
        const ends = await Promise.all(busy.map((session) => this.#endOf(session)))
        throw new Error(`still under way after ${after}: ${JSON.stringify(ends)}${this.log}`)
      }
      before = now
    }
  }

  /** What tells why it goes on: its record, the end of its history and its last requests. */
  async #endOf(session: Json): Promise<Json> {
    const [page, asks] = await Promise.all([
      this.client.session(session.id).events({ after: Math.max(0, session.lastSeq - 8), limit: 20 }),
      this.client.asks({ session: session.id, order: "newest", limit: 3 }),
    ])
    return { session, events: page.events, asks }
  }

  /**
   * Where everybody sits once the agents of each machine are on all three hubs. A fault may have left them on fewer: then their
   * connections are cut, and the balancer gives them others.
   */
  async spread(): Promise<Seats> {
    const late = performance.now() + SETTLED_MS
    for (let cutAt = performance.now(); ; await pause(QUIET_MS)) {
      const ids = await Promise.all(this.#clients.map((client) => insist(() => client.hubs.list()).then(selfIn)))
      const { sessions } = await insist(() => this.client.sessions({ limit: 500 }))
      const owners = new Map(sessions.map(({ id, owner }) => [id, ids.indexOf(owner ?? "")]))
      const hubsOf = (machine: string | null) =>
        new Set(sessions.filter(({ runner }) => runner === machine).map(({ id }) => owners.get(id)))
      const isSpread = sessions.every(({ runner }) => hubsOf(runner).size === HUBS && !hubsOf(runner).has(-1))
      if (isSpread && sessions.every(({ state }) => state !== "ended")) return { urls: this.urls, owners }
      if (performance.now() > late) {
        const seen = sessions.map(({ id, state, runner, lastLine }) => [id, state, runner, owners.get(id), lastLine])
        throw new Error(`the agents are not on all hubs: ${JSON.stringify(seen)}${this.log}`)
      }
      if (performance.now() - cutAt < SPREAD_MS) continue
      this.#balancer.cut("refused")
      this.#balancer.mend()
      cutAt = performance.now()
    }
  }

  /** Sessions that two hubs wrote under the same epoch. */
  async writtenByTwo(): Promise<readonly Json[]> {
    const kinds = await this.#primary.query(WRITTEN_KINDS, [], this.#database)
    const unseen = Object.keys(WATCHED).filter((table) => !kinds.some(({ kind }) => kind === table))
    if (unseen.length > 0) throw new Error(`nobody was seen to write ${unseen.join(", ")}`)
    return this.#primary.query(TWO_WRITERS, [], this.#database)
  }

  /** What simulated agents asked, by request id, and the answers that came to their standard input, as they wrote them down. */
  heard(): ReadonlyMap<string, HeardAnswers> {
    for (const { wires } of this.machines)
      for (const name of readdirSync(wires)) this.#readWire(join(wires, name), Number.parseInt(name, 10))
    return this.#heard
  }

  #readWire(file: string, pid: number): void {
    const from = this.#read.get(file) ?? 0
    const bytes = readFileSync(file).subarray(from)
    // The last line may be on its way.
    const whole = bytes.lastIndexOf("\n") + 1
    this.#read.set(file, from + whole)
    for (const line of bytes.toString("utf8", 0, whole).split("\n")) {
      if (!line.includes("can_use_tool") && !line.includes("control_response")) continue
      const recorded: Json = JSON.parse(line)
      const message: Json = recorded.message ?? JSON.parse(recorded.line)
      if (recorded.from === "agent" && message.request?.subtype === "can_use_tool")
        this.#heard.set(message.request_id, { pid, behaviors: [] })
      if (recorded.from === "host" && message.type === "control_response")
        this.#heard.get(message.response.request_id)?.behaviors.push(message.response.response?.behavior ?? "none")
    }
  }

  /** What all of them said, for a test that failed. */
  get log(): string {
    return this.machines.map(({ hub, log }) => `\n-- hub\n${hub.log}\n-- runner\n${log}`).join("")
  }

  async dispose(): Promise<void> {
    for (const client of [this.client, ...this.#clients]) client.close()
    for (const { hub } of this.machines) hub.signal("SIGCONT")
    for (const machine of this.machines) await machine.dispose()
    for (const pipe of [...this.#databasePipes, ...this.#hubPipes, this.#balancer]) await pipe.close()
    for (const server of [this.#standby, this.#primary]) await server.dispose()
  }

  /** The ids of all machines' runners; fails while one is not connected. */
  async #runners(): Promise<readonly string[]> {
    const known = await this.client.runners.list()
    return this.machines.map(({ cwd }) => {
      const runner = known.find(({ home, connected }) => connected && home === join(dirname(cwd), "home"))
      if (runner === undefined) throw new Error(`no runner is connected in ${cwd}`)
      return runner.id
    })
  }

  #one(chance: () => number): Machine {
    return this.#machine(Math.floor(chance() * HUBS))
  }

  #machine(index: number): Machine {
    const machine = this.machines[index]
    if (machine === undefined) throw new Error(`there is no machine ${index}`)
    return machine
  }
}

function selfIn(hubs: readonly { readonly id: string; readonly self: boolean }[]): string {
  return hubs.find(({ self }) => self)?.id ?? ""
}

function howOf(chance: () => number): Cut {
  return chance() < 0.5 ? "refused" : "silent"
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}
