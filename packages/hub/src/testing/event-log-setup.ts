import type { EventLog } from "../store/event-log.ts"

export interface EventLogSetup {
  readonly log: EventLog
  /** Releases what the setup opened. */
  dispose(): Promise<void>
  /**
   * Closes the log in good order and opens it again on what it left. Absent where nothing outlives the process. The log
   * that was open before is not used any more.
   */
  readonly reopen?: () => Promise<EventLog>
}
