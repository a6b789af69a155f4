import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { brotliDecompressSync } from "node:zlib"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { hitsOf, statesOf, takeStock } from "../../scripts/data-stock.mjs"
import { OLDEST } from "../../scripts/releases.mjs"
import { WireAgent } from "../../scripts/wire-agent.mjs"
import { dataFixtures } from "../gate.ts"
import { HubProcess, type Json } from "../hub/hub-process.ts"

const FOLDER = join(dirname(dirname(fileURLToPath(import.meta.url))), "fixtures", "data")
const names = readdirSync(FOLDER)
  .filter((file) => file.endsWith(".json"))
  .map((file) => file.replace(/\.json$/, ""))
  .filter(dataFixtures)

/** What happened since is added at the end of each of these, and nothing before it may change. */
function upTo(stock: Json, before: Json): Json {
  const events = Object.keys(before.events).map((id) => [id, stock.events[id]?.slice(0, before.events[id].length)])
  return { ...stock, events: Object.fromEntries(events), audit: stock.audit.slice(0, before.audit.length) }
}

/** The index may have to be made anew, which takes its time. */
async function findsAll(hub: HubProcess, search: Readonly<Record<string, readonly string[]>>): Promise<void> {
  for (const [word, hits] of Object.entries(search))
    await expect.poll(() => hitsOf(hub.ready, word), { message: word }).toEqual(hits)
}

describe.each(names)("data of an earlier release: %s", (name) => {
  const manifest: Json = JSON.parse(readFileSync(join(FOLDER, `${name}.json`), "utf8"))
  const { stock, secrets, states, words } = manifest
  const content = "Written after the upgrade."
  let hub: HubProcess

  beforeAll(async () => {
    const data = mkdtempSync(join(tmpdir(), "signalbox-upgrade-"))
    const packed = readFileSync(join(FOLDER, `${name}.tar.br`))
    execFileSync("tar", ["-xf", "-", "-C", data], { input: brotliDecompressSync(packed) })
    hub = await HubProcess.start([], { data })
  })
  afterAll(() => hub?.dispose())

  it("[UP1] is all there", async () => {
    expect(hub.ready.token).toBe(secrets.admin)
    await findsAll(hub, stock.search)
    expect(upTo(await takeStock(hub.ready, words), stock)).toMatchObject(stock)
    expect(await statesOf(hub.ready)).toEqual(states)
  })

  it("[UP2] its tokens sign in as before, and the revoked one does not", async () => {
    for (const { role, token, isRevoked } of secrets.tokens) {
      const { status, body } = await hub.call("GET", "/api/me", undefined, token)
      // The API is not for runners, and says so only to a good token.
      const expected = isRevoked === true ? 401 : role === "runner" ? 403 : 200
      expect([status, status === 200 ? body.role : role]).toEqual([expected, role])
    }
  })

  it("[UP3] its agents come back, to the message that waited and the answer that was missing", async () => {
    const comesBack = ({ path, ...was }: Json) =>
      WireAgent.dial({ url: `${hub.ready.url.replace("http", "ws")}${path}`, token: was.token }, was)
    const away = await comesBack(secrets.away)
    expect(await away.hears((line) => line["uuid"] === secrets.away.waiting)).toMatchObject({ type: "user" })
    const here = await comesBack(secrets.here)
    for (const [at, id] of secrets.here.asks.entries()) {
      const { inputHash, input } = await hub.get(`/api/asks/${id}`)
      await hub.post(`/api/asks/${id}/answer`, { behavior: "allow", inputHash })
      const told = await here.answer({ request_id: secrets.here.requests[at] })
      expect(told).toMatchObject({ behavior: "allow", updatedInput: input })
    }
    here.finish("Done after the upgrade.")
    const look = async () => (await hub.get(`/api/sessions/${secrets.here.id}`)).state
    await expect.poll(look).toBe("idle")
    for (const agent of [away, here]) agent.leave()
  })

  it("[UP4] is all there after it was written to and the hub was killed", async () => {
    const { id } = await hub.post("/api/sessions", { agent: "external", title: "New" })
    const { seq } = await hub.post(`/api/sessions/${id}/messages`, { content })
    await hub.kill()
    await hub.startAgain()
    const { events } = await hub.get(`/api/sessions/${id}/events`)
    expect(JSON.stringify(events[seq - 1].message)).toContain(content)
    await findsAll(hub, stock.search)
    const changed = new Set<string>([secrets.away.id, secrets.here.id, ...secrets.here.asks])
    const now = upTo(await takeStock(hub.ready, words), stock)
    for (const list of ["sessions", "asks", "tokens", "grants", "runs"]) {
      const before = stock[list].filter((each: Json) => !changed.has(each.id))
      const ids = new Set(before.map((each: Json) => each.id))
      expect(now[list].filter((each: Json) => ids.has(each.id))).toMatchObject(before)
    }
    expect(now).toMatchObject({ events: stock.events, audit: stock.audit, rules: stock.rules })
    for (const ask of secrets.here.asks) expect(await hub.get(`/api/asks/${ask}`)).toMatchObject({ state: "allowed" })
  })
})

describe("the data of earlier releases", () => {
  it("[UP1] is kept from the oldest release on, of a hub that was killed and of one that was stopped each", () => {
    const kept = readdirSync(FOLDER).filter((file) => file.endsWith(".json"))
    const releases = new Set(kept.map((file) => file.replace(/-(?:killed|stopped)\.json$/, "")))
    expect([...releases]).toContain(OLDEST)
    expect(kept.length).toBe(2 * releases.size)
    // The guide and the rules name the release that is tried.
    for (const page of ["docs/upgrade.md", "docs/spec/upgrade.md"])
      expect(readFileSync(join(FOLDER, "../../..", page), "utf8"), page).toContain(OLDEST)
  })
})
