import { type AskRecord, Transcript, type TranscriptEvent } from "../index.ts"
import { type PageSession, pageHtml } from "./page.ts"

interface ToldSession {
  readonly session: PageSession
  /** All of them, in order. */
  readonly events: AsyncIterable<TranscriptEvent>
  /** Its asks, once the events are read. */
  readonly asks: () => Promise<readonly AskRecord[]>
  readonly writtenAt: string
}

/** A session as one page to read or to send to somebody, in pieces. Whatever is in it is text: nothing in it runs or loads. */
export async function* transcriptPage({ session, events, asks, writtenAt }: ToldSession): AsyncGenerator<string> {
  const transcript = new Transcript()
  for await (const event of events) transcript.fold([event])
  for (const ask of await asks()) transcript.ask(ask)
  yield* pageHtml({ session, rows: transcript.rows(), laneOf: (lane) => transcript.rows(lane), writtenAt })
}
