// Appends to a store and compresses it until it is killed. Says on stdout what was confirmed, `<session> <seq>`, and that it lives
// once it has compressed something.
import { writeSync } from "node:fs"
import { openStore } from "../../dist/store/open-store.js"

const { log, compression } = openStore({ file: process.argv[2] ?? "" })

/** Synchronous, so that what was confirmed was also said when the process dies the next moment. */
const say = (/** @type {string} */ text) => writeSync(1, `${text}\n`)

const { before } = compression.bytes
setInterval(() => {
  if (compression.bytes.before > before) say("alive 0 0")
}, 2)
for (;;) {
  for (const session of ["one", "two", "three"]) {
    const { lastSeq: last } = await log.bounds(session)
    const events = Array.from({ length: 200 }, (_, index) => ({
      at: 1,
      from: /** @type {const} */ ("agent"),
      line: JSON.stringify({ type: "user", seq: last + index + 1, fill: "some words again and again ".repeat(20) }),
    }))
    const { lastSeq } = await log.append(session, events)
    say(`${session} ${lastSeq} 0`)
  }
  await compression.compressAll()
}
