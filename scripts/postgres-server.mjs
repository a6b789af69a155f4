// A PostgreSQL server of one's own: a process of an unprivileged user on one port of this machine, with its data in a folder that goes
// when it goes. Tests and benchmarks start it, kill it and start it again.

import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import pg from "pg"
import { ensurePostgres } from "./system-package.mjs"

/** The server refuses to run as root. */
const NOBODY = 65_534
/** Who may do everything, for tests; and who a hub signs in as, bound by limits and rights. */
const OWNER = { name: "owner", password: "secret-of-the-owner" }
const HUB = { name: "signalbox", password: "secret-of-the-hub" }
const READY = /database system is ready to accept (?:read-only )?connections/
/** The name by which a primary knows its standby. */
const STANDBY = "standby"
const STANDBY_MS = 60_000
const START_MS = 60_000
/** The processes of a killed server hold its memory for a moment longer. */
const STARTS = 100
const START_AGAIN_MS = 100
const MAX_LOG_CHARS = 256 * 1024

/** Small and quick to start. What was committed is safe as it is anywhere: fsync and synchronous_commit stay as they come. */
const SETTINGS = { max_connections: 60, shared_buffers: "32MB", max_wal_size: "256MB" }

/** @typedef {Readonly<Record<string, string | number>>} Settings */

export class PostgresServer {
  #programs
  #folder
  #port
  /** @type {Settings} */
  #settings
  /** @type {import("node:child_process").ChildProcess | undefined} */
  #child
  #log = ""
  #databases = 0

  /** @param {{ programs: string, folder: string, port: number, settings: Settings }} place */
  constructor({ programs, folder, port, settings }) {
    this.#programs = programs
    this.#folder = folder
    this.#port = port
    this.#settings = settings
  }

  /**
   * Somebody must dispose of it. The port must be one that nobody gets by chance while the server is away.
   * @param {{ readonly port: number, readonly settings?: Settings }} options
   */
  static async start({ port, settings = {} }) {
    const programs = ensurePostgres()
    if (programs === undefined) throw new Error("there is no PostgreSQL on this machine")
    const folder = mkdtempSync(join(tmpdir(), "signalbox-pg-"))
    const server = new PostgresServer({ programs, folder, port, settings: { ...SETTINGS, ...settings } })
    try {
      server.#create()
      await server.startAgain()
      await server.query(`CREATE ROLE ${HUB.name} LOGIN PASSWORD '${HUB.password}'`)
      return server
    } catch (error) {
      await server.dispose()
      throw error
    }
  }

  /**
   * A copy that follows this server on another port. From then on a commit here is confirmed when it is safe there too. Somebody must
   * dispose of it.
   * @param {{ readonly port: number }} options
   */
  async startStandby({ port }) {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-pg-"))
    const follows = `host=127.0.0.1 port=${this.#port} user=${OWNER.name} password=${OWNER.password} application_name=${STANDBY}`
    const settings = { ...this.#settings, primary_conninfo: follows }
    const standby = new PostgresServer({ programs: this.#programs, folder, port, settings })
    try {
      standby.#copy(follows)
      await standby.startAgain()
      await this.#setStandby(STANDBY)
      const look = "SELECT FROM pg_stat_replication WHERE application_name = $1 AND sync_state = 'sync'"
      const late = Date.now() + STANDBY_MS
      while ((await this.query(look, [STANDBY])).length === 0) {
        if (Date.now() > late) throw new Error(`the standby does not follow: ${standby.log}`)
        await pause(START_AGAIN_MS)
      }
      return standby
    } catch (error) {
      await standby.dispose()
      throw error
    }
  }

  /** This standby is the primary from now on, with nobody who follows it yet. */
  async promote() {
    await this.query("SELECT pg_promote(true, 60)")
    await this.#setStandby("")
  }

  /** What the server said, for a test that failed. */
  get log() {
    return this.#log
  }

  /** The folder with its data, which a test may fill up. */
  get folder() {
    return this.#folder
  }

  /** The password of a hub. */
  get password() {
    return HUB.password
  }

  /** The address of a database for a hub. @param {string} database @param {string} [login] user, or user and password */
  url(database, login = `${HUB.name}:${HUB.password}`) {
    return `postgres://${login}@127.0.0.1:${this.#port}/${database}`
  }

  /** The address of a new, empty database. @param {string} [more] how else it is to be made */
  async createDatabase(more = "") {
    const name = `test_${++this.#databases}`
    await this.query(`CREATE DATABASE ${name} OWNER ${HUB.name} ${more}`)
    return this.url(name)
  }

  /**
   * As the server's owner.
   * @param {string} sql
   * @param {readonly unknown[]} [values]
   * @param {string} [database]
   * @returns {Promise<any[]>}
   */
  async query(sql, values = [], database = "postgres") {
    const client = new pg.Client({ connectionString: this.url(database, `${OWNER.name}:${OWNER.password}`) })
    // A server that is killed meanwhile is told by the query.
    client.on("error", () => {})
    await client.connect()
    try {
      const { rows } = await client.query(sql, [...values])
      return rows
    } finally {
      await client.end()
    }
  }

  /** With other settings from now on, if any are given. @param {Settings} [settings] */
  async startAgain(settings = {}) {
    this.#settings = { ...this.#settings, ...settings }
    for (let started = 1; ; started++) {
      const said = await this.#startOnce()
      if (said === undefined) return
      const isOldOneLeft = /still in use|lock file .* already exists|could not bind/.test(said)
      if (!isOldOneLeft || started === STARTS) throw new Error(`PostgreSQL did not start: ${said}`)
      await pause(START_AGAIN_MS)
    }
  }

  /** As a machine without power would leave it. */
  async kill() {
    await this.#end("SIGKILL")
  }

  /** Ends all connections, and itself in good order. */
  async stop() {
    await this.#end("SIGINT")
  }

  /** Nothing it does goes on: connections stay open, and nobody answers. */
  pause() {
    this.#signalAll("SIGSTOP")
  }

  resume() {
    this.#signalAll("SIGCONT")
  }

  async dispose() {
    await this.#end("SIGQUIT")
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  }

  /** @param {string} name */
  async #setStandby(name) {
    await this.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
    await this.query("SELECT pg_reload_conf()")
  }

  /** @param {string} from */
  #copy(from) {
    if (isRoot()) chownSync(this.#folder, NOBODY, NOBODY)
    const place = ["--pgdata", join(this.#folder, "data"), "--dbname", from]
    const flags = ["--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast", "--no-sync"]
    const [command, ...args] = this.#command("pg_basebackup", [...place, ...flags])
    execFileSync(command, args, { cwd: this.#folder, stdio: ["ignore", "ignore", "pipe"] })
  }

  #create() {
    const passwordFile = join(this.#folder, "password")
    writeFileSync(passwordFile, OWNER.password, { mode: 0o600 })
    if (isRoot()) for (const path of [this.#folder, passwordFile]) chownSync(path, NOBODY, NOBODY)
    const flags = ["--username", OWNER.name, "--pwfile", passwordFile, "--auth", "scram-sha-256"]
    // Sorted as most servers sort, where `a` comes before `B`: a statement that compares bytes must say so.
    const locale = ["--encoding=UTF8", "--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en-US"]
    const place = ["--no-sync", "--pgdata", join(this.#folder, "data")]
    const [command, ...args] = this.#command("initdb", [...flags, ...locale, ...place])
    execFileSync(command, args, { cwd: this.#folder, stdio: ["ignore", "ignore", "pipe"] })
  }

  /** Resolves when it takes connections, or with what it said when it ended instead. @returns {Promise<string | undefined>} */
  async #startOnce() {
    const settings = { ...this.#settings, listen_addresses: "127.0.0.1", unix_socket_directories: this.#folder }
    const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
    const place = ["-D", join(this.#folder, "data"), "-p", String(this.#port)]
    const [command, ...args] = this.#command("postgres", [...place, ...flags])
    const child = spawn(command, args, { cwd: this.#folder, stdio: ["ignore", "ignore", "pipe"] })
    this.#child = child
    let said = ""
    const ready = new Promise((resolve, reject) => {
      child.stderr.setEncoding("utf8").on("data", (/** @type {string} */ text) => {
        this.#log = (this.#log + text).slice(-MAX_LOG_CHARS)
        said = (said + text).slice(-MAX_LOG_CHARS)
        if (READY.test(said)) resolve(true)
      })
      child.once("error", reject)
      child.once("exit", () => resolve(false))
      setTimeout(() => reject(new Error(`PostgreSQL takes too long to start: ${said}`)), START_MS).unref()
    })
    return (await ready) === true ? undefined : said
  }

  /** @param {NodeJS.Signals} signal */
  async #end(signal) {
    const child = this.#child
    this.#child = undefined
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, "exit")
    child.kill(signal)
    await exited
  }

  /** @param {NodeJS.Signals} signal */
  #signalAll(signal) {
    const pid = this.#child?.pid
    if (pid === undefined) throw new Error("PostgreSQL does not run")
    const children = execFileSync("ps", ["-o", "pid=", "--ppid", String(pid)], { encoding: "utf8" })
    for (const one of [pid, ...children.trim().split(/\s+/).map(Number)]) process.kill(one, signal)
  }

  /**
   * Whoever started the server takes it along, however that ends.
   * @param {string} program
   * @param {readonly string[]} args
   * @returns {[string, ...string[]]}
   */
  #command(program, args) {
    const drop = isRoot() ? [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups"] : []
    return ["setpriv", ...drop, "--pdeathsig=QUIT", join(this.#programs, program), ...args]
  }
}

function isRoot() {
  return process.getuid?.() === 0
}
