import { dirname, join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { connectHub, type Hub } from "@signalbox/client"
import type { Scenario } from "@signalbox/simulator"
import { PostgresServer } from "../../../scripts/postgres-server.mjs"
import type { Json } from "../../hub/hub-process.ts"
import { quietPort } from "../../quiet-port.ts"
import { Machine } from "../../runner/runner-process.ts"
import { insist } from "./people.ts"
import { type Cut, Pipe } from "./pipe.ts"

const HUBS = 3
const REAL = "2.1.325"
const REAL_ONES = ["claude", "claude"] as const
const SETTINGS = { max_connections: 120 }
const SETTLED_MS = 120_000
const QUIET_MS = 1_000

/** Notes who wrote each session's events under which epoch, as the database itself sees it. */
const NOTE_WRITERS = `
  CREATE TABLE signalbox.written (log integer, epoch integer, writer text, PRIMARY KEY (log, epoch, writer));
  CREATE FUNCTION signalbox.note_writer() RETURNS trigger SECURITY DEFINER LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO signalbox.written
        SELECT NEW.log, logs.epoch, current_setting('application_name') FROM signalbox.logs WHERE logs.number = NEW.log
        ON CONFLICT DO NOTHING;
      RETURN NULL;
    END $$;
  CREATE TRIGGER note_writer AFTER INSERT ON signalbox.events FOR EACH ROW EXECUTE FUNCTION signalbox.note_writer()`
const TWO_WRITERS = `
  SELECT logs.name, written.epoch, array_agg(writer) AS writers FROM signalbox.written JOIN signalbox.logs ON number = log
  GROUP BY 1, 2 HAVING count(*) > 1`

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
    this.client = connectHub({ url: this.urls, token: this.token, reconnect: { baseDelayMs: 50, maxDelayMs: 500 } })
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
      const kind = index === 0 ? { claude: REAL } : {}
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
      await pause(11_000 + chance() * 3_000)
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
      if (performance.now() > late)
        throw new Error(`still under way after ${after}: ${JSON.stringify(busy)}${this.log}`)
      before = now
    }
  }

  /** Sessions that two hubs wrote under the same epoch. */
  async writtenByTwo(): Promise<readonly Json[]> {
    return this.#primary.query(TWO_WRITERS, [], this.#database)
  }

  /** What all of them said, for a test that failed. */
  get log(): string {
    return this.machines.map(({ hub, log }) => `\n-- hub\n${hub.log}\n-- runner\n${log}`).join("")
  }

  async dispose(): Promise<void> {
    this.client.close()
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

function howOf(chance: () => number): Cut {
  return chance() < 0.5 ? "refused" : "silent"
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}
