import type { Transport } from "@signalbox/transport"
import { openFaulty } from "../faults/faulty-transport.ts"
import { openReplay } from "../record/open-replay.ts"
import { encodeRecorded, openRecording, recordTransport } from "../record/recording.ts"
import { readReplayFile } from "../record/replay-file.ts"
import { refused } from "../simulator-error.ts"
import type { Road } from "./roads.ts"
import type { Settings } from "./settings.ts"

/** Plays a recording instead of a scenario. */
export async function playReplay(
  file: string,
  { transport, effects }: Road,
  { timeScale, seed, faults }: Pick<Settings, "timeScale" | "seed" | "faults">,
): Promise<number> {
  const replay = await readReplayFile(file, (text) => void process.stderr.write(`claude-sim: ${text}\n`))
  const faulty = openFaulty(transport, faults, { seed, sessionId: "", effects })
  const agent = openReplay({ transport: faulty ?? transport, replay, timeScale, seed })
  process.on("SIGTERM", () => {
    if (faulty?.ignoresTerm === true) return
    faulty?.abandon()
    agent.terminate()
  })
  process.once("SIGINT", () => agent.terminate(0))
  const { code } = await agent.exited
  if (faulty !== undefined) await Promise.race([faulty.settled(), faulty.abandoned])
  return code
}

/** The same road, with what passes on it written down. */
export async function recordRoad(transport: Transport, file: string): Promise<Transport> {
  const out = await openRecording(file).catch((cause: unknown) => {
    throw refused(`claude-sim: ${file} cannot be written`, cause)
  })
  const recorded = recordTransport(transport, {
    end: "agent",
    onLine: (line) => void out.write(`${encodeRecorded(line)}\n`),
  })
  return {
    ...recorded,
    async close(reason) {
      await recorded.close(reason)
      await new Promise<void>((resolve) => out.end(() => resolve()))
    },
  }
}
