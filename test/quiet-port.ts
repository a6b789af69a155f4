import { once } from "node:events"
import { createServer } from "node:net"

const FIRST = 12_000
const COUNT = 20_000
const TRIES = 100

/**
 * A port for a server that goes away and comes back. Who asks the system for any port gets one from 32768 on: another test's
 * server would some time get just that one meanwhile.
 */
export async function quietPort(): Promise<number> {
  for (let tried = 0; tried < TRIES; tried++) {
    const port = FIRST + Math.floor(Math.random() * COUNT)
    if (await isFree(port)) return port
  }
  throw new Error(`no port is free: tried ${TRIES}`)
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  server.listen(port, "127.0.0.1")
  try {
    await once(server, "listening")
  } catch {
    return false
  }
  server.close()
  await once(server, "close")
  return true
}
