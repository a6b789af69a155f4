// A viewer in a process of its own, for a test that stops the process and lets it go on. It says when it watches, is told
// which message is the last, and then says which events it saw.
import { connectHub } from "@signalbox/client"

const [url, session] = process.argv.slice(2)
const hub = connectHub({
  url: new URL(url ?? "").origin.replace("ws", "http"),
  token: process.env["SIGNALBOX_TOKEN"] ?? "",
})
/** @type {number[]} */
const seqs = []
/** @type {unknown[]} */
const uuids = []
/** @type {unknown} */
let last

process.on("message", (uuid) => {
  last = uuid
  tellWhenDone()
})

function tellWhenDone() {
  if (last === undefined || !uuids.includes(last)) return
  process.send?.(seqs)
  process.disconnect()
  hub.close()
}

for await (const item of hub.session(session ?? "").follow({ after: 0 })) {
  if (item.type !== "event") continue
  if (seqs.length === 0) process.send?.("watching")
  seqs.push(item.seq)
  uuids.push(item.message["uuid"])
  tellWhenDone()
}
