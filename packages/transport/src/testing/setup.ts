import type { LineLimits, SendLimits, Transport } from "../transport.ts"

/** The far end of the transport under test, driven by hand. */
export interface ContractPeer {
  /** Sends one line to the transport under test. */
  send(line: string): Promise<void>
  /** The next line that the transport under test has sent. */
  receive(): Promise<string>
  /** Ends the connection in good order. */
  end(): Promise<void>
  /** Stops reading, so that what is sent piles up; `resume` reads on. */
  pause(): void
  resume(): void
}

export interface ContractSetup {
  readonly transport: Transport
  readonly peer: ContractPeer
  /** Releases what the setup opened, whatever state the two ends are in. */
  dispose(): Promise<void>
}

/** The options to open the transport under test with. */
export type ContractLimits = LineLimits & SendLimits

export interface ContractOptions {
  /**
   * The meaning here of a peer that goes away in good order. A transport that dials again by itself outlives its peer, so
   * there the rules about a peer's end are the implementation's own.
   */
  readonly outlivesPeer?: boolean
  /** This transport frames bytes, so that the length of a line can be bounded. A pair in memory hands over strings. */
  readonly boundsLines: boolean
}
