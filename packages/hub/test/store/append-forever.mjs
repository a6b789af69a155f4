// Appends to a store until it is killed, and says on stdout what was confirmed: `<session> <seq>` for events, `doc <n>`.
import { writeSync } from "node:fs"
import { openStore } from "../../dist/store/open-store.js"

const [file, seed] = [process.argv[2] ?? "", Number(process.argv[3])]
const { log, directory } = openStore({ file })
const round = process.argv[4] ?? ""

/** Synchronous, so that what was confirmed was also said when the process dies the next moment. */
const say = (/** @type {string} */ text) => writeSync(1, `${text}\n`)

let state = seed
function random(/** @type {number} */ below) {
  state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
  return Math.floor((state / 2 ** 32) * below)
}

async function writer(/** @type {string} */ session) {
  for (let n = 0; ; n++) {
    const count = 1 + random(20)
    const events = Array.from({ length: count }, (_, index) => ({
      at: Date.now(),
      from: /** @type {const} */ ("agent"),
      key: `${round}-${n}-${index}`,
      line: JSON.stringify({ session, fill: "x".repeat(random(3000)) }),
    }))
    const [{ lastSeq }] = await Promise.all([
      log.append(session, events, { synced: random(10) === 0 }),
      directory.putDocument(`${session} ${round}`, n),
    ])
    say(`${session} ${lastSeq} ${n}`)
  }
}

say("ready")
await Promise.all(["one", "two", "three"].map(writer))
