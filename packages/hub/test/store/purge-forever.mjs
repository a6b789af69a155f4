// Fills sessions and purges them until it is killed. Says `purged <session>` when a session is gone for everybody, `kept <seq>` for
// events of a session that stays.
import { writeSync } from "node:fs"
import { openStore } from "../../dist/store/open-store.js"

const [file = "", round = ""] = process.argv.slice(2)
const { log, directory, purger } = openStore({ file })
/** Synchronous, so that what was confirmed was also said when the process dies the next moment. */
const say = (/** @type {string} */ text) => writeSync(1, `${text}\n`)

const events = (/** @type {number} */ count, /** @type {string} */ name) =>
  Array.from({ length: count }, (_, n) => ({
    at: n,
    from: /** @type {const} */ ("agent"),
    key: `${round} ${name} ${n}`,
    line: JSON.stringify({ type: "assistant", text: `secret ${"x".repeat(300)}` }),
  }))
const session = (/** @type {string} */ id) => ({
  record: { id, state: "ended", title: null, createdAt: "2030", updatedAt: "2030", pinned: false, runner: null },
  own: { requestKey: null, lastAgentUuid: null },
})

async function purgeForever() {
  for (let n = 0; ; n++) {
    const id = `${round} ${n}`
    // @ts-expect-error -- as much of a session as the store looks at
    await directory.saveSession(session(id), { isAtRest: true })
    for (let part = 0; part < 4; part++) await log.append(id, events(1_000, `${n} ${part}`))
    const audit = {
      at: "2030",
      what: "session/purged",
      by: "ann",
      via: "person",
      sessionId: id,
      askId: null,
      details: {},
    }
    await Promise.all([directory.purgeSession(id, audit), log.purge(id)])
    say(`purged ${id}`)
    purger.wake()
  }
}

async function keepForever() {
  for (let n = 0; ; n++) say(`kept ${(await log.append("kept", events(1, `kept ${n}`))).lastSeq}`)
}

await Promise.all([purgeForever(), keepForever()])
